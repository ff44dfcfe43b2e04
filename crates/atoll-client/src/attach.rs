//! A terminal over a WebSocket, which reconnects after a dropped connection and continues at the same byte.

use atoll_protocol::{
    ErrorBody, Gap, Resized, SignalRequest, TerminalCommand, TerminalExit, TerminalFrame, TerminalId, TerminalReady,
    WindowSize,
};
use bytes::{Buf, Bytes};
use futures_util::{SinkExt, StreamExt};
use http::header::AUTHORIZATION;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};

use crate::client::Client;
use crate::connection::Connection;
use crate::error::Error;
use crate::retry::Retry;

/// Where to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Attach {
    /// With the most recent output.
    #[default]
    Tail,
    /// At a cursor.
    Cursor(u64),
    /// With new output only.
    Now,
}

/// Options for attaching to a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct View {
    /// Where to start.
    pub from: Attach,
    /// Attach read-only.
    pub read_only: bool,
    /// Size of the local window.
    pub size: Option<WindowSize>,
}

/// An event of an attached terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalEvent {
    /// The connection is established. Always the first event, and sent only once.
    Ready(Box<TerminalReady>),
    /// Output of the terminal.
    Output {
        /// Position of the first byte.
        cursor: u64,
        /// The bytes.
        bytes: Bytes,
    },
    /// Output at this position is no longer available.
    Truncated(Gap),
    /// The window was resized.
    Resized(Resized),
    /// The server refused the last command.
    Refused(Box<ErrorBody>),
    /// The terminal's program has ended.
    Exit(Box<TerminalExit>),
}

/// An attached terminal. It reconnects by itself after a dropped connection.
#[derive(Debug)]
pub struct Attachment {
    client: Client,
    id: TerminalId,
    view: View,
    link: Option<Link>,
    retry: Retry,
    /// Set by the first connection.
    known: Option<Known>,
    told_exit: bool,
}

type Link = WebSocketStream<Connection>;

/// What must be unchanged after reconnecting.
#[derive(Debug)]
struct Known {
    ready: TerminalReady,
    cursor: u64,
    size: Option<Resized>,
}

impl Client {
    /// Attaches to a terminal. One that does not exist is opened with the interactive shell, unless the view is
    /// read-only. Connects when the first event is requested.
    pub fn attach_terminal(&self, id: &TerminalId, view: View) -> Attachment {
        let retry = Retry::new(self.patience());
        Attachment { client: self.clone(), id: id.clone(), view, link: None, retry, known: None, told_exit: false }
    }
}

impl Attachment {
    /// Returns the position after the last event returned.
    pub fn cursor(&self) -> Option<u64> {
        self.known.as_ref().map(|known| known.cursor)
    }

    /// Returns the next event, or `None` after the last one. Cancel safe: dropping the future loses no events.
    pub async fn next(&mut self) -> Result<Option<TerminalEvent>, Error> {
        loop {
            let Some(link) = &mut self.link else {
                if self.told_exit {
                    return Ok(None);
                }
                self.connect().await?;
                continue;
            };
            match link.next().await {
                Some(Ok(message)) => {
                    if let Some(event) = self.take(message)? {
                        return Ok(Some(event));
                    }
                }
                Some(Err(error)) => self.broke(Error::broken(error))?,
                None => self.broke(Error::broken("the server closed the connection"))?,
            }
        }
    }

    /// Writes input. If the connection breaks meanwhile, it is unknown which bytes arrived, and they are not sent
    /// again.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), Error> {
        self.send(Message::Binary(bytes)).await
    }

    /// Resizes the window.
    pub async fn resize(&mut self, size: WindowSize) -> Result<(), Error> {
        self.view.size = Some(size);
        self.send_command(&TerminalCommand::Resize(size)).await
    }

    /// Sends a signal.
    pub async fn signal(&mut self, request: SignalRequest) -> Result<(), Error> {
        self.send_command(&TerminalCommand::Signal(request)).await
    }

    async fn send_command(&mut self, command: &TerminalCommand) -> Result<(), Error> {
        let text = serde_json::to_string(command).map_err(Error::invalid)?;
        self.send(Message::text(text)).await
    }

    async fn send(&mut self, message: Message) -> Result<(), Error> {
        let link = loop {
            match &mut self.link {
                Some(link) => break link,
                None => self.connect().await?,
            }
        };
        let sent = link.send(message).await;
        sent.map_err(|error| {
            self.link = None;
            Error::broken(error)
        })
    }

    fn broke(&mut self, error: Error) -> Result<(), Error> {
        self.link = None;
        if self.told_exit { Ok(()) } else { self.retry.failed(error) }
    }

    async fn connect(&mut self) -> Result<(), Error> {
        self.retry.due().await;
        match self.dial().await {
            Ok(link) => self.link = Some(link),
            Err(error) => self.broke(error)?,
        }
        Ok(())
    }

    async fn dial(&self) -> Result<Link, Error> {
        let uri = self.client.uri("ws", &format!("/terminals/{}/attach", self.id), &self.query())?;
        let mut request = uri.into_client_request().map_err(Error::invalid)?;
        if let Some(token) = self.client.token() {
            request.headers_mut().insert(AUTHORIZATION, token.clone());
        }
        let connection = self.client.address().dial().await?;
        let (link, _) = tokio_tungstenite::client_async(request, connection).await.map_err(not_upgraded)?;
        Ok(link)
    }

    fn query(&self) -> Vec<(&'static str, String)> {
        let from = self.known.as_ref().map_or(self.view.from, |known| Attach::Cursor(known.cursor));
        let mut query = match from {
            Attach::Tail => vec![("tail", "true".to_owned())],
            Attach::Cursor(cursor) => vec![("since", cursor.to_string())],
            Attach::Now => vec![("tail", "false".to_owned())],
        };
        if self.known.is_some() {
            // A reconnecting client wants the same terminal, not a new one with its id.
            query.push(("open", "false".to_owned()));
        }
        if self.view.read_only {
            query.push(("read_only", "true".to_owned()));
        }
        if let Some(size) = self.view.size {
            query.extend([("cols", size.cols().to_string()), ("rows", size.rows().to_string())]);
        }
        query
    }

    fn take(&mut self, message: Message) -> Result<Option<TerminalEvent>, Error> {
        match message {
            Message::Binary(bytes) => self.output(bytes),
            Message::Text(text) => self.control(serde_json::from_str(&text).map_err(Error::invalid_response)?),
            // The end of the stream follows.
            Message::Close(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => Ok(None),
        }
    }

    fn output(&mut self, bytes: Bytes) -> Result<Option<TerminalEvent>, Error> {
        let known = self.known()?;
        let cursor = known.cursor;
        known.cursor += bytes.len() as u64;
        Ok((bytes.has_remaining()).then_some(TerminalEvent::Output { cursor, bytes }))
    }

    fn control(&mut self, frame: TerminalFrame) -> Result<Option<TerminalEvent>, Error> {
        Ok(match frame {
            TerminalFrame::Ready(ready) => return self.ready(ready),
            TerminalFrame::Resize(resized) => {
                let known = self.known()?;
                // Each connection starts with the size.
                let is_same = known.size.as_ref() == Some(&resized);
                known.size = Some(resized.clone());
                (!is_same).then_some(TerminalEvent::Resized(resized))
            }
            TerminalFrame::Truncated(gap) => {
                self.known()?.cursor = gap.to;
                Some(TerminalEvent::Truncated(gap))
            }
            TerminalFrame::Exit(exit) => {
                self.told_exit = true;
                Some(TerminalEvent::Exit(Box::new(exit)))
            }
            TerminalFrame::Error(body) => Some(TerminalEvent::Refused(Box::new(body))),
        })
    }

    fn ready(&mut self, ready: TerminalReady) -> Result<Option<TerminalEvent>, Error> {
        self.retry.succeeded();
        let Some(known) = &mut self.known else {
            self.known = Some(Known { cursor: ready.cursor, ready: ready.clone(), size: None });
            return Ok(Some(TerminalEvent::Ready(Box::new(ready))));
        };
        let same = known.ready.terminal.started_at == ready.terminal.started_at && known.cursor == ready.cursor;
        if same { Ok(None) } else { Err(Error::invalid_response("the id now belongs to another terminal")) }
    }

    fn known(&mut self) -> Result<&mut Known, Error> {
        self.known.as_mut().ok_or_else(|| Error::invalid_response("the terminal sent a frame before `ready`"))
    }
}

fn not_upgraded(error: SocketError) -> Error {
    if let SocketError::Http(response) = error {
        let (parts, body) = response.into_parts();
        return Error::refused(parts.status, &body.unwrap_or_default());
    }
    Error::broken(error)
}
