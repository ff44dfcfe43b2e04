//! What a log is at one instant: its window, its segments, whether it is closed, how it fares.
//!
//! Owns every decision, all of them synchronous and quick. Must not do I/O nor wait: it lives
//! under the lock that readers and the writer share.

use std::io;
use std::time::SystemTime;

use atoll_protocol::Stream;
use bytes::Bytes;

use super::catalog::{Catalog, Found};
use super::event::{Chunk, Totals};
use super::limits::Caps;
use super::segment::{Fetch, Mark, Segment};
use super::window::{Pressure, Window};
use super::writer::Batch;

/// Whether output can still come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    Open,
    Closed,
}

/// How the disk has served this log.
#[derive(Debug)]
enum Health {
    Sound,
    /// The last write failed. The next is tried once the log has grown to `retry_at`, so that a
    /// full disk costs one system call per batch and not one per append.
    Failing {
        kind: io::ErrorKind,
        message: String,
        retry_at: u64,
    },
    /// Something failed once; writes work again.
    Recovered {
        message: String,
    },
}

/// When bytes go to disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writing {
    /// When memory cannot hold them.
    Late,
    /// Before anybody is shown them: what a reader has seen outlives us.
    Through,
}

/// Which chunks a spill is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Only what the window can no longer hold.
    Room,
    /// All that is not on disk, because it is to be shown; not while the disk is failing.
    Show,
    /// All that is not on disk.
    Everything,
}

/// What is to be done about a spill.
#[derive(Debug)]
pub(super) enum Spill {
    Nothing,
    Write(Batch),
    /// The disk is failing and it is too early to try again; bytes were given up.
    Refused(io::Error),
}

/// What is at a cursor.
#[derive(Debug)]
pub(super) enum Place {
    /// These bytes, in memory.
    Memory(Chunk),
    /// Bytes on disk.
    Disk,
    /// Nothing up to this cursor.
    Gap(u64),
    /// Nothing yet.
    Ahead,
    /// Nothing ever.
    End,
}

/// A log at one instant.
#[derive(Debug)]
pub(super) struct State {
    caps: Caps,
    window: Window,
    catalog: Catalog,
    stdout: u64,
    life: Life,
    health: Health,
    writing: Writing,
}

impl State {
    pub(super) fn new(caps: Caps) -> Self {
        Self {
            caps,
            window: Window::new(caps, 0),
            catalog: Catalog::new(caps),
            stdout: 0,
            life: Life::Open,
            health: Health::Sound,
            writing: Writing::Late,
        }
    }

    /// A log that ended earlier, found on disk.
    pub(super) fn ended(caps: Caps, catalog: Catalog, end: u64, stdout: u64) -> Self {
        Self {
            caps,
            window: Window::new(caps, end),
            catalog,
            stdout,
            life: Life::Closed,
            health: Health::Sound,
            writing: Writing::Late,
        }
    }

    /// From now on readers are shown only what is on disk, unless the disk is failing.
    pub(super) fn write_through(&mut self) {
        self.writing = Writing::Through;
    }

    pub(super) fn writes_through(&self) -> bool {
        self.writing == Writing::Through
    }

    /// The cursor after the newest byte that readers may be shown.
    fn shown(&self) -> u64 {
        match (self.writing, &self.health) {
            (Writing::Late, _) | (Writing::Through, Health::Failing { .. }) => self.end(),
            (Writing::Through, Health::Sound | Health::Recovered { .. }) => self.window.spilled_end(),
        }
    }

    pub(super) fn push(&mut self, stream: Stream, bytes: Bytes, time: SystemTime) -> Pressure {
        if stream == Stream::Stdout {
            self.stdout += bytes.len() as u64;
        }
        self.window.push(stream, bytes, time)
    }

    pub(super) fn close(&mut self) {
        self.life = Life::Closed;
    }

    pub(super) fn life(&self) -> Life {
        self.life
    }

    pub(super) fn end(&self) -> u64 {
        self.window.end()
    }

    /// Dropped is what a reader from the beginning would be told as gaps: it has no count of its
    /// own that could disagree.
    pub(super) fn totals(&self) -> Totals {
        Totals {
            stdout: self.stdout,
            stderr: self.end() - self.stdout,
            dropped: self.catalog.missing_before(self.window.start()),
        }
    }

    pub(super) fn degraded(&self) -> Option<String> {
        match &self.health {
            Health::Sound => None,
            Health::Failing { message, .. } | Health::Recovered { message } => Some(message.clone()),
        }
    }

    pub(super) fn plan_spill(&mut self, need: Need) -> Spill {
        if need == Need::Room && !self.window.is_spill_due() {
            return Spill::Nothing;
        }
        if need != Need::Everything
            && let Some(error) = self.too_early()
        {
            self.window.shed();
            return Spill::Refused(error);
        }
        self.batch().map_or(Spill::Nothing, Spill::Write)
    }

    fn batch(&mut self) -> Option<Batch> {
        let chunks = self.window.unspilled();
        let of_stdout = chunks.iter().filter(|chunk| chunk.stream == Stream::Stdout);
        let stdout: u64 = of_stdout.map(|chunk| chunk.bytes.len() as u64).sum();
        let stdout_before = self.stdout - stdout;
        (!chunks.is_empty()).then_some(Batch { chunks, stdout_before })
    }

    fn too_early(&self) -> Option<io::Error> {
        match &self.health {
            Health::Failing { kind, message, retry_at } if self.end() < *retry_at => {
                Some(io::Error::new(*kind, message.clone()))
            }
            Health::Failing { .. } | Health::Sound | Health::Recovered { .. } => None,
        }
    }

    pub(super) fn make_room(&mut self, incoming: u64) -> Vec<Segment> {
        self.catalog.make_room(incoming)
    }

    /// Notes that `batch` is on disk, in `began` if it began a segment.
    pub(super) fn commit(&mut self, batch: &Batch, began: Option<Segment>) {
        if let Some(segment) = began {
            self.catalog.push(segment);
        }
        self.catalog.commit(&batch.chunks);
        self.window.confirm(&batch.chunks);
        if let Health::Failing { message, .. } = &mut self.health {
            let message = std::mem::take(message);
            self.health = Health::Recovered { message };
        }
    }

    /// Notes that a batch could not be written. What memory cannot hold becomes a gap.
    pub(super) fn fail(&mut self, error: &io::Error) {
        self.health = Health::Failing {
            kind: error.kind(),
            message: error.to_string(),
            retry_at: self.end() + self.caps.batch as u64,
        };
        self.window.shed();
    }

    /// Remembers a fault that lost nothing by itself, or only for one reader.
    pub(super) fn note_fault(&mut self, message: String) {
        if let Health::Sound = self.health {
            self.health = Health::Recovered { message };
        }
    }

    pub(super) fn catalog_mut(&mut self) -> &mut Catalog {
        &mut self.catalog
    }

    pub(super) fn place(&self, cursor: u64) -> Place {
        if cursor >= self.shown() {
            return match self.life {
                Life::Closed if cursor >= self.end() => Place::End,
                Life::Open | Life::Closed => Place::Ahead,
            };
        }
        if let Some(chunk) = self.window.chunk_at(cursor) {
            return Place::Memory(chunk);
        }
        match self.catalog.find(cursor) {
            Found::In(_) => Place::Disk,
            Found::Missing(next) => {
                let memory = self.window.start();
                Place::Gap(next.map_or(memory, |next| next.min(memory)))
            }
        }
    }

    /// The read that gets what is at `cursor`, if it is on disk.
    pub(super) fn fetch(&self, cursor: u64, hint: Option<(u64, Mark)>) -> Option<Fetch> {
        let Found::In(segment) = self.catalog.find(cursor) else {
            return None;
        };
        let hint = hint.filter(|(start, _)| *start == segment.start);
        Some(segment.fetch(cursor, hint.map(|(_, mark)| mark)))
    }
}
