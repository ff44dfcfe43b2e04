//! How far a copy is: a line that is written over, on a terminal only.

use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::printer;

/// Between two lines.
const EVERY: Duration = Duration::from_millis(200);

/// Shared by whoever moves bytes.
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

    /// So many are to come.
    pub(super) fn expect(&self, bytes: u64) {
        self.inner.expected.store(bytes, Ordering::Relaxed);
    }

    /// So many more are done.
    pub(super) fn add(&self, bytes: usize) {
        let inner = &self.inner;
        let done = inner.bytes.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        if !inner.shown {
            return;
        }
        let mut last = inner.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() >= EVERY {
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
        // Nobody is listening any more: then there is nobody to be told.
        drop(printer::err(format!("\r\x1b[K{mebibytes:.1}{of} MiB, {:.1} MiB/s", mebibytes / seconds).as_bytes()));
    }

    /// All is done. How many there were.
    pub(super) fn finish(&self) -> u64 {
        let done = self.inner.bytes.load(Ordering::Relaxed);
        if self.inner.shown {
            self.show(done);
            drop(printer::err(b"\n"));
        }
        done
    }
}
