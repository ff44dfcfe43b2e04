//! Per sandbox: the limit on concurrent preview requests, and pools of idle connections to its ports.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Error;
use crate::agent_pool::{Pool, PoolSlots};

/// Most concurrent requests and connections to one sandbox's ports. A sandbox whose clients or programs stall exhausts
/// only its own limit.
const OPEN_MAX: usize = 512;

/// Idle timeout of a connection to a program. Shorter than the timeouts of common servers, 2 s (gunicorn) and 5 s
/// (Node, uvicorn), so that no request meets a connection that is being closed.
const IDLE_TIMEOUT: Duration = Duration::from_millis(1500);

/// Most ports with a pool.
const PORTS_MAX: usize = 64;

/// The connection pools of one sandbox's ports.
#[derive(Debug)]
pub(crate) struct AppPools {
    open: Arc<Semaphore>,
    slots: PoolSlots,
    pools: Mutex<BTreeMap<u16, Arc<Pool>>>,
}

impl AppPools {
    pub(crate) fn new(slots: PoolSlots) -> Arc<Self> {
        Arc::new(Self { open: Arc::new(Semaphore::new(OPEN_MAX)), slots, pools: Mutex::default() })
    }

    /// Returns a permit for one request, or an error if too many are open.
    pub(crate) fn permit(&self) -> Result<OwnedSemaphorePermit, Error> {
        Arc::clone(&self.open).try_acquire_owned().map_err(|_| Error::PreviewBusy { max: OPEN_MAX })
    }

    /// Returns the pool of one port.
    pub(super) fn pool(&self, port: u16) -> Arc<Pool> {
        let mut all = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= PORTS_MAX && !all.contains_key(&port) {
            all.clear();
        }
        Arc::clone(all.entry(port).or_insert_with(|| Pool::new(self.slots.clone(), IDLE_TIMEOUT)))
    }
}
