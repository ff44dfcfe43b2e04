//! What of a process outlives its sandbox: when it is written down, and when it is taken out again.
//!
//! All of it is nothing where the storage is thrown away. Must not decide how: the journal does.

use atoll_protocol::{ProcessState, Timestamp};

use super::handle::Process;
use crate::Error;
use crate::journal::{Began, EndedEntry, Fingerprint, TerminalMade};
use crate::run::Ended;

/// Whether somebody else tells what the command did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// An answer does, if each output has at most so many bytes and nothing survives. Then nothing is remembered.
    ByAnswer(usize),
    /// Nobody: it is remembered.
    ByRecord,
}

impl Process {
    /// Writes it down, before it is run or as soon as it turns out to be worth it.
    pub(crate) fn remember(&self) -> Result<(), Error> {
        self.remember_as(None)
    }

    /// As [`Self::remember`], for a terminal's.
    pub(crate) fn remember_as(&self, terminal: Option<TerminalMade>) -> Result<(), Error> {
        let Some(note) = self.note() else { return Ok(()) };
        let began = || Began {
            id: self.id().clone(),
            command: self.spec().command.describe(),
            labels: self.spec().labels.clone(),
            session: self.spec().session.clone(),
            fingerprint: Fingerprint::of(self.spec()),
            at: self.status().borrow().started_at,
            terminal,
        };
        note.begin(began, self.log())
    }

    /// Writes it down before it is run, unless an answer may tell everything. Where the id is the client's, that it is
    /// never run twice is a promise: then it is on the device, or it is not run. Others do without if they must.
    pub(crate) async fn remember_start(&self, told: Told) -> Result<(), Error> {
        let named = self.spec().id.is_some();
        if let (false, Told::ByAnswer(_)) = (named, told) {
            return Ok(());
        }
        match (self.remember(), self.note()) {
            (Ok(()), Some(note)) if named => note.journal().synced().await,
            (Err(error), _) if named => Err(error),
            _ => Ok(()),
        }
    }

    /// It lives again.
    pub(crate) fn remember_restart(&self, restarts: u32, at: Timestamp) {
        if let Some(note) = self.note() {
            note.restarted(restarts, at);
        }
    }

    /// Its main process is over, and something of it lives on.
    pub(crate) fn remember_lingering(&self, end: &Ended) {
        // What cannot be written down is noted by the log, and remembered for as long as this life lasts.
        self.remember().ok();
        self.note_end(end);
    }

    /// It is over; to be called before anybody is told.
    pub(crate) fn remember_end(&self, end: &Ended, told: Told) {
        if let Told::ByAnswer(limit) = told {
            let totals = self.log().totals();
            let limit = limit as u64;
            if totals.stdout > limit || totals.stderr > limit || end.record.survivors > 0 {
                self.remember().ok();
            }
        }
        self.note_end(end);
    }

    /// Nobody waits for the answer any more, so that it is not told.
    pub(crate) fn remember_untold(&self) {
        self.remember().ok();
        self.remember_late_end();
    }

    /// Its end, should it have been written down only while it ended.
    pub(crate) fn remember_late_end(&self) {
        let end = self.ended_at().filter(|_| self.state() == ProcessState::Ended);
        if let (Some(note), Some(end)) = (self.note(), end)
            && !note.is_ended()
        {
            self.note_end(&end);
        }
    }

    fn note_end(&self, end: &Ended) {
        let Some(note) = self.note().filter(|note| note.is_begun()) else { return };
        let totals = self.log().totals();
        note.ended(EndedEntry {
            end: end.record.clone(),
            cursor: end.cursor,
            session_reset: end.session_reset,
            log_end: totals.stdout + totals.stderr,
            log_stdout: totals.stdout,
        });
        self.flush_soon();
    }

    /// Hands what it printed to the device, beside everything else. A failure is a gap after a power cut, and told then.
    fn flush_soon(&self) {
        let log = self.log().clone();
        if let (true, Ok(runtime)) = (log.is_on_disk(), tokio::runtime::Handle::try_current()) {
            drop(runtime.spawn_blocking(move || log.flush()));
        }
    }

    /// Nothing of it is to be remembered.
    pub(crate) fn forget(&self) {
        if let Some(note) = self.note() {
            note.forget(self.log());
        }
    }
}
