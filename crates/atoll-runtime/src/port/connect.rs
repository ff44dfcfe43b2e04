//! A connection to a port inside, wherever it is bound.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream as StdStream};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use super::ByPort;
use crate::Error;
use crate::link::Link;
use crate::shared::Shared;

/// How long a server whose queue is full may take to accept.
const ACCEPTED_WITHIN: Duration = Duration::from_secs(10);

/// Where nearly every server can be reached.
pub(super) const LOOPBACK: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// Connects: to loopback first, then to whatever address the port is bound to inside.
pub(crate) async fn connect(shared: &Arc<Shared>, port: u16) -> Result<StdStream, Error> {
    if port == 0 {
        return Err(Error::invalid("0 is no port to connect to"));
    }
    for ip in LOOPBACK {
        if let Some(stream) = to(&shared.link, SocketAddr::new(ip, port)).await? {
            return Ok(stream);
        }
    }
    for ip in elsewhere(&shared.ports.look(shared).await?, port) {
        if let Some(stream) = to(&shared.link, SocketAddr::new(ip, port)).await? {
            return Ok(stream);
        }
    }
    Err(Error::PortClosed { port })
}

/// Where else a port is bound.
pub(super) fn elsewhere(seen: &ByPort, port: u16) -> impl Iterator<Item = IpAddr> {
    let bound = seen.get(&port).into_iter().flatten().map(|socket| socket.address);
    bound.filter(|ip| !ip.is_unspecified() && !LOOPBACK.contains(ip))
}

/// `None` if nothing listens there.
async fn to(link: &Link, address: SocketAddr) -> Result<Option<StdStream>, Error> {
    let Ok(socket) = link.connect(address).await? else { return Ok(None) };
    let made = async {
        let stream = TcpStream::from_std(StdStream::from(socket))?;
        made(&stream).await?;
        stream.into_std()
    };
    Ok(timeout(ACCEPTED_WITHIN, made).await.ok().and_then(Result::ok))
}

/// Returns when a connection that was begun is made. A refused one shows as an error, or as having no peer.
pub(super) async fn made(stream: &TcpStream) -> io::Result<()> {
    stream.writable().await?;
    if let Some(error) = stream.take_error()? {
        return Err(error);
    }
    stream.peer_addr().map(drop)
}
