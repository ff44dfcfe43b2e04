//! Large bodies over plain connections go past us: from one socket to the other by way of a pipe, so that their bytes are
//! moved by the kernel and never copied here (splice(2)). Half of what a copying proxy costs is copying.
//!
//! hyper writes such a body all the same. It gives pieces that only stand for bytes: they have their length, and lie in a
//! place of memory where nothing else does. The connection that is written to, which is ours ([`Slipway`]), knows them by
//! that place, and moves as many bytes out of the pipe instead. Both ends of a pipe belong to one body on one connection,
//! and the next piece is made when the last one has left, so that what is written is always what was read.
//!
//! An answer comes from a connection that hyper has let go of. A request's body comes from one that hyper still reads: it
//! is made to wait (`Passage::hold`) and, as it has not seen the body, takes no further request from that connection.

use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

use crate::stream::{self, PIECE, Source, Stream};

/// An answer below this is as fast copied.
pub const LARGE: u64 = 1024 * 1024;

/// A request below this is better copied: its connection can be kept for the next one.
pub const LARGE_UP: u64 = 8 * 1024 * 1024;

/// Stands for bytes that are in the pipe. Never written anywhere.
static STAND_IN: [u8; PIECE] = [0; PIECE];

/// What stands for so many bytes that are in a pipe.
pub fn stand_in(length: usize) -> Bytes {
    Bytes::from_static(&STAND_IN[..length])
}

fn stands_in(bytes: &[u8]) -> bool {
    STAND_IN.as_ptr_range().contains(&bytes.as_ptr())
}

/// A connection, as bodies that go past us know it.
#[derive(Debug)]
pub struct Passage {
    stream: Stream,
    /// Whether pieces are written as they are. Were they gathered first, what stands for bytes would be taken for them.
    is_vectored: AtomicBool,
    pipe: Mutex<Pipe>,
    reading: Mutex<Reading>,
    /// The body that hyper was held for has been read.
    is_past: Notify,
}

/// The end from which the connection is written to, and what is in it.
#[derive(Debug, Default)]
struct Pipe {
    out: Option<OwnedFd>,
    held: usize,
    /// Who fills it, once it is empty.
    waits: Option<Waker>,
}

/// Who reads from the connection.
#[derive(Debug, Default)]
enum Reading {
    /// hyper.
    #[default]
    Freely,
    /// Nobody yet: hyper may have some of the body, and whoever waits here takes that first.
    Held(Option<Waker>),
    /// Whoever holds: hyper had nothing left, and asked.
    Dry,
}

impl Passage {
    fn new(stream: Stream) -> Arc<Self> {
        let (is_vectored, pipe, reading) = (AtomicBool::new(false), Mutex::default(), Mutex::default());
        Arc::new(Self { stream, is_vectored, pipe, reading, is_past: Notify::new() })
    }

    fn pipe(&self) -> MutexGuard<'_, Pipe> {
        self.pipe.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new pipe for a new body; `None` if that is not to be had, or the last one has not left.
    pub fn open(&self) -> Option<OwnedFd> {
        let mut pipe = self.pipe();
        if !self.is_vectored.load(Ordering::Relaxed) || pipe.held > 0 {
            return None;
        }
        let (out, into) = stream::pipe().ok()?;
        *pipe = Pipe { out: Some(out), held: 0, waits: None };
        Some(into)
    }

    /// From now on hyper reads nothing more.
    pub fn hold(&self) {
        *self.reading() = Reading::Held(None);
    }

    /// Whether hyper reads nothing more.
    pub fn is_held(&self) -> bool {
        !matches!(*self.reading(), Reading::Freely)
    }

    /// Ready when hyper has told everything that it had read.
    pub fn poll_dry(&self, context: &mut Context<'_>) -> Poll<()> {
        match &mut *self.reading() {
            Reading::Held(waits) => {
                *waits = Some(context.waker().clone());
                Poll::Pending
            }
            Reading::Freely | Reading::Dry => Poll::Ready(()),
        }
    }

    /// The body that hyper was held for has been read.
    pub fn past(&self) {
        self.is_past.notify_one();
    }

    /// Returns if whoever is on the other side goes away after that. hyper would not notice.
    pub async fn gone(&self) {
        self.is_past.notified().await;
        if self.stream.goes_on().await {
            std::future::pending().await
        }
    }

    /// Moves bytes from another connection into this one's pipe. `Ok(0)` is the end.
    pub fn poll_fill(
        &self,
        context: &mut Context<'_>,
        from: &impl Source,
        into: &OwnedFd,
        most: u64,
    ) -> Poll<io::Result<usize>> {
        let mut pipe = self.pipe();
        if pipe.held > 0 {
            pipe.waits = Some(context.waker().clone());
            return Poll::Pending;
        }
        // It is empty, so it is the socket that makes us wait.
        let moved = ready!(from.poll_pour(context, into, usize::try_from(most).unwrap_or(PIECE).min(PIECE)))?;
        pipe.held = moved;
        Poll::Ready(Ok(moved))
    }

    /// Moves bytes out of the pipe, as many as stand for them.
    fn poll_pipe(&self, context: &mut Context<'_>, wanted: usize) -> Poll<io::Result<usize>> {
        let mut pipe = self.pipe();
        let (Some(out), 1..) = (&pipe.out, pipe.held) else {
            return Poll::Ready(Err(io::Error::other("what stands for bytes has lost them")));
        };
        let moved = ready!(self.stream.poll_drain(context, out, wanted.min(pipe.held)))?;
        pipe.held -= moved;
        if pipe.held == 0
            && let Some(waits) = pipe.waits.take()
        {
            waits.wake();
        }
        Poll::Ready(Ok(moved))
    }
}

impl Source for Passage {
    fn poll_pour(&self, context: &mut Context<'_>, into: &OwnedFd, most: usize) -> Poll<io::Result<usize>> {
        self.stream.poll_pour(context, into, most)
    }
}

/// A connection as hyper uses it.
#[derive(Debug)]
pub struct Slipway(Arc<Passage>);

impl Slipway {
    /// Over this connection.
    pub fn new(stream: Stream) -> Self {
        Self(Passage::new(stream))
    }

    /// The same connection, for bodies that go past.
    pub fn passage(&self) -> Arc<Passage> {
        Arc::clone(&self.0)
    }

    /// What it is.
    pub fn stream(&self) -> &Stream {
        &self.0.stream
    }
}

impl AsyncRead for Slipway {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Passage { stream, reading, .. } = &*self.0;
        {
            let mut reading = reading.lock().unwrap_or_else(PoisonError::into_inner);
            if let Reading::Held(waits) = &mut *reading {
                let waits = waits.take();
                *reading = Reading::Dry;
                waits.into_iter().for_each(Waker::wake);
            }
            if let Reading::Dry = *reading {
                return Poll::Pending;
            }
        }
        stream.poll_read(context, buffer)
    }
}

impl AsyncWrite for Slipway {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if stands_in(bytes) && !bytes.is_empty() {
            return self.0.poll_pipe(context, bytes.len());
        }
        self.0.stream.poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let begins = pieces.iter().position(|piece| !piece.is_empty()).unwrap_or(pieces.len());
        let pieces = &pieces[begins..];
        let plain = match pieces.iter().position(|piece| stands_in(piece)) {
            Some(0) => return self.0.poll_pipe(context, pieces[0].len()),
            // What stands before goes first.
            Some(before) => &pieces[..before],
            None => pieces,
        };
        self.0.stream.poll_write_vectored(context, plain)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_vectored.store(true, Ordering::Relaxed);
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.stream.shut())
    }
}
