//! All processes: starting, listing, ending them together.

use std::time::Duration;

use atoll_protocol::{KillAllRequest, KillReceipt, ProcessInfo, ProcessList, ProcessState, SessionId, StartRequest};
use atoll_runtime::{Filter, Process};
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as ValueError;

use crate::agent::Agent;
use crate::command;
use crate::error::Refusal;
use crate::extract::{self, OptionalJson, Params};

/// How long trees that are told to end may take before they are killed, if not told otherwise.
const GRACE: Duration = Duration::from_secs(2);

/// Start a process.
///
/// Answers when the program runs. The same `id` and command again: the one that is there, running or ended.
#[utoipa::path(post, path = "/v1/processes", tag = "processes", operation_id = "startProcess",
    request_body = StartRequest, responses((status = 200, body = ProcessInfo)))]
pub(super) async fn start(
    State(agent): State<Agent>,
    extract::Json(request): extract::Json<StartRequest>,
) -> Result<Json<ProcessInfo>, Refusal> {
    let process = agent.sandbox().start(command::start(request)?).await?;
    Ok(Json(process.info()))
}

/// List processes, oldest first.
#[utoipa::path(get, path = "/v1/processes", tag = "processes", operation_id = "listProcesses",
    params(
        ("state" = Option<ProcessState>, Query, description = "Only those in this state."),
        ("session" = Option<SessionId>, Query, description = "Only those of this session."),
        ("label" = Option<Vec<String>>, Query, description = "Only those with this label, as `name=value`. \
            May be given more than once."),
    ),
    responses((status = 200, body = ProcessList)))]
pub(super) async fn list(
    State(agent): State<Agent>,
    Params(pairs): Params<Vec<(String, String)>>,
) -> Result<Json<ProcessList>, Refusal> {
    let processes = agent.sandbox().processes(&filter(pairs)?);
    Ok(Json(ProcessList { processes: processes.iter().map(Process::info).collect() }))
}

/// End every process, or all that have these labels.
#[utoipa::path(post, path = "/v1/processes/kill", tag = "processes", operation_id = "killProcesses",
    request_body = Option<KillAllRequest>, responses((status = 200, body = KillReceipt)))]
pub(super) async fn kill(
    State(agent): State<Agent>,
    OptionalJson(request): OptionalJson<KillAllRequest>,
) -> Result<Json<KillReceipt>, Refusal> {
    let filter = Filter { labels: request.labels, ..Filter::default() };
    let grace = command::millis(request.grace_ms).unwrap_or(GRACE);
    Ok(Json(agent.sandbox().kill_all(&filter, grace).await?))
}

/// By hand, because a label may be given more than once.
fn filter(pairs: Vec<(String, String)>) -> Result<Filter, Refusal> {
    let mut filter = Filter::default();
    for (name, value) in pairs {
        match name.as_str() {
            "state" => filter.state = Some(state(&value)?),
            "session" => filter.session = Some(session(value)?),
            "label" => {
                let label = value.split_once('=');
                let (label, value) =
                    label.ok_or_else(|| Refusal::invalid(format!("query: label: `{value}` is no name=value")))?;
                filter.labels.insert(label.to_owned(), value.to_owned());
            }
            other => {
                let message = format!("query: unknown field `{other}`, expected `state`, `session` or `label`");
                return Err(Refusal::invalid(message));
            }
        }
    }
    Ok(filter)
}

fn session(text: String) -> Result<SessionId, Refusal> {
    SessionId::new(text).map_err(|error| Refusal::invalid(format!("query: session: {error}")))
}

fn state(text: &str) -> Result<ProcessState, Refusal> {
    let read: Result<_, ValueError> = ProcessState::deserialize(text.into_deserializer());
    read.map_err(|error| Refusal::invalid(format!("query: state: {error}")))
}
