//! CORS: the origins whose pages may use the API (Fetch, "HTTP-CORS protocol").
//!
//! None by default. Only browsers send and enforce origins: this extends what pages may do in them, never what a token
//! allows. Cookies are not used, so credentials are not allowed.

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
/// Request headers that pages may send, beyond the safelisted ones.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "atoll-sandbox, authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, mcp-method, \
     mcp-name, mcp-protocol-version, mcp-session-id, range, x-request-id",
);
/// Response headers that pages may read, beyond the safelisted ones.
const RESPONSE_HEADERS: HeaderValue =
    HeaderValue::from_static("accept-ranges, content-range, etag, location, mcp-session-id, retry-after, x-request-id");
/// How long browsers may cache a preflight response, in seconds.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// A public page may request a server on this machine or in a private network (Private Network Access).
const REQUEST_PRIVATE: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// The origins whose pages may use the API.
#[derive(Debug, Clone, Default)]
pub struct Origins(Arc<[HeaderValue]>);

impl Origins {
    /// Parses origins as browsers send them: `https://app.example.org`, `http://localhost:5173`.
    pub fn parse(texts: &[String]) -> Result<Self, Error> {
        let origins: Result<Vec<HeaderValue>, Error> = texts.iter().map(|text| origin(text)).collect();
        Ok(Self(origins?.into()))
    }

    /// Whether no origin is allowed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn of(&self, request: &Request) -> Option<HeaderValue> {
        request.headers().get(ORIGIN).filter(|given| self.0.contains(given)).cloned()
    }
}

/// Parses scheme, host and port. Anything more would never match what a browser sends.
fn origin(text: &str) -> Result<HeaderValue, Error> {
    let wrong = || Error::invalid(format!("`{text}` is not a valid origin: write it like https://app.example.org"));
    let uri: Uri = text.parse().map_err(|_| wrong())?;
    let scheme = uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme)).ok_or_else(wrong)?;
    let authority = uri.authority().filter(|given| !given.as_str().contains('@')).ok_or_else(wrong)?;
    let is_default = matches!((scheme, authority.port_u16()), ("http", Some(80)) | ("https", Some(443)));
    let normalized = format!("{scheme}://{authority}");
    if text != normalized || is_default || text.chars().any(char::is_uppercase) || text.contains('*') {
        return Err(wrong());
    }
    HeaderValue::from_str(text).map_err(|_| wrong())
}

/// Responds to preflight requests, and adds the CORS headers to all other responses.
pub(super) async fn allow(State(origins): State<Origins>, request: Request, next: Next) -> Response {
    if origins.is_empty() {
        return next.run(request).await;
    }
    let allowed = origins.of(&request);
    let is_question =
        request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let asks_private = request.headers().contains_key(REQUEST_PRIVATE);
    let mut response = if is_question { StatusCode::NO_CONTENT.into_response() } else { next.run(request).await };
    let headers = response.headers_mut();
    // Caches must key on the origin.
    headers.append(VARY, HeaderValue::from_static("origin"));
    let Some(allowed) = allowed else { return response };
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
    if is_question {
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
        headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
        if asks_private {
            headers.insert(ALLOW_PRIVATE, HeaderValue::from_static("true"));
        }
    } else {
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, RESPONSE_HEADERS);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_is_accepted_in_a_browsers_spelling_only() {
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
