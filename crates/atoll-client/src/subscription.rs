//! A stream of events that comes back after a dropped connection. Knows where it is, not what is told.

use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt;
use hyper::body::Incoming;

use crate::client::{Client, empty, full};
use crate::error::Error;
use crate::events::{Event, Parser};
use crate::retry::Retry;

/// What is asked for, each time anew.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Vec<(&'static str, String)>,
    /// JSON, if there is one.
    pub(crate) body: Option<Bytes>,
}

/// What to do when the connection breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterBreak {
    /// Come back.
    Resume,
    /// Tell it: there would be nothing to come back to.
    Fail,
}

/// A stream of events.
#[derive(Debug)]
pub(crate) struct Subscription {
    client: Client,
    question: Question,
    after_break: AfterBreak,
    /// Where to go on; `None` as long as it is not known that anything was begun.
    cursor: Option<u64>,
    link: Option<Link>,
    retry: Retry,
}

/// A connection that stands, and what has come over it.
#[derive(Debug)]
struct Link {
    body: Incoming,
    parser: Parser,
}

impl Subscription {
    pub(crate) fn new(client: &Client, question: Question, cursor: Option<u64>, after_break: AfterBreak) -> Self {
        let retry = Retry::new(client.patience());
        Self { client: client.clone(), question, after_break, cursor, link: None, retry }
    }

    /// Everything before this was taken.
    pub(crate) fn reached(&mut self, cursor: u64) {
        self.cursor = Some(cursor);
    }

    pub(crate) fn cursor(&self) -> Option<u64> {
        self.cursor
    }

    /// The next event, over however many connections. Dropping the future loses nothing.
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
                None => self.broke(Error::broken("the server closed it"))?,
            }
        }
    }

    /// An event that was cut in two is dropped with its connection: it comes again, whole.
    fn broke(&mut self, error: Error) -> Result<(), Error> {
        self.link = None;
        match self.after_break {
            AfterBreak::Resume => self.retry.failed(error),
            AfterBreak::Fail => Err(error),
        }
    }

    async fn connect(&mut self) -> Result<(), Error> {
        self.retry.due().await;
        match self.ask().await {
            Ok(body) => self.link = Some(Link { body, parser: Parser::default() }),
            Err(error) => self.broke(error)?,
        }
        Ok(())
    }

    async fn ask(&self) -> Result<Incoming, Error> {
        let Question { method, path, query, body } = &self.question;
        let mut ask = self.client.request(method.clone(), path, query)?.accept_events();
        if let Some(cursor) = self.cursor {
            ask = ask.header("last-event-id", cursor.to_string());
        }
        let answer = match body {
            None => ask.send(empty()).await?,
            Some(body) => ask.header("content-type", "application/json".to_owned()).send(full(body.clone())).await?,
        };
        Ok(answer.into_body())
    }
}
