//! A terminal over a WebSocket. Binary frames carry its bytes in both directions, text frames are control messages
//! (`frames.rs`).
//!
//! A client can reconnect to a terminal with an id. One without an id belongs to its connection and ends with it.

use std::time::Duration;

use atoll_protocol::{ErrorAnswer, TerminalId, TerminalInfo, TerminalRequest, Verb};
use axum::body::Body;
use axum::extract::Query;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::{HeaderMap, Method, StatusCode};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message as AgentMessage};

use super::error::{ApiError, ErrorShape, Operation};
use super::frames::{self, FrameOrder, ServerFrame};
use super::sandbox::{ResponseKind, Sandbox};
use crate::app::Closing;
use crate::metrics::While;
use crate::placement::AgentStream;
use crate::proxy::{self, RequestGuard};
use crate::{Error, random};

/// Largest message from a client, such as a paste. More comes in several messages.
const MESSAGE_MAX: usize = 1024 * 1024;

/// How long to wait for a client to accept the close frame.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Errors that can be queued for the client.
const ERRORS_MAX: usize = 16;

type Agent = WebSocketStream<AgentStream>;

/// The requested options of a terminal.
#[derive(Debug, Default)]
struct PtyOptions {
    id: Option<TerminalId>,
    shell: Option<String>,
    cwd: Option<String>,
    cols: Option<u16>,
    rows: Option<u16>,
}

impl PtyOptions {
    fn read(pairs: Vec<(String, String)>, headers: &HeaderMap) -> Result<Self, ApiError> {
        let mut options = Self::default();
        let mut id = None;
        for (name, value) in pairs {
            match name.as_str() {
                "cols" => options.cols = Some(number(&name, &value)?),
                "rows" => options.rows = Some(number(&name, &value)?),
                "shell" => options.shell = Some(value).filter(|shell| !shell.is_empty()),
                "cwd" => options.cwd = Some(value).filter(|cwd| !cwd.is_empty()),
                "terminalId" | "terminal" => id = Some(value),
                "session" => return Err(in_session()),
                _ => return Err(ApiError::invalid(format!("unknown query parameter `{}`", name.escape_debug()))),
            }
        }
        if headers.contains_key("session-id") {
            return Err(in_session());
        }
        if let Some(given) = headers.get("terminal-id") {
            id = Some(given.to_str().map_err(|_| ApiError::invalid("Terminal-Id: not a terminal id"))?.to_owned());
        }
        let id = id.filter(|id| !id.is_empty()).map(TerminalId::new).transpose();
        options.id = id.map_err(|error| ApiError::invalid(error.to_string()))?;
        Ok(options)
    }

    fn request(&self, id: &TerminalId) -> TerminalRequest {
        TerminalRequest {
            id: Some(id.clone()),
            argv: self.shell.clone().map(|shell| vec![shell]),
            cwd: self.cwd.clone(),
            cols: self.cols,
            rows: self.rows,
            ..TerminalRequest::default()
        }
    }

    /// Returns the query for attaching to the terminal, which exists.
    fn query(&self) -> String {
        let size = |name: &str, size: Option<u16>| size.map(|size| format!("&{name}={size}")).unwrap_or_default();
        format!("open=false{}{}", size("cols", self.cols), size("rows", self.rows))
    }
}

fn number(name: &str, value: &str) -> Result<u16, ApiError> {
    value.parse().map_err(|_| ApiError::invalid(format!("{name} must be a number")))
}

fn in_session() -> ApiError {
    ApiError::invalid("a terminal cannot be opened in a session: it has its own shell")
}

/// Open a terminal, or reconnect to one, over a WebSocket.
///
/// Binary frames carry bytes in both directions. Text frames are JSON: `{"type":"resize","cols":N,"rows":N}` from the
/// client; from the server, `ready` after earlier output, `exit` with the `code`, `truncated`, and `error` with a
/// `message`.
#[utoipa::path(get, path = "/v1/sandbox/{id}/pty", tag = "terminals", operation_id = "openTerminal",
    params(("id" = String, Path, description = "The sandbox."),
        ("Terminal-Id" = Option<String>, Header, description = "The terminal to open or reconnect to. Without an id, the terminal ends with the connection."),
        ("terminalId" = Option<String>, Query, description = "The same, for clients that cannot set headers."),
        ("terminal" = Option<String>, Query, description = "The same."),
        ("cols" = Option<u16>, Query, description = "Columns (80)."), ("rows" = Option<u16>, Query, description = "Rows (24)."),
        ("shell" = Option<String>, Query, description = "The program (default: the interactive shell)."),
        ("cwd" = Option<String>, Query, description = "The working directory (default: `/workspace`).")),
    responses((status = 101, description = "The connection is upgraded to a WebSocket."), (status = "default", body = ErrorShape)))]
pub(super) async fn open(
    sandbox: Sandbox,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let upgrade = upgrade.map_err(|error| ApiError::invalid(format!("this path requires a WebSocket: {error}")))?;
    let options = PtyOptions::read(pairs, &headers)?;
    sandbox.caller.must(Verb::Exec, &sandbox.name)?;
    sandbox.ensure_exists().await?;
    let (id, own) = opened(&sandbox, &options).await?;
    let (agent, held) = attached(&sandbox, &id, &options).await?;
    let upgrade = upgrade.max_message_size(MESSAGE_MAX).max_frame_size(MESSAGE_MAX);
    Ok(upgrade.on_upgrade(async move |client| {
        relay_frames(&sandbox, client, agent).await;
        drop((own, held));
    }))
}

/// Finds or opens the terminal. One without an id comes with a guard that ends it.
async fn opened(sandbox: &Sandbox, options: &PtyOptions) -> Result<(TerminalId, Option<EphemeralTerminal>), ApiError> {
    if let Some(id) = &options.id {
        let as_it_is = options.shell.is_none() && options.cwd.is_none();
        if !(as_it_is && is_alive(sandbox, id).await?) {
            begin(sandbox, options, id).await?;
        }
        return Ok((id.clone(), None));
    }
    let text = random::text(16).map_err(|error| Error::internal("generate an id", error))?;
    let id = TerminalId::new(format!("pty-{text}")).map_err(|error| Error::internal("generate an id", error))?;
    let own = EphemeralTerminal { sandbox: sandbox.clone(), id: id.clone() };
    begin(sandbox, options, &id).await?;
    Ok((id, Some(own)))
}

async fn begin(sandbox: &Sandbox, options: &PtyOptions, id: &TerminalId) -> Result<TerminalInfo, ApiError> {
    let request = sandbox.request_json("terminals", &options.request(id), ResponseKind::Json)?;
    sandbox.fetch(Operation::Pty, request).await
}

/// Whether the terminal exists. A client that reconnects need not repeat its options.
async fn is_alive(sandbox: &Sandbox, id: &TerminalId) -> Result<bool, ApiError> {
    let request = sandbox.request(Method::GET, &format!("terminals/{id}"), Body::empty())?;
    match sandbox.fetch::<TerminalInfo>(Operation::Pty, request).await {
        Ok(info) => Ok(info.end.is_none()),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Ends a terminal without an id when dropped.
struct EphemeralTerminal {
    sandbox: Sandbox,
    id: TerminalId,
}

impl Drop for EphemeralTerminal {
    fn drop(&mut self) {
        let (sandbox, id) = (self.sandbox.clone(), self.id.clone());
        // Outside of a runtime the server is exiting.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            let Ok(request) = sandbox.request(Method::DELETE, &format!("terminals/{id}"), Body::empty()) else {
                return;
            };
            if let Err(error) = sandbox.fetch::<serde::de::IgnoredAny>(Operation::Pty, request).await {
                tracing::debug!(?error, "cannot end the terminal of a closed connection");
            }
        });
    }
}

/// Opens a connection to the terminal.
async fn attached(sandbox: &Sandbox, id: &TerminalId, options: &PtyOptions) -> Result<(Agent, RequestGuard), ApiError> {
    let (stream, held) = proxy::connect(&sandbox.app, &sandbox.name).await?;
    let request = format!("ws://agent/v1/terminals/{id}/attach?{}", options.query()).into_client_request();
    let request = request.map_err(|error| Error::internal("request the terminal", error))?;
    match tokio_tungstenite::client_async(request, stream).await {
        Ok((agent, _)) => Ok((agent, held)),
        Err(SocketError::Http(response)) => Err(refused(response.body().as_deref().unwrap_or_default())),
        Err(error) => Err(unreachable(&error)),
    }
}

fn refused(body: &[u8]) -> ApiError {
    match serde_json::from_slice::<ErrorAnswer>(body) {
        Ok(answer) => ApiError::from_agent(Operation::Pty, &answer.error),
        Err(error) => unreachable(&error),
    }
}

fn unreachable(error: &dyn std::fmt::Display) -> ApiError {
    ApiError::new(StatusCode::BAD_GATEWAY, "exec_transport_error", format!("cannot connect to the terminal: {error}"))
}

/// Copies frames both ways until one side ends, the server drains, or the token ends. Neither direction waits for the other.
async fn relay_frames(sandbox: &Sandbox, client: WebSocket, agent: Agent) {
    let _open = While::new(&sandbox.app.metrics.tunnels);
    let (mut to_client, from_client) = client.split();
    let (to_agent, from_agent) = agent.split();
    let (refuse, refused) = mpsc::channel(ERRORS_MAX);
    let code = tokio::select! {
        _ = forward_output(&mut to_client, from_agent, refused) => close_code::NORMAL,
        _ = forward_input(from_client, to_agent, refuse) => close_code::NORMAL,
        closing = sandbox.app.closing(sandbox.caller.lease()) => match closing {
            Closing::Draining => close_code::AWAY,
            Closing::Revoked => close_code::POLICY,
        },
    };
    // The client may have disconnected, or may not read.
    let close = to_client.send(Message::Close(Some(CloseFrame { code, reason: "".into() })));
    drop(timeout(CLOSE_TIMEOUT, close).await);
}

/// Forwards frames from the terminal to the client.
async fn forward_output(
    client: &mut SplitSink<WebSocket, Message>,
    mut agent: SplitStream<Agent>,
    mut refused: mpsc::Receiver<ServerFrame>,
) -> Result<(), axum::Error> {
    let mut order = FrameOrder::default();
    loop {
        let message = tokio::select! {
            message = agent.next() => message,
            Some(frame) = refused.recv() => {
                client.send(Message::text(frame.text())).await?;
                continue;
            }
        };
        match message {
            Some(Ok(AgentMessage::Binary(bytes))) => {
                let ready = order.passed(bytes.len());
                client.send(Message::Binary(bytes)).await?;
                if let Some(frame) = ready {
                    client.send(Message::text(frame.text())).await?;
                }
            }
            Some(Ok(AgentMessage::Text(text))) => {
                for frame in order.frame(&text) {
                    client.send(Message::text(frame.text())).await?;
                }
            }
            Some(Ok(AgentMessage::Ping(_) | AgentMessage::Pong(_) | AgentMessage::Frame(_))) => {}
            Some(Ok(AgentMessage::Close(_)) | Err(_)) | None => return Ok(()),
        }
    }
}

/// Forwards frames from the client to the terminal.
async fn forward_input(
    mut client: SplitStream<WebSocket>,
    mut agent: SplitSink<Agent, AgentMessage>,
    refuse: mpsc::Sender<ServerFrame>,
) -> Result<(), SocketError> {
    while let Some(Ok(message)) = client.next().await {
        match message {
            Message::Binary(bytes) => agent.send(AgentMessage::Binary(bytes)).await?,
            Message::Text(text) => match frames::command(&text) {
                Ok(command) => {
                    let text = serde_json::to_string(&command).unwrap_or_default();
                    agent.send(AgentMessage::text(text)).await?;
                }
                Err(frame) => drop(refuse.send(frame).await),
            },
            Message::Ping(_) | Message::Pong(_) => {}
            Message::Close(_) => break,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(query: &[(&str, &str)], headers: &[(&'static str, &'static str)]) -> Result<PtyOptions, ApiError> {
        let pairs = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        PtyOptions::read(pairs, &headers)
    }

    #[test]
    fn header_overrides_the_query() {
        let read = options(&[("terminalId", "a"), ("cols", "120")], &[("terminal-id", "b")]).unwrap();
        assert_eq!(read.id.as_ref().map(TerminalId::as_str), Some("b"));
        assert_eq!(read.query(), "open=false&cols=120");
        assert_eq!(options(&[("cols", "80"), ("rows", "24")], &[]).unwrap().id, None);
    }

    #[test]
    fn invalid_options_are_rejected() {
        for bad in [("cols", "wide"), ("rows", "-1"), ("terminal", "../x"), ("session", "s"), ("color", "red")] {
            assert!(options(&[bad], &[]).is_err(), "{bad:?}");
        }
        assert!(options(&[], &[("session-id", "s")]).is_err());
    }
}
