//! What listens inside: now, and as it changes.

use std::convert::Infallible;

use atoll_protocol::{PortClosed, PortList};
use atoll_runtime::{PortChange, PortEvents};
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use axum::response::sse::Event;
use futures_util::{Stream, StreamExt, stream};

use crate::agent::Agent;
use crate::error::Refusal;
use crate::sse;

/// List the ports on which something listens inside, on whatever address.
#[utoipa::path(get, path = "/v1/ports", tag = "ports", operation_id = "listPorts",
    responses((status = 200, body = PortList)))]
pub(super) async fn list(State(agent): State<Agent>) -> Result<Json<PortList>, Refusal> {
    Ok(Json(PortList { ports: agent.sandbox().ports().await? }))
}

/// Follow ports as they open and close.
///
/// The first event is `ports`, with everything that is open now (`PortList`). Then `opened` (`PortInfo`) and `closed`
/// (`PortClosed`), as it happens. Who comes back gets everything that is open then.
#[utoipa::path(get, path = "/v1/ports/events", tag = "ports", operation_id = "followPorts",
    responses((status = 200, body = String, content_type = "text/event-stream")))]
pub(super) async fn events(State(agent): State<Agent>) -> Result<Response, Refusal> {
    let (ports, events) = agent.sandbox().port_events().await?;
    let now = sse::event("ports", &PortList { ports });
    Ok(sse::answer(stream::once(async { Ok(now) }).chain(changes(agent, events))))
}

/// Until the sandbox ends.
fn changes(agent: Agent, events: PortEvents) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold((agent, events), async |(agent, mut events)| {
        let change = tokio::select! {
            change = events.next() => change?,
            () = agent.stopped() => return None,
        };
        let told = match &change {
            PortChange::Opened(info) => sse::event("opened", info),
            PortChange::Closed(port) => sse::event("closed", &PortClosed { port: *port }),
        };
        Some((Ok(told), (agent, events)))
    })
}
