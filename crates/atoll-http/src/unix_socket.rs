//! A unix socket for hyper's servers and clients, registered for readability only.
//!
//! The kernel reports writability whenever the peer has read, although no task waits for it, so each message would
//! wake its sender once for nothing. This type registers for writability only while a write would block.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use rustix::net::RecvFlags;
use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, ReadBuf};
use tokio::net::UnixStream;

/// Most bytes per read. The buffer is zeroed before each read, so it is kept small.
const READ_MAX: usize = 64 * 1024;

/// A unix socket that polls for writability only when a write would block.
#[derive(Debug)]
pub struct UnixSocket {
    socket: AsyncFd<OwnedFd>,
    /// The same socket, registered for writability while a writer waits.
    write_ready: Mutex<Option<AsyncFd<OwnedFd>>>,
}

impl TryFrom<UnixStream> for UnixSocket {
    type Error = io::Error;

    fn try_from(stream: UnixStream) -> io::Result<Self> {
        let socket = OwnedFd::from(stream.into_std()?);
        Ok(Self { socket: register(socket, Interest::READABLE)?, write_ready: Mutex::default() })
    }
}

impl UnixSocket {
    fn write_ready(&self) -> MutexGuard<'_, Option<AsyncFd<OwnedFd>>> {
        self.write_ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `read` when the socket is readable.
    pub(crate) fn poll_read_with<T>(
        &self,
        context: &mut Context<'_>,
        mut read: impl FnMut() -> io::Result<T>,
    ) -> Poll<io::Result<T>> {
        loop {
            let mut guard = ready!(self.socket.poll_read_ready(context))?;
            if let Ok(done) = guard.try_io(|_| read()) {
                return Poll::Ready(done);
            }
        }
    }

    pub(crate) fn poll_read(&self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.socket.poll_read_ready(context))?;
            let room = buffer.remaining().min(READ_MAX);
            let into = buffer.initialize_unfilled_to(room);
            let Ok(read) = guard.try_io(|socket| Ok(rustix::net::recv(socket, into, RecvFlags::empty())?.1)) else {
                continue;
            };
            let count = read?;
            // A short read means that the socket is empty: the next read waits without a system call.
            if 0 < count && count < room {
                guard.clear_ready();
            }
            buffer.advance(count);
            return Poll::Ready(Ok(()));
        }
    }

    /// Calls `write` at once, and again when the socket is writable if it would block.
    pub fn poll_write_with<T>(
        &self,
        context: &mut Context<'_>,
        mut write: impl FnMut() -> io::Result<T>,
    ) -> Poll<io::Result<T>> {
        match write() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            done => return Poll::Ready(done),
        }
        let mut waits = self.write_ready();
        let write_ready = match &*waits {
            Some(write_ready) => write_ready,
            None => waits.insert(register(self.as_fd().try_clone_to_owned()?, Interest::WRITABLE)?),
        };
        loop {
            let mut guard = ready!(write_ready.poll_write_ready(context))?;
            if let Ok(done) = guard.try_io(|_| write()) {
                drop(guard);
                *waits = None;
                return Poll::Ready(done);
            }
        }
    }

    /// Waits until the socket is readable and calls `read`.
    pub(crate) async fn read_with<T>(&self, mut read: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        std::future::poll_fn(|context| self.poll_read_with(context, &mut read)).await
    }
}

impl AsFd for UnixSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.get_ref().as_fd()
    }
}

#[expect(
    deprecated,
    reason = "the replacement is unsafe for types that may lie about their descriptor; OwnedFd does not"
)]
fn register(socket: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(socket, interest)
}
