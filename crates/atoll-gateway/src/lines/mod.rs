//! Connections to one sandbox's agent that wait for the next request, so that a request costs no new one.
//!
//! A line (`line.rs`) carries one request at a time and belongs to it until its answer has ended: a large answer is in
//! nobody's way, and who drops a request drops its line, which is how the agent knows that its caller is gone.

mod line;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};

pub(crate) use line::{Line, NotSent};

use crate::placement::Agent;

/// Lines that wait for one sandbox. More callers than that at once are rare, and a new line is cheap.
const WAITING_MAX: usize = 128;

/// Lines that wait on the whole server: each is a descriptor here and one there.
const WAITING_EVERYWHERE: usize = 1024;

/// How long a line waits. Much shorter than an agent waits for a request (30 s): none must meet a line that is just
/// being closed.
pub(crate) const WAITS_FOR: Duration = Duration::from_secs(10);

/// Places for lines that wait, for all sandboxes.
#[derive(Debug, Clone)]
pub(crate) struct Places(Arc<Semaphore>);

impl Default for Places {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(WAITING_EVERYWHERE)))
    }
}

/// The lines of one sandbox to one who listens.
#[derive(Debug)]
pub(crate) struct Lines {
    places: Places,
    waits_for: Duration,
    waiting: Mutex<Waiters>,
}

/// Those that wait, and whether somebody lets go of those that have waited long enough.
#[derive(Debug, Default)]
struct Waiters {
    lines: Vec<Waiting>,
    is_swept: bool,
}

#[derive(Debug)]
struct Waiting {
    line: Line,
    agent: Agent,
    since: Instant,
    _place: OwnedSemaphorePermit,
}

impl Lines {
    pub(crate) fn new(places: Places, waits_for: Duration) -> Arc<Self> {
        Arc::new(Self { places, waits_for, waiting: Mutex::default() })
    }

    /// A line to this agent on which a request can be sent now.
    pub(crate) fn take(&self, agent: &Agent) -> Option<Line> {
        loop {
            // The one that was used last: the others may go.
            let mut waiting = self.waiting().lines.pop()?;
            if waiting.agent == *agent && waiting.since.elapsed() < self.waits_for && waiting.line.is_ready() {
                return Some(waiting.line);
            }
        }
    }

    /// Keeps a line whose answer has ended.
    pub(crate) fn give_back(self: &Arc<Self>, line: Line, agent: Agent) {
        let Ok(place) = Arc::clone(&self.places.0).try_acquire_owned() else { return };
        let mut waiting = self.waiting();
        if waiting.lines.len() >= WAITING_MAX {
            return;
        }
        waiting.lines.push(Waiting { line, agent, since: Instant::now(), _place: place });
        if !std::mem::replace(&mut waiting.is_swept, true) {
            tokio::spawn(sweep(Arc::downgrade(self), self.waits_for));
        }
    }

    /// Lets go of those that waited long enough; `false` if none is left.
    fn tidy(&self) -> bool {
        let mut waiting = self.waiting();
        waiting.lines.retain(|one| one.since.elapsed() < self.waits_for);
        waiting.is_swept = !waiting.lines.is_empty();
        waiting.is_swept
    }

    fn waiting(&self) -> MutexGuard<'_, Waiters> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends with the last line that waits; the next one begins another.
async fn sweep(lines: Weak<Lines>, every: Duration) {
    loop {
        sleep(every).await;
        if !lines.upgrade().is_some_and(|lines| lines.tidy()) {
            return;
        }
    }
}
