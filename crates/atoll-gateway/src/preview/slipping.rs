//! Bodies that go past us, by [`Passage`]: pieces that stand for bytes.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use crate::passage::{Passage, STAND_IN};
use crate::proxy::Held;

/// Answers below this are as fast copied.
pub(super) const LARGE: u64 = 1024 * 1024;

/// A request below this is better copied: its connection can be kept for the next one.
pub(super) const LARGE_UP: u64 = 8 * 1024 * 1024;

/// From one connection to another, so many bytes.
#[derive(Debug)]
struct Between {
    from: Arc<Passage>,
    to: Arc<Passage>,
    into: OwnedFd,
    left: u64,
}

impl Between {
    /// The next piece, while there is one to come.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Frame<Bytes>>> {
        match ready!(self.from.poll_fill(context, &self.to, &self.into, self.left))? {
            // Less than was promised: nobody must take it for all.
            0 => Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
            moved => {
                self.left = self.left.saturating_sub(moved as u64);
                Poll::Ready(Ok(Frame::data(Bytes::from_static(&STAND_IN[..moved]))))
            }
        }
    }
}

/// The body of a large answer.
#[derive(Debug)]
pub(super) struct Slipping {
    between: Between,
    /// What was read already, before this began: copied.
    early: Vec<Bytes>,
    _held: Held,
}

/// What was read of an answer's body by whoever read its head.
pub(super) fn take_early(body: &mut Incoming) -> Vec<Bytes> {
    let mut context = Context::from_waker(Waker::noop());
    let mut early = Vec::new();
    while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut *body).poll_frame(&mut context) {
        early.extend(frame.into_data().ok());
    }
    early
}

impl Slipping {
    /// The rest of an answer of `length` bytes, of which some were read `early`.
    pub(super) fn new(
        (program, client): (Arc<Passage>, Arc<Passage>),
        into: OwnedFd,
        early: Vec<Bytes>,
        length: u64,
        held: Held,
    ) -> Self {
        let early = early.into_iter().rev().filter(|bytes| !bytes.is_empty()).collect();
        Self { between: Between { from: program, to: client, into, left: length }, early, _held: held }
    }
}

impl Body for Slipping {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if self.between.left == 0 {
            return Poll::Ready(None);
        }
        if let Some(mut bytes) = self.early.pop() {
            bytes.truncate(usize::try_from(self.between.left).unwrap_or(usize::MAX));
            self.between.left -= bytes.len() as u64;
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        self.between.poll(context).map(Some)
    }

    fn is_end_stream(&self) -> bool {
        self.between.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.between.left)
    }
}

/// The body of a large request.
#[derive(Debug)]
pub(super) struct Rising<B> {
    between: Between,
    /// As hyper reads it, for as long as it has some.
    body: B,
    is_dry: bool,
}

impl<B> Rising<B> {
    /// A request's body of `length` bytes, on its way from the client to the program.
    pub(super) fn new((client, program): (Arc<Passage>, Arc<Passage>), into: OwnedFd, body: B, length: u64) -> Self {
        client.hold();
        Self { between: Between { from: client, to: program, into, left: length }, body, is_dry: false }
    }

    fn passed(&mut self, bytes: usize) {
        self.between.left = self.between.left.saturating_sub(bytes as u64);
    }
}

impl<B> Drop for Rising<B> {
    fn drop(&mut self) {
        self.between.from.past();
    }
}

impl<B: Body<Data = Bytes, Error = axum::Error> + Unpin> Body for Rising<B> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.between.left == 0 {
            return Poll::Ready(None);
        }
        if !self.is_dry {
            if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
                if let Some(Ok(frame)) = &frame {
                    self.passed(frame.data_ref().map_or(0, Bytes::len));
                }
                return Poll::Ready(frame);
            }
            ready!(self.between.from.poll_dry(context));
            self.is_dry = true;
        }
        self.between.poll(context).map(|frame| Some(frame.map_err(axum::Error::new)))
    }

    fn is_end_stream(&self) -> bool {
        self.between.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.between.left)
    }
}
