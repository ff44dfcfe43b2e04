//! An agent's answer on its way to a client: passed on as it comes, and counted as a use of the sandbox until it ends.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use crate::fleet::InUse;
use crate::placement::Promise;

/// See the module.
pub(super) struct Passing {
    body: Incoming,
    _in_use: InUse,
    /// For a stream without end: ready when the server is about to end.
    until: Option<Promise<'static, ()>>,
}

impl Passing {
    pub(super) fn new(body: Incoming, in_use: InUse, until: Option<Promise<'static, ()>>) -> Self {
        Self { body, _in_use: in_use, until }
    }
}

impl Body for Passing {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(frame) => return Poll::Ready(frame),
            Poll::Pending => None,
        };
        // What there is goes out first. A client that follows comes back and goes on by its cursor.
        match &mut self.until {
            Some(until) => {
                ready!(until.as_mut().poll(context));
                Poll::Ready(frame)
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
