//! One command, run to its end: answered whole, or told as it happens.

use std::convert::Infallible;

use atoll_protocol::{Encoding, ExecRequest, ExecResult, OnDisconnect, ProcessInfo};
use atoll_runtime::{ExecOutput, ProcessSpec};
use axum::Json;
use axum::extract::State;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, stream};
use http::HeaderMap;

use crate::agent::Agent;
use crate::error::Refusal;
use crate::follow::{Follow, Source, Until};
use crate::leash::Leash;
use crate::place::Place;
use crate::sse::{Events, Next};
use crate::{command, error, extract, large, sse};

/// Run a command to its end.
///
/// A code other than 0 is a result, not an error. With `accept: text/event-stream` the answer is a stream of events:
/// `start` (a ProcessInfo), `output` (an OutputEvent, whose id is the cursor behind it), `gap`, and at last `end` with
/// the ExecResult. With `last-event-id` the stream of a command that was started before, under the same `id`, goes on.
#[utoipa::path(post, path = "/v1/exec", tag = "exec", operation_id = "exec", request_body = ExecRequest,
    responses((status = 200, content(
        (ExecResult = "application/json"),
        (String = "text/event-stream"),
    ))))]
pub(super) async fn exec(
    State(agent): State<Agent>,
    headers: HeaderMap,
    extract::Json(request): extract::Json<ExecRequest>,
) -> Result<Response, Refusal> {
    let place = Place::Sandbox(agent.sandbox().clone());
    answer(&agent, &place, &headers, request).await
}

/// Runs a command in a place, and answers as the caller wishes.
pub(super) async fn answer(
    agent: &Agent,
    place: &Place,
    headers: &HeaderMap,
    request: ExecRequest,
) -> Result<Response, Refusal> {
    let answer_bytes = command::answer_bytes(request.answer_bytes)?;
    let wish = Wish { answer_bytes, encoding: request.encoding, on_disconnect: request.on_disconnect };
    let spec = command::exec(request)?;
    if sse::accepted(headers) {
        let reached = sse::last_event_id(headers)?;
        let events = wish.events(agent, place, spec, reached).await?;
        return Ok(sse::answer(events));
    }
    let output = wish.output(agent, place, spec).await?;
    let bytes =
        output.stdout.head.len() + output.stdout.tail.len() + output.stderr.head.len() + output.stderr.tail.len();
    Ok(large::answer(bytes, move || Json(output.result(wish.encoding)).into_response()).await)
}

/// How the answer should be.
#[derive(Debug, Clone, Copy)]
struct Wish {
    answer_bytes: usize,
    encoding: Encoding,
    on_disconnect: OnDisconnect,
}

impl Wish {
    async fn output(self, agent: &Agent, place: &Place, spec: ProcessSpec) -> Result<ExecOutput, Refusal> {
        match self.on_disconnect {
            OnDisconnect::Keep => Ok(place.exec(spec, self.answer_bytes).await?),
            OnDisconnect::Kill => self.output_tied(agent, place, spec).await,
        }
    }

    async fn output_tied(self, agent: &Agent, place: &Place, spec: ProcessSpec) -> Result<ExecOutput, Refusal> {
        let named = spec.id.is_some();
        let mut leash = Leash::start(place, spec, self.on_disconnect).await?;
        let output = leash.process().output(self.answer_bytes).await?;
        leash.release();
        if !named && output.is_whole() && output.end.survivors == 0 {
            // An answer that told everything needs no record. One that is not quite gone yet keeps it.
            drop(agent.sandbox().remove_process(&output.id));
        }
        Ok(output)
    }

    async fn events(
        self,
        agent: &Agent,
        place: &Place,
        spec: ProcessSpec,
        reached: Option<u64>,
    ) -> Result<impl Stream<Item = Result<Event, Infallible>> + Send + use<>, Refusal> {
        if reached.is_some() {
            // Who comes back wants the rest of what was started, never a second start.
            let id = spec.id.as_ref().ok_or_else(|| Refusal::invalid("last-event-id goes with an `id`"))?;
            agent.sandbox().process(id)?;
        }
        let leash = Leash::start(place, spec, self.on_disconnect).await?;
        let follow = Follow::new(Source::Process(leash.process().clone()), reached.unwrap_or(0), Until::End);
        let telling = Telling {
            start: Some(leash.process().info()),
            events: Events::new(follow, self.encoding),
            leash,
            wish: self,
        };
        Ok(stream::unfold(telling, async |mut telling| telling.next().await.map(|event| (Ok(event), telling))))
    }
}

/// A command that is told as it happens.
#[derive(Debug)]
struct Telling {
    start: Option<ProcessInfo>,
    events: Events,
    leash: Leash,
    wish: Wish,
}

impl Telling {
    async fn next(&mut self) -> Option<Event> {
        if let Some(start) = self.start.take() {
            return Some(sse::event("start", &start));
        }
        match self.events.next().await? {
            Next::Event(event) | Next::Failed(event) => Some(event),
            Next::End(_) => Some(self.end().await),
        }
    }

    async fn end(&mut self) -> Event {
        let output = self.leash.process().output(self.wish.answer_bytes).await;
        self.leash.release();
        match output {
            Ok(output) => sse::event("end", &output.result(self.wish.encoding)).id(output.cursor.to_string()),
            Err(error) => sse::failed(&error::body(&error)),
        }
    }
}
