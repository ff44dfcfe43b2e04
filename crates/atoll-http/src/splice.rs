//! Moves large bodies between plain sockets with splice(2), by way of a pipe, so that their bytes are never copied to
//! user space. Copying is half the cost of a proxy.
//!
//! hyper still writes such a body. It gets placeholder chunks: slices of one static buffer, with the right length and
//! recognised by their address. [`SpliceStream`], the socket that hyper writes to, splices as many bytes out of the
//! pipe instead. A pipe belongs to one body on one connection, and the next placeholder is created only when the last
//! one has been written, so the bytes are always written in the order in which they were read.
//!
//! A response comes from a connection that hyper has released. A request body comes from a connection that hyper still
//! reads: its reads are paused ([`SpliceHandle::pause_reading`]), and since hyper has not seen the end of the body, it
//! takes no further request from that connection.

use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

use crate::stream::{self, PIPE_SIZE, Source, Stream};

/// Smallest response that is spliced. Copying a smaller one is as fast.
pub const SPLICE_RESPONSE_MIN: u64 = 1024 * 1024;

/// Smallest request body that is spliced. A smaller one is copied, which keeps its connection reusable.
pub const SPLICE_REQUEST_MIN: u64 = 8 * 1024 * 1024;

/// Backing memory of all placeholders. Its content is never written to a socket.
static PLACEHOLDER: [u8; PIPE_SIZE] = [0; PIPE_SIZE];

/// Returns a chunk that represents `length` bytes in a pipe.
pub fn placeholder(length: usize) -> Bytes {
    Bytes::from_static(&PLACEHOLDER[..length])
}

fn is_placeholder(bytes: &[u8]) -> bool {
    PLACEHOLDER.as_ptr_range().contains(&bytes.as_ptr())
}

/// A connection, as spliced bodies use it.
#[derive(Debug)]
pub struct SpliceHandle {
    stream: Stream,
    /// Whether hyper writes chunks as they are (vectored). If it copied them into a buffer, placeholders would lose
    /// their address.
    is_vectored: AtomicBool,
    pipe: Mutex<Pipe>,
    reading: Mutex<Reading>,
    /// Signals that the spliced request body has been read to its end.
    body_done: Notify,
}

/// The read end of the connection's pipe, and the number of bytes in it.
#[derive(Debug, Default)]
struct Pipe {
    out: Option<OwnedFd>,
    held: usize,
    /// The task that fills the pipe, woken when it is empty.
    waits: Option<Waker>,
}

/// Who reads from the connection.
#[derive(Debug, Default)]
enum Reading {
    /// hyper.
    #[default]
    Active,
    /// No reader yet: hyper may have buffered some of the body, which the waiting task takes first.
    Paused(Option<Waker>),
    /// The spliced body: hyper had nothing buffered and tried to read.
    Drained,
}

impl SpliceHandle {
    fn new(stream: Stream) -> Arc<Self> {
        let (is_vectored, pipe, reading) = (AtomicBool::new(false), Mutex::default(), Mutex::default());
        Arc::new(Self { stream, is_vectored, pipe, reading, body_done: Notify::new() })
    }

    fn pipe(&self) -> MutexGuard<'_, Pipe> {
        self.pipe.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a pipe for a new body. Returns `None` if that fails or the last body has not been written yet.
    pub fn open_pipe(&self) -> Option<OwnedFd> {
        let mut pipe = self.pipe();
        if !self.is_vectored.load(Ordering::Relaxed) || pipe.held > 0 {
            return None;
        }
        let (out, into) = stream::pipe().ok()?;
        *pipe = Pipe { out: Some(out), held: 0, waits: None };
        Some(into)
    }

    /// Stops hyper from reading further.
    pub fn pause_reading(&self) {
        *self.reading() = Reading::Paused(None);
    }

    /// Whether hyper has been stopped from reading.
    pub fn is_reading_paused(&self) -> bool {
        !matches!(*self.reading(), Reading::Active)
    }

    /// Ready when hyper has passed on everything that it had buffered.
    pub fn poll_drained(&self, context: &mut Context<'_>) -> Poll<()> {
        match &mut *self.reading() {
            Reading::Paused(waits) => {
                *waits = Some(context.waker().clone());
                Poll::Pending
            }
            Reading::Active | Reading::Drained => Poll::Ready(()),
        }
    }

    /// Signals that the spliced request body has been read to its end.
    pub fn body_done(&self) {
        self.body_done.notify_one();
    }

    /// Returns if the peer closes the connection after the spliced body. hyper does not read and so would not notice.
    pub async fn peer_closed(&self) {
        self.body_done.notified().await;
        if self.stream.has_data().await {
            std::future::pending().await
        }
    }

    /// Moves bytes from another connection into this one's pipe. `Ok(0)` means end of file.
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
        // The pipe is empty, so only the socket can block.
        let moved =
            ready!(from.poll_splice_into(context, into, usize::try_from(most).unwrap_or(PIPE_SIZE).min(PIPE_SIZE)))?;
        pipe.held = moved;
        Poll::Ready(Ok(moved))
    }

    /// Moves bytes out of the pipe, as many as the placeholder represents.
    fn poll_pipe(&self, context: &mut Context<'_>, wanted: usize) -> Poll<io::Result<usize>> {
        let mut pipe = self.pipe();
        let (Some(out), 1..) = (&pipe.out, pipe.held) else {
            return Poll::Ready(Err(io::Error::other("splice pipe is empty but a placeholder was written")));
        };
        let moved = ready!(self.stream.poll_splice_from(context, out, wanted.min(pipe.held)))?;
        pipe.held -= moved;
        if pipe.held == 0
            && let Some(waits) = pipe.waits.take()
        {
            waits.wake();
        }
        Poll::Ready(Ok(moved))
    }
}

impl Source for SpliceHandle {
    fn poll_splice_into(&self, context: &mut Context<'_>, into: &OwnedFd, most: usize) -> Poll<io::Result<usize>> {
        self.stream.poll_splice_into(context, into, most)
    }
}

/// The socket that hyper reads from and writes to.
#[derive(Debug)]
pub struct SpliceStream(Arc<SpliceHandle>);

impl SpliceStream {
    /// Wraps a socket.
    pub fn new(stream: Stream) -> Self {
        Self(SpliceHandle::new(stream))
    }

    /// Returns the handle by which bodies are spliced over this connection.
    pub fn handle(&self) -> Arc<SpliceHandle> {
        Arc::clone(&self.0)
    }

    /// Returns the underlying socket.
    pub fn stream(&self) -> &Stream {
        &self.0.stream
    }
}

impl AsyncRead for SpliceStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let SpliceHandle { stream, reading, .. } = &*self.0;
        {
            let mut reading = reading.lock().unwrap_or_else(PoisonError::into_inner);
            if let Reading::Paused(waits) = &mut *reading {
                let waits = waits.take();
                *reading = Reading::Drained;
                waits.into_iter().for_each(Waker::wake);
            }
            if let Reading::Drained = *reading {
                return Poll::Pending;
            }
        }
        stream.poll_read(context, buffer)
    }
}

impl AsyncWrite for SpliceStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if is_placeholder(bytes) && !bytes.is_empty() {
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
        let plain = match pieces.iter().position(|piece| is_placeholder(piece)) {
            Some(0) => return self.0.poll_pipe(context, pieces[0].len()),
            // Write the ordinary chunks before the placeholder first.
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
        Poll::Ready(self.0.stream.shutdown_write())
    }
}
