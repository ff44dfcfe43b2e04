//! Previews: HTTP access to ports inside a sandbox.
//!
//! Previews have their own listeners. On those, every request is for a preview, regardless of its content; on the
//! API's listeners, none is. So no host name or path can lead from one to the other.
//!
//! Module map: `address` parses which preview a request is for, `access` checks permission, `proxy` and `tunnel`
//! forward requests to the program over the connections of `pools`, `expect_continue` and `informational` handle
//! responses before the final one, `headers` and `cookie` rewrite headers, `page` renders errors. `exposure` is the
//! persisted settings of a port, `link` signs links.

mod access;
mod address;
mod config;
mod cookie;
mod expect_continue;
mod exposure;
mod exposure_watch;
mod headers;
mod informational;
mod link;
mod page;
mod pools;
mod proxy;
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
pub(crate) use config::{PreviewConfig, is_preview_host};
pub(crate) use exposure::{Exposure, Exposures, expose, rotate};
pub(crate) use exposure_watch::ExposureWatch;
pub(crate) use headers::Arrival;
pub(crate) use informational::InformationalStream;
pub(crate) use link::Signer;
pub(crate) use pools::AppPools;
pub(crate) use tunnel::connect;

use crate::Error;
use crate::app::App;
use crate::metrics::Kind;
use crate::sandboxes::SandboxHandle;

/// The preview that a request is for, and how the client named it.
#[derive(Debug)]
struct Target {
    label: Label,
    /// The host that the client named, with its port.
    host: String,
    scheme: &'static str,
    /// In the path form: the prefix of the application's paths, without a trailing slash.
    prefix: Option<String>,
    /// The client's path and query, without the link parameter.
    path_and_query: String,
    /// The same without the prefix.
    inner: String,
    /// The value of the link parameter.
    link: Option<String>,
}

/// Responds to a request on a preview listener.
pub(crate) async fn serve(app: &App, arrival: Arrival, request: Request) -> Response {
    let began = Instant::now();
    let as_page = page::is_wanted(request.headers());
    let method = request.method().clone();
    let response = answer(app, arrival, request).await.unwrap_or_else(|error| page::answer(error, as_page));
    let (took, status) = (began.elapsed(), response.status().as_u16());
    app.metrics.answered(Kind::Preview, status, took);
    // Logs neither the host nor the path: both contain a token.
    tracing::debug!(%method, status, took_us = took.as_micros(), "previewed");
    response
}

async fn answer(app: &App, arrival: Arrival, mut request: Request) -> Result<Response, Error> {
    // Over HTTP/2, CONNECT with a protocol opens a WebSocket (RFC 8441).
    if request.method() == Method::CONNECT && request.extensions().get::<Protocol>().is_none() {
        return Err(Error::MethodNotAllowed { method: "CONNECT".to_owned() });
    }
    let host = host(&request)?;
    let Some(target) = find(&app.preview, &request, host.clone(), arrival.scheme) else {
        return redirect_by_referer(&app.preview, &request, &host).ok_or(Error::PreviewNotFound);
    };
    let (handle, exposure) = access::find(app, &target.label)?;
    let lease = match access::check(app, &target, &exposure, &request)? {
        Access::Granted(lease) => {
            lease.while_shown(ExposureWatch::new(handle.exposed.clone(), target.label.port, &exposure))
        }
        Access::Moved(response) => return Ok(response),
    };
    if target.inner.is_empty() || target.inner.starts_with('?') {
        return Ok(redirect(&target.path_and_query.replacen(
            &prefix_of(&target),
            &format!("{}/", prefix_of(&target)),
            1,
        )));
    }
    let version = std::mem::replace(request.version_mut(), Version::HTTP_11);
    let upstream = proxy::Upstream {
        app,
        target: &target,
        exposure: &exposure,
        handle: &handle,
        version,
        arrival: &arrival,
        lease: &lease,
    };
    tokio::select! {
        biased;
        passed = proxy::forward(&upstream, request) => passed.map(|response| lease.bound(response)),
        // The program may have received the request, so 404 would be wrong.
        () = lease.clone().ended() => Err(match access::find(app, &target.label) {
            Ok(_) => Error::PreviewClosed,
            Err(_) => Error::PreviewBroken { port: target.label.port },
        }),
    }
}

fn prefix_of(target: &Target) -> String {
    target.prefix.clone().unwrap_or_default()
}

/// Returns the host that a request names. The header and the URI must agree.
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

/// Returns the preview that a request is for; `None` if it names none.
fn find(config: &PreviewConfig, request: &Request, host: String, scheme: &'static str) -> Option<Target> {
    let bare = bare_host(&host)?;
    let path = request.uri().path();
    let (label, prefix, inner) = match config.domain.label_of(&bare) {
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
    Some(Target { host, scheme, prefix, path_and_query: with_query(path), inner: with_query(inner), link, label })
}

/// Redirects requests of an application in the path form that uses absolute paths. The referring page shows which
/// preview is meant.
fn redirect_by_referer(config: &PreviewConfig, request: &Request, host: &str) -> Option<Response> {
    if config.domain.label_of(&bare_host(host)?).is_some() || !matches!(*request.method(), Method::GET | Method::HEAD) {
        return None;
    }
    let from = referring_path(request.headers(), host)?;
    let (label, _) = split_path(&from)?;
    let label = Label::parse(label)?;
    let place = request.uri().path_and_query()?;
    Some(redirect(&format!("{}{label}{place}", address::PATH)))
}

/// Returns the path of the referring page, if it is on this host.
fn referring_path(headers: &HeaderMap, host: &str) -> Option<String> {
    let referer = headers.get(REFERER)?.to_str().ok()?;
    let (_, rest) = referer.split_once("://")?;
    let at = rest.find('/')?;
    rest[..at].eq_ignore_ascii_case(host).then(|| rest[at..].to_owned())
}

/// Redirects the same request to another path.
fn redirect(place: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    if let Ok(value) = HeaderValue::from_str(place) {
        response.headers_mut().insert(LOCATION, value);
    }
    response
}

impl SandboxHandle {
    /// Returns the settings of an exposed port.
    fn exposure(&self, port: u16) -> Option<Exposure> {
        self.exposed.borrow().get(&port).cloned()
    }
}

#[cfg(test)]
mod tests;
