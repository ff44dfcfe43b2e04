//! The server itself: whether it lives, whether it can serve, what it counts.

use atoll_protocol::{SandboxState, Verb};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use hyper::header::CONTENT_TYPE;

use crate::Error;
use crate::app::App;
use crate::auth::Caller;

/// The text format of Prometheus.
const METRICS_TYPE: &str = "text/plain; version=0.0.4";

/// Whether the process lives.
#[utoipa::path(get, path = "/healthz", tag = "server", operation_id = "isAlive", security(()),
    responses((status = 200, body = String, content_type = "text/plain")))]
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// Whether it can serve: not while it ends, nor without its registry.
#[utoipa::path(get, path = "/readyz", tag = "server", operation_id = "isReady", security(()),
    responses((status = 200, body = String, content_type = "text/plain")))]
pub(super) async fn ready(State(app): State<App>) -> Result<&'static str, Error> {
    readiness(&app).await?;
    Ok("ok\n")
}

/// Why it cannot serve.
pub(crate) async fn readiness(app: &App) -> Result<(), Error> {
    if app.is_draining() {
        return Err(Error::ShuttingDown);
    }
    app.registry.check().await
}

/// Counts, in the text format of Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "server", operation_id = "getMetrics",
    responses((status = 200, body = String, content_type = "text/plain")))]
pub(super) async fn metrics(State(app): State<App>, caller: Caller) -> Result<Response, Error> {
    caller.must_everywhere(Verb::Read)?;
    let states = app.fleet.states();
    let all = [SandboxState::Running, SandboxState::Paused, SandboxState::Stopped];
    let counts = all.map(|state| (state, states.iter().filter(|found| **found == state).count()));
    let traffic = app.fleet.traffic().await;
    Ok(([(CONTENT_TYPE, METRICS_TYPE)], app.metrics.text(&counts, &traffic)).into_response())
}
