//! Pages of other origins: which of them a browser may let use the API (Fetch, "HTTP-CORS protocol").
//!
//! None, unless it is said. Which page asks is the browser's word, and only browsers care: this widens what pages may do
//! in them, never what a token allows. Cookies are not used, so none are allowed to come along.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, HeaderName, HeaderValue,
    ORIGIN, VARY,
};
use hyper::{Method, StatusCode, Uri};

use crate::Error;

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
/// What clients send beyond what every page may.
const ASKED: HeaderValue = HeaderValue::from_static(
    "atoll-sandbox, authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, mcp-method, \
     mcp-name, mcp-protocol-version, mcp-session-id, range, x-request-id",
);
/// What a page may read of an answer beyond what every page may.
const TOLD: HeaderValue =
    HeaderValue::from_static("accept-ranges, content-range, etag, location, mcp-session-id, retry-after, x-request-id");
/// For how many seconds a browser need not ask again.
const REMEMBERED: HeaderValue = HeaderValue::from_static("600");

/// A page on the internet may ask for a server on this machine or in this house (Private Network Access).
const ASKS_PRIVATE: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOWS_PRIVATE: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// The origins whose pages may use the API.
#[derive(Debug, Clone, Default)]
pub struct Origins(Arc<[HeaderValue]>);

impl Origins {
    /// Each as a browser says it: `https://app.example.org`, `http://localhost:5173`.
    pub fn parse(texts: &[String]) -> Result<Self, Error> {
        let origins: Result<Vec<HeaderValue>, Error> = texts.iter().map(|text| origin(text)).collect();
        Ok(Self(origins?.into()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn of(&self, request: &Request) -> Option<HeaderValue> {
        request.headers().get(ORIGIN).filter(|given| self.0.contains(given)).cloned()
    }
}

/// Scheme, host and port, and nothing else: anything more would never be what a browser says.
fn origin(text: &str) -> Result<HeaderValue, Error> {
    let wrong = || Error::invalid(format!("`{text}` is no origin: give it as in https://app.example.org"));
    let uri: Uri = text.parse().map_err(|_| wrong())?;
    let scheme = uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme)).ok_or_else(wrong)?;
    let authority = uri.authority().filter(|given| !given.as_str().contains('@')).ok_or_else(wrong)?;
    let is_default = matches!((scheme, authority.port_u16()), ("http", Some(80)) | ("https", Some(443)));
    let said = format!("{scheme}://{authority}");
    if text != said || is_default || text.chars().any(char::is_uppercase) || text.contains('*') {
        return Err(wrong());
    }
    HeaderValue::from_str(text).map_err(|_| wrong())
}

/// Answers what browsers ask beforehand, and says of each answer whose pages may read it.
pub(super) async fn allow(State(origins): State<Origins>, request: Request, next: Next) -> Response {
    if origins.is_empty() {
        return next.run(request).await;
    }
    let allowed = origins.of(&request);
    let is_question =
        request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let asks_private = request.headers().contains_key(ASKS_PRIVATE);
    let mut response = if is_question { StatusCode::NO_CONTENT.into_response() } else { next.run(request).await };
    let headers = response.headers_mut();
    // What is kept in between is for this origin alone.
    headers.append(VARY, HeaderValue::from_static("origin"));
    let Some(allowed) = allowed else { return response };
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
    if is_question {
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, ASKED);
        headers.insert(ACCESS_CONTROL_MAX_AGE, REMEMBERED);
        if asks_private {
            headers.insert(ALLOWS_PRIVATE, HeaderValue::from_static("true"));
        }
    } else {
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, TOLD);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_what_a_browser_says() {
        for good in
            ["https://app.example.org", "http://localhost:5173", "http://[::1]:8080", "https://xn--bcher-kva.example"]
        {
            assert_eq!(origin(good).unwrap(), good);
        }
        for bad in [
            "",
            "*",
            "null",
            "app.example.org",
            "https://*.example.org",
            "https://app.example.org/",
            "https://a.b/path",
            "https://a.b?x",
            "https://me@a.b",
            "ftp://a.b",
            "HTTPS://a.b",
            "https://A.b",
            "https://a.b:443",
            "http://a.b:80",
        ] {
            assert!(origin(bad).is_err(), "{bad}");
        }
    }
}
