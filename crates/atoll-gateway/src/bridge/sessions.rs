//! Sessions: made by name, named by a header, ended by name.

use std::collections::BTreeMap;

use atoll_protocol::{SessionId, SessionInfo, SessionRequest, Timestamp};
use axum::body::Body;
use axum::extract::{FromRequestParts, Path};
use axum::response::Response;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};
use serde::{Deserialize, Serialize};

use super::refusal::{ErrorShape, Operation, Refusal};
use super::sandbox::{Sandbox, Wanted};
use crate::app::App;
use crate::routes::extract::{Json, json};
use crate::{Error, clock};

/// The header that names a session.
const SESSION: &str = "session-id";

/// The session that a request is for, if it names one.
#[derive(Debug)]
pub(super) struct InSession(pub(super) Option<SessionId>);

impl FromRequestParts<App> for InSession {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Refusal> {
        Ok(Self(named(&parts.headers)?))
    }
}

/// An empty header names none.
fn named(headers: &HeaderMap) -> Result<Option<SessionId>, Refusal> {
    let Some(given) = headers.get(SESSION) else { return Ok(None) };
    let text = given.to_str().map_err(|_| Refusal::invalid("Session-Id: not a session id"))?;
    if text.is_empty() {
        return Ok(None);
    }
    let id = SessionId::new(text).map_err(|error| Refusal::invalid(format!("Session-Id: {error}")))?;
    Ok(Some(id))
}

/// How a session begins.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct NewSession {
    /// Its id; made up if not given.
    #[schema(value_type = Option<String>)]
    id: Option<SessionId>,
    /// Where its shell starts.
    cwd: Option<String>,
    /// Variables of its shell.
    env: BTreeMap<String, String>,
}

/// A session that was made.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct SessionMade {
    /// Give it in the header `Session-Id`.
    id: String,
}

/// A session that was ended.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionEnded {
    /// It was.
    success: bool,
    /// Which.
    session_id: String,
    /// When.
    #[schema(value_type = String)]
    timestamp: Timestamp,
}

/// Make a session: a shell that remembers.
#[utoipa::path(post, path = "/v1/sandbox/{id}/session", tag = "sessions", operation_id = "createSession",
    params(("id" = String, Path, description = "The sandbox.")), request_body = Option<NewSession>,
    responses((status = 200, body = SessionMade), (status = "default", body = ErrorShape)))]
pub(super) async fn create(sandbox: Sandbox, body: Result<Json<NewSession>, Error>) -> Result<Response, Refusal> {
    let Json(NewSession { id, cwd, env }) = body?;
    let env = env.into_iter().map(|(name, value)| (name, Some(value))).collect();
    let asked = SessionRequest { id, cwd, env, ..SessionRequest::default() };
    sandbox.make_sure().await?;
    let made = begin(&sandbox, &asked).await?;
    Ok(json(StatusCode::OK, &SessionMade { id: made.id.into() }))
}

async fn begin(sandbox: &Sandbox, asked: &SessionRequest) -> Result<SessionInfo, Refusal> {
    let request = sandbox.request_json("sessions", asked, Wanted::Whole)?;
    sandbox.ask_for(Operation::Session, request).await
}

/// Makes the session that a command names and that is not there: a bridge's sessions begin with their first use. Of
/// several that do so at once one makes it.
pub(super) async fn make_sure(sandbox: &Sandbox, id: &SessionId) -> Result<(), Refusal> {
    let asked = SessionRequest { id: Some(id.clone()), ..SessionRequest::default() };
    let request = sandbox.request_json("sessions", &asked, Wanted::Whole)?;
    match sandbox.try_ask(Operation::Session, request).await? {
        Err(answer) if answer.error.code != atoll_protocol::ErrorCode::SessionAlreadyExists => {
            Err(Refusal::told(Operation::Session, &answer.error))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// End a session with what runs in it.
#[utoipa::path(delete, path = "/v1/sandbox/{id}/session/{session}", tag = "sessions", operation_id = "deleteSession",
    params(("id" = String, Path, description = "The sandbox."), ("session" = String, Path, description = "The session.")),
    responses((status = 200, body = SessionEnded), (status = "default", body = ErrorShape)))]
pub(super) async fn delete(sandbox: Sandbox, Path((_, session)): Path<(String, String)>) -> Result<Response, Refusal> {
    let id = SessionId::new(session).map_err(|error| Refusal::invalid(error.to_string()))?;
    let request = sandbox.request(Method::DELETE, &format!("sessions/{id}"), Body::empty())?;
    sandbox.ask_for::<()>(Operation::Session, request).await?;
    let ended = SessionEnded { success: true, session_id: id.into(), timestamp: clock::now() };
    Ok(json(StatusCode::OK, &ended))
}
