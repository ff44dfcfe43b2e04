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
    let result = match address {
        SocketAddr::V4(v4) => {
            let name = libc::sockaddr_in {
                sin_family: libc::sa_family_t::try_from(libc::AF_INET).expect("a small constant"),
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(v4.ip().octets()) },
                sin_zero: [0; 8],
            };
            let len = libc::socklen_t::try_from(size_of_val(&name)).expect("16 bytes");
            // SAFETY: `name` is a full sockaddr_in of the length given.
            unsafe { libc::connect(socket.as_raw_fd(), (&raw const name).cast(), len) }
        }
        SocketAddr::V6(v6) => {
            let name = libc::sockaddr_in6 {
                sin6_family: libc::sa_family_t::try_from(libc::AF_INET6).expect("a small constant"),
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: 0,
                sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                sin6_scope_id: v6.scope_id(),
            };
            let len = libc::socklen_t::try_from(size_of_val(&name)).expect("28 bytes");
            // SAFETY: `name` is a full sockaddr_in6 of the length given.
            unsafe { libc::connect(socket.as_raw_fd(), (&raw const name).cast(), len) }
        }
    };
    match check_int(result) {
        Ok(_) => Ok(socket),
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(socket),
        Err(error) => Err(error),
    }
}
