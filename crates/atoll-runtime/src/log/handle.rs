//! The handle of a log: takes the locks, does the writing, wakes the readers.
//!
//! Two locks, and an order: `writer` may be held while `state` is taken, never the reverse.
//! `state` is held for a look or a change, never over I/O or an await; `writer` is held over I/O,
//! and only the writing side takes it. So no reader can hold up the writer or another reader.
//!
//! Must not decide anything: `state` does.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use atoll_protocol::Stream;
use bytes::Bytes;
use tokio::sync::Notify;

use super::catalog::Catalog;
use super::event::{Event, Length, ReadPage, Totals};
use super::limits::{Caps, Limits};
use super::reader::Reader;
use super::recover;
use super::state::{Life, Need, Spill, State};
use super::store::{self, Store};
use super::window::Pressure;
use super::writer::Writer;

/// The output of one command, both streams in one order. Cloning it is cheap, and every clone is
/// the same log.
#[derive(Clone)]
pub struct Log {
    inner: Arc<Inner>,
}

struct Inner {
    state: Mutex<State>,
    writer: Mutex<Writer>,
    changed: Notify,
    caps: Caps,
}

impl Log {
    /// An empty, open log. Does no I/O, and none will follow while the output fits in memory.
    #[must_use]
    pub fn new(store: Store, limits: Limits) -> Self {
        let caps = Caps::from(limits);
        Self::from_parts(State::new(caps), store, caps)
    }

    /// Opens the log that `Store::Dir` left in `dir`, closed, to be read.
    ///
    /// Only what was flushed or spilled is there. A torn record at the end of a file is cut off
    /// the file, so `dir` must not be that of a log still being written. Blocks on the disk.
    ///
    /// # Errors
    /// If the directory or a file in it cannot be read, or was written by another version.
    #[cfg(test)]
    pub fn open(dir: &Path, limits: Limits) -> io::Result<Self> {
        Self::reopen(dir, limits, Length::default())
    }

    /// As `open`, of a log that is known to have been so long: what is missing at its end is then told as a gap.
    pub(crate) fn reopen(dir: &Path, limits: Limits, length: Length) -> io::Result<Self> {
        let caps = Caps::from(limits);
        let state = recover::recover(dir, caps, length)?;
        Ok(Self::from_parts(state, Store::Dir(dir.to_owned()), caps))
    }

    /// A closed log of which nothing can be read any more, and why.
    pub(crate) fn lost(length: Length, why: Option<String>) -> Self {
        let caps = Caps::from(Limits::default());
        let mut state = State::ended(caps, Catalog::new(caps), length.end, length.stdout);
        if let Some(why) = why {
            state.note_fault(why);
        }
        Self::from_parts(state, Store::Unlinked(PathBuf::new()), caps)
    }

    fn from_parts(state: State, store: Store, caps: Caps) -> Self {
        let inner = Inner {
            state: Mutex::new(state),
            writer: Mutex::new(Writer::new(store, &caps)),
            changed: Notify::new(),
            caps,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Adds output. Never waits for a reader; at times writes a batch to the page cache.
    ///
    /// `bytes` may be held for as long as they are among the newest, and with them the whole
    /// buffer they are a slice of: hand over buffers that are not much larger than their content.
    ///
    /// # Errors
    /// If the log is closed, and then nothing was added. Or if a batch could not be written to
    /// disk: then the bytes are in the log all the same, the oldest that memory cannot hold have
    /// become a gap, and [`degraded`](Self::degraded) says why. Going on appending is right.
    pub fn append(&self, stream: Stream, bytes: Bytes, time: SystemTime) -> io::Result<()> {
        if bytes.len() <= self.inner.caps.chunk {
            return self.append_piece(stream, bytes, time);
        }
        let pinned = bytes.len() > self.inner.caps.window;
        let mut outcome = Ok(());
        let mut rest = bytes;
        while !rest.is_empty() {
            let piece = rest.split_to(rest.len().min(self.inner.caps.chunk));
            // A slice of something larger than the window would pin all of it.
            let piece = if pinned { Bytes::copy_from_slice(&piece) } else { piece };
            outcome = self.append_piece(stream, piece, time).and(outcome);
        }
        outcome
    }

    fn append_piece(&self, stream: Stream, bytes: Bytes, time: SystemTime) -> io::Result<()> {
        let mut state = self.state();
        if state.life() == Life::Closed {
            return Err(closed());
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let pressure = state.push(stream, bytes, time);
        let through = state.writes_through();
        drop(state);
        if through {
            let written = self.spill(Need::Show);
            self.inner.changed.notify_waiters();
            return written;
        }
        self.inner.changed.notify_waiters();
        match pressure {
            Pressure::Fits => Ok(()),
            Pressure::SpillDue => self.spill(Need::Room),
        }
    }

    /// Says that no output will ever come any more. Readers end once they have read it all.
    pub fn close(&self) {
        if self.state().writes_through() {
            // A disk that failed gets a last chance; that it failed has been noted.
            self.spill(Need::Everything).ok();
        }
        self.state().close();
        self.inner.changed.notify_waiters();
    }

    /// From now on bytes are written to their file before readers are shown them, so that what was shown outlives this
    /// process. For `Store::Dir`. While the disk fails, readers are shown what memory holds.
    pub(crate) fn write_through(&self) {
        self.state().write_through();
        // A failure is noted by the log itself.
        self.spill(Need::Show).ok();
        self.inner.changed.notify_waiters();
    }

    /// Whether it has made files.
    pub(crate) fn is_on_disk(&self) -> bool {
        self.writer().has_begun()
    }

    /// Puts everything on disk, and for `Store::Dir` waits until the device has it. Blocks.
    ///
    /// # Errors
    /// If it could not be written. What memory holds stays readable.
    pub fn flush(&self) -> io::Result<()> {
        self.spill(Need::Everything)?;
        let dir = match self.writer().store() {
            Store::Unlinked(_) => return Ok(()),
            Store::Dir(dir) => dir.clone(),
        };
        let files = self.state().catalog_mut().unsynced();
        for (file, len) in &files {
            file.sync_data().map_err(|error| named(&dir, &error))?;
            self.state().catalog_mut().mark_synced(file, *len);
        }
        // The names are on the device only when the directory is.
        if files.is_empty() { Ok(()) } else { File::open(dir)?.sync_all() }
    }

    fn spill(&self, need: Need) -> io::Result<()> {
        let mut writer = self.writer();
        let plan = self.state().plan_spill(need);
        let batch = match plan {
            Spill::Nothing => return Ok(()),
            Spill::Refused(error) => return Err(error),
            Spill::Write(batch) => batch,
        };
        self.make_room(batch.disk_len());
        match writer.write(&batch) {
            Ok(began) => {
                self.state().commit(&batch, began);
                Ok(())
            }
            Err(error) => {
                let error = named(writer.store().path(), &error);
                self.state().fail(&error);
                Err(error)
            }
        }
    }

    fn make_room(&self, incoming: u64) {
        let dropped = self.state().make_room(incoming);
        for segment in dropped {
            if let Err(error) = store::remove(segment) {
                self.note_fault(format!("failed to remove an output segment: {error}"));
            }
        }
    }

    /// A reader that begins at `since`: it replays what is there, then follows.
    #[must_use]
    pub fn reader(&self, since: u64) -> Reader {
        Reader::new(self.clone(), since)
    }

    /// Reads up to `limit_bytes` from `since`. If there is nothing yet, waits for it up to `wait`.
    pub async fn read(&self, since: u64, limit_bytes: usize, wait: Option<Duration>) -> ReadPage {
        let mut reader = self.reader(since);
        let mut events = Vec::new();
        let mut room = limit_bytes;
        if room > 0
            && let Some(wait) = wait
        {
            let first = tokio::time::timeout(wait, reader.next()).await;
            events.extend(first.ok().flatten().map(|event| take(event, &mut room)));
        }
        while room > 0
            && let Some(event) = reader.next_present().await
        {
            events.push(take(event, &mut room));
        }
        let next_cursor = events.last().map_or(since, Event::next_cursor);
        let closed = self.is_closed() && next_cursor >= self.end();
        ReadPage { events, next_cursor, closed }
    }

    /// The cursor after the newest byte.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.state().end()
    }

    /// Bytes so far, by stream, and how many of them are gone.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.state().totals()
    }

    /// Whether no output will ever come any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state().life() == Life::Closed
    }

    /// Why bytes of this log may be missing other than by the disk cap; `None` if none can be.
    #[must_use]
    pub fn degraded(&self) -> Option<String> {
        self.state().degraded()
    }

    pub(super) fn note_fault(&self, message: String) {
        self.state().note_fault(message);
    }

    pub(super) fn changed(&self) -> &Notify {
        &self.inner.changed
    }

    /// A panic under this lock can only be a bug in `state`; the log of a command outlives it.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        let lock = self.inner.state.lock();
        lock.unwrap_or_else(PoisonError::into_inner)
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        let lock = self.inner.writer.lock();
        lock.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Derived, it would print the output of the command.
impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Log");
        debug.field("end", &self.end());
        debug.field("closed", &self.is_closed()).finish()
    }
}

/// Cuts an event to what is left of a page.
fn take(event: Event, room: &mut usize) -> Event {
    match event {
        Event::Output(mut chunk) => {
            chunk.bytes.truncate(*room);
            *room -= chunk.bytes.len();
            Event::Output(chunk)
        }
        Event::Gap { .. } => event,
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the output log is closed")
}

fn named(dir: &Path, error: &io::Error) -> io::Error {
    let message = format!("failed to write output to {}: {error}", dir.display());
    io::Error::new(error.kind(), message)
}
