//! What a shell holds, written down by itself: requested, read, retained.
//!
//! A dump comes from inside, so it is bounded: in bytes, in bytes of all sessions together, and in time. It is read one
//! piece at a time, between other things.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use atoll_shell::message::{DUMP_MAX, Task};
use tokio::time::Instant;

use super::Owner;
use crate::Error;
use crate::pauses::Pauses;
use crate::pipes::{self, Read, Reader};
use crate::session::budget::{Budget, Share, TOGETHER_MAX};
use crate::session::machine::Event;
use crate::session::snapshot::{Snapshot, Unreadable};

/// How long a shell may take to write down what it holds. It takes milliseconds.
const DUMP_WITHIN: Duration = Duration::from_secs(10);

/// When to look again at a dump whose deadline has passed while its sandbox is paused.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A dump that is being read.
pub(super) struct Dump {
    /// `None` at its end.
    pub(super) reader: Option<Reader>,
    bytes: Vec<u8>,
    /// Bytes that have come, of which only those within the budget are retained.
    length: usize,
    share: Share,
    over_budget: bool,
    pub(super) until: Instant,
    /// Pauses of the sandbox that `until` takes account of.
    paused: Duration,
}

/// A shell that writes more than [`DUMP_MAX`].
#[derive(Debug, PartialEq, Eq)]
struct Excess;

/// What came of a dump.
enum Outcome {
    Snapshot(Arc<Snapshot>, Share),
    TooLarge,
    /// It was cut off, or is not a dump.
    Nothing,
}

impl Dump {
    fn new(reader: Reader, budget: &Budget, pauses: &Pauses) -> Self {
        let (until, paused) = (Instant::now() + DUMP_WITHIN, pauses.total());
        Self {
            reader: Some(reader),
            bytes: Vec::new(),
            length: 0,
            share: budget.share(),
            over_budget: false,
            until,
            paused,
        }
    }

    /// Takes one piece of what is there.
    fn read(&mut self) -> Result<(), Excess> {
        match self.reader.as_mut().map(Reader::read) {
            Some(Read::Bytes(bytes)) => self.take(&bytes)?,
            Some(Read::End) => self.reader = None,
            Some(Read::Empty) | None => {}
        }
        Ok(())
    }

    /// Above the budget the rest is read and dropped: the shell waits for its reader.
    fn take(&mut self, bytes: &[u8]) -> Result<(), Excess> {
        self.length += bytes.len();
        if self.length > DUMP_MAX {
            return Err(Excess);
        }
        self.over_budget |= !self.share.grow(bytes.len());
        if self.over_budget {
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// The shell says that all is written: at most what the pipe holds is not read yet.
    fn finish(mut self, jobs: bool) -> Result<Outcome, Excess> {
        if let Some(rest) = self.reader.as_mut().and_then(Reader::drain) {
            self.take(&rest)?;
        }
        if self.over_budget {
            return Ok(Outcome::TooLarge);
        }
        Ok(match Snapshot::parse(&self.bytes, jobs) {
            Ok(snapshot) => Outcome::Snapshot(Arc::new(snapshot), self.share),
            Err(Unreadable::TooLarge) => Outcome::TooLarge,
            Err(Unreadable::Malformed) => Outcome::Nothing,
        })
    }

    /// Whether its deadline has passed. The sandbox's pauses do not count.
    fn is_late(&mut self, pauses: &Pauses) -> bool {
        let paused = pauses.total();
        self.until += paused.saturating_sub(std::mem::replace(&mut self.paused, paused));
        if pauses.is_now() {
            self.until = self.until.max(Instant::now() + LOOK_AGAIN);
        }
        self.until <= Instant::now()
    }
}

impl Owner {
    /// The shell ends by its own command. What it holds is worth having: a restart goes on from there.
    pub(super) fn leaving(&mut self, jobs: bool) {
        self.begin_dump();
        if let Some(shell) = &mut self.shell {
            // Whatever came of that, it must not wait for us.
            shell.wire.dismiss();
        }
        self.leaving = Some(jobs);
    }

    /// The shell has written down what it holds, or stopped because that is too much.
    pub(super) async fn dumped(&mut self, jobs: bool, is_whole: bool) {
        if is_whole {
            self.keep_dump(jobs);
        } else {
            self.dump = None;
            self.is_too_large = true;
        }
        self.on(Event::Dumped).await;
    }

    /// The last snapshot that could be had stays if this one cannot.
    pub(super) fn keep_dump(&mut self, jobs: bool) {
        let Some(dump) = self.dump.take() else { return };
        match dump.finish(jobs) {
            Ok(Outcome::Snapshot(snapshot, share)) => {
                if let Some(note) = &mut self.note {
                    note.save(&snapshot);
                }
                self.snapshot = Some(snapshot);
                self.share = Some(share);
                self.is_too_large = false;
            }
            Ok(Outcome::TooLarge) => self.is_too_large = true,
            Ok(Outcome::Nothing) => {}
            Err(Excess) => self.distrust("it wrote more than it may hold"),
        }
    }

    pub(super) fn read_dump(&mut self) {
        if self.dump.as_mut().is_some_and(|dump| dump.read().is_err()) {
            self.dump = None;
            self.distrust("it wrote more than it may hold");
        }
    }

    /// A shell that ends may run traps for as long as its command may; others only write.
    pub(super) fn dump_until(&self) -> Option<Instant> {
        self.dump.as_ref().filter(|_| self.leaving.is_none()).map(|dump| dump.until)
    }

    pub(super) fn look_at_dump(&mut self) {
        if self.dump.as_mut().is_some_and(|dump| dump.is_late(&self.shared.pauses)) {
            self.dump = None;
            self.distrust("it did not write down in time what it holds");
        }
    }

    pub(super) fn begin_dump(&mut self) {
        let Some(shell) = &mut self.shell else { return };
        let Ok((reader, writer)) = pipes::one_way() else { return };
        shell.wire.order(Task::Dump, &[], &[writer.as_fd()]).ok();
        self.dump = Some(Dump::new(reader, self.shared.sessions.budget(), &self.shared.pauses));
    }

    pub(super) fn too_large(&self) -> Error {
        Error::SessionTooLarge { id: self.session.id().to_string(), max: DUMP_MAX, together: TOGETHER_MAX }
    }
}
