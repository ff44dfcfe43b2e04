//! A watch over a WebSocket: what happens, as it happens.

use atoll_protocol::WatchId;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket};
use axum::response::Response;
use futures_util::StreamExt;
use futures_util::stream::SplitStream;
use serde::Deserialize;
use utoipa::IntoParams;

use super::socket::{self, Outgoing, Upgrade};
use super::watches::Streaming;
use crate::agent::Agent;
use crate::error::Refusal;
use crate::extract::{Id, Params};

/// Where to begin.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct View {
    /// From this cursor on.
    #[param(required = false)]
    since: u64,
}

/// Follow a watch over a WebSocket.
///
/// Text frames, each a WatchFrame as JSON: the same that the stream of events tells. After `end` or `error` the server
/// closes. What the client sends is not read; leaving changes nothing for the watch. A cursor that is no longer
/// remembered is refused before the connection changes over.
#[utoipa::path(get, path = "/v1/watches/{id}/attach", tag = "watches", operation_id = "attachToWatch",
    params(("id" = WatchId, Path), View),
    responses((status = 101, description = "The connection is a WebSocket from here on.")))]
pub(super) async fn attach(
    State(agent): State<Agent>,
    Id(id): Id<WatchId>,
    Params(view): Params<View>,
    asked: Upgrade,
) -> Result<Response, Refusal> {
    let watch = agent.sandbox().watch(&id)?;
    let (upgrade, place) = socket::upgrade(&agent, asked)?;
    let streaming = Streaming::begin(watch, view.since).await?;
    Ok(upgrade.on_upgrade(async move |socket| {
        talk(socket, streaming).await;
        drop(place);
    }))
}

async fn talk(socket: WebSocket, streaming: Streaming) {
    let (mut outgoing, incoming) = socket.split();
    tokio::select! {
        _ = tell(&mut outgoing, streaming) => {}
        () = until_gone(incoming) => {}
    }
    socket::close(outgoing).await;
}

async fn tell(outgoing: &mut Outgoing, mut streaming: Streaming) -> Result<(), axum::Error> {
    while let Some(frame) = streaming.frame().await {
        socket::tell(outgoing, &frame).await?;
    }
    Ok(())
}

/// There is nothing to be said to a watch; pings are answered while somebody reads.
async fn until_gone(mut incoming: SplitStream<WebSocket>) {
    while let Some(Ok(message)) = incoming.next().await {
        if matches!(message, Message::Close(_)) {
            return;
        }
    }
}
