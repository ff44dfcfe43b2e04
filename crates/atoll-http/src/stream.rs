//! Sockets of the kernel's, of either kind, as what moves bytes between them by way of a pipe needs them (splice(2)).

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::task::{Context, Poll};

use rustix::net::{RecvFlags, Shutdown};
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use tokio::io::{Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

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
    /// Whether there is something.
    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Moves what is there into the pipe, at most so many bytes; 0 at the end.
    fn pour(&self, into: &OwnedFd, most: usize) -> io::Result<usize>;
}

/// A connection.
#[derive(Debug)]
pub enum Stream {
    /// By the network, or the machine's own.
    Tcp(TcpStream),
    /// Between processes of this machine.
    Unix(UnixStream),
}

macro_rules! either {
    ($self:ident, $stream:ident => $then:expr) => {
        match $self {
            Stream::Tcp($stream) => $then,
            Stream::Unix($stream) => $then,
        }
    };
}

impl Stream {
    pub(crate) fn poll_write_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => stream.poll_write_ready(context))
    }

    /// Reads what is there. Less than there is room for was all: the next one waits without asking the kernel, which is a
    /// system call less for each request.
    pub(crate) fn read(&self, buffer: &mut ReadBuf<'_>) -> io::Result<usize> {
        let room = buffer.remaining();
        let mut read = Err(io::ErrorKind::WouldBlock.into());
        let look = || {
            read = either!(self, stream => stream.try_read_buf(buffer));
            let is_all = matches!(read, Ok(count) if 0 < count && count < room);
            // What this says is that nothing is left, as of before the read: what comes since then is told.
            if is_all { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
        };
        drop::<io::Result<()>>(either!(self, stream => stream.try_io(Interest::READABLE, look)));
        read
    }

    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        either!(self, stream => stream.try_write(bytes))
    }

    pub(crate) fn try_write_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        either!(self, stream => stream.try_write_vectored(pieces))
    }

    /// Moves what is in the pipe, at most so many bytes.
    pub(crate) fn drain(&self, out: &OwnedFd, most: usize) -> io::Result<usize> {
        let moved = || Ok(splice(out, None, self, None, most, FLAGS)?);
        either!(self, stream => stream.try_io(Interest::WRITABLE, moved))
    }

    /// Ends what is written.
    pub(crate) fn shut(&self) -> io::Result<()> {
        Ok(rustix::net::shutdown(self, Shutdown::Write)?)
    }

    /// Waits until there is something to read: `false` if that is the end.
    pub(crate) async fn goes_on(&self) -> bool {
        let peek = || Ok(rustix::net::recv(self, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT)?.1);
        let peeked = either!(self, stream => stream.async_io(Interest::READABLE, peek).await);
        matches!(peeked, Ok(1..))
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        either!(self, stream => stream.as_fd())
    }
}

impl Source for Stream {
    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => stream.poll_read_ready(context))
    }

    fn pour(&self, into: &OwnedFd, most: usize) -> io::Result<usize> {
        let moved = || Ok(splice(self, None, into, None, most, FLAGS)?);
        either!(self, stream => stream.try_io(Interest::READABLE, moved))
    }
}

impl Source for UnixStream {
    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_read_ready(context)
    }

    fn pour(&self, into: &OwnedFd, most: usize) -> io::Result<usize> {
        self.try_io(Interest::READABLE, || Ok(splice(self, None, into, None, most, FLAGS)?))
    }
}
