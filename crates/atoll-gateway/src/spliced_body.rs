//! Request and response bodies that are spliced from socket to socket, see [`SpliceHandle`]. hyper sees placeholders
//! only.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use atoll_http::{RawBody, SPLICE_RESPONSE_MIN, SpliceHandle, placeholder};
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use hyper::Version;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use crate::agent_pool::PooledConn;
use crate::proxy::RequestGuard;

/// A splice of the next `left` bytes from one connection to another.
#[derive(Debug)]
struct Splice {
    from: Arc<SpliceHandle>,
    to: Arc<SpliceHandle>,
    into: OwnedFd,
    left: u64,
}

impl Splice {
    /// Moves the next chunk. Call it only while `left` is not 0.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Frame<Bytes>>> {
        match ready!(self.to.poll_fill(context, &*self.from, &self.into, self.left))? {
            // The body is shorter than announced: an error, so that no reader takes it for complete.
            0 => Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
            moved => {
                self.left = self.left.saturating_sub(moved as u64);
                Poll::Ready(Ok(Frame::data(placeholder(moved))))
            }
        }
    }
}

/// The body of a large response.
#[derive(Debug)]
struct SplicedResponse {
    splice: Splice,
    /// Bytes that hyper has already read, in reverse order. They are copied.
    buffered: Vec<Bytes>,
    _guard: RequestGuard,
}

/// Takes the bytes of the body that hyper has already read.
fn take_buffered(body: &mut Incoming) -> Vec<Bytes> {
    let mut context = Context::from_waker(Waker::noop());
    let mut buffered = Vec::new();
    while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut *body).poll_frame(&mut context) {
        buffered.extend(frame.into_data().ok());
    }
    buffered
}

/// Prepares to splice a response, if that is possible: it is large, its length is known, both ends are plain sockets,
/// and the client uses HTTP/1.1.
pub(crate) fn prepare_response(
    client: &Arc<SpliceHandle>,
    conn: &PooledConn,
    response: &hyper::Response<Incoming>,
    client_version: Version,
) -> Option<ResponseSplice> {
    let length = response.body().size_hint().exact().filter(|length| *length >= SPLICE_RESPONSE_MIN)?;
    if conn.splice().is_none() || client.is_reading_paused() || client_version != Version::HTTP_11 {
        return None;
    }
    Some(ResponseSplice { client: Arc::clone(client), into: client.open_pipe()?, length })
}

/// A response that can be spliced. Created by [`prepare_response`].
#[derive(Debug)]
pub(crate) struct ResponseSplice {
    client: Arc<SpliceHandle>,
    into: OwnedFd,
    length: u64,
}

impl ResponseSplice {
    /// Returns the response with a spliced body.
    pub(crate) fn into_response(
        self,
        conn: PooledConn,
        response: hyper::Response<Incoming>,
        guard: RequestGuard,
    ) -> io::Result<Response> {
        let (parts, mut body) = response.into_parts();
        let mut buffered = take_buffered(&mut body);
        let (from, rest) = conn.into_splice().ok_or(io::ErrorKind::NotConnected)?;
        buffered.push(rest);
        let buffered = buffered.into_iter().rev().filter(|bytes| !bytes.is_empty()).collect();
        let splice = Splice { from, to: self.client, into: self.into, left: self.length };
        let body = SplicedResponse { splice, buffered, _guard: guard };
        Ok(Response::from_parts(parts, axum::body::Body::new(body)))
    }
}

impl Body for SplicedResponse {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if self.splice.left == 0 {
            return Poll::Ready(None);
        }
        if let Some(mut bytes) = self.buffered.pop() {
            bytes.truncate(usize::try_from(self.splice.left).unwrap_or(usize::MAX));
            self.splice.left -= bytes.len() as u64;
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        self.splice.poll(context).map(Some)
    }

    fn is_end_stream(&self) -> bool {
        self.splice.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.splice.left)
    }
}

/// Replaces the request's body by a spliced one, if the connection to the agent allows it.
pub(crate) fn splice_request(client: &Arc<SpliceHandle>, conn: &PooledConn, request: Request) -> Request {
    let length = request.body().size_hint().exact();
    let target = conn.splice().and_then(|other| Some((Arc::clone(other), other.open_pipe()?))).zip(length);
    match target {
        Some(((other, into), length)) => {
            let spliced =
                |body| SplicedRequest { raw: RawBody::new(Arc::clone(client), body, length), to: other, into };
            request.map(|body| axum::body::Body::new(spliced(body)))
        }
        None => request,
    }
}

/// The body of a large request.
#[derive(Debug)]
struct SplicedRequest {
    raw: RawBody,
    to: Arc<SpliceHandle>,
    into: OwnedFd,
}

impl Body for SplicedRequest {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { raw, to, into } = &mut *self;
        if let Some(buffered) = ready!(raw.poll_buffered(context)) {
            return Poll::Ready(Some(buffered.map(Frame::data)));
        }
        if raw.remaining() == 0 {
            return Poll::Ready(None);
        }
        let moved = ready!(raw.poll_remaining(context, |context, from, most| to.poll_fill(context, from, into, most)));
        Poll::Ready(Some(moved.map(|moved| Frame::data(placeholder(moved))).map_err(axum::Error::new)))
    }

    fn is_end_stream(&self) -> bool {
        self.raw.remaining() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.raw.remaining())
    }
}
