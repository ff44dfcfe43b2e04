//! The way out: what may be reached, what happened there, and secrets that commands may use and not see.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use atoll_protocol::{
    EgressEvent, EgressEventPage, Gap, NetworkInfo, NetworkPolicy, PutSecret, SecretInfo, SecretList,
};
use atoll_runtime::EgressEvents;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, stream};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use tokio::sync::watch;
use utoipa::IntoParams;

use crate::agent::Agent;
use crate::error::Refusal;
use crate::extract::{self, Params};
use crate::sse;

/// Events of a page, if not told otherwise, and at most.
const PAGE: usize = 100;
const PAGE_MAX: usize = 1000;

/// Longest wait for a page: below the minute after which proxies give up.
const WAIT_MAX: Duration = Duration::from_secs(55);

/// Show what may be reached, and what has gone out.
#[utoipa::path(get, path = "/v1/network", tag = "network", operation_id = "getNetwork",
    responses((status = 200, body = NetworkInfo)))]
pub(super) async fn show(State(agent): State<Agent>) -> Json<NetworkInfo> {
    Json(agent.sandbox().network())
}

/// Say what may be reached from now on. Connections that are no longer allowed are cut off.
#[utoipa::path(put, path = "/v1/network", tag = "network", operation_id = "putNetwork", request_body = NetworkPolicy,
    responses((status = 200, body = NetworkInfo)))]
pub(super) async fn put(
    State(agent): State<Agent>,
    extract::Json(policy): extract::Json<NetworkPolicy>,
) -> Result<Json<NetworkInfo>, Refusal> {
    // In a task of its own: a change is made whole, should the caller go away.
    let changed = tokio::spawn(async move { agent.sandbox().set_network(policy).await }).await;
    let changed = changed.map_err(|error| Refusal::new(atoll_protocol::ErrorCode::Internal, error.to_string()))?;
    Ok(Json(changed?))
}

/// Which events.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct Range {
    /// From this cursor on.
    #[param(required = false)]
    since: u64,
    /// For a page: at most so many (100).
    #[param(required = false, minimum = 1, maximum = 1000)]
    limit: usize,
    /// For a page: if there is none yet, wait for one so long (at most 55000).
    wait_ms: Option<u64>,
}

impl Default for Range {
    fn default() -> Self {
        Self { since: 0, limit: PAGE, wait_ms: None }
    }
}

/// What happened on the way out: a page by cursor; or, where `text/event-stream` is accepted, events `egress` as they come and
/// `gap` for those that are forgotten.
#[utoipa::path(get, path = "/v1/egress/events", tag = "network", operation_id = "getEgressEvents",
    params(Range, ("last-event-id" = Option<u64>, Header, description = "From this cursor on, instead of `since`: what a stream that comes back sends.")),
    responses((status = 200, content((EgressEventPage = "application/json"), (EgressEvent = "text/event-stream")))))]
pub(super) async fn events(
    State(agent): State<Agent>,
    Params(range): Params<Range>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let events = Arc::clone(agent.sandbox().egress_events());
    let since = sse::last_event_id(&headers)?.unwrap_or(range.since);
    if sse::accepted(&headers) {
        return Ok(sse::answer(told(events, since)));
    }
    if !(1..=PAGE_MAX).contains(&range.limit) {
        return Err(Refusal::invalid(format!("query: limit: a page has 1 to {PAGE_MAX} events")));
    }
    let wait = range.wait_ms.map(|millis| Duration::from_millis(millis).min(WAIT_MAX));
    if let Some(wait) = wait {
        let mut next = events.watch();
        // Whether or not one came, what there is is told.
        drop(tokio::time::timeout(wait, next.wait_for(|next| *next > since)).await);
    }
    Ok(Json(events.since(since, range.limit)).into_response())
}

/// Where a stream is.
struct Place {
    events: Arc<EgressEvents>,
    next: watch::Receiver<u64>,
    cursor: u64,
    ready: std::collections::VecDeque<Event>,
}

fn told(events: Arc<EgressEvents>, since: u64) -> impl Stream<Item = Result<Event, Infallible>> + Send {
    let next = events.watch();
    let place = Place { events, next, cursor: since, ready: std::collections::VecDeque::new() };
    stream::unfold(place, async |mut place| {
        loop {
            if let Some(event) = place.ready.pop_front() {
                return Some((Ok(event), place));
            }
            let page = place.events.since(place.cursor, PAGE);
            if page.lost > 0 {
                let gap = Gap { from: place.cursor, to: place.cursor + page.lost };
                place.ready.push_back(sse::event("gap", &gap).id(gap.to.to_string()));
            }
            let next = |event: &EgressEvent| sse::event("egress", event).id((event.cursor + 1).to_string());
            place.ready.extend(page.events.iter().map(next));
            let nothing = page.events.is_empty() && page.lost == 0;
            // A cursor behind the end is one of an earlier life: what comes is told all the same.
            place.cursor = page.next_cursor;
            let cursor = place.cursor;
            if nothing {
                place.next.wait_for(|next| *next > cursor).await.ok()?;
            }
        }
    })
}

/// List secrets, without their values.
#[utoipa::path(get, path = "/v1/secrets", tag = "network", operation_id = "listSecrets",
    responses((status = 200, body = SecretList)))]
pub(super) async fn secrets(State(agent): State<Agent>) -> Json<SecretList> {
    Json(SecretList { secrets: agent.sandbox().secrets() })
}

/// Give commands a secret that they may use and not see. It is told to the named servers alone, and never again here.
#[utoipa::path(put, path = "/v1/secrets/{secret}", tag = "network", operation_id = "putSecret", request_body = PutSecret,
    params(("secret" = String, Path, description = "The variable that holds its stand-in.")),
    responses((status = 200, body = SecretInfo)))]
pub(super) async fn put_secret(
    State(agent): State<Agent>,
    Path(name): Path<String>,
    extract::Json(secret): extract::Json<PutSecret>,
) -> Result<Json<SecretInfo>, Refusal> {
    Ok(Json(agent.sandbox().put_secret(&name, secret).await?))
}

/// Take a secret away.
#[utoipa::path(delete, path = "/v1/secrets/{secret}", tag = "network", operation_id = "deleteSecret",
    params(("secret" = String, Path, description = "The secret.")),
    responses((status = 204, description = "It is gone.")))]
pub(super) async fn delete_secret(State(agent): State<Agent>, Path(name): Path<String>) -> Result<StatusCode, Refusal> {
    agent.sandbox().remove_secret(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}
