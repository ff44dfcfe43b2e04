//! Sockets of the kernel's, of either kind, as what moves bytes between them by way of a pipe needs them (splice(2)).

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::task::{Context, Poll, ready};

use rustix::net::{RecvFlags, SendFlags, Shutdown};
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use tokio::io::{Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use crate::local::Local;

/// What goes through a pipe at once. A pipe of this size is what an ordinary user may have (pipe(7)).
pub(crate) const PIECE: usize = 1024 * 1024;

/// At once, and pages as they are.
const FLAGS: SpliceFlags = SpliceFlags::NONBLOCK.union(SpliceFlags::MOVE);

/// A pipe that never makes anybody wait: its two ends, to read from and to write to.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (out, into) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    // A smaller one does as well, in more steps.
    fcntl_setpipe_size(&into, PIECE).ok();
    Ok((out, into))
}

/// Where an empty pipe is filled from.
pub trait Source {
    /// Moves what comes into the pipe, at most so many bytes; 0 at the end.
    fn poll_pour(&self, context: &mut Context<'_>, into: &OwnedFd, most: usize) -> Poll<io::Result<usize>>;
}

/// A connection.
#[derive(Debug)]
pub enum Stream {
    /// By the network, or the machine's own.
    Tcp(TcpStream),
    /// Between processes of this machine.
    Unix(Local),
}

impl Stream {
    pub(crate) fn poll_read(&self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let stream = match self {
            Self::Tcp(stream) => stream,
            Self::Unix(local) => return local.poll_read(context, buffer),
        };
        loop {
            ready!(stream.poll_read_ready(context))?;
            match read_all(stream, buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read.map(drop)),
            }
        }
    }

    /// Does something that needs room, once there is some.
    fn poll_write_with(
        &self,
        context: &mut Context<'_>,
        mut write: impl FnMut(BorrowedFd<'_>) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let stream = match self {
            Self::Tcp(stream) => stream,
            Self::Unix(local) => return local.poll_write_with(context, || write(local.as_fd())),
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
        // SIGPIPE is ignored by every Rust program.
        self.poll_write_with(context, |socket| Ok(rustix::io::writev(socket, pieces)?))
    }

    /// Moves what is in the pipe, at most so many bytes.
    pub(crate) fn poll_drain(&self, context: &mut Context<'_>, out: &OwnedFd, most: usize) -> Poll<io::Result<usize>> {
        self.poll_write_with(context, |socket| Ok(splice(out, None, socket, None, most, FLAGS)?))
    }

    /// Ends what is written.
    pub(crate) fn shut(&self) -> io::Result<()> {
        Ok(rustix::net::shutdown(self, Shutdown::Write)?)
    }

    /// Waits until there is something to read: `false` if that is the end.
    pub(crate) async fn goes_on(&self) -> bool {
        let peek = || Ok(rustix::net::recv(self, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT)?.1);
        let peeked = match self {
            Self::Tcp(stream) => stream.async_io(Interest::READABLE, peek).await,
            Self::Unix(local) => local.read_with(peek).await,
        };
        matches!(peeked, Ok(1..))
    }
}

/// Reads what is there. Less than there is room for was all: the next one waits without asking the kernel, which is a
/// system call less for each request.
fn read_all(stream: &TcpStream, buffer: &mut ReadBuf<'_>) -> io::Result<usize> {
    let room = buffer.remaining();
    let mut read = Err(io::ErrorKind::WouldBlock.into());
    let look = || {
        read = stream.try_read_buf(buffer);
        let is_all = matches!(read, Ok(count) if 0 < count && count < room);
        // What this says is that nothing is left, as of before the read: what comes since then is told.
        if is_all { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
    };
    drop::<io::Result<()>>(stream.try_io(Interest::READABLE, look));
    read
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(local) => local.as_fd(),
        }
    }
}

/// Pours from what tokio listens to.
macro_rules! pour {
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
    fn poll_pour(&self, context: &mut Context<'_>, into: &OwnedFd, most: usize) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(stream) => pour!(stream, context, into, most),
            Self::Unix(local) => {
                local.poll_read_with(context, || Ok(splice(local.as_fd(), None, into, None, most, FLAGS)?))
            }
        }
    }
}

impl Source for UnixStream {
    fn poll_pour(&self, context: &mut Context<'_>, into: &OwnedFd, most: usize) -> Poll<io::Result<usize>> {
        pour!(self, context, into, most)
    }
}
