//! Who opened a connection: asked of the kernel, by the addresses of its two ends (sock_diag(7)).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use crate::sys::netlink::{self, Messages};

/// `<linux/sock_diag.h>` and `<linux/inet_diag.h>`
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const INET_DIAG_CGROUP_ID: u16 = 21;
const INET_DIAG_NOCOOKIE: [u8; 8] = [0xff; 8];

/// Bytes of inet_diag_msg before its attributes, and where in it the inode is.
const MESSAGE: usize = 72;
const INODE: usize = 68;

/// The kernel answers while it is asked.
const PATIENCE: Duration = Duration::from_millis(100);

/// A socket on the inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The cgroup2 of the process that made it, where the kernel keeps that.
    pub cgroup: Option<u64>,
    /// Its number in `/proc/PID/fd`.
    pub inode: u32,
}

/// What kind of socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A connection.
    Tcp,
    /// A question to a name server.
    Udp,
}

/// Asks. `socket` is what [`crate::egress`] opened for it; it answers for its own network namespace.
#[derive(Debug)]
pub struct Owners {
    socket: OwnedFd,
}

impl Owners {
    /// Takes the socket over.
    pub fn new(socket: OwnedFd) -> io::Result<Self> {
        netlink::limit_waiting(&socket, PATIENCE)?;
        Ok(Self { socket })
    }

    /// Who has a socket with this end of its own and this other one.
    pub fn find(&self, kind: Kind, own: SocketAddr, other: SocketAddr) -> io::Result<Owner> {
        // "src and dst are swapped for historical reasons" (net/ipv4/udp_diag.c).
        let (first, second) = if kind == Kind::Tcp { (own, other) } else { (other, own) };
        let mut messages = Messages::default();
        let begun = messages.begin(SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST);
        let (family, protocol) = (if own.is_ipv4() { 2 } else { 10 }, if kind == Kind::Tcp { 6 } else { 17 });
        messages.fixed(&[family, protocol, 0, 0]);
        messages.fixed(&u32::MAX.to_ne_bytes());
        messages.fixed(&[first.port().to_be_bytes(), second.port().to_be_bytes()].concat());
        messages.fixed(&sixteen(first.ip()));
        messages.fixed(&sixteen(second.ip()));
        messages.fixed(&0u32.to_ne_bytes());
        messages.fixed(&INET_DIAG_NOCOOKIE);
        messages.end(begun);
        read(&netlink::ask(&self.socket, &messages)?).ok_or_else(|| io::Error::from_raw_os_error(libc::EBADMSG))
    }
}

fn sixteen(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V6(ip) => ip.octets(),
        IpAddr::V4(ip) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&ip.octets());
            bytes
        }
    }
}

fn read(payload: &[u8]) -> Option<Owner> {
    let inode = u32::from_ne_bytes(*payload.get(INODE..)?.first_chunk()?);
    let cgroup = netlink::attributes(payload.get(MESSAGE..)?).find(|(kind, _)| *kind == INET_DIAG_CGROUP_ID);
    let cgroup = cgroup.and_then(|(_, value)| Some(u64::from_ne_bytes(*value.first_chunk()?)));
    Some(Owner { cgroup, inode })
}
