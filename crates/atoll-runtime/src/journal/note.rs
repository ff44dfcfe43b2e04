//! The place of one command, or one session, in the journal: whether it is there, and what was told of it.
//!
//! A note that was not begun costs nothing and leaves nothing.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atoll_protocol::{EndRecord, Resized, Timestamp};

use super::entry::{Began, EndedEntry, Entry, Made, Number};
use super::held;
use super::keeping::Journal;
use crate::Error;
use crate::log::Log;
use crate::session::Snapshot;

/// How far a thing has come in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It is not in it.
    Absent,
    /// It is.
    Present,
    /// It was, and is not to be any more.
    Forgotten,
}

/// The place of one command.
#[derive(Debug)]
pub(crate) struct Note {
    journal: Arc<Journal>,
    number: Number,
    stage: Mutex<Stage>,
    ended: AtomicBool,
}

impl Note {
    /// For a new command. Writes nothing.
    pub(crate) fn new(journal: &Arc<Journal>) -> Self {
        let number = journal.next_number();
        Self { journal: Arc::clone(journal), number, stage: Mutex::new(Stage::Absent), ended: AtomicBool::new(false) }
    }

    /// Of a command that is in the journal.
    pub(crate) fn of(journal: &Arc<Journal>, number: Number) -> Self {
        Self { journal: Arc::clone(journal), number, stage: Mutex::new(Stage::Present), ended: AtomicBool::new(true) }
    }

    /// Where its output goes.
    pub(crate) fn log_dir(&self) -> PathBuf {
        self.journal.log_dir(self.number)
    }

    pub(crate) fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// Writes the command down, unless that was done. From now on its output is on disk before it is shown.
    pub(crate) fn begin(&self, began: impl FnOnce() -> Began, log: &Log) -> Result<(), Error> {
        let mut stage = self.stage();
        if *stage != Stage::Absent {
            return Ok(());
        }
        self.journal.begin(Entry::Began { number: self.number, began: began() })?;
        *stage = Stage::Present;
        drop(stage);
        log.write_through();
        Ok(())
    }

    /// Whether it is written down.
    pub(crate) fn is_begun(&self) -> bool {
        *self.stage() == Stage::Present
    }

    /// Whether its end is.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub(crate) fn restarted(&self, restarts: u32, at: Timestamp) {
        self.tell(|number| Entry::Restarted { number, restarts, at });
    }

    pub(crate) fn resized(&self, change: Resized) {
        self.tell(|number| Entry::Resized { number, change });
    }

    pub(crate) fn ended(&self, ended: EndedEntry) {
        self.tell(|number| Entry::Ended { number, ended });
        self.ended.store(true, Ordering::Release);
    }

    fn tell(&self, entry: impl FnOnce(Number) -> Entry) {
        if self.is_begun() {
            self.journal.note(entry(self.number));
        }
    }

    /// Takes it out, with its files: first the word, then the files, which without it belong to nobody.
    pub(crate) fn forget(&self, log: &Log) {
        let before = std::mem::replace(&mut *self.stage(), Stage::Forgotten);
        if before == Stage::Present {
            self.journal.note(Entry::Forgotten { number: self.number });
        }
        if before == Stage::Present || (before == Stage::Absent && log.is_on_disk()) {
            Journal::remove(self.log_dir());
        }
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of one session.
#[derive(Debug)]
pub(crate) struct SessionNote {
    journal: Arc<Journal>,
    number: Number,
    stage: Stage,
    /// What its file holds.
    saved: Option<Arc<Snapshot>>,
}

impl SessionNote {
    /// Writes a new session down. One that cannot be is not remembered, and works all the same.
    pub(crate) fn new(journal: &Arc<Journal>, made: Made) -> Self {
        let number = journal.next_number();
        let written = journal.begin(Entry::Session { number, made });
        let stage = if written.is_ok() { Stage::Present } else { Stage::Absent };
        Self { journal: Arc::clone(journal), number, stage, saved: None }
    }

    /// Of a session that is in the journal.
    pub(crate) fn of(journal: &Arc<Journal>, number: Number, saved: Option<Arc<Snapshot>>) -> Self {
        Self { journal: Arc::clone(journal), number, stage: Stage::Present, saved }
    }

    pub(crate) fn died(&self, end: EndRecord) {
        self.tell(Entry::Died { number: self.number, end });
    }

    pub(crate) fn revived(&self) {
        self.tell(Entry::Revived { number: self.number });
    }

    /// Keeps what its shell holds, if that has changed.
    pub(crate) fn save(&mut self, snapshot: &Arc<Snapshot>) {
        if self.stage != Stage::Present || self.saved.as_ref() == Some(snapshot) {
            return;
        }
        // If it cannot be kept, the last one that could be is what the session is brought back from.
        if held::save(&self.journal.places, self.number, snapshot).is_ok() {
            self.saved = Some(Arc::clone(snapshot));
        }
    }

    pub(crate) fn forget(&mut self) {
        self.tell(Entry::Forgotten { number: self.number });
        if std::mem::replace(&mut self.stage, Stage::Forgotten) == Stage::Present {
            // It may never have been saved.
            std::fs::remove_file(self.journal.places.session(self.number)).ok();
        }
    }

    fn tell(&self, entry: Entry) {
        if self.stage == Stage::Present {
            self.journal.note(entry);
        }
    }
}
