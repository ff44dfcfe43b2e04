//! One sandbox as a bridge's request names it, and our own requests to it: they take the way of everybody's, so that
//! tokens, scopes and limits hold here too.

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

use super::refusal::{Operation, Refusal};
use crate::app::App;
use crate::auth::Caller;
use crate::routes::extract::Name;
use crate::{Error, proxy};

/// The most that an answer of an agent may hold where all of it is read.
const ANSWER_MAX: usize = 1024 * 1024;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Who asks. A route that takes one asks for a token.
#[derive(Debug)]
pub(super) struct Who(pub(super) Caller);

impl FromRequestParts<App> for Who {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        Ok(Self(Caller::from_request_parts(parts, app).await?))
    }
}

/// A sandbox, and who asks for something in it. It need not exist.
#[derive(Debug, Clone)]
pub(super) struct Sandbox {
    pub(super) app: App,
    pub(super) caller: Caller,
    pub(super) name: SandboxName,
    request_id: Option<HeaderValue>,
}

impl FromRequestParts<App> for Sandbox {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let Who(caller) = Who::from_request_parts(parts, app).await?;
        let Name(name) = Name::given(parts, id(parts.uri.path())?)?;
        Ok(Self { app: app.clone(), caller, name, request_id: parts.headers.get(REQUEST_ID).cloned() })
    }
}

/// The id in a path below `/v1/sandbox`. By hand: what follows it may be the name of a file, which need not be text.
fn id(path: &str) -> Result<String, Refusal> {
    let given = path.split('/').nth(1).unwrap_or_default();
    String::from_utf8(percent::decoded(given)).map_err(|_| Refusal::invalid("the id is not valid UTF-8"))
}

/// What an answer should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Whole,
    Events,
}

impl Sandbox {
    /// Makes it if there is none of this name: an id of a bridge means a sandbox from its first use on.
    pub(super) async fn make_sure(&self) -> Result<(), Refusal> {
        if self.app.fleet.get(&self.name).is_ok() {
            return Ok(());
        }
        self.caller.must(Verb::Admin, &self.name)?;
        if self.app.is_draining() {
            return Err(Error::ShuttingDown.into());
        }
        self.app.fleet.create(&self.name, CreateSandbox::default()).await?;
        Ok(())
    }

    /// A request of ours for what is below the sandbox.
    pub(super) fn request(&self, method: Method, rest: &str, body: Body) -> Result<Request, Refusal> {
        let mut request = Request::builder().method(method).uri(format!("/v1/sandboxes/{}/{rest}", self.name));
        if let Some(id) = &self.request_id {
            request = request.header(REQUEST_ID, id);
        }
        request.body(body).map_err(|error| Refusal::invalid(format!("the path is wrong: {error}")))
    }

    /// The same with a body of JSON.
    pub(super) fn request_json(&self, rest: &str, body: &impl Serialize, wanted: Wanted) -> Result<Request, Refusal> {
        let body = serde_json::to_vec(body).map_err(|error| Error::internal("write the request", error))?;
        let mut request = self.request(Method::POST, rest, Body::from(body))?;
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if wanted == Wanted::Events {
            request.headers_mut().insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        }
        Ok(request)
    }

    /// Asks; what is refused is told as what the operation's errors are called.
    pub(super) async fn ask(&self, operation: Operation, request: Request) -> Result<Response, Refusal> {
        match self.try_ask(operation, request).await? {
            Ok(response) => Ok(response),
            Err(answer) => Err(Refusal::told(operation, &answer.error)),
        }
    }

    /// The same, for who knows what to do about a refusal of the agent's.
    pub(super) async fn try_ask(
        &self,
        operation: Operation,
        request: Request,
    ) -> Result<Result<Response, ErrorAnswer>, Refusal> {
        self.caller.must(proxy::verb(&request), &self.name)?;
        let asked = proxy::forward(&self.app, &self.caller, &self.name, request).await;
        let is_missing = |error: &Error| matches!(error, Error::SandboxNotFound { .. });
        let response = asked
            .map_err(|error| if is_missing(&error) { Refusal::told(operation, &error.body()) } else { error.into() })?;
        if response.status().is_success() {
            return Ok(Ok(response));
        }
        let status = response.status();
        let body = whole(response).await?;
        let unreadable =
            |_| Refusal::new(StatusCode::BAD_GATEWAY, "pool_error", format!("the agent answered {status}"));
        Ok(Err(serde_json::from_slice(&body).map_err(unreadable)?))
    }

    /// Asks, and reads the whole answer.
    pub(super) async fn ask_for<T: DeserializeOwned>(
        &self,
        operation: Operation,
        request: Request,
    ) -> Result<T, Refusal> {
        let body = whole(self.ask(operation, request).await?).await?;
        let text: &[u8] = if body.is_empty() { b"null" } else { &body };
        Ok(serde_json::from_slice(text).map_err(|error| Error::internal("read the agent's answer", error))?)
    }
}

async fn whole(response: Response) -> Result<Bytes, Refusal> {
    let body = Limited::new(response.into_body(), ANSWER_MAX).collect().await;
    let broke =
        |error| Refusal::new(StatusCode::BAD_GATEWAY, "pool_error", format!("the agent's answer broke off: {error}"));
    Ok(body.map_err(broke)?.to_bytes())
}
