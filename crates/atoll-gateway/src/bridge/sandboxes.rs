//! Creates ids of sandboxes, checks whether they run, and deletes them.

use atoll_protocol::Verb;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use serde::{Deserialize, Serialize};

use super::error::{ApiError, ErrorShape};
use super::id;
use super::sandbox::{Authenticated, Sandbox};
use crate::Error;
use crate::app::App;
use crate::routes::extract::{Json, json};
use crate::sandboxes::Need;

/// No options are supported here; use Atoll's own API to change them.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// The id of a sandbox.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Created {
    /// The id for paths. It is also the sandbox's name.
    id: String,
}

/// Whether a sandbox is running.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Running {
    /// Whether it is running.
    running: bool,
}

/// Get an id for a sandbox. The sandbox is created when it is first used.
#[utoipa::path(post, path = "/v1/sandbox", tag = "sandbox", operation_id = "createSandbox",
    request_body = Option<Nothing>,
    responses((status = 200, body = Created), (status = "default", body = ErrorShape)))]
pub(super) async fn create(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    body: Result<Json<Nothing>, Error>,
) -> Result<Response, ApiError> {
    let Json(Nothing {}) = body?;
    let name = id::generate()?;
    // Checked now rather than by the first command.
    caller.must(Verb::Admin, &name)?;
    if app.is_draining() {
        return Err(Error::ShuttingDown.into());
    }
    Ok(json(StatusCode::OK, &Created { id: name.into() }))
}

/// Check whether a sandbox is running. Starts a stopped one; does not create one.
#[utoipa::path(get, path = "/v1/sandbox/{id}/running", tag = "sandbox", operation_id = "isRunning",
    params(("id" = String, Path, description = "The sandbox.")),
    responses((status = 200, body = Running), (status = "default", body = ErrorShape)))]
pub(super) async fn running(sandbox: Sandbox) -> Result<Response, ApiError> {
    sandbox.caller.must(Verb::Read, &sandbox.name)?;
    let running = match sandbox.app.sandboxes.get(&sandbox.name) {
        Ok(handle) => {
            let _in_use = handle.enter();
            handle.reach(&sandbox.name, Need::Run).await.is_ok()
        }
        Err(_) => false,
    };
    Ok(json(StatusCode::OK, &Running { running }))
}

/// Delete a sandbox with all of its files. Succeeds if it does not exist.
#[utoipa::path(delete, path = "/v1/sandbox/{id}", tag = "sandbox", operation_id = "deleteSandbox",
    params(("id" = String, Path, description = "The sandbox.")),
    responses((status = 204, description = "The sandbox is deleted."), (status = "default", body = ErrorShape)))]
pub(super) async fn delete(sandbox: Sandbox) -> Result<Response, ApiError> {
    sandbox.caller.must(Verb::Admin, &sandbox.name)?;
    if let Ok(handle) = sandbox.app.sandboxes.get(&sandbox.name) {
        match handle.delete(&sandbox.name).await {
            Ok(()) | Err(Error::SandboxNotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}
