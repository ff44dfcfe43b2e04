//! The sandbox that a bridge's request names, and our own requests to it. They take the same path as all others, so
//! that tokens, scopes and limits apply.

use atoll_http::percent;
use atoll_protocol::{CreateSandbox, ErrorAnswer, SandboxName, Verb};
use axum::body::Body;
use axum::extract::{FromRequestParts, Request};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{ApiError, Operation};
use crate::app::App;
use crate::auth::Caller;
use crate::routes::extract::Name;
use crate::{Error, proxy};

/// Largest response of an agent that is read as a whole, in bytes.
const ANSWER_MAX: usize = 1024 * 1024;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The authenticated caller. A route that takes one requires a token.
#[derive(Debug)]
pub(super) struct Authenticated(pub(super) Caller);

impl FromRequestParts<App> for Authenticated {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        Ok(Self(Caller::from_request_parts(parts, app).await?))
    }
}

/// The sandbox that a request names, and its caller. It need not exist.
#[derive(Debug, Clone)]
pub(super) struct Sandbox {
    pub(super) app: App,
    pub(super) caller: Caller,
    pub(super) name: SandboxName,
    request_id: Option<HeaderValue>,
}

impl FromRequestParts<App> for Sandbox {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let Authenticated(caller) = Authenticated::from_request_parts(parts, app).await?;
        let Name(name) = Name::given(parts, id(parts.uri.path())?)?;
        Ok(Self { app: app.clone(), caller, name, request_id: parts.headers.get(REQUEST_ID).cloned() })
    }
}

/// Returns the id in a path below `/v1/sandbox`. Parsed by hand: a file's path may follow, which need not be UTF-8.
fn id(path: &str) -> Result<String, ApiError> {
    let given = path.split('/').nth(1).unwrap_or_default();
    String::from_utf8(percent::decoded(given)).map_err(|_| ApiError::invalid("the id is not valid UTF-8"))
}

/// The wanted kind of response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResponseKind {
    Json,
    Events,
}

impl Sandbox {
    /// Creates the sandbox if it does not exist: a bridge's id refers to a sandbox from its first use on.
    pub(super) async fn ensure_exists(&self) -> Result<(), ApiError> {
        if self.app.sandboxes.get(&self.name).is_ok() {
            return Ok(());
        }
        self.caller.must(Verb::Admin, &self.name)?;
        if self.app.is_draining() {
            return Err(Error::ShuttingDown.into());
        }
        self.app.sandboxes.create(&self.name, CreateSandbox::default()).await?;
        Ok(())
    }

    /// Returns a request of our API for a path below the sandbox.
    pub(super) fn request(&self, method: Method, rest: &str, body: Body) -> Result<Request, ApiError> {
        let mut request = Request::builder().method(method).uri(format!("/v1/sandboxes/{}/{rest}", self.name));
        if let Some(id) = &self.request_id {
            request = request.header(REQUEST_ID, id);
        }
        request.body(body).map_err(|error| ApiError::invalid(format!("invalid path: {error}")))
    }

    /// Returns a request with a JSON body.
    pub(super) fn request_json(
        &self,
        rest: &str,
        body: &impl Serialize,
        wanted: ResponseKind,
    ) -> Result<Request, ApiError> {
        let body = serde_json::to_vec(body).map_err(|error| Error::internal("encode the request", error))?;
        let mut request = self.request(Method::POST, rest, Body::from(body))?;
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if wanted == ResponseKind::Events {
            request.headers_mut().insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        }
        Ok(request)
    }

    /// Sends a request. Translates errors by the operation.
    pub(super) async fn send(&self, operation: Operation, request: Request) -> Result<Response, ApiError> {
        match self.try_send(operation, request).await? {
            Ok(response) => Ok(response),
            Err(answer) => Err(ApiError::from_agent(operation, &answer.error)),
        }
    }

    /// Sends a request. Returns the agent's error untranslated, for callers that handle it.
    pub(super) async fn try_send(
        &self,
        operation: Operation,
        request: Request,
    ) -> Result<Result<Response, ErrorAnswer>, ApiError> {
        self.caller.must(proxy::verb(&request), &self.name)?;
        let requested = proxy::forward(&self.app, &self.caller, &self.name, request).await;
        let is_missing = |error: &Error| matches!(error, Error::SandboxNotFound { .. });
        let response = requested.map_err(|error| {
            if is_missing(&error) { ApiError::from_agent(operation, &error.body()) } else { error.into() }
        })?;
        if response.status().is_success() {
            return Ok(Ok(response));
        }
        let status = response.status();
        let body = whole(response).await?;
        let unreadable =
            |_| ApiError::new(StatusCode::BAD_GATEWAY, "pool_error", format!("the agent responded with {status}"));
        Ok(Err(serde_json::from_slice(&body).map_err(unreadable)?))
    }

    /// Sends a request and parses the whole response.
    pub(super) async fn fetch<T: DeserializeOwned>(
        &self,
        operation: Operation,
        request: Request,
    ) -> Result<T, ApiError> {
        let body = whole(self.send(operation, request).await?).await?;
        let text: &[u8] = if body.is_empty() { b"null" } else { &body };
        Ok(serde_json::from_slice(text).map_err(|error| Error::internal("parse the agent's response", error))?)
    }
}

async fn whole(response: Response) -> Result<Bytes, ApiError> {
    let body = Limited::new(response.into_body(), ANSWER_MAX).collect().await;
    let broke = |error| {
        ApiError::new(StatusCode::BAD_GATEWAY, "pool_error", format!("the agent's response was cut off: {error}"))
    };
    Ok(body.map_err(broke)?.to_bytes())
}
