//! Whether an address is one of this machine's own.
//!
//! A connection to such an address comes from the machine itself, past every firewall in front of it, and reaches services
//! that are for the machine alone. The kernel's routing decides (rtnetlink(7)): it knows every address of every interface, and
//! blocks that are routed to the machine as a whole.

use std::io;
use std::net::IpAddr;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

/// `<linux/netlink.h>`, `<linux/rtnetlink.h>`
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const RTM_NEWROUTE: u16 = 24;
const RTM_GETROUTE: u16 = 26;
const RTA_DST: u16 = 1;
const RTN_LOCAL: u8 = 2;

/// A netlink header, a `rtmsg`, and where in that the type of a route is.
const HEADER: usize = 16;
const ROUTE: usize = 12;
const TYPE_AT: usize = HEADER + 7;

/// Bytes of an answer: one route with its attributes.
const ANSWER_MAX: usize = 4096;

/// Whether the kernel delivers packets for this address to the machine itself. What the kernel does not say counts as no:
/// the ends of the connection are compared once it stands.
pub(crate) fn is_own(address: IpAddr) -> bool {
    routed_here(address.to_canonical()).unwrap_or(false)
}

/// Whether both ends of a connection have the same address, which only the machine's own connections have.
pub(crate) fn is_to_itself(stream: &tokio::net::TcpStream) -> bool {
    match (stream.local_addr(), stream.peer_addr()) {
        (Ok(local), Ok(peer)) => local.ip().to_canonical() == peer.ip().to_canonical(),
        // It is gone already.
        (Err(_), _) | (_, Err(_)) => false,
    }
}

fn routed_here(address: IpAddr) -> io::Result<bool> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    // No protocol is number 0, which is NETLINK_ROUTE.
    let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
    let asked = question(address);
    rustix::net::send(&socket, &asked, SendFlags::empty())?;
    // The kernel answers before `send` returns.
    let mut answer = [0; ANSWER_MAX];
    let (length, _) = rustix::net::recv(&socket, &mut answer[..], RecvFlags::empty())?;
    let kind = answer[..length].get(4..6).map(|kind| u16::from_ne_bytes([kind[0], kind[1]]));
    match kind {
        Some(RTM_NEWROUTE) => Ok(answer[..length].get(TYPE_AT) == Some(&RTN_LOCAL)),
        // No route: nothing is reached there, and so nothing of the machine's own.
        Some(NLMSG_ERROR) => Ok(false),
        Some(_) | None => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// RTM_GETROUTE for one destination.
fn question(address: IpAddr) -> Vec<u8> {
    let (family, octets) = match address {
        IpAddr::V4(address) => (AddressFamily::INET, address.octets().to_vec()),
        IpAddr::V6(address) => (AddressFamily::INET6, address.octets().to_vec()),
    };
    let attribute = 4 + octets.len();
    let mut message = Vec::with_capacity(HEADER + ROUTE + attribute);
    let length = u32::try_from(HEADER + ROUTE + attribute).unwrap_or(0);
    message.extend(length.to_ne_bytes());
    message.extend(RTM_GETROUTE.to_ne_bytes());
    message.extend(NLM_F_REQUEST.to_ne_bytes());
    // Sequence number and port: there is one question on this socket.
    message.extend([0; 8]);
    let mut route = [0; ROUTE];
    route[0] = u8::try_from(family.as_raw()).unwrap_or(0);
    route[1] = u8::try_from(octets.len() * 8).unwrap_or(0);
    message.extend(route);
    message.extend(u16::try_from(attribute).unwrap_or(0).to_ne_bytes());
    message.extend(RTA_DST.to_ne_bytes());
    message.extend(octets);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says_which_addresses_are_its_own() {
        // The whole of 127.0.0.0/8 is routed to the machine, though only one address of it is an interface's.
        for own in ["127.0.0.1", "127.9.9.9", "::ffff:127.0.0.1", "::1"] {
            let address: IpAddr = own.parse().unwrap();
            let there = routed_here(address.to_canonical()).unwrap();
            assert!(there || own == "::1" && !std::path::Path::new("/proc/net/if_inet6").exists(), "{own}");
        }
        for other in ["1.1.1.1", "::ffff:1.1.1.1", "2606:4700::1111"] {
            assert!(!is_own(other.parse().unwrap()), "{other}");
        }
    }
}
