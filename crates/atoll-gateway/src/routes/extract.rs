//! Request extractors. Their failures are API errors, returned before the route runs.

use atoll_protocol::{SandboxName, Strict};
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;
use crate::app::App;
use crate::auth::{Caller, Mode};

/// Authenticates the request.
impl FromRequestParts<App> for Caller {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        if app.mode == Mode::Open {
            super::pages::refuse(parts)?;
        }
        let caller = app.auth.caller(&parts.headers)?;
        if let Some(seen) = parts.extensions.get::<super::observe::RequestInfo>() {
            seen.by(&caller);
        }
        Ok(caller)
    }
}

/// The sandbox name in the path.
#[derive(Debug)]
pub(crate) struct Name(pub(crate) SandboxName);

impl FromRequestParts<App> for Name {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let unreadable = |_| Error::invalid("the path is not valid UTF-8");
        let pairs = RawPathParams::from_request_parts(parts, app).await.map_err(unreadable)?;
        let given = pairs.iter().find(|(key, _)| *key == "name").map(|(_, value)| value).unwrap_or_default();
        Self::given(parts, given.to_owned())
    }
}

impl Name {
    /// Parses a name from a request, and records it for the request's log line.
    pub(crate) fn given(parts: &Parts, text: String) -> Result<Self, Error> {
        let name = SandboxName::new(text).map_err(|error| Error::invalid(error.to_string()))?;
        if let Some(seen) = parts.extensions.get::<super::observe::RequestInfo>() {
            seen.of(&name);
        }
        Ok(Self(name))
    }
}

/// A JSON body. An empty one stands for the type's default, if it has one.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Json<T> {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<Self, Error> {
        let max = app.json_max;
        let body = Limited::new(request.into_body(), max).collect().await.map_err(|error| {
            let too_large = error.downcast_ref::<LengthLimitError>().is_some();
            if too_large {
                Error::BodyTooLarge { max }
            } else {
                Error::invalid("the body ended before its announced length")
            }
        })?;
        let bytes = body.to_bytes();
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        parse(text).map(Self)
    }
}

/// Parses JSON. Errors name the path of the offending field.
fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T, Error> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(Strict(&mut json)).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { String::new() } else { format!("{path}: ") };
        Error::invalid(format!("invalid body: {place}{}", error.inner()))
    })?;
    json.end().map_err(|error| Error::invalid(format!("invalid body: {error}")))?;
    Ok(value)
}

/// Returns a JSON response.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(body) => (status, [(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response(),
        Err(error) => Error::internal("encode the response", error).into_response(),
    }
}
