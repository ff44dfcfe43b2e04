//! TCP and unix sockets, with the operations that splice(2) between them needs.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::task::{Context, Poll, ready};

use rustix::net::{RecvFlags, SendFlags, Shutdown};
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use tokio::io::{Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use crate::unix_socket::UnixSocket;

/// Most bytes per splice: the largest pipe that an unprivileged user may have (pipe(7)).
pub(crate) const PIPE_SIZE: usize = 1024 * 1024;

/// Never block; move pages instead of copying them.
const FLAGS: SpliceFlags = SpliceFlags::NONBLOCK.union(SpliceFlags::MOVE);

/// Creates a non-blocking pipe: its read end and its write end.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (out, into) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    // Best effort: a smaller pipe only takes more steps.
    fcntl_setpipe_size(&into, PIPE_SIZE).ok();
    Ok((out, into))
}

/// A source that fills an empty pipe.
pub trait Source {
    /// Moves at most `most` bytes into the pipe; 0 at end of file.
    fn poll_splice_into(&self, context: &mut Context<'_>, into: &OwnedFd, most: usize) -> Poll<io::Result<usize>>;
}

/// A connected socket.
#[derive(Debug)]
pub enum Stream {
    /// A TCP connection.
    Tcp(TcpStream),
    /// A unix socket connection.
    Unix(UnixSocket),
}

impl Stream {
    pub(crate) fn poll_read(&self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let stream = match self {
            Self::Tcp(stream) => stream,
            Self::Unix(socket) => return socket.poll_read(context, buffer),
        };
        loop {
            ready!(stream.poll_read_ready(context))?;
            match read_all(stream, buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read.map(drop)),
            }
        }
    }

    /// Calls `write` when the socket is writable.
    fn poll_write_with(
        &self,
        context: &mut Context<'_>,
        mut write: impl FnMut(BorrowedFd<'_>) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let stream = match self {
            Self::Tcp(stream) => stream,
            Self::Unix(socket) => return socket.poll_write_with(context, || write(socket.as_fd())),
        };
        loop {
            ready!(stream.poll_write_ready(context))?;
            match stream.try_io(Interest::WRITABLE, || write(stream.as_fd())) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    pub(crate) fn poll_write(&self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_with(context, |socket| Ok(rustix::net::send(socket, bytes, SendFlags::NOSIGNAL)?))
    }

    pub(crate) fn poll_write_vectored(
        &self,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // Rust programs ignore SIGPIPE.
        self.poll_write_with(context, |socket| Ok(rustix::io::writev(socket, pieces)?))
    }

    /// Moves at most `most` bytes out of the pipe.
    pub(crate) fn poll_splice_from(
        &self,
        context: &mut Context<'_>,
        out: &OwnedFd,
        most: usize,
    ) -> Poll<io::Result<usize>> {
        self.poll_write_with(context, |socket| Ok(splice(out, None, socket, None, most, FLAGS)?))
    }

    /// Shuts down the writing side.
    pub(crate) fn shutdown_write(&self) -> io::Result<()> {
        Ok(rustix::net::shutdown(self, Shutdown::Write)?)
    }

    /// Waits until the socket is readable. Returns `false` at end of file.
    pub(crate) async fn has_data(&self) -> bool {
        let peek = || Ok(rustix::net::recv(self, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT)?.1);
        let peeked = match self {
            Self::Tcp(stream) => stream.async_io(Interest::READABLE, peek).await,
            Self::Unix(socket) => socket.read_with(peek).await,
        };
        matches!(peeked, Ok(1..))
    }
}

/// Reads what is available. A short read means that the socket is empty, so readiness is cleared: this saves a system
/// call per request.
fn read_all(stream: &TcpStream, buffer: &mut ReadBuf<'_>) -> io::Result<usize> {
    let room = buffer.remaining();
    let mut read = Err(io::ErrorKind::WouldBlock.into());
    let look = || {
        read = stream.try_read_buf(buffer);
        let is_all = matches!(read, Ok(count) if 0 < count && count < room);
        // Clears the readiness from before the read; bytes that arrive later set it again.
        if is_all { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
    };
    drop::<io::Result<()>>(stream.try_io(Interest::READABLE, look));
    read
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(socket) => socket.as_fd(),
        }
    }
}

/// Splices from a socket that tokio polls.
macro_rules! splice_into {
    ($stream:expr, $context:expr, $into:expr, $most:expr) => {
        loop {
            ready!($stream.poll_read_ready($context))?;
            let moved = || Ok(splice($stream, None, $into, None, $most, FLAGS)?);
            match $stream.try_io(Interest::READABLE, moved) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                moved => return Poll::Ready(moved),
            }
        }
    };
}

impl Source for Stream {
    fn poll_splice_into(&self, context: &mut Context<'_>, into: &OwnedFd, most: usize) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(stream) => splice_into!(stream, context, into, most),
            Self::Unix(socket) => {
                socket.poll_read_with(context, || Ok(splice(socket.as_fd(), None, into, None, most, FLAGS)?))
            }
        }
    }
}

impl Source for UnixStream {
    fn poll_splice_into(&self, context: &mut Context<'_>, into: &OwnedFd, most: usize) -> Poll<io::Result<usize>> {
        splice_into!(self, context, into, most)
    }
}
