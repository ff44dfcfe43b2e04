//! Event streams: what a follower is told, as server-sent events whose ids are cursors.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use atoll_protocol::{Encoding, ErrorBody, Gap, OutputEvent};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use http::HeaderMap;
use http::header::ACCEPT;
use serde::Serialize;

use crate::encode::Encoder;
use crate::error::Refusal;
use crate::follow::{Follow, Told};

/// How often a silent stream says that it is still there: well below the minute after which proxies give up.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// Whether the client asks for a stream of events.
pub(crate) fn accepted(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|kind| {
        let essence = kind.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case("text/event-stream")
    })
}

/// The cursor that the client has reached, if it comes back.
pub(crate) fn last_event_id(headers: &HeaderMap) -> Result<Option<u64>, Refusal> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let number = value.to_str().ok().and_then(|text| text.parse().ok());
    number.map(Some).ok_or_else(|| Refusal::invalid("last-event-id: not a cursor of this stream"))
}

/// An answer of events.
pub(crate) fn answer(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    // A proxy that gathers events before it passes them on would undo their purpose.
    let headers = [("x-accel-buffering", "no")];
    (headers, Sse::new(events).keep_alive(KeepAlive::new().interval(SIGN_OF_LIFE))).into_response()
}

/// What comes next in a stream of output.
#[derive(Debug)]
pub(crate) enum Next {
    Event(Event),
    /// The last one; the caller tells it in its own way.
    End(atoll_protocol::OutputEnd),
    /// The last one.
    Failed(Event),
}

/// The events of a follower.
#[derive(Debug)]
pub(crate) struct Events {
    follow: Follow,
    encoder: Encoder,
    /// At most three: what one thing told can become.
    ready: VecDeque<Next>,
}

impl Events {
    pub(crate) fn new(follow: Follow, encoding: Encoding) -> Self {
        Self { follow, encoder: Encoder::new(encoding), ready: VecDeque::new() }
    }

    /// `None` after the last.
    pub(crate) async fn next(&mut self) -> Option<Next> {
        while self.ready.is_empty() {
            let told = self.follow.next().await?;
            self.take(told);
        }
        self.ready.pop_front()
    }

    fn take(&mut self, told: Told) {
        if !matches!(told, Told::Output(_)) {
            self.ready.extend(self.encoder.flush().map(|event| Next::Event(output(&event))));
        }
        match told {
            Told::Output(chunk) => {
                self.ready.extend(self.encoder.push(chunk).map(|event| Next::Event(output(&event))));
            }
            Told::Gap(lost) => self.ready.push_back(Next::Event(gap(lost))),
            Told::End(end) => self.ready.push_back(Next::End(end)),
            Told::Failed(body) => self.ready.push_back(Next::Failed(failed(&body))),
        }
    }
}

fn output(told: &OutputEvent) -> Event {
    event("output", told).id(told.next_cursor.to_string())
}

fn gap(told: Gap) -> Event {
    event("gap", &told).id(told.to.to_string())
}

/// The stream cannot go on.
pub(crate) fn failed(body: &ErrorBody) -> Event {
    event("error", body)
}

/// An event with JSON in it.
pub(crate) fn event(name: &str, data: &impl Serialize) -> Event {
    // Our own words are always JSON; should one not be, its name is still told.
    let text = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
    Event::default().event(name).data(text)
}
