//! Whether a sandbox is in use: how many requests and streams are open, and when the last one ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use atoll_protocol::Timestamp;

use crate::clock;

/// Counts the uses of one sandbox. Lock-free, shared by all of its users.
#[derive(Debug)]
pub(crate) struct Activity {
    began: Instant,
    open: AtomicU64,
    /// Milliseconds after `began` of the last use.
    last: AtomicU64,
    /// The wall-clock time of the last use.
    last_wall: AtomicU64,
}

/// One use of a sandbox. Ends when it is dropped.
#[derive(Debug)]
pub(crate) struct InUse {
    activity: Arc<Activity>,
}

impl Activity {
    /// Starts with `last` as the wall-clock time of the last use; the idle clock starts now.
    pub(crate) fn new(last: Timestamp) -> Self {
        Self {
            began: Instant::now(),
            open: AtomicU64::new(0),
            last: AtomicU64::new(0),
            last_wall: AtomicU64::new(last.as_millis()),
        }
    }

    /// Begins a use. Call it before reading the sandbox's state: the idle check changes the state first and looks for
    /// uses then, so one of the two always sees the other.
    pub(crate) fn enter(self: &Arc<Self>) -> InUse {
        self.open.fetch_add(1, Ordering::SeqCst);
        self.touch();
        InUse { activity: Arc::clone(self) }
    }

    /// Resets the idle clock.
    pub(crate) fn touch(&self) {
        let passed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(passed, Ordering::SeqCst);
        self.last_wall.store(clock::now().as_millis(), Ordering::Relaxed);
    }

    /// Whether a use is open.
    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::SeqCst) > 0
    }

    /// Returns the time of the last use, for the idle clock.
    pub(crate) fn last(&self) -> Instant {
        self.began + Duration::from_millis(self.last.load(Ordering::SeqCst))
    }

    /// Returns the wall-clock time of the last use.
    pub(crate) fn last_used_at(&self) -> Timestamp {
        Timestamp::from_millis(self.last_wall.load(Ordering::Relaxed))
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.activity.touch();
        self.activity.open.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_counts_until_it_is_dropped() {
        let activity = Arc::new(Activity::new(Timestamp::from_millis(5)));
        assert!(!activity.is_open());
        assert_eq!(activity.last_used_at(), Timestamp::from_millis(5));
        let (first, second) = (activity.enter(), activity.enter());
        drop(first);
        assert!(activity.is_open());
        drop(second);
        assert!(!activity.is_open() && activity.last_used_at() > Timestamp::from_millis(5));
    }
}
