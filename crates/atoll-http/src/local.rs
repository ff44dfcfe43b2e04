//! A socket between processes of this machine, as hyper's servers and clients use many of.
//!
//! The kernel tells of room to write whenever the other side has read, which nobody waits for: each message would wake
//! its sender once for nothing. So only reading is listened to, and room to write while there is none.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use rustix::net::RecvFlags;
use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, ReadBuf};
use tokio::net::UnixStream;

/// What is read at once. Room for it is wiped before, so it is not much.
const READ_MAX: usize = 64 * 1024;

/// See the module.
#[derive(Debug)]
pub struct Local {
    socket: AsyncFd<OwnedFd>,
    /// The same socket, while somebody waits for room.
    room: Mutex<Option<AsyncFd<OwnedFd>>>,
}

impl TryFrom<UnixStream> for Local {
    type Error = io::Error;

    fn try_from(stream: UnixStream) -> io::Result<Self> {
        let socket = OwnedFd::from(stream.into_std()?);
        Ok(Self { socket: listened_to(socket, Interest::READABLE)?, room: Mutex::default() })
    }
}

impl Local {
    fn room(&self) -> MutexGuard<'_, Option<AsyncFd<OwnedFd>>> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something that needs bytes to be there, once they are.
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
            // Less than there is room for was all: the next one need not ask.
            if 0 < count && count < room {
                guard.clear_ready();
            }
            buffer.advance(count);
            return Poll::Ready(Ok(()));
        }
    }

    /// Does something that needs room: at once, or when there is some.
    pub fn poll_write_with<T>(
        &self,
        context: &mut Context<'_>,
        mut write: impl FnMut() -> io::Result<T>,
    ) -> Poll<io::Result<T>> {
        match write() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            done => return Poll::Ready(done),
        }
        let mut waits = self.room();
        let room = match &*waits {
            Some(room) => room,
            None => waits.insert(listened_to(self.as_fd().try_clone_to_owned()?, Interest::WRITABLE)?),
        };
        loop {
            let mut guard = ready!(room.poll_write_ready(context))?;
            if let Ok(done) = guard.try_io(|_| write()) {
                drop(guard);
                *waits = None;
                return Poll::Ready(done);
            }
        }
    }

    /// Waits until there is something to read, and does something with it.
    pub(crate) async fn read_with<T>(&self, mut read: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        std::future::poll_fn(|context| self.poll_read_with(context, &mut read)).await
    }
}

impl AsFd for Local {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.get_ref().as_fd()
    }
}

#[expect(
    deprecated,
    reason = "the replacement is unsafe for types that may lie about their descriptor; OwnedFd does not"
)]
fn listened_to(socket: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(socket, interest)
}
