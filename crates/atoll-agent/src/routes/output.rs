//! Output by cursor: a page, waited for if there is nothing yet, or a stream of events.

use std::convert::Infallible;
use std::time::Duration;

use atoll_protocol::{Encoding, Gap, OutputPage, ProcessId, TerminalId};
use atoll_runtime::{LogEvent, ReadPage};
use axum::Json;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, stream};
use http::HeaderMap;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::encode::Encoder;
use crate::error::Refusal;
use crate::extract::{Params, ThisProcess, ThisTerminal};
use crate::follow::{Follow, Source, Until};
use crate::large;
use crate::sse::{self, Events, Next};

/// Bytes of a page, if not told otherwise.
const PAGE_BYTES: usize = 1024 * 1024;

/// The most that a page may hold: it is in memory as a whole, and as JSON once more.
const PAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Longest wait for a page: below the minute after which proxies give up.
const WAIT_MAX: Duration = Duration::from_secs(55);

/// Which part of the output.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct Range {
    /// From this cursor on.
    since: u64,
    /// For a page: at most so many bytes (1 MiB).
    #[param(required = false)]
    limit: usize,
    /// For a page: if there is nothing yet, wait for it so long (at most 55000).
    wait_ms: Option<u64>,
    /// How bytes are put into JSON.
    encoding: Encoding,
    /// For a stream: how far to follow.
    #[param(inline)]
    until: Until,
}

impl Default for Range {
    fn default() -> Self {
        Self { since: 0, limit: PAGE_BYTES, wait_ms: None, encoding: Encoding::Utf8, until: Until::End }
    }
}

/// Read a process's output.
///
/// With `accept: text/event-stream` the answer is a stream of events that goes on as the process does: `output` (an
/// OutputEvent), `gap` (a Gap), and at last `end` (an OutputEnd). The id of an event is the cursor behind it, so
/// `last-event-id` goes on where an earlier stream broke off.
#[utoipa::path(get, path = "/v1/processes/{id}/output", tag = "processes", operation_id = "readProcessOutput",
    params(("id" = ProcessId, Path), Range),
    responses((status = 200, content((OutputPage = "application/json"), (String = "text/event-stream")))))]
pub(super) async fn of_process(
    ThisProcess(process): ThisProcess,
    Params(range): Params<Range>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    read(Source::Process(process), &range, &headers).await
}

/// Read what a terminal's program printed, exactly as `/v1/processes/{id}/output` does for a process.
#[utoipa::path(get, path = "/v1/terminals/{id}/output", tag = "terminals", operation_id = "readTerminalOutput",
    params(("id" = TerminalId, Path), Range),
    responses((status = 200, content((OutputPage = "application/json"), (String = "text/event-stream")))))]
pub(super) async fn of_terminal(
    ThisTerminal(terminal): ThisTerminal,
    Params(range): Params<Range>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    read(Source::Terminal(terminal), &range, &headers).await
}

async fn read(source: Source, range: &Range, headers: &HeaderMap) -> Result<Response, Refusal> {
    if sse::accepted(headers) {
        let since = sse::last_event_id(headers)?.unwrap_or(range.since);
        let follow = Follow::new(source, since, range.until);
        return Ok(sse::answer(events(Events::new(follow, range.encoding))));
    }
    if !(1..=PAGE_BYTES_MAX).contains(&range.limit) {
        return Err(Refusal::invalid(format!("query: limit: a page has 1 to {PAGE_BYTES_MAX} bytes")));
    }
    let wait = range.wait_ms.map(|millis| Duration::from_millis(millis).min(WAIT_MAX));
    let read = source.log().read(range.since, range.limit, wait).await;
    let bytes = usize::try_from(read.next_cursor.saturating_sub(range.since)).unwrap_or(usize::MAX);
    let encoding = range.encoding;
    Ok(large::answer(bytes, move || Json(page(read, encoding)).into_response()).await)
}

fn page(read: ReadPage, encoding: Encoding) -> OutputPage {
    let ReadPage { events, next_cursor, closed } = read;
    let mut encoder = Encoder::new(encoding);
    let mut page = OutputPage { events: Vec::new(), gaps: Vec::new(), next_cursor, closed };
    for event in events {
        match event {
            LogEvent::Output(chunk) => page.events.extend(encoder.push(chunk)),
            LogEvent::Gap { from, to } => {
                page.events.extend(encoder.flush());
                page.gaps.push(Gap { from, to });
            }
        }
    }
    finish(&mut page, encoder);
    page
}

/// The beginning of a character is left for the next page, unless it is all there is or nothing will follow.
fn finish(page: &mut OutputPage, mut encoder: Encoder) {
    if page.closed || page.events.is_empty() {
        page.events.extend(encoder.flush());
    } else if let Some(cursor) = encoder.give_back() {
        page.next_cursor = cursor;
    }
}

fn events(events: Events) -> impl Stream<Item = Result<Event, Infallible>> + Send {
    stream::unfold(events, async |mut events| {
        let event = match events.next().await? {
            Next::Event(event) | Next::Failed(event) => event,
            Next::End(end) => sse::event("end", &end).id(end.cursor.to_string()),
        };
        Some((Ok(event), events))
    })
}
