//! The handle of a journal: takes the lock, writes entries, keeps the file short.
//!
//! One lock, held over the writing of an entry into the page cache, and over a rewrite of the whole file, which is
//! rare. Waiting for the device is done without it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::entry::{Entry, Number};
use super::file::JournalFile;
use super::frame;
use super::past::Past;
use crate::Error;

/// Below this a journal is not worth shortening.
const SHORT: u64 = 256 * 1024;

/// It is written anew when it has grown to so many times what it was then.
const GROWTH: u64 = 4;

/// An end in the journal is shorter than this.
const END_BYTES: u64 = 1024;

/// Where the journal, the logs and what sessions held are, below a sandbox's storage.
#[derive(Debug, Clone)]
pub(super) struct Places {
    pub(super) storage: PathBuf,
}

impl Places {
    pub(super) fn journal(&self) -> PathBuf {
        self.storage.join("journal")
    }

    pub(super) fn logs(&self) -> PathBuf {
        self.storage.join("logs")
    }

    pub(super) fn log(&self, number: Number) -> PathBuf {
        self.logs().join(number.to_string())
    }

    pub(super) fn sessions(&self) -> PathBuf {
        self.storage.join("sessions")
    }

    pub(super) fn session(&self, number: Number) -> PathBuf {
        self.sessions().join(number.to_string())
    }
}

/// What a sandbox remembers beyond its life.
#[derive(Debug)]
pub(crate) struct Journal {
    pub(super) places: Places,
    inner: Mutex<Inner>,
    /// Up to where the device has it; held while it is asked to.
    synced: Mutex<u64>,
    next: AtomicU64,
    /// Somebody is about to look after it.
    tended: AtomicBool,
}

#[derive(Debug)]
struct Inner {
    /// `None` if there is no file that could be written.
    file: Option<JournalFile>,
    past: Past,
    /// The past knows something that the file does not tell: a write failed.
    behind: bool,
    /// Commands that have begun and not ended.
    open: u64,
    /// How long the file was when it was last written anew.
    base: u64,
    stopped: bool,
    closed: bool,
    /// Counts files, so that a position in an old one is not taken for one in the new.
    offset: u64,
}

impl Journal {
    pub(super) fn new(places: Places, file: Option<JournalFile>, past: Past, next: Number) -> Self {
        let base = file.as_ref().map_or(0, JournalFile::len);
        let inner = Inner { file, past, behind: false, open: 0, base, stopped: false, closed: false, offset: 0 };
        Self {
            places,
            inner: Mutex::new(inner),
            synced: Mutex::new(0),
            next: AtomicU64::new(next),
            tended: AtomicBool::new(false),
        }
    }

    /// A number for something new. Costs nothing.
    pub(crate) fn next_number(&self) -> Number {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Where the output of a command goes.
    pub(crate) fn log_dir(&self, number: Number) -> PathBuf {
        self.places.log(number)
    }

    /// Writes down that something begins. If that cannot be done, nothing has happened.
    pub(super) fn begin(&self, entry: Entry) -> Result<(), Error> {
        let mut inner = self.inner();
        let written = inner.begin(&self.places.journal(), entry);
        written.map_err(|error| Error::io(&format!("write {}", self.places.journal().display()), &error))
    }

    /// Writes down what happened to something that has begun. If that cannot be done now, it is tried again with the
    /// next entry: it has happened all the same.
    pub(super) fn note(self: &Arc<Self>, entry: Entry) {
        self.inner().note(&self.places.journal(), entry);
        self.tend();
    }

    /// The sandbox ends in good order: what has no end by now ended so.
    pub(crate) fn stop(&self) {
        let mut inner = self.inner();
        if !inner.stopped {
            inner.note(&self.places.journal(), Entry::Stopped { at: SystemTime::now().into() });
            inner.stopped = true;
        }
    }

    /// Nothing is written from here on: the storage may be somebody else's.
    pub(crate) fn close(&self) {
        self.inner().closed = true;
    }

    /// Waits until the device has everything. Blocks; who waits at the same time waits together.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let (file, wanted) = {
            let inner = self.inner();
            let Some(file) = &inner.file else { return Ok(()) };
            (file.file(), inner.offset + file.len())
        };
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        if *synced < wanted {
            file.sync_data()?;
            *synced = wanted;
        }
        Ok(())
    }

    /// As [`Self::sync`], without holding up the thread.
    pub(crate) async fn synced(self: &Arc<Self>) -> Result<(), Error> {
        let journal = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || journal.sync()).await;
        let done = done.map_err(|error| Error::Internal { what: format!("writing the journal failed: {error}") })?;
        done.map_err(|error| Error::io(&format!("write {}", self.places.journal().display()), &error))
    }

    /// Has the file synced and kept short, soon.
    fn tend(self: &Arc<Self>) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.tended.swap(true, Ordering::AcqRel) {
            return;
        }
        let journal = Arc::clone(self);
        runtime.spawn_blocking(move || {
            journal.tended.store(false, Ordering::Release);
            journal.inner().shorten(&journal.places.journal());
            // What the device has not taken now is asked for again with the next entry.
            journal.sync().ok();
        });
    }

    /// Removes the files of something that is not in the journal (any more). In the background where there is one:
    /// gigabytes take their time.
    pub(super) fn remove(path: PathBuf) {
        let remove = move || drop(fs::remove_dir_all(path));
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_) => remove(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn begin(&mut self, path: &Path, entry: Entry) -> io::Result<()> {
        if self.closed {
            return Err(io::Error::new(io::ErrorKind::NotConnected, "the sandbox has ended"));
        }
        if self.file.is_none() || self.behind {
            self.rewrite(path)?;
        }
        let frame = frame_of(&entry)?;
        let room = frame.len() as u64 + (self.open + 2) * END_BYTES;
        let file = self.file.as_mut().ok_or(io::ErrorKind::NotFound)?;
        file.reserve(room)?;
        file.write(&frame)?;
        self.open += 1;
        self.past.apply(entry);
        Ok(())
    }

    fn note(&mut self, path: &Path, entry: Entry) {
        if self.closed {
            return;
        }
        if let Entry::Ended { .. } | Entry::Forgotten { .. } = entry {
            self.open = self.open.saturating_sub(1);
        }
        let frame = frame_of(&entry);
        self.past.apply(entry);
        let written = match (&mut self.file, self.behind) {
            (Some(file), false) => frame.and_then(|frame| file.write(&frame)),
            _ => self.rewrite(path),
        };
        self.behind = written.is_err();
    }

    /// Writes the file anew if much of what it tells is over and forgotten. Not at the end, which must be told last.
    fn shorten(&mut self, path: &Path) {
        let len = self.file.as_ref().map_or(0, JournalFile::len);
        if !self.stopped && !self.closed && len > SHORT.max(self.base.saturating_mul(GROWTH)) {
            // The old file is as true as the new one would have been.
            self.rewrite(path).ok();
        }
    }

    fn rewrite(&mut self, path: &Path) -> io::Result<()> {
        let file = JournalFile::replace(path, &frames_of(&self.past)?)?;
        self.offset += self.file.as_ref().map_or(0, JournalFile::len);
        self.base = file.len();
        self.file = Some(file);
        self.behind = false;
        Ok(())
    }
}

fn frame_of(entry: &Entry) -> io::Result<Vec<u8>> {
    let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "the command is too long to be remembered");
    frame::frame(&serde_json::to_vec(entry)?).ok_or_else(too_long)
}

/// The frames of a journal that tells this past, and nothing else.
pub(super) fn frames_of(past: &Past) -> io::Result<Vec<u8>> {
    let mut frames = Vec::new();
    for entry in past.entries() {
        frames.extend(frame_of(&entry)?);
    }
    Ok(frames)
}
