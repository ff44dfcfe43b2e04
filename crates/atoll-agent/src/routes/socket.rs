//! What all WebSockets share: the upgrade, text frames of JSON, the last frame.

use std::time::Duration;

use atoll_protocol::ErrorCode;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use futures_util::SinkExt;
use futures_util::stream::SplitSink;
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::agent::Agent;
use crate::error::Refusal;

/// Largest message from a client: a large paste. What is more comes in several.
const MESSAGE_MAX: usize = 1024 * 1024;

/// How long a client may take to hear that it is over.
const CLOSE_WITHIN: Duration = Duration::from_secs(5);

/// The half that is written to.
pub(super) type Outgoing = SplitSink<WebSocket, Message>;

/// The extractor, with its refusal left to us.
pub(super) type Upgrade = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

/// Accepts the upgrade, or says what is missing. The place is held for as long as the connection.
pub(super) fn upgrade(agent: &Agent, asked: Upgrade) -> Result<(WebSocketUpgrade, OwnedSemaphorePermit), Refusal> {
    let upgrade = asked
        .map_err(|error| Refusal::new(ErrorCode::UpgradeRequired, format!("this path is a WebSocket: {error}")))?;
    let place = agent.place();
    let place = place.ok_or_else(|| Refusal::new(ErrorCode::TooManyConnections, "too many WebSockets are open"))?;
    Ok((upgrade.max_message_size(MESSAGE_MAX).max_frame_size(MESSAGE_MAX), place))
}

/// A text frame. `Err` when nobody is there any more.
pub(super) async fn tell(outgoing: &mut Outgoing, frame: &impl Serialize) -> Result<(), axum::Error> {
    let text = serde_json::to_string(frame).map_err(axum::Error::new)?;
    outgoing.send(Message::text(text)).await
}

/// The last frame.
pub(super) async fn close(mut outgoing: Outgoing) {
    let frame = CloseFrame { code: close_code::NORMAL, reason: "".into() };
    // Nobody is there any more, or nobody reads: then it is closed without a word.
    drop(timeout(CLOSE_WITHIN, outgoing.send(Message::Close(Some(frame)))).await);
}
