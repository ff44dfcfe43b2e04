//! The server itself: liveness, readiness, metrics.

use atoll_protocol::{SandboxState, Verb};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use hyper::header::CONTENT_TYPE;

use crate::Error;
use crate::app::App;
use crate::auth::Caller;

/// The content type of the Prometheus text format.
const METRICS_TYPE: &str = "text/plain; version=0.0.4";

/// Check whether the process is alive.
#[utoipa::path(get, path = "/healthz", tag = "server", operation_id = "isAlive", security(()),
    responses((status = 200, body = String, content_type = "text/plain")))]
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// Check whether the server is ready: not shutting down, and its registry responds.
#[utoipa::path(get, path = "/readyz", tag = "server", operation_id = "isReady", security(()),
    responses((status = 200, body = String, content_type = "text/plain")))]
pub(super) async fn ready(State(app): State<App>) -> Result<&'static str, Error> {
    readiness(&app).await?;
    Ok("ok\n")
}

/// Returns an error if the server is not ready.
pub(crate) async fn readiness(app: &App) -> Result<(), Error> {
    if app.is_draining() {
        return Err(Error::ShuttingDown);
    }
    app.registry.check().await
}

/// Get the metrics in the Prometheus text format.
#[utoipa::path(get, path = "/metrics", tag = "server", operation_id = "getMetrics",
    responses((status = 200, body = String, content_type = "text/plain")))]
pub(super) async fn metrics(State(app): State<App>, caller: Caller) -> Result<Response, Error> {
    caller.must_everywhere(Verb::Read)?;
    let states = app.sandboxes.states();
    let all = [SandboxState::Running, SandboxState::Paused, SandboxState::Stopped];
    let counts = all.map(|state| (state, states.iter().filter(|found| **found == state).count()));
    let traffic = app.sandboxes.traffic().await;
    Ok(([(CONTENT_TYPE, METRICS_TYPE)], app.metrics.text(&counts, &traffic)).into_response())
}
