//! Watches of trees: making and ending them, and what happened, by page or as a stream of events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use atoll_protocol::{
    WatchChange, WatchEnd, WatchEvent, WatchFrame, WatchId, WatchInfo, WatchList, WatchPage, WatchRequest, given_path,
};
use atoll_runtime::files::{Watch, WatchChange as Change, WatchEvent as Happened, WatchOptions, WatchRead};
use axum::Json;
use axum::extract::State;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, stream};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::agent::Agent;
use crate::error::{self, Refusal};
use crate::extract::{self, Id, Params};
use crate::sse;

/// Events of a page, if not told otherwise, and at most.
const PAGE: usize = 1000;
const PAGE_MAX: usize = 10_000;

/// Longest wait for a page: below the minute after which proxies give up.
const WAIT_MAX: Duration = Duration::from_secs(55);

/// Watch a directory.
///
/// Answers when it is watched: whatever happens afterwards is told. Events are kept for readers that come later, the
/// newest 65,536 of them; a watch that nobody reads for ten minutes ends.
#[utoipa::path(post, path = "/v1/watches", tag = "watches", operation_id = "watchDirectory",
    request_body = WatchRequest, responses((status = 200, body = WatchInfo)))]
pub(super) async fn create(
    State(agent): State<Agent>,
    extract::Json(request): extract::Json<WatchRequest>,
) -> Result<Json<WatchInfo>, Refusal> {
    let path = given_path("path", request.path.as_deref(), request.path_base64.as_deref()).map_err(Refusal::invalid)?;
    let usual = WatchOptions::default();
    let options = WatchOptions {
        include: request.include,
        exclude: request.exclude,
        recursive: request.recursive,
        existing: request.existing,
        directories: request.directories.unwrap_or(usual.directories).min(usual.directories),
    };
    let watch = agent.sandbox().files(request.user).watch(request.id, &path, options).await?;
    Ok(Json(info(&watch)))
}

/// List watches, oldest first.
#[utoipa::path(get, path = "/v1/watches", tag = "watches", operation_id = "listWatches",
    responses((status = 200, body = WatchList)))]
pub(super) async fn list(State(agent): State<Agent>) -> Json<WatchList> {
    Json(WatchList { watches: agent.sandbox().watches().iter().map(info).collect() })
}

/// Show a watch.
#[utoipa::path(get, path = "/v1/watches/{id}", tag = "watches", operation_id = "getWatch",
    params(("id" = WatchId, Path)), responses((status = 200, body = WatchInfo)))]
pub(super) async fn show(State(agent): State<Agent>, Id(id): Id<WatchId>) -> Result<Json<WatchInfo>, Refusal> {
    Ok(Json(info(&agent.sandbox().watch(&id)?)))
}

/// End a watch and forget what it told.
#[utoipa::path(delete, path = "/v1/watches/{id}", tag = "watches", operation_id = "deleteWatch",
    params(("id" = WatchId, Path)), responses((status = 204, description = "It is over.")))]
pub(super) async fn delete(State(agent): State<Agent>, Id(id): Id<WatchId>) -> Result<StatusCode, Refusal> {
    agent.sandbox().remove_watch(&id)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Which events.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct Range {
    /// From this cursor on.
    #[param(required = false)]
    since: u64,
    /// For a page: at most so many events (1000, at most 10000).
    #[param(required = false, minimum = 1, maximum = 10_000)]
    limit: usize,
    /// For a page: if there is nothing yet, wait for it so long (at most 55000).
    wait_ms: Option<u64>,
}

impl Default for Range {
    fn default() -> Self {
        Self { since: 0, limit: PAGE, wait_ms: None }
    }
}

/// Tell what happened since a cursor.
///
/// With `accept: text/event-stream` the answer is a stream that goes on as things happen: `change` (a WatchEvent), and
/// at last `end` (a WatchEnd) or `error`. The id of an event is the cursor behind it, so `last-event-id` goes on where
/// an earlier stream broke off. A cursor that is no longer remembered is CURSOR_TOO_OLD.
#[utoipa::path(get, path = "/v1/watches/{id}/events", tag = "watches", operation_id = "readWatch",
    params(("id" = WatchId, Path), Range),
    responses((status = 200, content((WatchPage = "application/json"), (String = "text/event-stream")))))]
pub(super) async fn events(
    State(agent): State<Agent>,
    Id(id): Id<WatchId>,
    Params(range): Params<Range>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let watch = agent.sandbox().watch(&id)?;
    if sse::accepted(&headers) {
        let since = sse::last_event_id(&headers)?.unwrap_or(range.since);
        return Ok(sse::answer(stream_of(Streaming::begin(watch, since).await?)));
    }
    if !(1..=PAGE_MAX).contains(&range.limit) {
        return Err(Refusal::invalid(format!("query: limit: a page has 1 to {PAGE_MAX} events")));
    }
    let wait = range.wait_ms.map(|millis| Duration::from_millis(millis).min(WAIT_MAX));
    let WatchRead { events, next_cursor, ended, error } = watch.read(range.since, range.limit, wait).await?;
    let events = events.iter().map(|(cursor, event)| told(*cursor, event)).collect();
    Ok(Json(WatchPage { events, next_cursor, ended, error }).into_response())
}

/// What is told of a watch, one by one, until it has ended.
pub(super) struct Streaming {
    watch: Watch,
    ready: VecDeque<WatchFrame>,
    next: u64,
    over: bool,
}

impl Streaming {
    /// From a cursor on. What cannot be read is refused before anything is told.
    pub(super) async fn begin(watch: Watch, since: u64) -> Result<Self, Refusal> {
        let first = watch.read(since, PAGE, None).await?;
        let mut streaming = Self { watch, ready: VecDeque::new(), next: 0, over: false };
        streaming.take(first);
        Ok(streaming)
    }

    /// `None` after the last.
    pub(super) async fn frame(&mut self) -> Option<WatchFrame> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Some(frame);
            }
            if self.over {
                return None;
            }
            match self.watch.read(self.next, PAGE, Some(WAIT_MAX)).await {
                Ok(read) => self.take(read),
                Err(failed) => {
                    self.over = true;
                    return Some(WatchFrame::Error(error::body(&failed)));
                }
            }
        }
    }

    fn take(&mut self, read: WatchRead) {
        self.ready.extend(read.events.iter().map(|(cursor, event)| WatchFrame::Change(told(*cursor, event))));
        self.next = read.next_cursor;
        if read.ended {
            self.over = true;
            self.ready.push_back(match read.error {
                Some(body) => WatchFrame::Error(body),
                None => WatchFrame::End(WatchEnd { cursor: self.next }),
            });
        }
    }
}

fn stream_of(streaming: Streaming) -> impl Stream<Item = Result<Event, Infallible>> + Send {
    stream::unfold(streaming, async |mut streaming| {
        let event = match streaming.frame().await? {
            WatchFrame::Change(change) => sse::event("change", &change).id((change.cursor + 1).to_string()),
            WatchFrame::End(end) => sse::event("end", &end).id(end.cursor.to_string()),
            WatchFrame::Error(body) => sse::failed(&body),
        };
        Some((Ok(event), streaming))
    })
}

fn info(watch: &Watch) -> WatchInfo {
    let (cursor, ended, error) = watch.progress();
    let (path, path_base64) = (String::new(), None);
    let info =
        WatchInfo { id: watch.id().clone(), path, path_base64, created_at: watch.created_at(), cursor, ended, error };
    info.at(watch.path())
}

fn told(cursor: u64, event: &Happened) -> WatchEvent {
    let (change, from) = match &event.change {
        Change::Created => (WatchChange::Created, None),
        Change::Modified => (WatchChange::Modified, None),
        Change::Attributes => (WatchChange::Attributes, None),
        Change::Removed => (WatchChange::Removed, None),
        Change::Renamed { from } => (WatchChange::Renamed, Some(&from[..])),
        Change::Overflow => (WatchChange::Overflow, None),
        Change::Settled => (WatchChange::Settled, None),
        Change::Gone => (WatchChange::Gone, None),
    };
    WatchEvent::new(cursor, change, &event.path, from, event.directory)
}
