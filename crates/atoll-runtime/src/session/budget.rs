//! How much of what sessions hold the agent keeps in memory, all sessions of a sandbox together.
//!
//! What a shell writes down is as large as code inside likes, and the agent is outside the sandbox's memory limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most bytes of all dumps and snapshots of one sandbox. Ordinary sessions hold some tens of KiB each.
pub(crate) const TOGETHER_MAX: usize = 64 * 1024 * 1024;

/// What is taken of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Budget {
    taken: Arc<AtomicUsize>,
}

impl Budget {
    /// Nothing yet.
    pub(crate) fn share(&self) -> Share {
        Share { budget: self.clone(), bytes: 0 }
    }
}

/// One dump's or snapshot's part; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Budget,
    bytes: usize,
}

impl Share {
    /// Takes more; `false`, and nothing is taken, if that is more than remains.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let more = |taken: usize| taken.checked_add(bytes).filter(|total| *total <= TOGETHER_MAX);
        let grown = self.budget.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok();
        if grown {
            self.bytes += bytes;
        }
        grown
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_shares_together_are_bounded_and_come_back() {
        let budget = Budget::default();
        let (mut first, mut second) = (budget.share(), budget.share());
        assert!(first.grow(TOGETHER_MAX - 10));
        assert!(second.grow(10));
        assert!(!second.grow(1));
        drop(first);
        assert!(second.grow(TOGETHER_MAX - 10));
        assert!(!budget.share().grow(usize::MAX));
    }
}
