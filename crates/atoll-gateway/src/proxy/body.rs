//! The body of a response on its way from an agent to the client. The sandbox counts as in use until it ends.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

use crate::agent_pool::{Pool, PooledConn};
use crate::placement::{Agent, BoxFuture};
use crate::sandboxes::InUse;

/// What a request holds until its response has ended: a use of the sandbox, and a permit if requests are limited.
#[derive(Debug)]
pub(crate) struct RequestGuard {
    _in_use: InUse,
    _permit: Option<OwnedSemaphorePermit>,
}

impl RequestGuard {
    pub(crate) fn new(in_use: InUse, permit: Option<OwnedSemaphorePermit>) -> Self {
        Self { _in_use: in_use, _permit: permit }
    }
}

/// A response body that is forwarded frame by frame, and returns its connection to the pool at the end.
pub(crate) struct ForwardedBody {
    body: Incoming,
    /// Present until the response has ended. Dropping it early closes the connection.
    conn: Option<PooledConn>,
    pool: Arc<Pool>,
    agent: Agent,
    _guard: RequestGuard,
    /// For endless streams: completes when the server shuts down.
    until: Option<BoxFuture<'static, ()>>,
}

impl ForwardedBody {
    pub(crate) fn new(body: Incoming, conn: PooledConn, pool: Arc<Pool>, agent: Agent, guard: RequestGuard) -> Self {
        let mut passing = Self { body, conn: Some(conn), pool, agent, _guard: guard, until: None };
        if passing.body.is_end_stream() {
            passing.release();
        }
        passing
    }

    /// Ends the body when `until` completes, at the latest.
    pub(crate) fn until(mut self, until: Option<BoxFuture<'static, ()>>) -> Self {
        self.until = until;
        self
    }

    /// Returns the connection to the pool.
    fn release(&mut self) {
        if let Some(conn) = self.conn.take() {
            self.pool.checkin(conn, self.agent.clone());
        }
    }
}

impl Body for ForwardedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = &mut *self;
        let Some(conn) = &mut this.conn else { return Poll::Ready(None) };
        if let Poll::Ready(frame) = conn.frame(&mut this.body, context) {
            // A body of unknown length may end without a frame after its last one.
            if frame.is_none() || this.body.is_end_stream() {
                this.release();
            }
            return Poll::Ready(frame);
        }
        // Available frames go first. A client that follows a log reconnects and continues from its cursor.
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
