//! The sandbox as a whole.

use atoll_protocol::SandboxInfo;
use axum::Json;
use axum::extract::State;
use http::StatusCode;

use crate::agent::Agent;
use crate::error::Refusal;

/// Show the sandbox.
#[utoipa::path(get, path = "/v1/sandbox", tag = "sandbox", operation_id = "getSandbox",
    responses((status = 200, body = SandboxInfo)))]
pub(super) async fn show(State(agent): State<Agent>) -> Json<SandboxInfo> {
    Json(agent.info())
}

/// End everything in the sandbox and remove everything of it. The server stops.
#[utoipa::path(delete, path = "/v1/sandbox", tag = "sandbox", operation_id = "deleteSandbox",
    responses((status = 204, description = "Nothing is left.")))]
pub(super) async fn delete(State(agent): State<Agent>) -> Result<StatusCode, Refusal> {
    // In a task of its own: half a removal helps nobody, should the caller go away.
    let stopped = tokio::spawn(async move { agent.stop().await }).await;
    stopped.map_err(|error| Refusal::new(atoll_protocol::ErrorCode::Internal, error.to_string()))??;
    Ok(StatusCode::NO_CONTENT)
}

/// Stop everything in the sandbox where it stands.
#[utoipa::path(post, path = "/v1/sandbox/pause", tag = "sandbox", operation_id = "pauseSandbox",
    responses((status = 204, description = "Nothing moves.")))]
pub(super) async fn pause(State(agent): State<Agent>) -> Result<StatusCode, Refusal> {
    agent.sandbox().pause().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Let everything in the sandbox go on.
#[utoipa::path(post, path = "/v1/sandbox/resume", tag = "sandbox", operation_id = "resumeSandbox",
    responses((status = 204, description = "Everything goes on.")))]
pub(super) async fn resume(State(agent): State<Agent>) -> Result<StatusCode, Refusal> {
    agent.sandbox().resume().await?;
    Ok(StatusCode::NO_CONTENT)
}
