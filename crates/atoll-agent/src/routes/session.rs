//! One session: its commands, its end, and what begins with what it holds.

use std::time::Duration;

use atoll_protocol::{
    CancelReceipt, ExecRequest, ExecResult, ForkRequest, InterruptReceipt, KillReceipt, KillRequest, ProcessId,
    ProcessInfo, RestartRequest, SessionId, SessionInfo, StartRequest,
};
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};

use super::exec;
use super::sessions::seen_through;
use crate::agent::Agent;
use crate::command;
use crate::error::Refusal;
use crate::extract::{self, OptionalJson, ThisCommand, ThisSession};
use crate::place::Place;

/// How long a command that is told to end may take before it is killed, if not told otherwise.
const GRACE: Duration = Duration::from_secs(2);

/// Show a session.
#[utoipa::path(get, path = "/v1/sessions/{id}", tag = "sessions", operation_id = "getSession",
    params(("id" = SessionId, Path)), responses((status = 200, body = SessionInfo)))]
pub(super) async fn show(ThisSession(session): ThisSession) -> Json<SessionInfo> {
    Json(session.info())
}

/// End a session at once: its shell, what runs in it, what its commands have left, and the processes that were started
/// from it.
#[utoipa::path(delete, path = "/v1/sessions/{id}", tag = "sessions", operation_id = "deleteSession",
    params(("id" = SessionId, Path)), responses((status = 204, description = "Nothing of it is left.")))]
pub(super) async fn delete(ThisSession(session): ThisSession) -> Result<StatusCode, Refusal> {
    seen_through(async move { session.delete().await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Run a command in a session to its end, after those that came before it.
///
/// Asked and answered as `/v1/exec`, as a stream too; `start` is told as soon as the command is in the queue. The user
/// and a memory limit are the session's and the sandbox's, and are refused here.
#[utoipa::path(post, path = "/v1/sessions/{id}/exec", tag = "sessions", operation_id = "execInSession",
    params(("id" = SessionId, Path)), request_body = ExecRequest,
    responses((status = 200, content(
        (ExecResult = "application/json"),
        (String = "text/event-stream"),
    ))))]
pub(super) async fn exec(
    State(agent): State<Agent>,
    ThisSession(session): ThisSession,
    headers: HeaderMap,
    extract::Json(request): extract::Json<ExecRequest>,
) -> Result<Response, Refusal> {
    exec::answer(&agent, &Place::Session(session), &headers, request).await
}

/// Put a command into a session's queue.
///
/// Answers at once. The command is a process from here on: `starting` until its turn comes, with output that can be
/// followed from before it begins. `restart` and `ready` are refused.
#[utoipa::path(post, path = "/v1/sessions/{id}/commands", tag = "sessions", operation_id = "queueInSession",
    params(("id" = SessionId, Path)), request_body = StartRequest,
    responses((status = 200, body = ProcessInfo)))]
pub(super) async fn queue(
    ThisSession(session): ThisSession,
    extract::Json(request): extract::Json<StartRequest>,
) -> Result<Json<ProcessInfo>, Refusal> {
    let process = session.begin(command::start(request)?).await?;
    Ok(Json(process.info()))
}

/// Take a command out of a session's queue. One that has begun is left alone.
#[utoipa::path(delete, path = "/v1/sessions/{id}/commands/{process}", tag = "sessions",
    operation_id = "cancelInSession", params(("id" = SessionId, Path), ("process" = ProcessId, Path)),
    responses((status = 200, body = CancelReceipt)))]
pub(super) async fn cancel(ThisCommand(session, process): ThisCommand) -> Result<Json<CancelReceipt>, Refusal> {
    let cancelled = session.cancel(process.id()).await?;
    Ok(Json(CancelReceipt { cancelled }))
}

/// Interrupt the command that runs, as Ctrl-C would. The session lives on.
#[utoipa::path(post, path = "/v1/sessions/{id}/interrupt", tag = "sessions", operation_id = "interruptSession",
    params(("id" = SessionId, Path)), responses((status = 200, body = InterruptReceipt)))]
pub(super) async fn interrupt(ThisSession(session): ThisSession) -> Result<Json<InterruptReceipt>, Refusal> {
    let interrupted = session.interrupt().await?;
    Ok(Json(InterruptReceipt { interrupted }))
}

/// End the command that runs, and all that it started. The session lives on.
#[utoipa::path(post, path = "/v1/sessions/{id}/kill", tag = "sessions", operation_id = "killInSession",
    params(("id" = SessionId, Path)), request_body = Option<KillRequest>,
    responses((status = 200, body = KillReceipt)))]
pub(super) async fn kill(
    ThisSession(session): ThisSession,
    OptionalJson(request): OptionalJson<KillRequest>,
) -> Result<Json<KillReceipt>, Refusal> {
    let grace = command::millis(request.grace_ms).unwrap_or(GRACE);
    Ok(Json(session.kill(grace).await?))
}

/// Bring a dead session back, from its last snapshot or from nothing.
#[utoipa::path(post, path = "/v1/sessions/{id}/restart", tag = "sessions", operation_id = "restartSession",
    params(("id" = SessionId, Path)), request_body = Option<RestartRequest>,
    responses((status = 200, body = SessionInfo)))]
pub(super) async fn restart(
    ThisSession(session): ThisSession,
    OptionalJson(request): OptionalJson<RestartRequest>,
) -> Result<Json<SessionInfo>, Refusal> {
    session.restart(command::restart_from(request.from)).await?;
    Ok(Json(session.info()))
}

/// Make a new session that holds what this one does.
#[utoipa::path(post, path = "/v1/sessions/{id}/fork", tag = "sessions", operation_id = "forkSession",
    params(("id" = SessionId, Path)), request_body = Option<ForkRequest>,
    responses((status = 200, body = SessionInfo)))]
pub(super) async fn fork(
    ThisSession(session): ThisSession,
    OptionalJson(request): OptionalJson<ForkRequest>,
) -> Result<Json<SessionInfo>, Refusal> {
    let copy = seen_through(async move { session.fork(request.id).await }).await?;
    Ok(Json(copy.info()))
}

/// Start a process that begins with what the session holds, and writes nothing back.
///
/// Asked and answered as `POST /v1/processes`.
#[utoipa::path(post, path = "/v1/sessions/{id}/processes", tag = "sessions", operation_id = "startFromSession",
    params(("id" = SessionId, Path)), request_body = StartRequest,
    responses((status = 200, body = ProcessInfo)))]
pub(super) async fn start(
    ThisSession(session): ThisSession,
    extract::Json(request): extract::Json<StartRequest>,
) -> Result<Json<ProcessInfo>, Refusal> {
    let process = session.start(command::start(request)?).await?;
    Ok(Json(process.info()))
}
