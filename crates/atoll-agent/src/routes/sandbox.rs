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
