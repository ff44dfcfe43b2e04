//! The sandboxes that are made ahead (`serve --warm`), as a bridge's pool.

use atoll_protocol::{SandboxState, Verb};
use axum::extract::State;
use axum::response::Response;
use hyper::StatusCode;
use serde::Serialize;

use super::files::Done;
use super::refusal::{ErrorShape, Refusal};
use super::sandbox::Who;
use crate::app::App;
use crate::routes::extract::json;

/// How many there are.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PoolStats {
    /// Made ahead, and nobody's yet.
    warm: usize,
    /// Sandboxes that run or are paused.
    assigned: usize,
    /// Both.
    total: usize,
    /// How many there should be.
    config: PoolConfig,
    /// How many sandboxes this server may have, stopped ones included.
    max_instances: usize,
}

/// How a pool should be.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PoolConfig {
    /// How many are kept waiting: `serve --warm`.
    warm_target: usize,
    /// How long a place that became free stays so, in milliseconds: none here, the next one is made at once.
    refresh_interval: u64,
}

/// How many sandboxes wait, and how many are somebody's.
#[utoipa::path(get, path = "/v1/pool/stats", tag = "pool", operation_id = "poolStats",
    responses((status = 200, body = PoolStats), (status = "default", body = ErrorShape)))]
pub(super) async fn stats(State(app): State<App>, Who(caller): Who) -> Result<Response, Refusal> {
    caller.must_everywhere(Verb::Read)?;
    let ground = app.fleet.ground();
    let pool = ground.placement.pool();
    let assigned = app.fleet.states().into_iter().filter(|state| *state != SandboxState::Stopped).count();
    let stats = PoolStats {
        warm: pool.waiting,
        assigned,
        total: pool.waiting + assigned,
        config: PoolConfig { warm_target: pool.wanted, refresh_interval: 0 },
        max_instances: ground.sandboxes_max,
    };
    Ok(json(StatusCode::OK, &stats))
}

/// Make as many as should wait. It is begun, not waited for.
#[utoipa::path(post, path = "/v1/pool/prime", tag = "pool", operation_id = "primePool",
    responses((status = 200, body = Done), (status = "default", body = ErrorShape)))]
pub(super) async fn prime(State(app): State<App>, Who(caller): Who) -> Result<Done, Refusal> {
    caller.must_everywhere(Verb::Admin)?;
    app.fleet.ground().placement.get_ready();
    Ok(Done { ok: true })
}

/// End those that wait and are nobody's. Others are made when a sandbox is created the next time, or with `prime`.
#[utoipa::path(post, path = "/v1/pool/shutdown-prewarmed", tag = "pool", operation_id = "shutdownPrewarmed",
    responses((status = 200, body = Done), (status = "default", body = ErrorShape)))]
pub(super) async fn shut_down(State(app): State<App>, Who(caller): Who) -> Result<Done, Refusal> {
    caller.must_everywhere(Verb::Admin)?;
    app.fleet.ground().placement.let_go().await;
    Ok(Done { ok: true })
}
