//! The body of a large file: its bytes go from the worker's connection to the client's, and past us.

use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use atoll_http::{SpliceHandle, placeholder};
use atoll_runtime::Error;
use atoll_runtime::files::{Content, Piece};
use axum::body::HttpBody;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

/// See the module.
#[derive(Debug)]
pub(super) struct Passing {
    content: Content,
    client: Arc<SpliceHandle>,
    into: OwnedFd,
    left: u64,
}

impl Passing {
    /// Content of a known length, to the client by way of this pipe.
    pub(super) fn new(content: Content, client: Arc<SpliceHandle>, into: OwnedFd) -> Self {
        let left = content.length.unwrap_or(0);
        Self { content, client, into, left }
    }
}

impl HttpBody for Passing {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let Self { content, client, into, left } = &mut *self;
        let piece =
            content.poll_pass(context, &mut |context, from, most| client.poll_fill(context, from, into, most as u64));
        let bytes = match ready!(piece) {
            Err(error) => return Poll::Ready(Some(Err(error))),
            Ok(None) => return Poll::Ready(None),
            Ok(Some(Piece::Bytes(bytes))) => bytes,
            Ok(Some(Piece::Moved(moved))) => placeholder(moved),
        };
        *left = left.saturating_sub(bytes.len() as u64);
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
