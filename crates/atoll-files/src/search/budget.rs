//! When a search has found enough. Shared by its threads: a limit holds over all of them, exactly.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::stop::Why;

/// When it is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Matches in all: lines, or files if only these are told.
    pub matches: u64,
    /// Matches in one file; none for as many as there are.
    pub matches_per_file: Option<u64>,
    /// Bytes that are told.
    pub bytes: u64,
    /// Time.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { matches: 10_000, matches_per_file: None, bytes: 16 << 20, time: Duration::from_secs(60) }
    }
}

/// Why there may be more than was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncated {
    /// So many matches were asked for.
    Matches,
    /// So many bytes.
    Bytes,
    /// It took as long as it may.
    Time,
    /// Who asked went away.
    Cancelled,
}

impl From<Why> for Truncated {
    fn from(why: Why) -> Self {
        match why {
            Why::Cancelled => Self::Cancelled,
            Why::Time => Self::Time,
        }
    }
}

/// What is left of the limits.
#[derive(Debug)]
pub(super) struct Budget {
    matches: AtomicU64,
    bytes: AtomicU64,
    truncated: Mutex<Option<Truncated>>,
}

impl Budget {
    pub(super) fn new(limits: &Limits) -> Self {
        let (matches, bytes) = (AtomicU64::new(limits.matches), AtomicU64::new(limits.bytes));
        Self { matches, bytes, truncated: Mutex::new(None) }
    }

    /// Takes one match, if there is one left.
    pub(super) fn take_match(&self) -> bool {
        self.take(&self.matches, 1, Truncated::Matches)
    }

    /// Takes bytes, if there are so many left.
    pub(super) fn take_bytes(&self, bytes: u64) -> bool {
        self.take(&self.bytes, bytes, Truncated::Bytes)
    }

    /// Says why the search ends early. The first reason stays.
    pub(super) fn end(&self, why: Truncated) {
        self.truncated.lock().expect("nobody panics with the lock held").get_or_insert(why);
    }

    pub(super) fn truncated(&self) -> Option<Truncated> {
        *self.truncated.lock().expect("nobody panics with the lock held")
    }

    fn take(&self, left: &AtomicU64, count: u64, why: Truncated) -> bool {
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(count));
        if taken.is_err() {
            self.end(why);
        }
        taken.is_ok()
    }
}
