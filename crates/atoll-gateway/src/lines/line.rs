//! One connection to an agent, moved along by whoever waits for its answer: no task of its own, so no wake-up of one on
//! the way there and back.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use atoll_http::{Passage, Slipway};
use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as _, Frame, Incoming};
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

use crate::placement::{Inside, Wire};

/// See the module.
#[derive(Debug)]
pub(crate) struct Line {
    sender: SendRequest<Body>,
    carrier: Carrier,
    /// The same connection, for bodies that go past us, if it is a socket and nothing else.
    passage: Option<Arc<Passage>>,
}

/// What moves the bytes.
#[derive(Debug)]
enum Carrier {
    Open(Box<Connection<TokioIo<Wire>, Body>>),
    Ended,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NotSent {
    /// Nothing of the request has left: it can be sent on another line.
    Unsent(Box<Request<Body>>),
    /// The agent may have got it, or some of it.
    Broken(hyper::Error),
}

impl std::fmt::Display for NotSent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsent(_) => f.write_str("it hung up"),
            Self::Broken(error) => error.fmt(f),
        }
    }
}

impl Carrier {
    /// Moves what can be moved. An error is told to whoever waits for the answer or its body.
    fn go_on(&mut self, context: &mut Context<'_>) {
        if let Self::Open(connection) = self
            && Pin::new(connection).poll(context).is_ready()
        {
            *self = Self::Ended;
        }
    }
}

impl Line {
    pub(crate) async fn over(wire: Wire) -> hyper::Result<Self> {
        let any = (*wire).as_any();
        let passage = match any.downcast_ref() {
            Some(Inside::Socket(socket)) => Some(socket.passage()),
            Some(Inside::Through(_)) => None,
            None => any.downcast_ref().map(Slipway::passage),
        };
        let (sender, connection) = http1::handshake(TokioIo::new(wire)).await?;
        Ok(Self { sender, carrier: Carrier::Open(Box::new(connection)), passage })
    }

    /// A line to a program inside.
    pub(crate) async fn inside(inside: Inside) -> hyper::Result<Self> {
        Self::over(Box::new(inside)).await
    }

    /// The connection by itself, and what was read from it and not yet told.
    pub(crate) fn into_passage(self) -> Option<(Arc<Passage>, Bytes)> {
        let Carrier::Open(connection) = self.carrier else { return None };
        Some((self.passage?, connection.into_parts().read_buf))
    }

    /// The way past us, if there is one now.
    pub(crate) fn passage(&self) -> Option<&Arc<Passage>> {
        self.passage.as_ref().filter(|_| matches!(self.carrier, Carrier::Open(_)))
    }

    /// Whether a request can be sent: the last one is over, and the agent has not hung up.
    pub(crate) fn is_ready(&mut self) -> bool {
        // Nobody needs to be woken: whoever sends looks again.
        self.carrier.go_on(&mut Context::from_waker(Waker::noop()));
        matches!(self.carrier, Carrier::Open(_)) && self.sender.is_ready()
    }

    /// Sends a request; the answer's body is read with [`Line::frame`].
    pub(crate) async fn send(&mut self, request: Request<Body>) -> Result<Response<Incoming>, NotSent> {
        let Self { sender, carrier, passage: _ } = self;
        let mut answer = std::pin::pin!(sender.try_send_request(request));
        let answered = std::future::poll_fn(|context| {
            carrier.go_on(context);
            answer.as_mut().poll(context)
        });
        answered.await.map_err(|mut error| match error.take_message() {
            Some(request) => NotSent::Unsent(Box::new(request)),
            None => NotSent::Broken(error.into_error()),
        })
    }

    /// The next piece of the answer's body.
    pub(crate) fn frame(
        &mut self,
        body: &mut Incoming,
        context: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        if let Poll::Ready(frame) = Pin::new(&mut *body).poll_frame(context) {
            return Poll::Ready(frame);
        }
        self.carrier.go_on(context);
        Pin::new(body).poll_frame(context)
    }
}
