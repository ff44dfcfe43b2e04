//! A terminal over a WebSocket that comes back after a dropped connection and goes on at the same byte.

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

/// Where to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Attach {
    /// With the newest part of what was printed.
    #[default]
    Tail,
    /// At a cursor.
    Cursor(u64),
    /// With what comes.
    Now,
}

/// How to look at a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct View {
    /// Where to begin.
    pub from: Attach,
    /// Only look.
    pub read_only: bool,
    /// How large our window is.
    pub size: Option<WindowSize>,
}

/// What a viewer is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalEvent {
    /// The connection stands. The first event, told once.
    Ready(Box<TerminalReady>),
    /// It printed.
    Output {
        /// Position of the first byte.
        cursor: u64,
        /// The bytes.
        bytes: Bytes,
    },
    /// What it printed here is gone.
    Truncated(Gap),
    /// Its window has this size.
    Resized(Resized),
    /// What we asked for was not done.
    Refused(Box<ErrorBody>),
    /// Its program is over.
    Exit(Box<TerminalExit>),
}

/// A viewer. A dropped connection is not noticed but for the time that it takes to come back.
#[derive(Debug)]
pub struct Attachment {
    client: Client,
    id: TerminalId,
    view: View,
    link: Option<Link>,
    retry: Retry,
    /// Set with the first connection.
    known: Option<Known>,
    told_exit: bool,
}

type Link = WebSocketStream<Connection>;

/// What must be the same after coming back.
#[derive(Debug)]
struct Known {
    ready: TerminalReady,
    cursor: u64,
    size: Option<Resized>,
}

impl Client {
    /// Looks at a terminal; one that is not there is opened with the interactive shell, unless it is only to be looked
    /// at. The connection is made when the first event is asked for.
    pub fn attach_terminal(&self, id: &TerminalId, view: View) -> Attachment {
        let retry = Retry::new(self.patience());
        Attachment { client: self.clone(), id: id.clone(), view, link: None, retry, known: None, told_exit: false }
    }
}

impl Attachment {
    /// Everything before this was told.
    pub fn cursor(&self) -> Option<u64> {
        self.known.as_ref().map(|known| known.cursor)
    }

    /// The next event; `None` after the last. Dropping the future loses nothing.
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
                None => self.broke(Error::broken("the server closed it"))?,
            }
        }
    }

    /// Types. If the connection breaks meanwhile, it is not known what arrived, and nothing is typed again.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), Error> {
        self.send(Message::Binary(bytes)).await
    }

    /// Gives the window a size.
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
            // Who comes back wants the terminal that was there, not a new one in its place.
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
            Message::Text(text) => self.control(serde_json::from_str(&text).map_err(Error::nonsense)?),
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
                // Each connection begins with the size.
                let told = known.size.as_ref() == Some(&resized);
                known.size = Some(resized.clone());
                (!told).then_some(TerminalEvent::Resized(resized))
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
        if same { Ok(None) } else { Err(Error::nonsense("another terminal has this id now")) }
    }

    fn known(&mut self) -> Result<&mut Known, Error> {
        self.known.as_mut().ok_or_else(|| Error::nonsense("a terminal that was never ready"))
    }
}

fn not_upgraded(error: SocketError) -> Error {
    if let SocketError::Http(response) = error {
        let (parts, body) = response.into_parts();
        return Error::refused(parts.status, &body.unwrap_or_default());
    }
    Error::broken(error)
}
