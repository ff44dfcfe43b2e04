//! Sessions: created by name, selected by a header, deleted by name.

use std::collections::BTreeMap;

use atoll_protocol::{SessionId, SessionInfo, SessionRequest, Timestamp};
use axum::body::Body;
use axum::extract::{FromRequestParts, Path};
use axum::response::Response;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};
use serde::{Deserialize, Serialize};

use super::error::{ApiError, ErrorShape, Operation};
use super::sandbox::{ResponseKind, Sandbox};
use crate::app::App;
use crate::routes::extract::{Json, json};
use crate::{Error, clock};

/// The header that names a session.
const SESSION: &str = "session-id";

/// The session that a request selects, if any.
#[derive(Debug)]
pub(super) struct InSession(pub(super) Option<SessionId>);

impl FromRequestParts<App> for InSession {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, ApiError> {
        Ok(Self(named(&parts.headers)?))
    }
}

/// Parses the header. An empty one selects no session.
fn named(headers: &HeaderMap) -> Result<Option<SessionId>, ApiError> {
    let Some(given) = headers.get(SESSION) else { return Ok(None) };
    let text = given.to_str().map_err(|_| ApiError::invalid("Session-Id: not a session id"))?;
    if text.is_empty() {
        return Ok(None);
    }
    let id = SessionId::new(text).map_err(|error| ApiError::invalid(format!("Session-Id: {error}")))?;
    Ok(Some(id))
}

/// The options of a new session.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct NewSession {
    /// The session's id (default: generated).
    #[schema(value_type = Option<String>)]
    id: Option<SessionId>,
    /// The shell's working directory.
    cwd: Option<String>,
    /// The shell's environment variables.
    env: BTreeMap<String, String>,
}

/// A new session.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct SessionMade {
    /// Send it in the header `Session-Id`.
    id: String,
}

/// A deleted session.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionEnded {
    /// Always true.
    success: bool,
    /// The session's id.
    session_id: String,
    /// The time of the deletion.
    #[schema(value_type = String)]
    timestamp: Timestamp,
}

/// Create a session: a persistent shell.
#[utoipa::path(post, path = "/v1/sandbox/{id}/session", tag = "sessions", operation_id = "createSession",
    params(("id" = String, Path, description = "The sandbox.")), request_body = Option<NewSession>,
    responses((status = 200, body = SessionMade), (status = "default", body = ErrorShape)))]
pub(super) async fn create(sandbox: Sandbox, body: Result<Json<NewSession>, Error>) -> Result<Response, ApiError> {
    let Json(NewSession { id, cwd, env }) = body?;
    let env = env.into_iter().map(|(name, value)| (name, Some(value))).collect();
    let requested = SessionRequest { id, cwd, env, ..SessionRequest::default() };
    sandbox.ensure_exists().await?;
    let made = begin(&sandbox, &requested).await?;
    Ok(json(StatusCode::OK, &SessionMade { id: made.id.into() }))
}

async fn begin(sandbox: &Sandbox, requested: &SessionRequest) -> Result<SessionInfo, ApiError> {
    let request = sandbox.request_json("sessions", requested, ResponseKind::Json)?;
    sandbox.fetch(Operation::Session, request).await
}

/// Creates the session that a command names, if it does not exist: a bridge's sessions begin with their first use.
/// Concurrent calls create one session.
pub(super) async fn ensure_exists(sandbox: &Sandbox, id: &SessionId) -> Result<(), ApiError> {
    let requested = SessionRequest { id: Some(id.clone()), ..SessionRequest::default() };
    let request = sandbox.request_json("sessions", &requested, ResponseKind::Json)?;
    match sandbox.try_send(Operation::Session, request).await? {
        Err(answer) if answer.error.code != atoll_protocol::ErrorCode::SessionAlreadyExists => {
            Err(ApiError::from_agent(Operation::Session, &answer.error))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Delete a session, and kill the processes in it.
#[utoipa::path(delete, path = "/v1/sandbox/{id}/session/{session}", tag = "sessions", operation_id = "deleteSession",
    params(("id" = String, Path, description = "The sandbox."), ("session" = String, Path, description = "The session.")),
    responses((status = 200, body = SessionEnded), (status = "default", body = ErrorShape)))]
pub(super) async fn delete(sandbox: Sandbox, Path((_, session)): Path<(String, String)>) -> Result<Response, ApiError> {
    let id = SessionId::new(session).map_err(|error| ApiError::invalid(error.to_string()))?;
    let request = sandbox.request(Method::DELETE, &format!("sessions/{id}"), Body::empty())?;
    sandbox.fetch::<()>(Operation::Session, request).await?;
    let ended = SessionEnded { success: true, session_id: id.into(), timestamp: clock::now() };
    Ok(json(StatusCode::OK, &ended))
}
