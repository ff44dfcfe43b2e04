//! Access control of previews. The token in the address is checked first, in constant time and with one error for all
//! failures; a private preview also needs a token of this server, or a signed link, which becomes a cookie.

use atoll_protocol::{Timestamp, Verb, Visibility};
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::header::{AUTHORIZATION, CACHE_CONTROL, HeaderValue, LOCATION, ORIGIN, REFERRER_POLICY, SET_COOKIE};
use hyper::{HeaderMap, Method, StatusCode};
use subtle::ConstantTimeEq;

use super::address::{Label, bare_host};
use super::exposure::Exposure;
use super::{Target, cookie, link};
use crate::app::App;
use crate::auth::{Caller, Mode};
use crate::lease::Lease;
use crate::sandboxes::SandboxHandle;
use crate::{Error, clock};

/// The result of an access check.
pub(super) enum Access {
    /// The preview, for the lifetime of the visitor's credential.
    Granted(Lease),
    /// A redirect to the same URL without the link, which sets a cookie.
    Moved(Response),
}

/// As long as a generated token, and never valid: tokens contain no hyphens.
const DUMMY_TOKEN: &str = "----------------";

/// Compares in constant time.
fn is_same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

/// Returns the preview that a label names. Wrong, revoked, rotated, never exposed, no such sandbox: all give the same
/// error in the same time, without side effects.
pub(super) fn find(app: &App, label: &Label) -> Result<(SandboxHandle, Exposure), Error> {
    let handle = app.sandboxes.get(&label.name).ok();
    let exposure = handle.as_ref().and_then(|handle| handle.exposure(label.port));
    // The same work for a preview that does not exist.
    let is_good = is_same(exposure.as_ref().map_or(DUMMY_TOKEN, |exposure| &exposure.token), &label.token);
    match (handle, exposure) {
        (Some(handle), Some(exposure)) if is_good => Ok((handle, exposure)),
        _ => Err(Error::PreviewNotFound),
    }
}

/// Checks whether this request may see the preview.
pub(super) fn check(app: &App, target: &Target, exposure: &Exposure, request: &Request) -> Result<Access, Error> {
    match exposure.visibility {
        Visibility::Public => return Ok(Access::Granted(Lease::endless())),
        Visibility::Private => {}
    }
    let headers = request.headers();
    if let Some(caller) = caller(app, target, headers)? {
        return Ok(Access::Granted(caller.lease().clone()));
    }
    let now = clock::now();
    if let Some(signed) = &target.link {
        let Some(expires) = app.preview.signer.check(&target.label, signed, now) else {
            return Err(Error::PreviewClosed);
        };
        let is_look = matches!(*request.method(), Method::GET | Method::HEAD);
        let granted = Access::Granted(Lease::until(expires));
        return Ok(if is_look { Access::Moved(moved(target, signed, expires, now)) } else { granted });
    }
    let signed = |signed: &str| app.preview.signer.check(&target.label, signed, now);
    if let Some(expires) = cookie::ours(headers).filter_map(signed).max() {
        let granted = Access::Granted(Lease::until(expires));
        return if is_own(headers, &target.host) { Ok(granted) } else { Err(Error::PreviewForeign) };
    }
    Err(Error::PreviewClosed)
}

/// Returns the caller, if the request has a token of this server for this sandbox. `None` on servers without tokens.
fn caller(app: &App, target: &Target, headers: &HeaderMap) -> Result<Option<Caller>, Error> {
    if app.mode == Mode::Open || !headers.contains_key(AUTHORIZATION) {
        return Ok(None);
    }
    let Ok(caller) = app.auth.caller(headers) else { return Ok(None) };
    caller.must(Verb::Read, &target.label.name).map(|()| Some(caller))
}

/// Whether a request with our cookie comes from the preview itself. Browsers send the cookie with requests of any page
/// of the same site, which includes other previews. It is accepted only from the preview's own pages and for
/// navigation.
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

fn moved(target: &Target, signed: &str, expires: Timestamp, now: Timestamp) -> Response {
    let seconds = expires.as_millis().saturating_sub(now.as_millis()) / 1000;
    let path = target.prefix.as_ref().map_or_else(|| "/".to_owned(), |prefix| format!("{prefix}/"));
    let secure = if target.scheme == "https" { "; Secure" } else { "" };
    let name = cookie::OURS;
    let set = format!("{name}={signed}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    for (name, value) in [(SET_COOKIE, set.as_str()), (LOCATION, &target.path_and_query)] {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// Returns the signed link for a preview's URL.
pub(crate) fn linked(url: &str, signed: &str) -> String {
    format!("{url}?{}={signed}", link::PARAMETER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookie_is_accepted_from_the_preview_itself_only() {
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
