//! The pre-warmed sandboxes (`serve --warm`), as a bridge's pool.

use atoll_protocol::{SandboxState, Verb};
use axum::extract::State;
use axum::response::Response;
use hyper::StatusCode;
use serde::Serialize;

use super::error::{ApiError, ErrorShape};
use super::files::Done;
use super::sandbox::Authenticated;
use crate::app::App;
use crate::routes::extract::json;

/// The state of the pool.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PoolStats {
    /// Pre-warmed sandboxes.
    warm: usize,
    /// Running and paused sandboxes.
    assigned: usize,
    /// The sum of both.
    total: usize,
    /// The pool's configuration.
    config: PoolConfig,
    /// The maximum number of sandboxes on this server, including stopped ones.
    max_instances: usize,
}

/// The configuration of the pool.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PoolConfig {
    /// Number of pre-warmed sandboxes to keep ready: `serve --warm`.
    warm_target: usize,
    /// Delay before the pool is refilled, in milliseconds. Always 0: it is refilled at once.
    refresh_interval: u64,
}

/// Get the number of pre-warmed and assigned sandboxes.
#[utoipa::path(get, path = "/v1/pool/stats", tag = "pool", operation_id = "poolStats",
    responses((status = 200, body = PoolStats), (status = "default", body = ErrorShape)))]
pub(super) async fn stats(State(app): State<App>, Authenticated(caller): Authenticated) -> Result<Response, ApiError> {
    caller.must_everywhere(Verb::Read)?;
    let services = app.sandboxes.services();
    let pool = services.placement.pool();
    let assigned = app.sandboxes.states().into_iter().filter(|state| *state != SandboxState::Stopped).count();
    let stats = PoolStats {
        warm: pool.ready,
        assigned,
        total: pool.ready + assigned,
        config: PoolConfig { warm_target: pool.wanted, refresh_interval: 0 },
        max_instances: services.sandboxes_max,
    };
    Ok(json(StatusCode::OK, &stats))
}

/// Fill the pool, in the background.
#[utoipa::path(post, path = "/v1/pool/prime", tag = "pool", operation_id = "primePool",
    responses((status = 200, body = Done), (status = "default", body = ErrorShape)))]
pub(super) async fn prime(State(app): State<App>, Authenticated(caller): Authenticated) -> Result<Done, ApiError> {
    caller.must_everywhere(Verb::Admin)?;
    app.sandboxes.services().placement.fill_pool();
    Ok(Done { ok: true })
}

/// Remove the pre-warmed sandboxes. The pool is filled again when the next sandbox is created, or with `prime`.
#[utoipa::path(post, path = "/v1/pool/shutdown-prewarmed", tag = "pool", operation_id = "shutdownPrewarmed",
    responses((status = 200, body = Done), (status = "default", body = ErrorShape)))]
pub(super) async fn shut_down(State(app): State<App>, Authenticated(caller): Authenticated) -> Result<Done, ApiError> {
    caller.must_everywhere(Verb::Admin)?;
    app.sandboxes.services().placement.drain_pool().await;
    Ok(Done { ok: true })
}
