//! Previews: what listens inside a sandbox, seen from outside.
//!
//! Previews have listeners of their own. On those, every request is for a preview, whatever it says of itself; on the
//! API's none is. So there is no host name, path or trick by which one leads to the other.
//!
//! How the parts meet: `address` reads which preview is meant, `access` says who may, `pass` and `tunnel` carry requests
//! to the program inside over connections that `apps` keeps, `gate` and `interim` see to what is said before an answer,
//! `headers` and `cookie` say what goes through, `page` tells what went wrong. `exposure` is what is kept of an exposed port, `link` signs.

mod access;
mod address;
mod apps;
mod cookie;
mod exposure;
mod gate;
mod headers;
mod interim;
mod link;
mod page;
mod pass;
mod shown;
mod site;
mod tunnel;

use std::time::Instant;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::ext::Protocol;
use hyper::header::{HOST, HeaderValue, LOCATION, REFERER};
use hyper::{HeaderMap, Method, StatusCode, Version};

use access::Access;
pub(crate) use access::linked;
pub use address::Domain;
pub(crate) use address::Label;
use address::{bare_host, split_path};
pub(crate) use apps::Apps;
pub(crate) use exposure::{Exposure, Exposures, expose, rotate};
pub(crate) use headers::Arrival;
pub(crate) use interim::Interjecting;
pub(crate) use link::Signer;
pub(crate) use shown::Shown;
pub(crate) use site::{Site, is_preview_host};
pub(crate) use tunnel::connect;

use crate::Error;
use crate::app::App;
use crate::fleet::Handle;
use crate::metrics::Kind;

/// What a request is for, as it says.
#[derive(Debug)]
struct Where {
    label: Label,
    /// The host that was named, with its port.
    host: String,
    scheme: &'static str,
    /// In the path form: what stands before the application's paths, without a slash behind.
    prefix: Option<String>,
    /// Path and query as the client has them, without a link.
    place: String,
    /// The same without the prefix.
    inner: String,
    /// A signature that came with it.
    link: Option<String>,
}

/// Answers a request that came in where previews are.
pub(crate) async fn serve(app: &App, arrival: Arrival, request: Request) -> Response {
    let began = Instant::now();
    let as_page = page::is_wanted(request.headers());
    let method = request.method().clone();
    let response = answer(app, arrival, request).await.unwrap_or_else(|error| page::answer(error, as_page));
    let (took, status) = (began.elapsed(), response.status().as_u16());
    app.metrics.answered(Kind::Preview, status, took);
    // Neither the host nor the path: both hold a token.
    tracing::debug!(%method, status, took_us = took.as_micros(), "previewed");
    response
}

async fn answer(app: &App, arrival: Arrival, mut request: Request) -> Result<Response, Error> {
    // Over HTTP/2, a WebSocket is asked for by it (RFC 8441).
    if request.method() == Method::CONNECT && request.extensions().get::<Protocol>().is_none() {
        return Err(Error::MethodNotAllowed { method: "CONNECT".to_owned() });
    }
    let host = host(&request)?;
    let Some(at) = find(&app.preview, &request, host.clone(), arrival.scheme) else {
        return strayed(&app.preview, &request, &host).ok_or(Error::PreviewNotFound);
    };
    let (handle, exposure) = access::find(app, &at.label)?;
    let lease = match access::check(app, &at, &exposure, &request)? {
        Access::Granted(lease) => lease.while_shown(Shown::new(handle.exposed.clone(), at.label.port, &exposure)),
        Access::Moved(response) => return Ok(response),
    };
    if at.inner.is_empty() || at.inner.starts_with('?') {
        return Ok(redirect(&at.place.replacen(&prefix_of(&at), &format!("{}/", prefix_of(&at)), 1)));
    }
    let version = std::mem::replace(request.version_mut(), Version::HTTP_11);
    let way =
        pass::Way { app, at: &at, exposure: &exposure, handle: &handle, version, arrival: &arrival, lease: &lease };
    tokio::select! {
        biased;
        passed = pass::pass(&way, request) => passed.map(|response| lease.bound(response)),
        // The program may have got the request: 404 would say that it did not.
        () = lease.clone().ended() => Err(match access::find(app, &at.label) {
            Ok(_) => Error::PreviewClosed,
            Err(_) => Error::PreviewBroken { port: at.label.port },
        }),
    }
}

fn prefix_of(at: &Where) -> String {
    at.prefix.clone().unwrap_or_default()
}

/// The host that a request names, in one way only: what is said twice is said the same.
fn host(request: &Request) -> Result<String, Error> {
    let wrong = || Error::invalid("the request names no host, or more than one");
    let mut named = request.headers().get_all(HOST).iter();
    let header = named.next().map(|value| value.to_str().map_err(|_| wrong())).transpose()?;
    if named.next().is_some() {
        return Err(wrong());
    }
    let host = match (request.uri().authority(), header) {
        (Some(authority), Some(header)) if !authority.as_str().eq_ignore_ascii_case(header) => return Err(wrong()),
        (Some(authority), _) => authority.as_str(),
        (None, Some(header)) => header,
        (None, None) => return Err(wrong()),
    };
    bare_host(host).map(|_| host.to_ascii_lowercase()).ok_or_else(wrong)
}

/// Which preview is meant; `None` if none can be.
fn find(site: &Site, request: &Request, host: String, scheme: &'static str) -> Option<Where> {
    let bare = bare_host(&host)?;
    let path = request.uri().path();
    let (label, prefix, inner) = match site.domain.label_of(&bare) {
        Some(label) => (Label::parse(label)?, None, path),
        None => {
            let (label, rest) = split_path(path)?;
            let label = Label::parse(label)?;
            let prefix = format!("{}{label}", address::PATH);
            (label, Some(prefix), rest)
        }
    };
    let (link, query) = request.uri().query().map_or((None, None), link::take);
    let with_query = |path: &str| match &query {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    Some(Where { host, scheme, prefix, place: with_query(path), inner: with_query(inner), link, label })
}

/// An application that is seen below a path may still name places from the root. By the page that asks it is known which
/// one is meant.
fn strayed(site: &Site, request: &Request, host: &str) -> Option<Response> {
    if site.domain.label_of(&bare_host(host)?).is_some() || !matches!(*request.method(), Method::GET | Method::HEAD) {
        return None;
    }
    let from = referring_path(request.headers(), host)?;
    let (label, _) = split_path(&from)?;
    let label = Label::parse(label)?;
    let place = request.uri().path_and_query()?;
    Some(redirect(&format!("{}{label}{place}", address::PATH)))
}

/// The path of the page that asks, if it is one of this host.
fn referring_path(headers: &HeaderMap, host: &str) -> Option<String> {
    let referer = headers.get(REFERER)?.to_str().ok()?;
    let (_, rest) = referer.split_once("://")?;
    let at = rest.find('/')?;
    rest[..at].eq_ignore_ascii_case(host).then(|| rest[at..].to_owned())
}

/// The same request there.
fn redirect(place: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    if let Ok(value) = HeaderValue::from_str(place) {
        response.headers_mut().insert(LOCATION, value);
    }
    response
}

impl Handle {
    /// How a port is exposed.
    fn exposure(&self, port: u16) -> Option<Exposure> {
        self.exposed.borrow().get(&port).cloned()
    }
}

#[cfg(test)]
mod tests;
