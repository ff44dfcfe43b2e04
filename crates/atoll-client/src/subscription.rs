//! A stream of server-sent events that reconnects after a dropped connection. Knows its position, not the meaning of
//! the events.

use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt;
use hyper::body::Incoming;

use crate::client::{Client, empty, full};
use crate::error::Error;
use crate::events::{Event, Parser};
use crate::retry::Retry;

/// The request, sent again with each connection.
#[derive(Debug)]
pub(crate) struct StreamRequest {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Vec<(&'static str, String)>,
    /// JSON body, if any.
    pub(crate) body: Option<Bytes>,
}

/// What to do when the connection breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterBreak {
    /// Reconnect.
    Resume,
    /// Return the error, because there would be nothing to reconnect to.
    Fail,
}

/// A stream of events that reconnects.
#[derive(Debug)]
pub(crate) struct Subscription {
    client: Client,
    stream_request: StreamRequest,
    after_break: AfterBreak,
    /// Position to continue from; `None` until the server is known to have started the request.
    cursor: Option<u64>,
    link: Option<Link>,
    retry: Retry,
}

/// An established connection, and the events received over it.
#[derive(Debug)]
struct Link {
    body: Incoming,
    parser: Parser,
}

impl Subscription {
    pub(crate) fn new(
        client: &Client,
        stream_request: StreamRequest,
        cursor: Option<u64>,
        after_break: AfterBreak,
    ) -> Self {
        let retry = Retry::new(client.patience());
        Self { client: client.clone(), stream_request, after_break, cursor, link: None, retry }
    }

    /// Records that everything before this position was processed.
    pub(crate) fn reached(&mut self, cursor: u64) {
        self.cursor = Some(cursor);
    }

    pub(crate) fn cursor(&self) -> Option<u64> {
        self.cursor
    }

    /// Returns the next event, across reconnects. Cancel safe: dropping the future loses no events.
    pub(crate) async fn next(&mut self) -> Result<Event, Error> {
        loop {
            let Some(link) = &mut self.link else {
                self.connect().await?;
                continue;
            };
            if let Some(event) = link.parser.pop() {
                self.retry.succeeded();
                return Ok(event);
            }
            match link.body.frame().await {
                Some(Ok(frame)) => link.parser.push(frame.data_ref().map_or(&[], |data| data))?,
                Some(Err(error)) => self.broke(Error::broken(error))?,
                None => self.broke(Error::broken("the server closed the connection"))?,
            }
        }
    }

    /// Drops the connection, with an incomplete event: the server sends the event again.
    fn broke(&mut self, error: Error) -> Result<(), Error> {
        self.link = None;
        match self.after_break {
            AfterBreak::Resume => self.retry.failed(error),
            AfterBreak::Fail => Err(error),
        }
    }

    async fn connect(&mut self) -> Result<(), Error> {
        self.retry.due().await;
        match self.builder().await {
            Ok(body) => self.link = Some(Link { body, parser: Parser::default() }),
            Err(error) => self.broke(error)?,
        }
        Ok(())
    }

    async fn builder(&self) -> Result<Incoming, Error> {
        let StreamRequest { method, path, query, body } = &self.stream_request;
        let mut builder = self.client.request(method.clone(), path, query)?.accept_events();
        if let Some(cursor) = self.cursor {
            builder = builder.header("last-event-id", cursor.to_string());
        }
        let answer = match body {
            None => builder.send(empty()).await?,
            Some(body) => {
                builder.header("content-type", "application/json".to_owned()).send(full(body.clone())).await?
            }
        };
        Ok(answer.into_body())
    }
}
