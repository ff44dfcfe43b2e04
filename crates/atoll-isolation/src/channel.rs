//! The synchronous end of the socket: whole messages with their descriptors. Used by init, keeper and launcher.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, PoisonError};

use crate::sys::{fd, socket};
use crate::wire::{BODY_MAX, IN_MEMORY_FILE, INLINE_MAX, Malformed, Wire};

/// One end of a SEQPACKET pair.
#[derive(Debug)]
pub struct Channel {
    socket: OwnedFd,
    buffer: Mutex<Vec<u8>>,
}

impl Channel {
    /// Takes over a connected socket.
    pub fn new(socket: OwnedFd) -> Self {
        Self { socket, buffer: Mutex::new(vec![0; INLINE_MAX]) }
    }

    /// Sends one message.
    pub fn send(&self, message: &impl Wire, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        match pack(message.encode())? {
            Packed::Inline(bytes) => socket::send(self.socket.as_fd(), &bytes, fds),
            Packed::InFile(file) => {
                let mut all = vec![file.as_fd()];
                all.extend_from_slice(fds);
                socket::send(self.socket.as_fd(), &[IN_MEMORY_FILE], &all)
            }
        }
    }

    /// Receives one message; `None` when the other end is gone.
    pub fn receive<M: Wire>(&self) -> io::Result<Option<(M, Vec<OwnedFd>)>> {
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((length, fds)) = socket::receive(self.socket.as_fd(), &mut buffer)? else {
            return Ok(None);
        };
        unpack(&buffer[..length], fds).map(Some)
    }

    /// The socket, to be waited on.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Gives the socket back.
    pub fn into_socket(self) -> OwnedFd {
        self.socket
    }
}

/// A message ready for the socket.
#[derive(Debug)]
pub enum Packed {
    /// Small enough to go as it is.
    Inline(Vec<u8>),
    /// Sent as [`IN_MEMORY_FILE`] with this as the first descriptor.
    InFile(OwnedFd),
}

/// Decides how an encoded message travels.
pub fn pack(bytes: Vec<u8>) -> io::Result<Packed> {
    if bytes.len() <= INLINE_MAX {
        return Ok(Packed::Inline(bytes));
    }
    let file = std::fs::File::from(fd::memfd("atoll-message")?);
    file.write_all_at(&bytes, 0)?;
    Ok(Packed::InFile(file.into()))
}

/// The inverse of [`pack`]: decodes what came off the socket.
pub fn unpack<M: Wire>(bytes: &[u8], mut fds: Vec<OwnedFd>) -> io::Result<(M, Vec<OwnedFd>)> {
    if bytes != [IN_MEMORY_FILE] {
        return Ok((M::decode(bytes).map_err(invalid)?, fds));
    }
    if fds.is_empty() {
        return Err(invalid(Malformed));
    }
    let file = std::fs::File::from(fds.remove(0));
    let length = file.metadata()?.len();
    if length > BODY_MAX {
        return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
    }
    let mut body = vec![0; usize::try_from(length).map_err(|_| invalid(Malformed))?];
    file.read_exact_at(&mut body, 0)?;
    Ok((M::decode(&body).map_err(invalid)?, fds))
}

fn invalid(error: Malformed) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
