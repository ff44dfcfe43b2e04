//! A terminal over a WebSocket: binary frames are its bytes both ways, text frames are control.

use atoll_protocol::{
    ErrorBody, Gap, TerminalCommand, TerminalExit, TerminalFrame, TerminalId, TerminalReady, WindowSize,
};
use atoll_runtime::{Access, Attach, Error, Sandbox, Terminal, TerminalEvent, TerminalSpec, Viewer, ViewerOptions};
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::SplitStream;
use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use tokio::sync::mpsc;
use utoipa::IntoParams;

use super::socket::{self, Outgoing, Upgrade};
use crate::agent::Agent;
use crate::command;
use crate::error::{self, Refusal};
use crate::extract::{self, Id, Params};

/// Pieces of input that may wait for the program to read. Whoever types more waits with reading, as at any terminal.
const INPUT_MAX: usize = 64;

/// Errors that may wait for the client to read.
const ERRORS_MAX: usize = 16;

/// Who resized, as other viewers are told.
const VIEWER: &str = "viewer";

/// How to look at it.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct View {
    /// Begin at this cursor.
    since: Option<u64>,
    /// Without `since`: begin with the newest part of what was printed (true), or with what comes (false).
    tail: Option<bool>,
    /// Only look.
    #[param(required = false)]
    read_only: bool,
    /// Whether one that is not there is opened (true, unless it is only to be looked at).
    open: Option<bool>,
    /// Columns of the viewer's window.
    cols: Option<u16>,
    /// Rows of the viewer's window.
    rows: Option<u16>,
}

impl View {
    fn options(&self) -> ViewerOptions {
        let from = match (self.since, self.tail) {
            (Some(cursor), _) => Attach::Cursor(cursor),
            (None, Some(false)) => Attach::Now,
            (None, Some(true) | None) => Attach::Tail,
        };
        ViewerOptions { from, access: if self.read_only { Access::ReadOnly } else { Access::ReadWrite } }
    }

    fn size(&self) -> Result<Option<WindowSize>, Refusal> {
        match (self.cols, self.rows) {
            (None, None) => Ok(None),
            (cols, rows) => command::size_or_default(cols, rows).map(Some),
        }
    }
}

/// Attach to a terminal over a WebSocket; one that is not there is opened with the interactive shell.
///
/// Binary frames are bytes, both ways. Text frames are JSON: a TerminalCommand from the client, a TerminalFrame from
/// the server. The first frame is `ready`, with the cursor of the first byte that follows; after `exit` the server
/// closes once nothing is left to print. Leaving changes nothing for the program.
#[utoipa::path(get, path = "/v1/terminals/{id}/attach", tag = "terminals", operation_id = "attachToTerminal",
    params(("id" = TerminalId, Path), View),
    responses((status = 101, description = "The connection is a WebSocket from here on.")))]
pub(super) async fn attach(
    State(agent): State<Agent>,
    Id(id): Id<TerminalId>,
    Params(view): Params<View>,
    asked: Upgrade,
) -> Result<Response, Refusal> {
    let (upgrade, place) = socket::upgrade(&agent, asked)?;
    let size = view.size()?;
    let terminal = get_or_open(agent.sandbox(), id, &view, size).await?;
    if let Some(size) = size.filter(|size| !view.read_only && *size != terminal.size()) {
        // The program may have ended: then there is nothing to resize, and its last words can still be looked at.
        drop(terminal.resize(size, VIEWER).await);
    }
    let viewer = terminal.attach(view.options());
    Ok(upgrade.on_upgrade(async move |socket| {
        talk(socket, viewer, view.read_only).await;
        drop(place);
    }))
}

async fn get_or_open(
    sandbox: &Sandbox,
    id: TerminalId,
    view: &View,
    size: Option<WindowSize>,
) -> Result<Terminal, Refusal> {
    match sandbox.terminal(&id) {
        Err(Error::TerminalNotFound { .. }) if view.open.unwrap_or(!view.read_only) => {
            let spec = TerminalSpec { id: Some(id), size: size.unwrap_or_default(), ..TerminalSpec::default() };
            Ok(sandbox.open_terminal(spec).await?)
        }
        found => Ok(found?),
    }
}

async fn talk(socket: WebSocket, viewer: Viewer, read_only: bool) {
    let terminal = viewer.terminal().clone();
    let (mut outgoing, incoming) = socket.split();
    let (errors, failed) = mpsc::channel(ERRORS_MAX);
    let (keys, typed) = mpsc::channel(INPUT_MAX);
    let client = Client { terminal: &terminal, read_only, keys, errors: errors.clone() };
    tokio::select! {
        _ = show(&mut outgoing, viewer, failed) => {}
        () = client.obey(incoming) => {}
        () = write(typed, &terminal, errors) => {}
    }
    socket::close(outgoing).await;
}

/// What happens, to the client, until nothing more can.
async fn show(
    outgoing: &mut Outgoing,
    mut viewer: Viewer,
    mut failed: mpsc::Receiver<ErrorBody>,
) -> Result<(), axum::Error> {
    let ready = TerminalReady { terminal: viewer.terminal().info(), cursor: viewer.cursor() };
    socket::tell(outgoing, &TerminalFrame::Ready(ready)).await?;
    loop {
        let event = tokio::select! {
            event = viewer.next() => event,
            Some(body) = failed.recv() => {
                socket::tell(outgoing, &TerminalFrame::Error(body)).await?;
                continue;
            }
        };
        let Some(event) = event else { return Ok(()) };
        tell(outgoing, event, viewer.cursor()).await?;
    }
}

async fn tell(outgoing: &mut Outgoing, event: TerminalEvent, cursor: u64) -> Result<(), axum::Error> {
    let frame = match event {
        TerminalEvent::Output { bytes, .. } => return outgoing.send(Message::Binary(bytes)).await,
        TerminalEvent::Truncated { from, to } => TerminalFrame::Truncated(Gap { from, to }),
        TerminalEvent::Resized(resized) => TerminalFrame::Resize(resized),
        TerminalEvent::Exit(end) => TerminalFrame::Exit(TerminalExit { end: *end, cursor }),
    };
    socket::tell(outgoing, &frame).await
}

/// The side that types.
struct Client<'a> {
    terminal: &'a Terminal,
    read_only: bool,
    keys: mpsc::Sender<Bytes>,
    errors: mpsc::Sender<ErrorBody>,
}

impl Client<'_> {
    /// What the client sends, until it goes.
    async fn obey(self, mut incoming: SplitStream<WebSocket>) {
        while let Some(Ok(message)) = incoming.next().await {
            let done = match message {
                Message::Close(_) => return,
                Message::Ping(_) | Message::Pong(_) => Ok(()),
                Message::Binary(_) | Message::Text(_) if self.read_only => Err(self.read_only()),
                Message::Binary(bytes) => {
                    drop(self.keys.send(bytes).await);
                    Ok(())
                }
                Message::Text(text) => self.control(text.as_bytes()).await,
            };
            if let Err(refusal) = done {
                drop(self.errors.send(refusal.into_body()).await);
            }
        }
    }

    async fn control(&self, text: &[u8]) -> Result<(), Refusal> {
        match extract::parse(text)? {
            TerminalCommand::Resize(size) => self.terminal.resize(size, VIEWER).await?,
            TerminalCommand::Signal(request) => {
                self.terminal.signal(request.signal, command::scope(request.scope)).await?;
            }
        }
        Ok(())
    }

    fn read_only(&self) -> Refusal {
        Error::TerminalReadOnly { id: self.terminal.id().to_string() }.into()
    }
}

/// Input to the program, in order. Never ends by itself: an ended program still has last words.
async fn write(mut typed: mpsc::Receiver<Bytes>, terminal: &Terminal, errors: mpsc::Sender<ErrorBody>) {
    while let Some(bytes) = typed.recv().await {
        if let Err(error) = terminal.write(bytes).await {
            drop(errors.send(error::body(&error)).await);
        }
    }
    std::future::pending().await
}
