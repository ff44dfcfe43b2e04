//! Requests by hand, for what the client would never send, and answers as they are.

use std::path::Path;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;

use crate::harness::soon;

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    /// Status, code and message of a refusal.
    pub(crate) fn refusal(&self) -> (u16, String, String) {
        let json = self.json();
        let text = |name: &str| json["error"][name].as_str().unwrap_or_default().to_owned();
        (self.status.as_u16(), text("code"), text("message"))
    }
}

/// Sends a request and reads the whole answer.
pub(crate) async fn ask(socket: &Path, request: http::request::Builder, body: impl Into<Bytes>) -> Answer {
    let (parts, mut incoming, _open) = open(socket, request, body).await;
    let mut all = Vec::new();
    while let Some(frame) = soon(incoming.frame()).await {
        all.extend_from_slice(&frame.unwrap().into_data().unwrap_or_default());
    }
    Answer { status: parts.status, headers: parts.headers, body: all.into() }
}

/// The connection of an answer that is still coming; dropping it hangs up.
#[derive(Debug)]
pub(crate) struct Open(tokio::task::JoinHandle<()>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Sends a request and leaves the body of the answer unread.
pub(crate) async fn open(
    socket: &Path,
    request: http::request::Builder,
    body: impl Into<Bytes>,
) -> (http::response::Parts, Incoming, Open) {
    let (mut sender, open) = dial(socket).await;
    let request = request.header("host", "localhost").body(Full::new(body.into())).unwrap();
    let response = soon(sender.send_request(request)).await.unwrap();
    let (parts, incoming) = response.into_parts();
    (parts, incoming, open)
}

/// A connection over which nothing was asked yet.
pub(crate) async fn dial(socket: &Path) -> (hyper::client::conn::http1::SendRequest<Full<Bytes>>, Open) {
    let stream = UnixStream::connect(socket).await.unwrap();
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    let task = tokio::spawn(async move { drop(connection.await) });
    (sender, Open(task))
}

pub(crate) fn get(path: &str) -> http::request::Builder {
    Request::get(path)
}

pub(crate) fn post(path: &str) -> http::request::Builder {
    Request::post(path).header("content-type", "application/json")
}

/// Server-sent events as they come.
#[derive(Debug)]
pub(crate) struct Events {
    body: Incoming,
    text: String,
    _open: Open,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) id: Option<u64>,
    pub(crate) data: serde_json::Value,
}

impl Events {
    pub(crate) async fn open(socket: &Path, request: http::request::Builder, body: impl Into<Bytes>) -> Self {
        let (parts, body, open) = self::open(socket, request.header("accept", "text/event-stream"), body).await;
        assert_eq!(
            (parts.status.as_u16(), parts.headers["content-type"].to_str().unwrap()),
            (200, "text/event-stream")
        );
        Self { body, text: String::new(), _open: open }
    }

    /// `None` when the server has closed the stream.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                if !event.starts_with(':') {
                    return Some(parse(&event));
                }
                continue;
            }
            let frame = soon(self.body.frame()).await?.unwrap();
            self.text.push_str(str::from_utf8(&frame.into_data().unwrap_or_default()).unwrap());
        }
    }

    pub(crate) async fn rest(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

fn parse(text: &str) -> Event {
    let field = |name: &str| {
        let mut lines = text.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
    };
    Event {
        name: field("event").unwrap(),
        id: field("id").map(|id| id.parse().unwrap()),
        data: serde_json::from_str(&field("data").unwrap()).unwrap(),
    }
}
