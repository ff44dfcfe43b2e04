//! Sandboxes as a whole: an id for one, whether it runs, and its end.

use atoll_protocol::Verb;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use serde::{Deserialize, Serialize};

use super::id;
use super::refusal::{ErrorShape, Refusal};
use super::sandbox::{Sandbox, Who};
use crate::Error;
use crate::app::App;
use crate::fleet::Need;
use crate::routes::extract::{Json, json};

/// Nothing can be asked of a sandbox here; its options are changed by Atoll's own API.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// The id of a sandbox.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Created {
    /// Give it as part of paths. It is the sandbox's name, too.
    id: String,
}

/// Whether a sandbox runs.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Running {
    /// Whether it does now.
    running: bool,
}

/// Get an id for a sandbox, which is made when it is first used.
#[utoipa::path(post, path = "/v1/sandbox", tag = "sandbox", operation_id = "createSandbox",
    request_body = Option<Nothing>,
    responses((status = 200, body = Created), (status = "default", body = ErrorShape)))]
pub(super) async fn create(
    State(app): State<App>,
    Who(caller): Who,
    body: Result<Json<Nothing>, Error>,
) -> Result<Response, Refusal> {
    let Json(Nothing {}) = body?;
    let name = id::made()?;
    // Told now rather than by the first command.
    caller.must(Verb::Admin, &name)?;
    if app.is_draining() {
        return Err(Error::ShuttingDown.into());
    }
    Ok(json(StatusCode::OK, &Created { id: name.into() }))
}

/// Whether a sandbox runs. One that sleeps with its files is started, and then does; one that is not there is not made.
#[utoipa::path(get, path = "/v1/sandbox/{id}/running", tag = "sandbox", operation_id = "isRunning",
    params(("id" = String, Path, description = "The sandbox.")),
    responses((status = 200, body = Running), (status = "default", body = ErrorShape)))]
pub(super) async fn running(sandbox: Sandbox) -> Result<Response, Refusal> {
    sandbox.caller.must(Verb::Read, &sandbox.name)?;
    let running = match sandbox.app.fleet.get(&sandbox.name) {
        Ok(handle) => {
            let _in_use = handle.enter();
            handle.reach(&sandbox.name, Need::Run).await.is_ok()
        }
        Err(_) => false,
    };
    Ok(json(StatusCode::OK, &Running { running }))
}

/// End a sandbox and remove everything of it. One that is not there is as good as removed.
#[utoipa::path(delete, path = "/v1/sandbox/{id}", tag = "sandbox", operation_id = "deleteSandbox",
    params(("id" = String, Path, description = "The sandbox.")),
    responses((status = 204, description = "Nothing of it is left."), (status = "default", body = ErrorShape)))]
pub(super) async fn delete(sandbox: Sandbox) -> Result<Response, Refusal> {
    sandbox.caller.must(Verb::Admin, &sandbox.name)?;
    if let Ok(handle) = sandbox.app.fleet.get(&sandbox.name) {
        match handle.delete(&sandbox.name).await {
            Ok(()) | Err(Error::SandboxNotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}
