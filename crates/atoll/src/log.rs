//! The server's log on standard error, buffered: lines are collected and written in batches.
//!
//! Writing a line costs about as much as proxying a request, and a blocked stderr must not delay requests. The buffer
//! is flushed every few milliseconds, on a warning or an error, when it is full, and at exit. Only a server that is
//! killed loses the lines of its last few milliseconds.

use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

/// Longest time that a line stays in the buffer.
const FLUSH_INTERVAL: Duration = Duration::from_millis(20);

/// Buffer size that triggers a flush.
const FLUSH_SIZE: usize = 64 * 1024;

static LOG: Log = Log { pending: Mutex::new(Vec::new()), nonempty: Condvar::new(), out: Mutex::new(Vec::new()) };

/// The buffer. A writer takes the lock of `out` first and holds it while it writes, so lines stay in order.
#[derive(Debug)]
struct Log {
    pending: Mutex<Vec<u8>>,
    nonempty: Condvar,
    out: Mutex<Vec<u8>>,
}

/// The writer for `tracing`.
#[derive(Debug)]
pub(crate) struct LogWriter;

/// The writer of one line.
#[derive(Debug)]
pub(crate) struct LineWriter {
    immediate: bool,
}

/// Flushes the buffer when dropped.
#[derive(Debug)]
pub(crate) struct FlushGuard;

/// Starts the thread that flushes the buffer. Must be called after the last fork, which would not copy the thread.
pub(crate) fn start() -> io::Result<FlushGuard> {
    std::thread::Builder::new().name("log".to_owned()).spawn(|| LOG.flush_forever())?;
    Ok(FlushGuard)
}

/// Flushes the buffer.
pub(crate) fn flush() {
    LOG.flush();
}

impl Drop for FlushGuard {
    fn drop(&mut self) {
        flush();
    }
}

impl Log {
    fn append(&self, line: &[u8], immediate: bool) {
        let mut pending = lock(&self.pending);
        if pending.is_empty() {
            self.nonempty.notify_one();
        }
        pending.extend_from_slice(line);
        let full = pending.len() >= FLUSH_SIZE;
        drop(pending);
        if immediate || full {
            self.flush();
        }
    }

    fn flush(&self) {
        let mut out = lock(&self.out);
        std::mem::swap(&mut *out, &mut lock(&self.pending));
        // A closed stderr cannot be reported.
        drop(io::stderr().write_all(&out));
        out.clear();
    }

    fn flush_forever(&self) {
        loop {
            let pending = lock(&self.pending);
            drop(self.nonempty.wait_while(pending, |lines| lines.is_empty()));
            std::thread::sleep(FLUSH_INTERVAL);
            self.flush();
        }
    }
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = LineWriter;

    fn make_writer(&'a self) -> LineWriter {
        LineWriter { immediate: true }
    }

    fn make_writer_for(&'a self, metadata: &tracing::Metadata<'_>) -> LineWriter {
        LineWriter { immediate: *metadata.level() <= tracing::Level::WARN }
    }
}

impl Write for LineWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        LOG.append(line, self.immediate);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
