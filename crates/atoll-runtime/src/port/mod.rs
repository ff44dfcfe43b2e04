//! Ports inside: which are listened on and by whom, when that changes, and connections to them.
//!
//! Nothing listens on the host: a connection is made on the inside, by init, and its socket is passed out. Which
//! sockets there are is asked of the kernel (`listening`), by way of a socket that init opened; who holds them is read
//! from the sandbox's `/proc` (`holder`). A watcher looks again and again only while somebody wants to know (`watch`).

mod answer;
mod connect;
mod holder;
mod listening;
mod watch;

pub(crate) use answer::answers;
pub(crate) use connect::connect;
pub(crate) use watch::Ports;
pub use watch::{PortChange, PortEvents};

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use atoll_protocol::PortInfo;

use crate::Error;
use crate::shared::Shared;
use listening::Listening;

/// Sockets that listen, by port.
pub(crate) type ByPort = BTreeMap<u16, Vec<Listening>>;

/// Every port on which something listens, with who does.
pub(crate) async fn list(shared: &Arc<Shared>) -> Result<Vec<PortInfo>, Error> {
    let seen = shared.ports.look(shared).await?;
    describe(shared, seen).await
}

/// Looking into `/proc` may take a while in a large sandbox.
async fn describe(shared: &Arc<Shared>, seen: ByPort) -> Result<Vec<PortInfo>, Error> {
    let inodes = seen.values().flatten().map(|socket| socket.inode).collect();
    let of = Arc::clone(shared);
    let found = tokio::task::spawn_blocking(move || holder::find(&of, inodes)).await;
    let found = found.map_err(|error| Error::Internal { what: format!("looking for processes failed: {error}") })?;
    let described = seen.into_iter().map(|(port, sockets)| {
        let holder = sockets.iter().find_map(|socket| found.get(&socket.inode));
        let mut addresses: Vec<IpAddr> = sockets.iter().map(|socket| socket.address).collect();
        addresses.sort_unstable();
        addresses.dedup();
        PortInfo {
            port,
            addresses: addresses.iter().map(IpAddr::to_string).collect(),
            pid: holder.map(|holder| holder.pid),
            command: holder.map(|holder| holder.command.clone()),
            process: holder.and_then(|holder| holder.process.clone()),
        }
    });
    // Without a network of its own, what others of this machine listen on is none of the sandbox's.
    let own_network = shared.has_own_network();
    Ok(described.filter(|info| own_network || info.pid.is_some()).collect())
}
