//! Who may see a preview. A token is checked first, in constant time and with one answer for everything that is wrong;
//! a private preview then wants a token of this server, or a signed link, which becomes a cookie.

use atoll_protocol::{Timestamp, Verb, Visibility};
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::header::{AUTHORIZATION, CACHE_CONTROL, HeaderValue, LOCATION, ORIGIN, REFERRER_POLICY, SET_COOKIE};
use hyper::{HeaderMap, Method, StatusCode};
use subtle::ConstantTimeEq;

use super::address::{Label, bare_host};
use super::exposure::Exposure;
use super::{Where, cookie, link};
use crate::app::App;
use crate::auth::{Caller, Mode};
use crate::fleet::Handle;
use crate::lease::Lease;
use crate::{Error, clock};

/// What a request gets.
pub(super) enum Access {
    /// The preview, for the lifetime of the visitor's credential.
    Granted(Lease),
    /// Sent to the same place without the link, with a cookie.
    Moved(Response),
}

/// As long as a token that is made up, and never one: no token holds a hyphen.
const NOBODYS: &str = "----------------";

/// In the same time wherever they differ.
fn is_same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

/// The preview that a label means. Wrong, revoked, rotated, never exposed, no such sandbox: one answer, which takes the
/// same time and touches nothing.
pub(super) fn find(app: &App, label: &Label) -> Result<(Handle, Exposure), Error> {
    let handle = app.fleet.get(&label.name).ok();
    let exposure = handle.as_ref().and_then(|handle| handle.exposure(label.port));
    // As much work for one that does not exist.
    let is_good = is_same(exposure.as_ref().map_or(NOBODYS, |exposure| &exposure.token), &label.token);
    match (handle, exposure) {
        (Some(handle), Some(exposure)) if is_good => Ok((handle, exposure)),
        _ => Err(Error::PreviewNotFound),
    }
}

/// Whether this request may see it.
pub(super) fn check(app: &App, at: &Where, exposure: &Exposure, request: &Request) -> Result<Access, Error> {
    match exposure.visibility {
        Visibility::Public => return Ok(Access::Granted(Lease::endless())),
        Visibility::Private => {}
    }
    let headers = request.headers();
    if let Some(caller) = caller(app, at, headers)? {
        return Ok(Access::Granted(caller.lease().clone()));
    }
    let now = clock::now();
    if let Some(signed) = &at.link {
        let Some(expires) = app.preview.signer.check(&at.label, signed, now) else { return Err(Error::PreviewClosed) };
        let is_look = matches!(*request.method(), Method::GET | Method::HEAD);
        let granted = Access::Granted(Lease::until(expires));
        return Ok(if is_look { Access::Moved(moved(at, signed, expires, now)) } else { granted });
    }
    let signed = |signed: &str| app.preview.signer.check(&at.label, signed, now);
    if let Some(expires) = cookie::ours(headers).filter_map(signed).max() {
        let granted = Access::Granted(Lease::until(expires));
        return if is_own(headers, &at.host) { Ok(granted) } else { Err(Error::PreviewForeign) };
    }
    Err(Error::PreviewClosed)
}

/// Returns the caller, if the request has a token of this server for this sandbox. `None` on servers without tokens.
fn caller(app: &App, at: &Where, headers: &HeaderMap) -> Result<Option<Caller>, Error> {
    if app.mode == Mode::Open || !headers.contains_key(AUTHORIZATION) {
        return Ok(None);
    }
    let Ok(caller) = app.auth.caller(headers) else { return Ok(None) };
    caller.must(Verb::Read, &at.label.name).map(|()| Some(caller))
}

/// A cookie comes with whatever page of the same site asks, a neighbour's preview included. It opens only what the
/// preview's own pages ask for, and what people go to.
fn is_own(headers: &HeaderMap, host: &str) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(origin) = text(ORIGIN.as_str()) {
        let named = origin.split_once("://").and_then(|(_, authority)| bare_host(authority).zip(Some(authority)));
        return named.is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host));
    }
    match (text("sec-fetch-site"), text("sec-fetch-mode")) {
        (None | Some("same-origin" | "none"), _) | (_, Some("navigate")) => true,
        (Some(_), _) => false,
    }
}

fn moved(at: &Where, signed: &str, expires: Timestamp, now: Timestamp) -> Response {
    let seconds = expires.as_millis().saturating_sub(now.as_millis()) / 1000;
    let path = at.prefix.as_ref().map_or_else(|| "/".to_owned(), |prefix| format!("{prefix}/"));
    let secure = if at.scheme == "https" { "; Secure" } else { "" };
    let name = cookie::OURS;
    let set = format!("{name}={signed}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    for (name, value) in [(SET_COOKIE, set.as_str()), (LOCATION, &at.place)] {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// A link for a preview's URL.
pub(crate) fn linked(url: &str, signed: &str) -> String {
    format!("{url}?{}={signed}", link::PARAMETER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_opens_only_what_the_preview_itself_asks_for() {
        let own = |pairs: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, HeaderValue::from_static(value));
            }
            is_own(&headers, "80-a-t.localhost:7071")
        };
        assert!(own(&[]) && own(&[("origin", "http://80-a-t.localhost:7071")]));
        assert!(own(&[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "navigate")]));
        assert!(own(&[("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")]));
        for foreign in [
            &[("origin", "http://80-b-t.localhost:7071")][..],
            &[("origin", "null")],
            &[("origin", "http://80-a-t.localhost")],
            &[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "no-cors")],
            &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "websocket")],
        ] {
            assert!(!own(foreign), "{foreign:?}");
        }
    }
}
