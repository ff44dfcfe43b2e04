//! Which sockets listen, by the kernel's own account (sock_diag(7)). `/proc/net/tcp` tells the same and is a hundred
//! times dearer: its reader walks the table of all connections of the machine.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::ByPort;

/// A socket that listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listening {
    pub(crate) address: IpAddr,
    pub(crate) inode: u32,
}

/// The kernel's words: linux/netlink.h, linux/sock_diag.h, linux/inet_diag.h, net/tcp_states.h.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLM_F_REQUEST_DUMP: u16 = 0x301;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IPPROTO_TCP: u8 = 6;
const STATES_LISTEN: u32 = 1 << 10;
const HEADER: usize = 16;
const QUESTION: usize = 56;

/// Room for one piece of an answer: the kernel sends at most this much at once.
const ROOM: usize = 32 * 1024;

/// Ports, and sockets of one port, that are looked at.
const PORTS_MAX: usize = 16 * 1024;
const SOCKETS_PER_PORT: usize = 64;

/// The socket to ask through. One question at a time: answers to two would mix.
#[derive(Debug)]
pub(super) struct Diagnosis(Mutex<OwnedFd>);

impl Diagnosis {
    pub(super) fn new(socket: OwnedFd) -> Self {
        Self(Mutex::new(socket))
    }

    /// One look. Never waits: the kernel has an answer ready when it has taken the question.
    pub(super) fn look(&self) -> io::Result<ByPort> {
        let socket = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut seen = ByPort::new();
        for family in [AF_INET, AF_INET6] {
            send(&*socket, &question(family), SendFlags::empty())?;
            read_all(socket.as_fd(), &mut seen)?;
        }
        Ok(seen)
    }
}

fn question(family: u8) -> Vec<u8> {
    let length = u32::try_from(HEADER + QUESTION).unwrap_or_default();
    let mut bytes = Vec::with_capacity(HEADER + QUESTION);
    bytes.extend(length.to_ne_bytes());
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(NLM_F_REQUEST_DUMP.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([family, IPPROTO_TCP, 0, 0]);
    bytes.extend(STATES_LISTEN.to_ne_bytes());
    bytes.resize(HEADER + QUESTION, 0);
    bytes
}

/// Reads to the end of an answer, also when there is no room for more of it: the next question must not meet the rest.
fn read_all(socket: BorrowedFd<'_>, seen: &mut ByPort) -> io::Result<()> {
    let mut room = vec![0; ROOM];
    loop {
        let (length, _) = recv(socket, &mut room[..], RecvFlags::empty())?;
        let mut rest = &room[..length];
        while let Some((kind, body, behind)) = message(rest) {
            match kind {
                NLMSG_DONE => return Ok(()),
                NLMSG_ERROR => return Err(refusal(body)),
                SOCK_DIAG_BY_FAMILY => note(seen, body),
                _ => {}
            }
            rest = behind;
        }
    }
}

/// Kind and body of the first message, and what is behind it.
fn message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = usize::try_from(u32::from_ne_bytes(*bytes.first_chunk()?)).ok()?;
    let kind = u16::from_ne_bytes(*bytes.get(4..)?.first_chunk()?);
    let body = bytes.get(HEADER..length)?;
    let behind = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((kind, body, behind))
}

fn refusal(body: &[u8]) -> io::Error {
    let errno = body.first_chunk().map_or(0, |bytes| i32::from_ne_bytes(*bytes));
    io::Error::from_raw_os_error(-errno)
}

fn note(seen: &mut ByPort, body: &[u8]) {
    let Some((port, socket)) = socket(body) else { return };
    if seen.len() < PORTS_MAX || seen.contains_key(&port) {
        let sockets = seen.entry(port).or_default();
        if sockets.len() < SOCKETS_PER_PORT {
            sockets.push(socket);
        }
    }
}

/// `struct inet_diag_msg`: family, three bytes of state, then ports, addresses, an interface and a cookie, then four
/// numbers and the inode.
fn socket(body: &[u8]) -> Option<(u16, Listening)> {
    let port = u16::from_be_bytes(*body.get(4..)?.first_chunk()?);
    let address = match *body.first()? {
        AF_INET => IpAddr::V4(Ipv4Addr::from(*body.get(8..)?.first_chunk::<4>()?)),
        AF_INET6 => IpAddr::V6(Ipv6Addr::from(*body.get(8..)?.first_chunk::<16>()?)),
        _ => return None,
    };
    let inode = u32::from_ne_bytes(*body.get(68..)?.first_chunk()?);
    Some((port, Listening { address, inode }))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn what_listens_on_this_machine_is_found_and_what_does_not_is_not() {
        let socket = atoll_isolation::sys::network::diagnose().unwrap();
        let diagnosis = Diagnosis::new(socket);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = diagnosis.look().unwrap();
        assert_eq!(seen[&port][0].address, IpAddr::V4(Ipv4Addr::LOCALHOST));
        assert_ne!(seen[&port][0].inode, 0);
        drop(listener);
        let seen = diagnosis.look().unwrap();
        let same = |socket: &Listening| socket.address == IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert!(!seen.get(&port).is_some_and(|sockets| sockets.iter().any(same)));
    }

    #[test]
    fn torn_messages_are_not_read() {
        for bytes in [&[][..], &[1, 2, 3], &[255; 16], &[16, 0, 0, 0, 3]] {
            assert!(message(bytes).is_none_or(|(_, body, _)| body.is_empty()), "{bytes:?}");
        }
        assert!(socket(&[2; 40]).is_none());
    }
}
