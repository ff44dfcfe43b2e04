//! The progress line of a copy, shown on a terminal only.

use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::printer;

/// Interval between two updates.
const UPDATE_INTERVAL: Duration = Duration::from_millis(200);

/// Counts copied bytes; clones share one counter.
#[derive(Debug, Clone)]
pub(super) struct Progress {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    shown: bool,
    begun: Instant,
    bytes: AtomicU64,
    expected: AtomicU64,
    last: Mutex<Instant>,
}

impl Progress {
    pub(super) fn new(silent: bool) -> Self {
        let (now, shown) = (Instant::now(), !silent && stderr().is_terminal());
        let (bytes, expected) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { inner: Arc::new(Inner { shown, begun: now, bytes, expected, last: Mutex::new(now) }) }
    }

    /// Sets the expected number of bytes.
    pub(super) fn expect(&self, bytes: u64) {
        self.inner.expected.store(bytes, Ordering::Relaxed);
    }

    /// Adds copied bytes.
    pub(super) fn add(&self, bytes: usize) {
        let inner = &self.inner;
        let done = inner.bytes.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        if !inner.shown {
            return;
        }
        let mut last = inner.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() >= UPDATE_INTERVAL {
            *last = Instant::now();
            self.show(done);
        }
    }

    fn show(&self, done: u64) {
        let seconds = self.inner.begun.elapsed().as_secs_f64().max(0.001);
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let (mebibytes, total) =
            (done as f64 / 1_048_576.0, self.inner.expected.load(Ordering::Relaxed) as f64 / 1_048_576.0);
        let of = if total > 0.0 { format!(" of {total:.1}") } else { String::new() };
        // A closed stderr is not an error.
        drop(printer::err(format!("\r\x1b[K{mebibytes:.1}{of} MiB, {:.1} MiB/s", mebibytes / seconds).as_bytes()));
    }

    /// Prints the last update and returns the number of bytes.
    pub(super) fn finish(&self) -> u64 {
        let done = self.inner.bytes.load(Ordering::Relaxed);
        if self.inner.shown {
            self.show(done);
            drop(printer::err(b"\n"));
        }
        done
    }
}
