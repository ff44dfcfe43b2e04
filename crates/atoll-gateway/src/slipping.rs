//! Bodies that go past us, by [`Passage`]: pieces that stand for bytes.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use atoll_http::{LARGE, Passage, Tap, stand_in};
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use hyper::Version;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use crate::lines::Line;
use crate::proxy::Held;

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
        match ready!(self.to.poll_fill(context, &*self.from, &self.into, self.left))? {
            // Less than was promised: nobody must take it for all.
            0 => Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
            moved => {
                self.left = self.left.saturating_sub(moved as u64);
                Poll::Ready(Ok(Frame::data(stand_in(moved))))
            }
        }
    }
}

/// The body of a large answer.
#[derive(Debug)]
struct Slipping {
    between: Between,
    /// What was read already, before this began: copied.
    early: Vec<Bytes>,
    _held: Held,
}

/// What was read of an answer's body by whoever read its head.
fn take_early(body: &mut Incoming) -> Vec<Bytes> {
    let mut context = Context::from_waker(Waker::noop());
    let mut early = Vec::new();
    while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut *body).poll_frame(&mut context) {
        early.extend(frame.into_data().ok());
    }
    early
}

/// Room for one more answer, if it can go past us: a large one whose length is known, from a socket of ours to another, to
/// a client that speaks HTTP/1.1.
pub(crate) fn room(
    client: &Arc<Passage>,
    line: &Line,
    response: &hyper::Response<Incoming>,
    spoken: Version,
) -> Option<Room> {
    let length = response.body().size_hint().exact().filter(|length| *length >= LARGE)?;
    if line.passage().is_none() || client.is_held() || spoken != Version::HTTP_11 {
        return None;
    }
    Some(Room { client: Arc::clone(client), into: client.open()?, length })
}

/// See [`room`].
#[derive(Debug)]
pub(crate) struct Room {
    client: Arc<Passage>,
    into: OwnedFd,
    length: u64,
}

impl Room {
    /// The answer, with a body of which bytes are seen by nobody.
    pub(crate) fn pass(self, line: Line, response: hyper::Response<Incoming>, held: Held) -> io::Result<Response> {
        let (parts, mut body) = response.into_parts();
        let mut early = take_early(&mut body);
        let (from, rest) = line.into_passage().ok_or(io::ErrorKind::NotConnected)?;
        early.push(rest);
        let early = early.into_iter().rev().filter(|bytes| !bytes.is_empty()).collect();
        let between = Between { from, to: self.client, into: self.into, left: self.length };
        let slipping = Slipping { between, early, _held: held };
        Ok(Response::from_parts(parts, axum::body::Body::new(slipping)))
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

/// The request, with a body of which bytes are seen by nobody if they can go past us.
pub(crate) fn rise(client: &Arc<Passage>, line: &Line, request: Request) -> Request {
    let length = request.body().size_hint().exact();
    let way = line.passage().and_then(|other| Some((Arc::clone(other), other.open()?))).zip(length);
    match way {
        Some(((other, into), length)) => {
            let tapped = |body| Rising { tap: Tap::new(Arc::clone(client), body, length), to: other, into };
            request.map(|body| axum::body::Body::new(tapped(body)))
        }
        None => request,
    }
}

/// The body of a large request.
#[derive(Debug)]
struct Rising {
    tap: Tap,
    to: Arc<Passage>,
    into: OwnedFd,
}

impl Body for Rising {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { tap, to, into } = &mut *self;
        if let Some(early) = ready!(tap.poll_early(context)) {
            return Poll::Ready(Some(early.map(Frame::data)));
        }
        if tap.left() == 0 {
            return Poll::Ready(None);
        }
        let moved = ready!(tap.poll_rest(context, |context, from, most| to.poll_fill(context, from, into, most)));
        Poll::Ready(Some(moved.map(|moved| Frame::data(stand_in(moved))).map_err(axum::Error::new)))
    }

    fn is_end_stream(&self) -> bool {
        self.tap.left() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.tap.left())
    }
}
