//! One process: showing, forgetting, ending, signalling it, and waiting for it.

use atoll_protocol::{
    KillReceipt, KillRequest, LogMatch, ProcessId, ProcessInfo, SignalReceipt, SignalRequest, WaitAnswer, WaitFor,
    WaitRequest,
};
use atoll_runtime::Match;
use axum::Json;
use axum::extract::State;
use http::StatusCode;

use crate::agent::Agent;
use crate::command;
use crate::error::Refusal;
use crate::extract::{self, Id, OptionalJson, ThisProcess};

/// Show a process.
#[utoipa::path(get, path = "/v1/processes/{id}", tag = "processes", operation_id = "getProcess",
    params(("id" = ProcessId, Path)), responses((status = 200, body = ProcessInfo)))]
pub(super) async fn show(ThisProcess(process): ThisProcess) -> Json<ProcessInfo> {
    Json(process.info())
}

/// Forget an ended process and its output.
#[utoipa::path(delete, path = "/v1/processes/{id}", tag = "processes", operation_id = "removeProcess",
    params(("id" = ProcessId, Path)), responses((status = 204, description = "It is forgotten.")))]
pub(super) async fn remove(State(agent): State<Agent>, Id(id): Id<ProcessId>) -> Result<StatusCode, Refusal> {
    agent.sandbox().remove_process(&id)?;
    Ok(StatusCode::NO_CONTENT)
}

/// End a process and everything it started.
///
/// TERM, then KILL after the grace period, until none is left. One that is over already is no error.
#[utoipa::path(post, path = "/v1/processes/{id}/kill", tag = "processes", operation_id = "killProcess",
    params(("id" = ProcessId, Path)), request_body = Option<KillRequest>,
    responses((status = 200, body = KillReceipt)))]
pub(super) async fn kill(
    ThisProcess(process): ThisProcess,
    OptionalJson(request): OptionalJson<KillRequest>,
) -> Result<Json<KillReceipt>, Refusal> {
    let grace = command::millis(request.grace_ms).unwrap_or(process.spec().command.grace);
    Ok(Json(process.kill(grace).await?))
}

/// Send a signal to the main process, or to the whole tree.
#[utoipa::path(post, path = "/v1/processes/{id}/signal", tag = "processes", operation_id = "signalProcess",
    params(("id" = ProcessId, Path)), request_body = SignalRequest,
    responses((status = 200, body = SignalReceipt)))]
pub(super) async fn signal(
    ThisProcess(process): ThisProcess,
    extract::Json(request): extract::Json<SignalRequest>,
) -> Result<Json<SignalReceipt>, Refusal> {
    let signalled = process.signal(request.signal, command::scope(request.scope)).await?;
    Ok(Json(SignalReceipt { signalled }))
}

/// Wait for the end, a line of output, a port, or a read of standard input.
///
/// The wait's own time limit never touches the process. It ends early, with its own error, if the process ends.
#[utoipa::path(post, path = "/v1/processes/{id}/wait", tag = "processes", operation_id = "waitForProcess",
    params(("id" = ProcessId, Path)), request_body = WaitRequest,
    responses((status = 200, body = WaitAnswer)))]
pub(super) async fn wait(
    ThisProcess(process): ThisProcess,
    extract::Json(request): extract::Json<WaitRequest>,
) -> Result<Json<WaitAnswer>, Refusal> {
    let limit = command::millis(request.timeout_ms);
    let mut answer = WaitAnswer::default();
    match request.r#for {
        WaitFor::Exit => answer.end = Some(process.wait_exit(limit).await?),
        WaitFor::Input => process.wait_input(limit).await?,
        WaitFor::Log(condition) => {
            let since = condition.since.unwrap_or(0);
            let found = process.wait_log(&command::pattern(condition)?, since, limit).await?;
            answer.found = Some(log_match(&found));
        }
        WaitFor::Port(condition) => process.wait_port(&command::port(condition), limit).await?,
    }
    Ok(Json(answer))
}

/// What was found, in the words of the API.
pub(super) fn log_match(found: &Match) -> LogMatch {
    LogMatch { stream: found.stream, cursor: found.cursor, line: String::from_utf8_lossy(&found.line).into_owned() }
}
