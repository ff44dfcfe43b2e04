//! Whether a sandbox is in use: how many requests and streams are open, and when the last one ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use atoll_protocol::Timestamp;

use crate::clock;

/// Shared by everybody who uses one sandbox. Nothing in it waits.
#[derive(Debug)]
pub(crate) struct Activity {
    began: Instant,
    open: AtomicU64,
    /// Milliseconds after `began` when it was last used.
    last: AtomicU64,
    /// The same for people.
    last_wall: AtomicU64,
}

/// One use, for as long as it lives.
#[derive(Debug)]
pub(crate) struct InUse {
    activity: Arc<Activity>,
}

impl Activity {
    /// Last used at `last`, as far as people are told; just now, as far as the idle clock goes.
    pub(crate) fn new(last: Timestamp) -> Self {
        Self {
            began: Instant::now(),
            open: AtomicU64::new(0),
            last: AtomicU64::new(0),
            last_wall: AtomicU64::new(last.as_millis()),
        }
    }

    /// Begins a use. Before the state of the sandbox is looked at: whoever wants to put it to sleep changes the state
    /// first and looks here then, so one of the two sees the other.
    pub(crate) fn enter(self: &Arc<Self>) -> InUse {
        self.open.fetch_add(1, Ordering::SeqCst);
        self.touch();
        InUse { activity: Arc::clone(self) }
    }

    /// It is in use at this moment.
    pub(crate) fn touch(&self) {
        let passed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(passed, Ordering::SeqCst);
        self.last_wall.store(clock::now().as_millis(), Ordering::Relaxed);
    }

    /// Whether anything is open.
    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::SeqCst) > 0
    }

    /// When it was last used.
    pub(crate) fn last(&self) -> Instant {
        self.began + Duration::from_millis(self.last.load(Ordering::SeqCst))
    }

    /// The same for people.
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
    fn a_use_counts_until_it_is_dropped() {
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
