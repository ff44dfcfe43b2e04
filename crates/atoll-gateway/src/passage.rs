//! Large answers over plain connections go past us: from the socket of an agent, or of a program inside, to the client's
//! by way of a pipe, so that their bytes are moved by the kernel and never copied here (splice(2)). Half of what a copying
//! proxy costs is copying.
//!
//! hyper writes the answer all the same. Its body gives pieces that only stand for bytes: they have their length, and lie
//! in a place of memory where nothing else does. The client's connection, which is ours ([`Slipway`]), knows them by that
//! place, and moves as many bytes out of the pipe instead. Both ends of a pipe belong to one answer of one connection, and
//! the next piece is made when the last one has left, so that what is written is always what was read.

use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use axum::response::Response;
use bytes::Bytes;
use hyper::Version;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

use crate::lines::{Line, Socket};
use crate::proxy::Held;

/// What goes through the pipe at once. A pipe of this size is what an ordinary user may have (pipe(7)).
const PIECE: usize = 1024 * 1024;

/// Stands for bytes that are in the pipe. Never written anywhere.
static STAND_IN: [u8; PIECE] = [0; PIECE];

/// Answers below this are as fast copied.
const LARGE: u64 = 1024 * 1024;

fn stands_in(bytes: &[u8]) -> bool {
    STAND_IN.as_ptr_range().contains(&bytes.as_ptr())
}

/// What the body of an answer and the client's connection share.
#[derive(Debug, Default)]
pub(crate) struct Passage {
    /// Whether pieces are written as they are. Were they gathered first, what stands for bytes would be taken for them.
    is_vectored: AtomicBool,
    pipe: Mutex<Pipe>,
}

/// The end from which the client is written to, and what is in it.
#[derive(Debug, Default)]
struct Pipe {
    out: Option<OwnedFd>,
    held: usize,
    /// Who fills it, once it is empty.
    waits: Option<Waker>,
}

impl Passage {
    fn pipe(&self) -> MutexGuard<'_, Pipe> {
        self.pipe.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new pipe for a new answer; `None` if that is not to be had, or the last answer has not left.
    fn open(&self) -> Option<OwnedFd> {
        let mut pipe = self.pipe();
        if !self.is_vectored.load(Ordering::Relaxed) || pipe.held > 0 {
            return None;
        }
        let (out, into) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
        // A smaller one does as well, in more steps.
        fcntl_setpipe_size(&into, PIECE).ok();
        *pipe = Pipe { out: Some(out), held: 0, waits: None };
        Some(into)
    }
}

/// A client's connection.
#[derive(Debug)]
pub(crate) struct Slipway {
    client: TcpStream,
    passage: Arc<Passage>,
}

impl Slipway {
    pub(crate) fn new(client: TcpStream) -> (Self, Arc<Passage>) {
        let passage = Arc::new(Passage::default());
        (Self { client, passage: Arc::clone(&passage) }, passage)
    }

    /// Moves bytes out of the pipe, as many as stand for them.
    fn poll_pipe(&self, context: &mut Context<'_>, wanted: usize) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.client.poll_write_ready(context))?;
            let mut pipe = self.passage.pipe();
            let (Some(out), 1..) = (&pipe.out, pipe.held) else {
                return Poll::Ready(Err(io::Error::other("what stands for bytes has lost them")));
            };
            let length = wanted.min(pipe.held);
            let moved = self.client.try_io(Interest::WRITABLE, || {
                let flags = SpliceFlags::NONBLOCK | SpliceFlags::MOVE;
                Ok(splice(out, None, &self.client, None, length, flags)?)
            });
            match moved {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok(moved) => {
                    pipe.held -= moved;
                    if pipe.held == 0
                        && let Some(waits) = pipe.waits.take()
                    {
                        waits.wake();
                    }
                    return Poll::Ready(Ok(moved));
                }
            }
        }
    }
}

impl AsyncRead for Slipway {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().client).poll_read(context, buffer)
    }
}

impl AsyncWrite for Slipway {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if stands_in(bytes) && !bytes.is_empty() {
            return this.poll_pipe(context, bytes.len());
        }
        Pin::new(&mut this.client).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let begins = pieces.iter().position(|piece| !piece.is_empty()).unwrap_or(pieces.len());
        let pieces = &pieces[begins..];
        match pieces.iter().position(|piece| stands_in(piece)) {
            Some(0) => this.poll_pipe(context, pieces[0].len()),
            // What stands before goes first.
            Some(before) => Pin::new(&mut this.client).poll_write_vectored(context, &pieces[..before]),
            None => Pin::new(&mut this.client).poll_write_vectored(context, pieces),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.passage.is_vectored.store(true, Ordering::Relaxed);
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().client).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().client).poll_shutdown(context)
    }
}

impl Socket {
    fn poll_read_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Program(socket) => socket.poll_read_ready(context),
            Self::Agent(socket) => socket.poll_read_ready(context),
        }
    }

    fn splice_into(&self, pipe: &OwnedFd, length: usize) -> io::Result<usize> {
        let flags = SpliceFlags::NONBLOCK | SpliceFlags::MOVE;
        match self {
            Self::Program(socket) => {
                socket.try_io(Interest::READABLE, || Ok(splice(socket, None, pipe, None, length, flags)?))
            }
            Self::Agent(socket) => {
                socket.try_io(Interest::READABLE, || Ok(splice(socket, None, pipe, None, length, flags)?))
            }
        }
    }
}

/// The body of a large answer.
#[derive(Debug)]
struct Slipping {
    passage: Arc<Passage>,
    into: OwnedFd,
    from: Socket,
    /// What was read already, before this began: copied.
    early: Vec<Bytes>,
    left: u64,
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

impl Passage {
    /// Room for one more answer, if it can go past us: a large one whose length is known, from a socket of ours to
    /// another, to a client that speaks HTTP/1.1.
    pub(crate) fn room(
        self: &Arc<Self>,
        line: &Line,
        response: &hyper::Response<Incoming>,
        client: Version,
    ) -> Option<Room> {
        let length = response.body().size_hint().exact().filter(|length| *length >= LARGE)?;
        if !line.is_socket() || client != Version::HTTP_11 {
            return None;
        }
        Some(Room { passage: Arc::clone(self), into: self.open()?, length })
    }
}

/// See [`Passage::room`].
#[derive(Debug)]
pub(crate) struct Room {
    passage: Arc<Passage>,
    into: OwnedFd,
    length: u64,
}

impl Room {
    /// The answer, with a body of which bytes are seen by nobody.
    pub(crate) fn pass(self, line: Line, response: hyper::Response<Incoming>, held: Held) -> io::Result<Response> {
        let (parts, mut body) = response.into_parts();
        let mut early = take_early(&mut body);
        let (from, rest) = line.into_socket().ok_or(io::ErrorKind::NotConnected)?;
        early.push(rest);
        let early = early.into_iter().rev().filter(|bytes| !bytes.is_empty()).collect();
        let Self { passage, into, length } = self;
        let slipping = Slipping { passage, into, from, early, left: length, _held: held };
        Ok(Response::from_parts(parts, axum::body::Body::new(slipping)))
    }
}

impl Slipping {
    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut pipe = self.passage.pipe();
        if pipe.held > 0 {
            pipe.waits = Some(context.waker().clone());
            return Poll::Pending;
        }
        loop {
            ready!(self.from.poll_read_ready(context))?;
            let length = usize::try_from(self.left).unwrap_or(PIECE).min(PIECE);
            // The pipe is empty, so it is the socket that makes us wait.
            let moved = self.from.splice_into(&self.into, length);
            match moved {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
                // Less than was promised: the client must not take it for all.
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
                Ok(moved) => {
                    pipe.held = moved;
                    return Poll::Ready(Ok(moved));
                }
            }
        }
    }
}

impl Body for Slipping {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        if let Some(mut bytes) = self.early.pop() {
            bytes.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
            self.left -= bytes.len() as u64;
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        let moved = ready!(self.poll_fill(context))?;
        self.left -= moved as u64;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&STAND_IN[..moved])))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
