//! A server's log on standard error: lines are gathered, and written together a few moments later.
//!
//! Each write of a line costs a server about as much as passing on a request does, and a log that nobody reads must not
//! hold one up. Owns what was logged and not written yet. What warns is written at once, and all before it; so is
//! everything when there is much of it, and at the end. Only a server that is killed may take its last moment with it.

use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

/// How long a line may wait.
const WITHIN: Duration = Duration::from_millis(20);

/// How much may wait.
const FULL: usize = 64 * 1024;

static LOG: Log = Log { gathered: Mutex::new(Vec::new()), some: Condvar::new(), out: Mutex::new(Vec::new()) };

/// What is to be written. The lock of `out` is taken first, and held by whoever writes: lines stay in their order.
#[derive(Debug)]
struct Log {
    gathered: Mutex<Vec<u8>>,
    some: Condvar,
    out: Mutex<Vec<u8>>,
}

/// Where the log's lines go, for `tracing`.
#[derive(Debug)]
pub(crate) struct Lines;

/// Where one line goes.
#[derive(Debug)]
pub(crate) struct Line {
    at_once: bool,
}

/// Writes what is left when it is dropped.
#[derive(Debug)]
pub(crate) struct Kept;

/// Begins to write what is logged. A fork would not take the thread with it, so not before one.
pub(crate) fn keep() -> io::Result<Kept> {
    std::thread::Builder::new().name("log".to_owned()).spawn(|| LOG.write_for_ever())?;
    Ok(Kept)
}

/// Writes what is left.
pub(crate) fn flush() {
    LOG.flush();
}

impl Drop for Kept {
    fn drop(&mut self) {
        flush();
    }
}

impl Log {
    fn take(&self, line: &[u8], at_once: bool) {
        let mut gathered = lock(&self.gathered);
        if gathered.is_empty() {
            self.some.notify_one();
        }
        gathered.extend_from_slice(line);
        let full = gathered.len() >= FULL;
        drop(gathered);
        if at_once || full {
            self.flush();
        }
    }

    fn flush(&self) {
        let mut out = lock(&self.out);
        std::mem::swap(&mut *out, &mut lock(&self.gathered));
        // Nobody is left to be told that nothing can be told.
        drop(io::stderr().write_all(&out));
        out.clear();
    }

    fn write_for_ever(&self) {
        loop {
            let gathered = lock(&self.gathered);
            drop(self.some.wait_while(gathered, |lines| lines.is_empty()));
            std::thread::sleep(WITHIN);
            self.flush();
        }
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line { at_once: true }
    }

    fn make_writer_for(&'a self, about: &tracing::Metadata<'_>) -> Line {
        Line { at_once: *about.level() <= tracing::Level::WARN }
    }
}

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        LOG.take(line, self.at_once);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
