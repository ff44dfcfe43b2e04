//! What our ends of a command are made of: pipes, or a pseudo-terminal that is both.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use atoll_isolation::blocked::Awaited;
use bytes::{Bytes, BytesMut};
use tokio::net::unix::pipe;

use crate::pty::Pty;

/// More than a pseudo-terminal holds on its way to us: two buffers of the kernel with 8 KiB and 4 KiB.
const TERMINAL_HOLDS: usize = 64 * 1024;

/// How much one read of a pseudo-terminal can give.
const TERMINAL_READ: usize = 4 * 1024;

/// Where output comes from.
#[derive(Debug)]
pub(crate) enum Source {
    /// A pipe that nobody waits for yet: most commands are over before it pays to.
    Unheard(OwnedFd),
    Pipe(pipe::Receiver),
    Terminal(Arc<Pty>),
}

impl Source {
    /// From here on it can be waited for.
    pub(crate) fn listen(&mut self) -> io::Result<()> {
        if let Self::Unheard(fd) = self {
            // A second descriptor, so that nothing is lost if it cannot be done.
            let heard = fd.try_clone()?;
            // Made here, so there is nothing to check: one call instead of four.
            rustix::io::ioctl_fionbio(&heard, true)?;
            *self = Self::Pipe(pipe::Receiver::from_owned_fd_unchecked(heard)?);
        }
        Ok(())
    }

    pub(crate) async fn readable(&self) {
        match self {
            Self::Unheard(_) => std::future::pending().await,
            // An error here is found again by the read that follows.
            Self::Pipe(pipe) => drop(pipe.readable().await),
            Self::Terminal(pty) => pty.readable().await,
        }
    }

    /// Reads into the spare room of the buffer, without waiting. 0 is the end.
    pub(crate) fn try_read(&self, buffer: &mut BytesMut) -> io::Result<usize> {
        match self {
            Self::Unheard(_) => Err(io::ErrorKind::WouldBlock.into()),
            Self::Pipe(pipe) => pipe.try_read_buf(buffer),
            Self::Terminal(pty) => {
                let (filled, room) = (buffer.len(), buffer.capacity());
                buffer.resize(room, 0);
                let outcome = pty.try_read(&mut buffer[filled..]);
                buffer.truncate(filled + outcome.as_ref().map_or(0, |count| *count));
                outcome
            }
        }
    }

    /// What lies there at this moment, and no more: a writer that goes on cannot hold us up.
    pub(crate) fn drain(&self) -> Option<Bytes> {
        match self {
            Self::Unheard(pipe) => drain_pipe(pipe.as_fd(), true),
            Self::Pipe(pipe) => drain_pipe(pipe.as_fd(), false),
            Self::Terminal(pty) => drain_terminal(pty),
        }
    }

    /// More room on the way. Not being allowed it (pipe-user-pages-soft) is no failure.
    pub(crate) fn enlarge(&self, size: usize) {
        match self {
            Self::Pipe(pipe) => drop(rustix::pipe::fcntl_setpipe_size(pipe, size)),
            Self::Unheard(_) | Self::Terminal(_) => {}
        }
    }
}

/// The owner of a pipe may open it again and read it too, so what was there can be gone: a read that could wait must not
/// follow.
fn drain_pipe(pipe: BorrowedFd<'_>, may_wait: bool) -> Option<Bytes> {
    let waiting = usize::try_from(rustix::io::ioctl_fionread(pipe).ok()?).ok()?;
    if waiting == 0 {
        return None;
    }
    if may_wait {
        rustix::io::ioctl_fionbio(pipe, true).ok()?;
    }
    let mut bytes = vec![0; waiting];
    let count = rustix::io::read(pipe, &mut bytes).ok()?;
    bytes.truncate(count);
    (count > 0).then(|| Bytes::from(bytes))
}

/// The kernel does not say how much there is: reads until there is nothing, or more than there can have been.
fn drain_terminal(pty: &Pty) -> Option<Bytes> {
    let mut bytes = Vec::new();
    let mut piece = [0; TERMINAL_READ];
    while bytes.len() < TERMINAL_HOLDS {
        match pty.read_now(&mut piece) {
            Ok(count @ 1..) => bytes.extend_from_slice(&piece[..count]),
            Ok(0) | Err(_) => break,
        }
    }
    (!bytes.is_empty()).then(|| Bytes::from(bytes))
}

/// Where input goes to.
#[derive(Debug)]
pub(crate) enum Sink {
    Pipe(pipe::Sender),
    Terminal(Arc<Pty>),
}

impl Sink {
    pub(crate) async fn writable(&self) {
        match self {
            Self::Pipe(pipe) => drop(pipe.writable().await),
            Self::Terminal(pty) => pty.writable().await,
        }
    }

    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Pipe(pipe) => pipe.try_write(bytes),
            Self::Terminal(pty) => pty.try_write(bytes),
        }
    }

    /// How many bytes the program has not read yet.
    pub(crate) fn unread(&self) -> u64 {
        match self {
            Self::Pipe(pipe) => rustix::io::ioctl_fionread(pipe).unwrap_or(0),
            Self::Terminal(pty) => pty.unread(),
        }
    }

    /// What a program that waits for input is blocked on.
    pub(crate) fn awaited(&self) -> Option<Awaited> {
        match self {
            Self::Pipe(pipe) => {
                let stat = rustix::fs::fstat(pipe).ok()?;
                Some(Awaited::Pipe { dev: stat.st_dev, ino: stat.st_ino })
            }
            Self::Terminal(pty) => pty.awaited(),
        }
    }
}
