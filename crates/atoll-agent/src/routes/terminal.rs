//! One terminal: showing, typing, resizing, signalling, looking at it, and ending it.

use std::io;
use std::time::Duration;

use atoll_protocol::{
    KillReceipt, ResizeRequest, ScreenInfo, SignalReceipt, SignalRequest, TerminalId, TerminalInfo, WaitAnswer,
    WaitFor, WaitRequest,
};
use atoll_runtime::{Error, Recording, Screen};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde::Deserialize;
use utoipa::IntoParams;

use super::process::log_match;
use crate::agent::Agent;
use crate::command;
use crate::error::Refusal;
use crate::extract::{self, Id, Params, ThisTerminal};

/// How long what runs in a terminal may take to end when it is deleted, if not told otherwise.
const GRACE_MS: u64 = 2000;

/// Who resized, if the request does not say.
const SOMEBODY: &str = "api";

/// Show a terminal.
#[utoipa::path(get, path = "/v1/terminals/{id}", tag = "terminals", operation_id = "getTerminal",
    params(("id" = TerminalId, Path)), responses((status = 200, body = TerminalInfo)))]
pub(super) async fn show(ThisTerminal(terminal): ThisTerminal) -> Json<TerminalInfo> {
    Json(terminal.info())
}

/// How to end it.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Ending {
    /// How long it may take before it is killed (2000).
    grace_ms: Option<u64>,
}

/// End everything in a terminal, and forget it.
#[utoipa::path(delete, path = "/v1/terminals/{id}", tag = "terminals", operation_id = "deleteTerminal",
    params(("id" = TerminalId, Path), Ending), responses((status = 200, body = KillReceipt)))]
pub(super) async fn delete(
    State(agent): State<Agent>,
    Id(id): Id<TerminalId>,
    Params(ending): Params<Ending>,
) -> Result<Json<KillReceipt>, Refusal> {
    let grace = Duration::from_millis(ending.grace_ms.unwrap_or(GRACE_MS));
    Ok(Json(agent.sandbox().delete_terminal(&id, grace).await?))
}

/// Give a terminal's window another size. The last one who asks wins.
#[utoipa::path(post, path = "/v1/terminals/{id}/resize", tag = "terminals", operation_id = "resizeTerminal",
    params(("id" = TerminalId, Path)), request_body = ResizeRequest,
    responses((status = 200, body = TerminalInfo)))]
pub(super) async fn resize(
    ThisTerminal(terminal): ThisTerminal,
    extract::Json(request): extract::Json<ResizeRequest>,
) -> Result<Json<TerminalInfo>, Refusal> {
    let size = command::size(request.cols, request.rows)?;
    terminal.resize(size, request.by.unwrap_or_else(|| SOMEBODY.to_owned())).await?;
    Ok(Json(terminal.info()))
}

/// Send a signal to a terminal's program, or to everything in it.
#[utoipa::path(post, path = "/v1/terminals/{id}/signal", tag = "terminals", operation_id = "signalTerminal",
    params(("id" = TerminalId, Path)), request_body = SignalRequest,
    responses((status = 200, body = SignalReceipt)))]
pub(super) async fn signal(
    ThisTerminal(terminal): ThisTerminal,
    extract::Json(request): extract::Json<SignalRequest>,
) -> Result<Json<SignalReceipt>, Refusal> {
    let signalled = terminal.signal(request.signal, command::scope(request.scope)).await?;
    Ok(Json(SignalReceipt { signalled }))
}

/// Wait for the end, for output, or for something that waits for a key.
#[utoipa::path(post, path = "/v1/terminals/{id}/wait", tag = "terminals", operation_id = "waitForTerminal",
    params(("id" = TerminalId, Path)), request_body = WaitRequest,
    responses((status = 200, body = WaitAnswer)))]
pub(super) async fn wait(
    ThisTerminal(terminal): ThisTerminal,
    extract::Json(request): extract::Json<WaitRequest>,
) -> Result<Json<WaitAnswer>, Refusal> {
    let limit = command::millis(request.timeout_ms);
    let mut answer = WaitAnswer::default();
    match request.r#for {
        WaitFor::Exit => answer.end = Some(within(limit, terminal.ended()).await?),
        WaitFor::Input => terminal.wait_input(limit).await?,
        WaitFor::Log(condition) => {
            let since = condition.since.unwrap_or(0);
            let found = terminal.wait_log(&command::pattern(condition)?, since, limit).await?;
            answer.found = Some(log_match(&found));
        }
        WaitFor::Port(_) => return Err(Refusal::invalid("a port is waited for by a process, not by a terminal")),
    }
    Ok(Json(answer))
}

async fn within<T>(limit: Option<Duration>, wait: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let Some(limit) = limit else { return wait.await };
    let waited = tokio::time::timeout(limit, wait).await;
    waited.unwrap_or_else(|_| Err(Error::WaitTimeout { what: "it ended".to_owned(), millis: limit.as_millis() }))
}

/// Type. The body is taken as it is.
#[utoipa::path(put, path = "/v1/terminals/{id}/input", tag = "terminals", operation_id = "writeTerminal",
    params(("id" = TerminalId, Path)),
    request_body(content = String, content_type = "application/octet-stream"),
    responses((status = 204, description = "The terminal has taken it all.")))]
pub(super) async fn input(ThisTerminal(terminal): ThisTerminal, mut body: Body) -> Result<StatusCode, Refusal> {
    while let Some(bytes) = extract::piece(&mut body).await? {
        terminal.write(bytes).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Show what is on a terminal's screen now.
#[utoipa::path(get, path = "/v1/terminals/{id}/screen", tag = "terminals", operation_id = "getScreen",
    params(("id" = TerminalId, Path)), responses((status = 200, body = ScreenInfo)))]
pub(super) async fn screen(ThisTerminal(terminal): ThisTerminal) -> Json<ScreenInfo> {
    Json(in_words(terminal.screen().await))
}

fn in_words(screen: Screen) -> ScreenInfo {
    let (cursor_row, cursor_col) = screen.cursor_at;
    ScreenInfo {
        size: screen.size,
        text: screen.text,
        formatted: String::from_utf8_lossy(&screen.formatted).into_owned(),
        reset: String::from_utf8_lossy(&screen.reset).into_owned(),
        cursor_row,
        cursor_col,
        cursor_hidden: screen.cursor_hidden,
        alternate: screen.alternate,
        cursor: screen.cursor,
        whole: screen.whole,
    }
}

/// Where a recording begins.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct Beginning {
    /// From this cursor on.
    #[param(required = false)]
    since: u64,
}

/// Get a recording of a terminal until now, in the asciicast v2 format.
#[utoipa::path(get, path = "/v1/terminals/{id}/recording", tag = "terminals", operation_id = "getRecording",
    params(("id" = TerminalId, Path), Beginning),
    responses((status = 200, body = String, content_type = "application/x-asciicast")))]
pub(super) async fn recording(ThisTerminal(terminal): ThisTerminal, Params(beginning): Params<Beginning>) -> Response {
    let lines = stream::try_unfold(terminal.recording(beginning.since), next_line);
    ([(CONTENT_TYPE, "application/x-asciicast")], Body::from_stream(lines)).into_response()
}

async fn next_line(mut recording: Recording) -> io::Result<Option<(Vec<u8>, Recording)>> {
    let line = recording.next().await.map_err(io::Error::other)?;
    Ok(line.map(|line| (line, recording)))
}
