//! Netlink: a socket that speaks it, one request with its answer, and a writer for messages and their attributes.
//!
//! Knows the form of messages (netlink(7)), not what any of them means.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::{check, check_int, fd};

/// Answers to what is asked here are errors of a few dozen bytes, or a page of facts.
const ANSWER_MAX: usize = 16 * 1024;

/// Set on the type of an attribute that holds attributes (netlink(7)).
const NESTED: u16 = 0x8000;

/// A message in the making. Numbers are in the byte order that netlink wants for them: the caller says which.
#[derive(Debug, Default)]
pub struct Messages {
    bytes: Vec<u8>,
    count: u32,
}

/// Where a message or an attribute began.
#[derive(Debug, Clone, Copy)]
pub struct Begun(usize);

impl Messages {
    /// Begins a message of this kind; its fixed part follows.
    pub fn begin(&mut self, kind: u16, flags: u16) -> Begun {
        self.count += 1;
        let begun = Begun(self.bytes.len());
        self.bytes.extend(0u32.to_ne_bytes());
        self.bytes.extend(kind.to_ne_bytes());
        self.bytes.extend(flags.to_ne_bytes());
        self.bytes.extend(self.count.to_ne_bytes());
        self.bytes.extend(0u32.to_ne_bytes());
        begun
    }

    /// Ends it.
    pub fn end(&mut self, begun: Begun) {
        let length = u32::try_from(self.bytes.len() - begun.0).expect("a few hundred bytes");
        self.bytes[begun.0..begun.0 + 4].copy_from_slice(&length.to_ne_bytes());
        self.pad();
    }

    /// Bytes of a fixed part.
    pub fn fixed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.pad();
    }

    /// An attribute.
    pub fn attribute(&mut self, kind: u16, value: &[u8]) {
        let begun = self.open(kind);
        self.bytes.extend_from_slice(value);
        self.close(begun);
    }

    /// An attribute that holds attributes.
    pub fn nest(&mut self, kind: u16, fill: impl FnOnce(&mut Self)) {
        let begun = self.open(kind | NESTED);
        fill(self);
        self.close(begun);
    }

    fn open(&mut self, kind: u16) -> Begun {
        let begun = Begun(self.bytes.len());
        self.bytes.extend(0u16.to_ne_bytes());
        self.bytes.extend(kind.to_ne_bytes());
        begun
    }

    fn close(&mut self, begun: Begun) {
        let length = u16::try_from(self.bytes.len() - begun.0).expect("a few hundred bytes");
        self.bytes[begun.0..begun.0 + 2].copy_from_slice(&length.to_ne_bytes());
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

/// A netlink socket of the current network namespace, which it stays in wherever it is used.
pub fn open(protocol: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: plain integers.
    fd::owned(unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, protocol) })
}

/// Sends the messages as one and reads answers until `wanted` of them were acknowledged.
pub fn request(socket: &OwnedFd, messages: &Messages, wanted: usize) -> io::Result<()> {
    send(socket, messages)?;
    let (mut buffer, mut acknowledged) = (vec![0; ANSWER_MAX], 0);
    while acknowledged < wanted {
        let length = receive(socket, &mut buffer)?;
        for (kind, payload) in split(&buffer[..length]) {
            if kind != NLMSG_ERROR {
                continue;
            }
            match payload.first_chunk().map(|code| i32::from_ne_bytes(*code)) {
                Some(0) => acknowledged += 1,
                Some(code) => return Err(io::Error::from_raw_os_error(-code)),
                None => return Err(io::Error::from_raw_os_error(libc::EBADMSG)),
            }
        }
    }
    Ok(())
}

/// Sends one question and returns the kind and payload of its first answer.
pub fn ask(socket: &OwnedFd, messages: &Messages) -> io::Result<Vec<u8>> {
    send(socket, messages)?;
    let mut buffer = vec![0; ANSWER_MAX];
    let length = receive(socket, &mut buffer)?;
    let first = split(&buffer[..length]).next().map(|(kind, payload)| (kind, payload.to_vec()));
    match first {
        Some((NLMSG_ERROR, payload)) => {
            let code = payload.first_chunk().map_or(libc::EBADMSG, |code| -i32::from_ne_bytes(*code));
            Err(io::Error::from_raw_os_error(code))
        }
        Some((_, payload)) => Ok(payload),
        None => Err(io::Error::from_raw_os_error(libc::EBADMSG)),
    }
}

/// `<linux/netlink.h>`
const NLMSG_ERROR: u16 = 2;

fn send(socket: &OwnedFd, messages: &Messages) -> io::Result<()> {
    let bytes = &messages.bytes;
    // SAFETY: the bytes live through the call. Without an address it goes to the kernel.
    check(unsafe { libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) } as libc::c_long).map(drop)
}

fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is writable and lives through the call.
    let got = unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// Messages: kind and payload. What is cut off ends the list.
fn split(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::try_from(u32::from_ne_bytes(*bytes.first_chunk()?)).ok()?;
        let message = bytes.get(..length).filter(|message| message.len() >= 16)?;
        let kind = u16::from_ne_bytes([message[4], message[5]]);
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, &message[16..]))
    })
}

/// Attributes of a payload: kind and value. What is cut off ends the list.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(*bytes.first_chunk()?));
        let whole = bytes.get(..length).filter(|whole| whole.len() >= 4)?;
        let kind = u16::from_ne_bytes([whole[2], whole[3]]);
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind & !NESTED, &whole[4..]))
    })
}

/// No answer is waited for longer than this.
pub fn limit_waiting(socket: &OwnedFd, limit: std::time::Duration) -> io::Result<()> {
    let time = libc::timeval {
        tv_sec: libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_usec: libc::suseconds_t::from(limit.subsec_micros().cast_signed()),
    };
    let length = libc::socklen_t::try_from(size_of_val(&time)).expect("16 bytes");
    // SAFETY: `time` is a timeval of the length given.
    check_int(unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVTIMEO, (&raw const time).cast(), length)
    })
    .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_what_is_cut_ends_the_list() {
        let mut messages = Messages::default();
        let begun = messages.begin(7, 1);
        messages.fixed(&[9; 4]);
        messages.attribute(3, b"abcde");
        messages.nest(4, |inner| inner.attribute(1, &[1]));
        messages.end(begun);
        let (kind, payload) = split(&messages.bytes).next().unwrap();
        assert_eq!(kind, 7);
        let found: Vec<_> = attributes(&payload[4..]).collect();
        assert_eq!(found[0], (3, &b"abcde"[..]));
        assert_eq!(attributes(found[1].1).collect::<Vec<_>>(), [(1, &[1u8][..])]);
        assert_eq!(split(&messages.bytes[..messages.bytes.len() - 4]).count(), 0);
        assert_eq!(attributes(&payload[4..10]).count(), 0);
    }
}
