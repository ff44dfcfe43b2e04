//! The sandbox's own network: its loopback, and connections made on the inside's behalf.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};

use super::{check_int, fd};

/// Brings `lo` of the current network namespace up.
pub fn loopback_up() -> io::Result<()> {
    // SAFETY: plain integers.
    let socket = fd::owned(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: an all-zero ifreq is valid: an empty name and a zero union.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (slot, byte) in request.ifr_name.iter_mut().zip(c"lo".to_bytes_with_nul()) {
        *slot = libc::c_char::from_ne_bytes([*byte]);
    }
    let up = libc::IFF_UP | libc::IFF_RUNNING;
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(up).expect("two low flag bits");
    // SAFETY: SIOCSIFFLAGS reads one ifreq, which lives through the call.
    check_int(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) }).map(drop)
}

/// A listening TCP socket here, and its port.
pub fn listen_tcp(address: SocketAddr) -> io::Result<(OwnedFd, u16)> {
    let socket = bound(address, libc::SOCK_STREAM)?;
    // SAFETY: plain integers.
    check_int(unsafe { libc::listen(socket.as_raw_fd(), BACKLOG) })?;
    let port = port_of(&socket)?;
    Ok((socket, port))
}

/// A UDP socket here, and its port.
pub fn bind_udp(address: SocketAddr) -> io::Result<(OwnedFd, u16)> {
    let socket = bound(address, libc::SOCK_DGRAM)?;
    let port = port_of(&socket)?;
    Ok((socket, port))
}

/// Connections that wait to be taken. The kernel makes it less if it must (net.core.somaxconn).
const BACKLOG: libc::c_int = 4096;

fn bound(address: SocketAddr, kind: libc::c_int) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: plain integers.
    let socket = fd::owned(unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, 0) })?;
    let (name, length) = Name::of(address);
    // SAFETY: `name` holds a socket address of the length given.
    check_int(unsafe { libc::bind(socket.as_raw_fd(), name.pointer(), length) })?;
    Ok(socket)
}

/// The port is at the same place in both kinds of address.
fn port_of(socket: &OwnedFd) -> io::Result<u16> {
    // SAFETY: an all-zero sockaddr_in6 is valid.
    let mut name: libc::sockaddr_in6 = unsafe { std::mem::zeroed() };
    let mut length = libc::socklen_t::try_from(size_of_val(&name)).expect("28 bytes");
    // SAFETY: there is room for the larger of the two kinds, as `length` says.
    check_int(unsafe { libc::getsockname(socket.as_raw_fd(), (&raw mut name).cast(), &raw mut length) })?;
    Ok(u16::from_be(name.sin6_port))
}

/// An address as the kernel takes it.
enum Name {
    V4(libc::sockaddr_in),
    V6(libc::sockaddr_in6),
}

impl Name {
    fn of(address: SocketAddr) -> (Self, libc::socklen_t) {
        let (name, length) = match address {
            SocketAddr::V4(v4) => (
                Self::V4(libc::sockaddr_in {
                    sin_family: libc::sa_family_t::try_from(libc::AF_INET).expect("a small constant"),
                    sin_port: v4.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(v4.ip().octets()) },
                    sin_zero: [0; 8],
                }),
                size_of::<libc::sockaddr_in>(),
            ),
            SocketAddr::V6(v6) => (
                Self::V6(libc::sockaddr_in6 {
                    sin6_family: libc::sa_family_t::try_from(libc::AF_INET6).expect("a small constant"),
                    sin6_port: v6.port().to_be(),
                    sin6_flowinfo: 0,
                    sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                    sin6_scope_id: v6.scope_id(),
                }),
                size_of::<libc::sockaddr_in6>(),
            ),
        };
        (name, libc::socklen_t::try_from(length).expect("16 or 28 bytes"))
    }

    fn pointer(&self) -> *const libc::sockaddr {
        match self {
            Self::V4(name) => (&raw const *name).cast(),
            Self::V6(name) => (&raw const *name).cast(),
        }
    }
}

/// A socket that tells which sockets there are in the current network namespace, and goes on to tell that wherever it
/// is passed to. Never waits.
pub fn diagnose() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: plain integers.
    fd::owned(unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_SOCK_DIAG) })
}

/// Starts a TCP connection without waiting. On loopback it is made or refused before this returns.
pub fn connect(address: SocketAddr) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: plain integers.
    let socket = fd::owned(unsafe { libc::socket(family, kind, 0) })?;
    let (name, length) = Name::of(address);
    // SAFETY: `name` holds a socket address of the length given.
    let result = unsafe { libc::connect(socket.as_raw_fd(), name.pointer(), length) };
    match check_int(result) {
        Ok(_) => Ok(socket),
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(socket),
        Err(error) => Err(error),
    }
}
