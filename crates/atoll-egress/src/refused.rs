//! Packets that were refused for not being TCP: the kernel refuses them and tells us (nfnetlink_log), we tell others.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use atoll_protocol::{DenialReason, EgressEvent, EgressEventKind};
use rustix::net::RecvFlags;
use tokio::io::unix::AsyncFd;

use crate::events::event;
use crate::shared::{Kind, Shared};

/// A packet's two headers and what the kernel says about it.
const MESSAGE_MAX: usize = 4096;

/// Netlink's header, nfgenmsg, and the attribute that holds the packet.
const HEADER: usize = 16;
const GENERAL: usize = 4;
const NFULA_PAYLOAD: u16 = 9;

#[expect(
    deprecated,
    reason = "the replacement is unsafe for types that may lie about their descriptor; OwnedFd does not"
)]
pub(crate) fn register(socket: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    rustix::io::ioctl_fionbio(&socket, true)?;
    AsyncFd::new(socket)
}

/// Tells what is refused, until the socket breaks.
pub(crate) async fn tell(shared: Arc<Shared>, socket: AsyncFd<OwnedFd>) {
    let mut buffer = vec![0; MESSAGE_MAX];
    loop {
        let Ok(mut ready) = socket.readable().await else { return };
        match rustix::net::recv(&socket, &mut buffer[..], RecvFlags::empty()) {
            Ok((length, _)) => told(&shared, &buffer[..length]),
            Err(rustix::io::Errno::WOULDBLOCK) => ready.clear_ready(),
            // More than we could take: some are not told.
            Err(rustix::io::Errno::NOBUFS | rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

fn told(shared: &Shared, message: &[u8]) {
    let Some((from, to)) = message.get(HEADER + GENERAL..).and_then(payload).and_then(ends) else { return };
    let owner = shared.attribution.owner(Kind::Udp, from, to);
    shared.events.tell(EgressEvent {
        command: owner.command,
        host: shared.pool().name(to.ip()).map(|name| name.to_string()),
        address: Some(to.ip().to_string()),
        port: Some(to.port()),
        reason: Some(DenialReason::UdpNotAllowed),
        ..event(EgressEventKind::Denied)
    });
}

fn payload(mut attributes: &[u8]) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16::from_ne_bytes(*attributes.first_chunk()?));
        let whole = attributes.get(..length).filter(|whole| whole.len() >= 4)?;
        if u16::from_ne_bytes([whole[2], whole[3]]) == NFULA_PAYLOAD {
            return Some(&whole[4..]);
        }
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}

/// From whom to whom a UDP packet is.
fn ends(packet: &[u8]) -> Option<(SocketAddr, SocketAddr)> {
    let address = |at: usize, length: usize| -> Option<IpAddr> {
        let bytes = packet.get(at..at + length)?;
        match length {
            4 => Some(Ipv4Addr::from(*bytes.first_chunk::<4>()?).into()),
            _ => Some(Ipv6Addr::from(*bytes.first_chunk::<16>()?).into()),
        }
    };
    let (from, to, ports) = match packet.first()? >> 4 {
        4 => (address(12, 4)?, address(16, 4)?, usize::from(packet[0] & 15) * 4),
        6 => (address(8, 16)?, address(24, 16)?, 40),
        _ => return None,
    };
    let port = |at: usize| Some(u16::from_be_bytes(*packet.get(at..)?.first_chunk()?));
    Some((SocketAddr::from((from, port(ports)?)), SocketAddr::from((to, port(ports + 2)?))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_read_and_what_is_cut_is_none() {
        let mut packet = vec![0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 1, 1, 1, 1];
        packet.extend([0x30, 0x39, 1, 0xbb, 0, 8, 0, 0]);
        let (from, to) = ends(&packet).unwrap();
        assert_eq!((from.to_string(), to.to_string()), ("10.0.0.1:12345".to_owned(), "1.1.1.1:443".to_owned()));
        for end in 0..24 {
            assert_eq!(ends(&packet[..end]), None, "{end}");
        }
        let mut attributes = vec![8, 0, 1, 0, 0, 0, 0, 0];
        attributes.extend(u16::try_from(packet.len() + 4).unwrap().to_ne_bytes());
        attributes.extend(NFULA_PAYLOAD.to_ne_bytes());
        attributes.extend(&packet);
        assert_eq!(payload(&attributes), Some(&packet[..]));
        assert_eq!(payload(&attributes[..20]), None);
        assert_eq!(payload(&[0; 8]), None);
    }
}
