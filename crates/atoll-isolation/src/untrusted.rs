//! Sockets whose other end is inside a sandbox.
//!
//! A process that has the other end of a unix socket can put descriptors into its queue. What is in the queue is closed
//! together with the socket, by the thread that closes it, and the close of some descriptors waits for as long as the sender
//! likes: a TCP connection with unsent data and `SO_LINGER`, for one. The agent has one thread, which must never wait.
//!
//! Linux 6.16 and later refuse descriptors at the sender (`SO_PASSRIGHTS`), so such sockets are closed like any other. On
//! older kernels they go into a bin, which a thread empties: it takes a descriptor table of its own that has the only
//! copies, and exits. The kernel closes the table of an exiting thread without lingering.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use crate::sys::{fd, socket};

/// Sockets in the bin before it is emptied: a thread for each would cost more than the command that it was for.
const BIN_MAX: usize = 32;

/// Stack of the threads that empty the bin; they call a few functions.
const STACK: usize = 128 * 1024;

static BIN: Mutex<Vec<OwnedFd>> = Mutex::new(Vec::new());

/// A socket that is closed without waiting, even with descriptors in its queue. Nothing may be received from it.
#[derive(Debug)]
pub struct Untrusted {
    /// `None` once it is dropped.
    socket: Option<OwnedFd>,
    refuses_rights: bool,
}

impl Untrusted {
    /// Takes over a socket.
    pub fn new(socket: OwnedFd) -> Self {
        let refuses_rights = socket::refuses_rights(socket.as_fd());
        Self { socket: Some(socket), refuses_rights }
    }

    /// Takes a connection off this listener, which hands down whether it refuses rights; `WouldBlock` if there is none.
    pub fn accept(&self) -> std::io::Result<Self> {
        let socket = socket::accept(self.as_fd())?;
        Ok(Self { socket: Some(socket), refuses_rights: self.refuses_rights })
    }

    /// The same, as if the kernel could not refuse descriptors.
    #[cfg(test)]
    fn as_on_older_kernels(socket: OwnedFd) -> Self {
        Self { socket: Some(socket), refuses_rights: false }
    }
}

impl AsFd for Untrusted {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_ref().expect("present until it is dropped").as_fd()
    }
}

impl AsRawFd for Untrusted {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl Drop for Untrusted {
    fn drop(&mut self) {
        let Some(socket) = self.socket.take() else { return };
        if self.refuses_rights {
            return drop(socket);
        }
        let full = {
            let mut bin = bin();
            bin.push(socket);
            bin.len() >= BIN_MAX
        };
        if full {
            empty_bin();
        }
    }
}

fn bin() -> MutexGuard<'static, Vec<OwnedFd>> {
    BIN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has everything that waits in the bin closed, in the background. If no thread can be had, it waits for the next time.
fn empty_bin() {
    if !bin().is_empty() {
        drop(thread::Builder::new().name("atoll-bin".to_owned()).stack_size(STACK).spawn(close_all));
    }
}

/// Closes what is in the bin so that the last copies are those of a thread that exits.
fn close_all() {
    // All that is taken here is in the table before that is copied.
    let taken = std::mem::take(&mut *bin());
    let (copied, is_copied) = mpsc::channel();
    let (closed, is_closed) = mpsc::channel::<()>();
    let hold_copies = move || {
        // Without a copy the close below may wait; this thread harms no other.
        fd::own_table().ok();
        copied.send(()).ok();
        // Ends when the sender is dropped.
        is_closed.recv().ok();
    };
    match thread::Builder::new().name("atoll-bin-copy".to_owned()).stack_size(STACK).spawn(hold_copies) {
        Ok(holder) => {
            is_copied.recv().ok();
            drop(taken);
            drop(closed);
            holder.join().ok();
        }
        Err(_) => bin().extend(taken),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    use super::*;

    /// Far less than what is waited for if something waits.
    const AT_ONCE: Duration = Duration::from_secs(5);

    const LINGER_S: i32 = 60;

    /// A connection with unsent data whose close would wait, and its peer.
    fn lingering() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (peer, _) = listener.accept().unwrap();
        ours.set_nonblocking(true).unwrap();
        while ours.write(&[0; 65536]).is_ok() {}
        socket::linger(ours.as_fd(), LINGER_S).unwrap();
        (ours, peer)
    }

    fn ends(mut peer: TcpStream) -> bool {
        peer.set_read_timeout(Some(AT_ONCE)).unwrap();
        let mut bytes = vec![0; 1 << 20];
        loop {
            match peer.read(&mut bytes) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return error.kind() == ErrorKind::ConnectionReset,
            }
        }
    }

    #[test]
    fn what_was_sent_to_it_is_closed_without_waiting() {
        let began = Instant::now();
        let mut peers = Vec::new();
        for _ in 0..BIN_MAX {
            let (ours, theirs) = socket::pair().unwrap();
            let (sent, peer) = lingering();
            socket::send(theirs.as_fd(), b"x", &[sent.as_fd()]).unwrap();
            // The last copy is the one in the queue.
            drop((sent, theirs));
            drop(Untrusted::as_on_older_kernels(ours));
            peers.push(peer);
        }
        assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
        assert!(peers.into_iter().all(ends), "closed in the background");
        assert!(began.elapsed() < AT_ONCE * 4);
    }

    #[test]
    fn a_listener_hands_down_that_it_refuses_descriptors() {
        let name = format!("atoll-test-{}", std::process::id());
        let listener = Untrusted::new(socket::listen(name.as_bytes()).unwrap());
        if !listener.refuses_rights {
            // Linux before 6.16.
            return;
        }
        assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
        let client = socket::connect_to(name.as_bytes()).unwrap();
        let (sent, _peer) = lingering();
        let early = socket::send(client.as_fd(), b"x", &[sent.as_fd()]).unwrap_err();
        let accepted = listener.accept().unwrap();
        assert!(accepted.refuses_rights && socket::refuses_rights(accepted.as_fd()));
        let late = socket::send(client.as_fd(), b"x", &[sent.as_fd()]).unwrap_err();
        assert_eq!((early.kind(), late.kind()), (ErrorKind::PermissionDenied, ErrorKind::PermissionDenied));
        assert_eq!(socket::peer_pid(accepted.as_fd()).unwrap(), std::process::id());
        drop(sent.set_nonblocking(true));
        socket::linger(sent.as_fd(), 0).unwrap();
    }
}
