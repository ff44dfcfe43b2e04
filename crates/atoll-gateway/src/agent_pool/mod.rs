//! A pool of idle connections to one sandbox's agent, so that most requests need no new connection.
//!
//! A connection (`conn.rs`) carries one request at a time and belongs to it until the response has ended. A large
//! response therefore blocks no other request, and dropping a request drops its connection, which is how the agent
//! notices that the client has disconnected.

mod conn;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};

pub(crate) use conn::{PooledConn, SendError};

use crate::placement::Agent;

/// Most idle connections per sandbox. More concurrent callers are rare, and a new connection is cheap.
const IDLE_MAX: usize = 128;

/// Most idle connections of the whole server: each costs a descriptor here and one in an agent.
const IDLE_MAX_TOTAL: usize = 1024;

/// Idle timeout of a connection. Much shorter than the agent's (30 s), so that no request meets a connection that is
/// being closed.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// The budget of idle connections that all pools share.
#[derive(Debug, Clone)]
pub(crate) struct PoolSlots(Arc<Semaphore>);

impl Default for PoolSlots {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(IDLE_MAX_TOTAL)))
    }
}

/// The idle connections of one sandbox to one peer.
#[derive(Debug)]
pub(crate) struct Pool {
    slots: PoolSlots,
    idle_timeout: Duration,
    idle: Mutex<IdleConns>,
}

/// The idle connections, and whether a task evicts expired ones.
#[derive(Debug, Default)]
struct IdleConns {
    conns: Vec<IdleConn>,
    has_sweeper: bool,
}

#[derive(Debug)]
struct IdleConn {
    conn: PooledConn,
    agent: Agent,
    since: Instant,
    _slot: OwnedSemaphorePermit,
}

impl Pool {
    pub(crate) fn new(slots: PoolSlots, idle_timeout: Duration) -> Arc<Self> {
        Arc::new(Self { slots, idle_timeout, idle: Mutex::default() })
    }

    /// Takes a connection to this agent on which a request can be sent now.
    pub(crate) fn checkout(&self, agent: &Agent) -> Option<PooledConn> {
        loop {
            // The most recently used one first: the others may expire.
            let mut idle = self.idle().conns.pop()?;
            if idle.agent == *agent && idle.since.elapsed() < self.idle_timeout && idle.conn.is_ready() {
                return Some(idle.conn);
            }
        }
    }

    /// Returns a connection to the pool after its response has ended.
    pub(crate) fn checkin(self: &Arc<Self>, conn: PooledConn, agent: Agent) {
        let Ok(slot) = Arc::clone(&self.slots.0).try_acquire_owned() else { return };
        let mut idle = self.idle();
        if idle.conns.len() >= IDLE_MAX {
            return;
        }
        idle.conns.push(IdleConn { conn, agent, since: Instant::now(), _slot: slot });
        if !std::mem::replace(&mut idle.has_sweeper, true) {
            tokio::spawn(sweep(Arc::downgrade(self), self.idle_timeout));
        }
    }

    /// Drops the expired connections. Returns `false` if none is left.
    fn evict_expired(&self) -> bool {
        let mut idle = self.idle();
        idle.conns.retain(|one| one.since.elapsed() < self.idle_timeout);
        idle.has_sweeper = !idle.conns.is_empty();
        idle.has_sweeper
    }

    fn idle(&self) -> MutexGuard<'_, IdleConns> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Evicts expired connections until the pool is empty; the next check-in starts it again.
async fn sweep(pool: Weak<Pool>, every: Duration) {
    loop {
        sleep(every).await;
        if !pool.upgrade().is_some_and(|pool| pool.evict_expired()) {
            return;
        }
    }
}
