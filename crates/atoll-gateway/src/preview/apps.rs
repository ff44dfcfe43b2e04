//! What is held for one sandbox's previews: places for requests, and connections to its programs that wait for the next
//! request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Error;
use crate::lines::{Lines, Places};

/// Requests and connections to one sandbox's ports at once. A sandbox whose clients or programs stall fills its own
/// places and nobody else's.
const OPEN_MAX: usize = 512;

/// How long a connection to a program waits. Shorter than the programs do that people run: 2 s (gunicorn), 5 s (Node,
/// uvicorn). A request must not meet one that is just being closed.
const WAITS_FOR: Duration = Duration::from_millis(1500);

/// Ports whose connections are kept.
const PORTS_MAX: usize = 64;

/// See the module.
#[derive(Debug)]
pub(crate) struct Apps {
    open: Arc<Semaphore>,
    places: Places,
    lines: Mutex<BTreeMap<u16, Arc<Lines>>>,
}

impl Apps {
    pub(crate) fn new(places: Places) -> Arc<Self> {
        Arc::new(Self { open: Arc::new(Semaphore::new(OPEN_MAX)), places, lines: Mutex::default() })
    }

    /// A place for a request, for as long as it is held.
    pub(crate) fn place(&self) -> Result<OwnedSemaphorePermit, Error> {
        Arc::clone(&self.open).try_acquire_owned().map_err(|_| Error::PreviewBusy { max: OPEN_MAX })
    }

    /// Connections to one port that wait.
    pub(super) fn lines(&self, port: u16) -> Arc<Lines> {
        let mut all = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= PORTS_MAX && !all.contains_key(&port) {
            all.clear();
        }
        Arc::clone(all.entry(port).or_insert_with(|| Lines::new(self.places.clone(), WAITS_FOR)))
    }
}
