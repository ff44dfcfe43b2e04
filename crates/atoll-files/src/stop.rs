//! When long work ends before its time: the caller went away, or its time is up.
//!
//! Engines look at it between any two things they do, each of which is short: a name, a block of a file, an event.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Failure, Kind, Result};

/// A wish that work end, and the time at which it ends by itself. Clones are the same wish.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

/// Why work is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Nobody waits for it any longer.
    Cancelled,
    /// It took as long as it may.
    Time,
}

impl Stop {
    /// Never, unless asked.
    #[must_use]
    pub fn never() -> Self {
        Self::default()
    }

    /// The same wish, and an end after this long.
    #[must_use]
    pub fn after(&self, time: Duration) -> Self {
        Self { asked: Arc::clone(&self.asked), deadline: Instant::now().checked_add(time) }
    }

    /// Asks the work to end.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Whether, and why.
    #[must_use]
    pub fn why(&self) -> Option<Why> {
        if self.asked.load(Ordering::Relaxed) {
            return Some(Why::Cancelled);
        }
        self.deadline.is_some_and(|end| Instant::now() >= end).then_some(Why::Time)
    }

    /// The same, as a failure.
    pub fn check(&self) -> Result<()> {
        match self.why() {
            None => Ok(()),
            Some(Why::Cancelled) => Err(Failure::new(Kind::Cancelled, b"", "cancelled")),
            Some(Why::Time) => Err(Failure::new(Kind::Limit, b"", "the time is up")),
        }
    }
}
