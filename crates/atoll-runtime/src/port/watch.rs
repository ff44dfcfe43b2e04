//! Ports that open and close, told to whoever wants to know. The kernel gives no sign of it, so somebody has to look:
//! one task for all who listen, and none while nobody does.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use atoll_protocol::PortInfo;
use tokio::sync::{OnceCell, watch};
use tokio::time::sleep;

use super::listening::Diagnosis;
use super::{ByPort, describe};
use crate::Error;
use crate::shared::Shared;

/// How often is looked. A look takes some 30 µs, so this is a thousandth of a core.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// What is known of one sandbox's ports.
#[derive(Debug, Default)]
pub(crate) struct Ports {
    diagnosis: OnceCell<Diagnosis>,
    /// Where the watcher tells what it sees; `None` while there is none.
    watcher: Mutex<Option<watch::Sender<Arc<ByPort>>>>,
}

impl Ports {
    /// One look.
    pub(super) async fn look(&self, shared: &Shared) -> Result<ByPort, Error> {
        let open = async || match shared.link.diagnose().await? {
            Ok(socket) => Ok(Diagnosis::new(socket)),
            Err(error) => Err(Error::io("ask which sockets there are", &error)),
        };
        let diagnosis = self.diagnosis.get_or_try_init(open).await?;
        let mut seen = diagnosis.look().map_err(|error| Error::io("ask which sockets there are", &error))?;
        // Where the way out begins is no port of the user's.
        seen.values_mut().for_each(|sockets| sockets.retain(|socket| !shared.network.owns(socket.inode)));
        seen.retain(|_, sockets| !sockets.is_empty());
        Ok(seen)
    }

    /// What is seen from now on; a change is a change of what the receiver holds.
    pub(crate) async fn watch(shared: &Arc<Shared>) -> Result<watch::Receiver<Arc<ByPort>>, Error> {
        let now = Arc::new(shared.ports.look(shared).await?);
        let mut watcher = shared.ports.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(told) = &*watcher {
            return Ok(told.subscribe());
        }
        let (sender, receiver) = watch::channel(now);
        *watcher = Some(sender);
        tokio::spawn(watch_over(Arc::downgrade(shared)));
        Ok(receiver)
    }

    /// Tells what was seen. `false` if nobody wants to know any more, and then there is no watcher any more either.
    fn tell(&self, seen: ByPort) -> bool {
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sender) = watcher.as_ref().filter(|sender| sender.receiver_count() > 0) else {
            *watcher = None;
            return false;
        };
        sender.send_if_modified(|known| {
            let changed = **known != seen;
            if changed {
                *known = Arc::new(seen);
            }
            changed
        });
        true
    }
}

async fn watch_over(shared: Weak<Shared>) {
    loop {
        sleep(LOOK_EVERY).await;
        let Some(shared) = shared.upgrade() else { return };
        // Where it cannot be seen any more, all are closed.
        let seen =
            if shared.link.is_open() { shared.ports.look(&shared).await.unwrap_or_default() } else { ByPort::new() };
        if !shared.ports.tell(seen) {
            return;
        }
    }
}

/// What happened to a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PortChange {
    /// Something listens on it now.
    Opened(PortInfo),
    /// Nothing does any more.
    Closed(u16),
}

/// Ports as they open and close.
#[derive(Debug)]
pub struct PortEvents {
    shared: Weak<Shared>,
    seen: watch::Receiver<Arc<ByPort>>,
    /// What was seen last.
    known: Arc<ByPort>,
    /// Ports that the listener knows to be open: others of this machine may be none of the sandbox's.
    told: BTreeSet<u16>,
    /// Changes of one look, at most twice as many as there are ports.
    ready: VecDeque<PortChange>,
}

impl PortEvents {
    /// What is open now, and what changes from then on.
    pub(crate) async fn begin(shared: &Arc<Shared>) -> Result<(Vec<PortInfo>, Self), Error> {
        let mut seen = Ports::watch(shared).await?;
        let known = Arc::clone(&seen.borrow_and_update());
        let now = describe(shared, ByPort::clone(&known)).await?;
        let told = now.iter().map(|info| info.port).collect();
        Ok((now, Self { shared: Arc::downgrade(shared), seen, known, told, ready: VecDeque::new() }))
    }

    /// The next change; `None` when the sandbox has ended.
    pub async fn next(&mut self) -> Option<PortChange> {
        loop {
            if let Some(change) = self.ready.pop_front() {
                return Some(change);
            }
            self.seen.changed().await.ok()?;
            let now = Arc::clone(&self.seen.borrow_and_update());
            let (closed, opened) = changes(&self.known, &now);
            self.known = now;
            let closed = closed.into_iter().filter(|port| self.told.remove(port));
            self.ready.extend(closed.map(PortChange::Closed));
            let shared = self.shared.upgrade()?;
            let opened = describe(&shared, opened).await.ok()?;
            self.told.extend(opened.iter().map(|info| info.port));
            self.ready.extend(opened.into_iter().map(PortChange::Opened));
        }
    }
}

/// What was closed and what was opened from one look to the next. A port with other sockets than before was both.
fn changes(before: &ByPort, after: &ByPort) -> (Vec<u16>, ByPort) {
    let same = |port: &u16| {
        let inodes = |of: &ByPort| of.get(port).map(|all| all.iter().map(|one| one.inode).collect::<Vec<_>>());
        let (old, new) = (inodes(before).unwrap_or_default(), inodes(after).unwrap_or_default());
        old.iter().any(|inode| new.contains(inode))
    };
    let closed = before.keys().filter(|port| !same(port)).copied().collect();
    let opened = after.iter().filter(|(port, _)| !same(port)).map(|(port, all)| (*port, all.clone())).collect();
    (closed, opened)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::super::listening::Listening;
    use super::*;

    fn seen(pairs: &[(u16, u32)]) -> ByPort {
        let mut all = ByPort::new();
        for (port, inode) in pairs {
            let socket = Listening { address: IpAddr::V4(Ipv4Addr::LOCALHOST), inode: *inode };
            all.entry(*port).or_default().push(socket);
        }
        all
    }

    #[test]
    fn a_port_opens_closes_or_is_another_ones() {
        let (closed, opened) =
            changes(&seen(&[(80, 1), (81, 2), (82, 3)]), &seen(&[(80, 1), (80, 7), (82, 4), (83, 5)]));
        assert_eq!(closed, [81, 82]);
        assert_eq!(opened.keys().copied().collect::<Vec<_>>(), [82, 83]);
    }
}
