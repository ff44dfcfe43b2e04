//! An agent's answer on its way to a client: passed on as it comes, and counted as a use of the sandbox until it ends.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

use crate::fleet::InUse;
use crate::lines::{Line, Lines};
use crate::placement::{Agent, Promise};

/// What a request holds until its answer has ended: the sandbox is in use, and a place is taken.
#[derive(Debug)]
pub(crate) struct Held {
    _in_use: InUse,
    _place: Option<OwnedSemaphorePermit>,
}

impl Held {
    pub(crate) fn new(in_use: InUse, place: Option<OwnedSemaphorePermit>) -> Self {
        Self { _in_use: in_use, _place: place }
    }
}

/// See the module.
pub(crate) struct Passing {
    body: Incoming,
    /// Until the answer has ended: who goes away before that takes it along.
    line: Option<Line>,
    lines: Arc<Lines>,
    agent: Agent,
    _held: Held,
    /// For a stream without end: ready when the server is about to end.
    until: Option<Promise<'static, ()>>,
}

impl Passing {
    pub(crate) fn new(body: Incoming, line: Line, lines: Arc<Lines>, agent: Agent, held: Held) -> Self {
        let mut passing = Self { body, line: Some(line), lines, agent, _held: held, until: None };
        if passing.body.is_end_stream() {
            passing.let_go();
        }
        passing
    }

    /// Ends at the latest when this is ready.
    pub(crate) fn until(mut self, until: Option<Promise<'static, ()>>) -> Self {
        self.until = until;
        self
    }

    /// With the last byte the line is free for the next request.
    fn let_go(&mut self) {
        if let Some(line) = self.line.take() {
            self.lines.give_back(line, self.agent.clone());
        }
    }
}

impl Body for Passing {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = &mut *self;
        let Some(line) = &mut this.line else { return Poll::Ready(None) };
        if let Poll::Ready(frame) = line.frame(&mut this.body, context) {
            // One of unknown length ends with nothing behind its last frame.
            if frame.is_none() || this.body.is_end_stream() {
                this.let_go();
            }
            return Poll::Ready(frame);
        }
        // What there is goes out first. A client that follows comes back and goes on by its cursor.
        match &mut this.until {
            Some(until) => {
                ready!(until.as_mut().poll(context));
                Poll::Ready(None)
            }
            None => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
