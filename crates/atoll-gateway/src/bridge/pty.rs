//! A terminal over a WebSocket: binary frames are its bytes, both ways; text frames are control (`frames.rs`).
//!
//! One that has an id can be come back to. One that has none is the connection's own and ends with it.

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

use super::frames::{self, Order, Told};
use super::refusal::{ErrorShape, Operation, Refusal};
use super::sandbox::{Sandbox, Wanted};
use crate::app::Closing;
use crate::metrics::While;
use crate::placement::Wire;
use crate::proxy::{self, Held};
use crate::{Error, random};

/// Largest message from a client: a large paste. What is more comes in several.
const MESSAGE_MAX: usize = 1024 * 1024;

/// How long to wait for a client to accept the close frame.
const CLOSES_WITHIN: Duration = Duration::from_secs(5);

/// Errors that may wait for the client to read.
const ERRORS_MAX: usize = 16;

type Agent = WebSocketStream<Wire>;

/// What a terminal should be.
#[derive(Debug, Default)]
struct Wish {
    id: Option<TerminalId>,
    shell: Option<String>,
    cwd: Option<String>,
    cols: Option<u16>,
    rows: Option<u16>,
}

impl Wish {
    fn read(pairs: Vec<(String, String)>, headers: &HeaderMap) -> Result<Self, Refusal> {
        let mut wish = Self::default();
        let mut id = None;
        for (name, value) in pairs {
            match name.as_str() {
                "cols" => wish.cols = Some(number(&name, &value)?),
                "rows" => wish.rows = Some(number(&name, &value)?),
                "shell" => wish.shell = Some(value).filter(|shell| !shell.is_empty()),
                "cwd" => wish.cwd = Some(value).filter(|cwd| !cwd.is_empty()),
                "terminalId" | "terminal" => id = Some(value),
                "session" => return Err(in_session()),
                _ => return Err(Refusal::invalid(format!("`{}` is no parameter of a terminal", name.escape_debug()))),
            }
        }
        if headers.contains_key("session-id") {
            return Err(in_session());
        }
        if let Some(given) = headers.get("terminal-id") {
            id = Some(given.to_str().map_err(|_| Refusal::invalid("Terminal-Id: not a terminal id"))?.to_owned());
        }
        let id = id.filter(|id| !id.is_empty()).map(TerminalId::new).transpose();
        wish.id = id.map_err(|error| Refusal::invalid(error.to_string()))?;
        Ok(wish)
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

    /// How to look at it. It is there.
    fn query(&self) -> String {
        let size = |name: &str, size: Option<u16>| size.map(|size| format!("&{name}={size}")).unwrap_or_default();
        format!("open=false{}{}", size("cols", self.cols), size("rows", self.rows))
    }
}

fn number(name: &str, value: &str) -> Result<u16, Refusal> {
    value.parse().map_err(|_| Refusal::invalid(format!("{name} must be a number")))
}

fn in_session() -> Refusal {
    Refusal::invalid("a terminal cannot be opened in a session: it has a shell of its own")
}

/// Open a terminal, or come back to one, over a WebSocket.
///
/// Binary frames are bytes, both ways. Text frames are JSON: `{"type":"resize","cols":N,"rows":N}` from the client; `ready` behind
/// what was printed before, `exit` with the `code`, `truncated` and `error` with a `message` from the server.
#[utoipa::path(get, path = "/v1/sandbox/{id}/pty", tag = "terminals", operation_id = "openTerminal",
    params(("id" = String, Path, description = "The sandbox."),
        ("Terminal-Id" = Option<String>, Header, description = "The terminal to come back to, or to open. Without one it ends with the connection."),
        ("terminalId" = Option<String>, Query, description = "The same, for who cannot set headers."),
        ("terminal" = Option<String>, Query, description = "The same."),
        ("cols" = Option<u16>, Query, description = "Columns (80)."), ("rows" = Option<u16>, Query, description = "Rows (24)."),
        ("shell" = Option<String>, Query, description = "The program; the interactive shell if not given."),
        ("cwd" = Option<String>, Query, description = "Where it starts; `/workspace` if not given.")),
    responses((status = 101, description = "The connection is a WebSocket from here on."), (status = "default", body = ErrorShape)))]
pub(super) async fn open(
    sandbox: Sandbox,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
    asked: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Refusal> {
    let upgrade = asked.map_err(|error| Refusal::invalid(format!("this path is a WebSocket: {error}")))?;
    let wish = Wish::read(pairs, &headers)?;
    sandbox.caller.must(Verb::Exec, &sandbox.name)?;
    sandbox.make_sure().await?;
    let (id, own) = opened(&sandbox, &wish).await?;
    let (agent, held) = attached(&sandbox, &id, &wish).await?;
    let upgrade = upgrade.max_message_size(MESSAGE_MAX).max_frame_size(MESSAGE_MAX);
    Ok(upgrade.on_upgrade(async move |client| {
        talk(&sandbox, client, agent).await;
        drop((own, held));
    }))
}

/// Finds or opens the terminal. One of the connection's own comes with what ends it.
async fn opened(sandbox: &Sandbox, wish: &Wish) -> Result<(TerminalId, Option<Own>), Refusal> {
    if let Some(id) = &wish.id {
        let as_it_is = wish.shell.is_none() && wish.cwd.is_none();
        if !(as_it_is && is_alive(sandbox, id).await?) {
            begin(sandbox, wish, id).await?;
        }
        return Ok((id.clone(), None));
    }
    let text = random::text(16).map_err(|error| Error::internal("make up an id", error))?;
    let id = TerminalId::new(format!("pty-{text}")).map_err(|error| Error::internal("make up an id", error))?;
    let own = Own { sandbox: sandbox.clone(), id: id.clone() };
    begin(sandbox, wish, &id).await?;
    Ok((id, Some(own)))
}

async fn begin(sandbox: &Sandbox, wish: &Wish, id: &TerminalId) -> Result<TerminalInfo, Refusal> {
    let request = sandbox.request_json("terminals", &wish.request(id), Wanted::Whole)?;
    sandbox.ask_for(Operation::Pty, request).await
}

/// Whoever comes back need not say again what it runs.
async fn is_alive(sandbox: &Sandbox, id: &TerminalId) -> Result<bool, Refusal> {
    let request = sandbox.request(Method::GET, &format!("terminals/{id}"), Body::empty())?;
    match sandbox.ask_for::<TerminalInfo>(Operation::Pty, request).await {
        Ok(info) => Ok(info.end.is_none()),
        Err(refusal) if refusal.is_not_found() => Ok(false),
        Err(refusal) => Err(refusal),
    }
}

/// A terminal that nobody can come back to: it ends with this.
struct Own {
    sandbox: Sandbox,
    id: TerminalId,
}

impl Drop for Own {
    fn drop(&mut self) {
        let (sandbox, id) = (self.sandbox.clone(), self.id.clone());
        // A server that ends takes its tasks along.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            let Ok(request) = sandbox.request(Method::DELETE, &format!("terminals/{id}"), Body::empty()) else {
                return;
            };
            if let Err(refusal) = sandbox.ask_for::<serde::de::IgnoredAny>(Operation::Pty, request).await {
                tracing::debug!(?refusal, "a terminal that nobody has any more could not be ended");
            }
        });
    }
}

/// A connection of our own to the terminal.
async fn attached(sandbox: &Sandbox, id: &TerminalId, wish: &Wish) -> Result<(Agent, Held), Refusal> {
    let (wire, held) = proxy::wire(&sandbox.app, &sandbox.name).await?;
    let request = format!("ws://agent/v1/terminals/{id}/attach?{}", wish.query()).into_client_request();
    let request = request.map_err(|error| Error::internal("ask for the terminal", error))?;
    match tokio_tungstenite::client_async(request, wire).await {
        Ok((agent, _)) => Ok((agent, held)),
        Err(SocketError::Http(response)) => Err(refused(response.body().as_deref().unwrap_or_default())),
        Err(error) => Err(unreachable(&error)),
    }
}

fn refused(body: &[u8]) -> Refusal {
    match serde_json::from_slice::<ErrorAnswer>(body) {
        Ok(answer) => Refusal::told(Operation::Pty, &answer.error),
        Err(error) => unreachable(&error),
    }
}

fn unreachable(error: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(StatusCode::BAD_GATEWAY, "exec_transport_error", format!("the terminal cannot be reached: {error}"))
}

/// Copies frames both ways until one side ends, the server drains, or the token ends. Neither direction waits for the other.
async fn talk(sandbox: &Sandbox, client: WebSocket, agent: Agent) {
    let _open = While::new(&sandbox.app.metrics.tunnels);
    let (mut to_client, from_client) = client.split();
    let (to_agent, from_agent) = agent.split();
    let (refuse, refused) = mpsc::channel(ERRORS_MAX);
    let code = tokio::select! {
        _ = show(&mut to_client, from_agent, refused) => close_code::NORMAL,
        _ = obey(from_client, to_agent, refuse) => close_code::NORMAL,
        closing = sandbox.app.closing(sandbox.caller.lease()) => match closing {
            Closing::Draining => close_code::AWAY,
            Closing::Revoked => close_code::POLICY,
        },
    };
    // The client may have disconnected, or may not read.
    let close = to_client.send(Message::Close(Some(CloseFrame { code, reason: "".into() })));
    drop(timeout(CLOSES_WITHIN, close).await);
}

/// What the terminal says, to the client.
async fn show(
    client: &mut SplitSink<WebSocket, Message>,
    mut agent: SplitStream<Agent>,
    mut refused: mpsc::Receiver<Told>,
) -> Result<(), axum::Error> {
    let mut order = Order::default();
    loop {
        let message = tokio::select! {
            message = agent.next() => message,
            Some(told) = refused.recv() => {
                client.send(Message::text(told.text())).await?;
                continue;
            }
        };
        match message {
            Some(Ok(AgentMessage::Binary(bytes))) => {
                let ready = order.passed(bytes.len());
                client.send(Message::Binary(bytes)).await?;
                if let Some(told) = ready {
                    client.send(Message::text(told.text())).await?;
                }
            }
            Some(Ok(AgentMessage::Text(text))) => {
                for told in order.frame(&text) {
                    client.send(Message::text(told.text())).await?;
                }
            }
            Some(Ok(AgentMessage::Ping(_) | AgentMessage::Pong(_) | AgentMessage::Frame(_))) => {}
            Some(Ok(AgentMessage::Close(_)) | Err(_)) | None => return Ok(()),
        }
    }
}

/// What the client says, to the terminal.
async fn obey(
    mut client: SplitStream<WebSocket>,
    mut agent: SplitSink<Agent, AgentMessage>,
    refuse: mpsc::Sender<Told>,
) -> Result<(), SocketError> {
    while let Some(Ok(message)) = client.next().await {
        match message {
            Message::Binary(bytes) => agent.send(AgentMessage::Binary(bytes)).await?,
            Message::Text(text) => match frames::command(&text) {
                Ok(command) => {
                    let text = serde_json::to_string(&command).unwrap_or_default();
                    agent.send(AgentMessage::text(text)).await?;
                }
                Err(told) => drop(refuse.send(told).await),
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

    fn wish(query: &[(&str, &str)], headers: &[(&'static str, &'static str)]) -> Result<Wish, Refusal> {
        let pairs = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        Wish::read(pairs, &headers)
    }

    #[test]
    fn a_header_beats_the_query() {
        let read = wish(&[("terminalId", "a"), ("cols", "120")], &[("terminal-id", "b")]).unwrap();
        assert_eq!(read.id.as_ref().map(TerminalId::as_str), Some("b"));
        assert_eq!(read.query(), "open=false&cols=120");
        assert_eq!(wish(&[("cols", "80"), ("rows", "24")], &[]).unwrap().id, None);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for bad in [("cols", "wide"), ("rows", "-1"), ("terminal", "../x"), ("session", "s"), ("color", "red")] {
            assert!(wish(&[bad], &[]).is_err(), "{bad:?}");
        }
        assert!(wish(&[], &[("session-id", "s")]).is_err());
    }
}
