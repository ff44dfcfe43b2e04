//! Following a log: replay from memory or disk, then live.
//!
//! Owns one position. Must not hold a lock over an await, and must not read a file on an async
//! thread: that is done by a blocking task, and only for bytes that memory no longer holds.

use std::collections::VecDeque;
use std::io;

use tokio::task::{JoinHandle, coop, spawn_blocking};

use super::event::Event;
use super::handle::Log;
use super::segment::{Fetched, Mark};
use super::state::Place;

/// What [`Reader::try_next`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TryNext {
    /// The next event.
    Event(Event),
    /// The next event is on disk, where only [`Reader::next`] goes.
    OnDisk,
    /// There is nothing more yet.
    Empty,
    /// There will never be more.
    Closed,
}

/// A position in a log. It can be dropped at any time, also while waiting.
#[derive(Debug)]
pub struct Reader {
    log: Log,
    cursor: u64,
    /// Read from disk and not told yet; begins at `cursor`.
    ready: VecDeque<Event>,
    /// The next record on disk and the segment it is in, to read on without a search.
    hint: Option<(u64, Mark)>,
    /// Kept here and not in the future of `next`, so that a caller who polls `next` in a `select!`
    /// and drops it each time gets on all the same.
    fetching: Option<Fetching>,
}

/// A disk read on its way.
#[derive(Debug)]
struct Fetching {
    task: JoinHandle<io::Result<Fetched>>,
    segment: u64,
    /// Where to go on if it fails.
    end: u64,
}

impl Reader {
    pub(super) fn new(log: Log, cursor: u64) -> Self {
        Self { log, cursor, ready: VecDeque::new(), hint: None, fetching: None }
    }

    /// The cursor of the next event, unless a gap begins there.
    #[must_use]
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    /// The next event; waits for one if the log is open. `None` once it is closed and all is told.
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            // Bytes in memory are always ready: without this a busy log would starve its thread.
            coop::consume_budget().await;
            match self.try_next() {
                TryNext::Event(event) => return Some(event),
                TryNext::Closed => return None,
                TryNext::OnDisk => self.fetch().await,
                TryNext::Empty => self.wait().await,
            }
        }
    }

    /// The next event that is there already, from disk too; `None` rather than waiting for output.
    pub(super) async fn next_present(&mut self) -> Option<Event> {
        loop {
            coop::consume_budget().await;
            match self.try_next() {
                TryNext::Event(event) => return Some(event),
                TryNext::Closed | TryNext::Empty => return None,
                TryNext::OnDisk => self.fetch().await,
            }
        }
    }

    /// The next event if it is in memory. Never waits, neither for output nor for the disk.
    pub fn try_next(&mut self) -> TryNext {
        if let Some(event) = self.ready.pop_front() {
            return self.tell(event);
        }
        if self.fetching.is_some() {
            return TryNext::OnDisk;
        }
        let place = self.log.state().place(self.cursor);
        match place {
            Place::Memory(chunk) => self.tell(Event::Output(chunk)),
            Place::Gap(to) => self.tell(Event::Gap { from: self.cursor, to }),
            Place::Disk => TryNext::OnDisk,
            Place::Ahead => TryNext::Empty,
            Place::End => TryNext::Closed,
        }
    }

    fn tell(&mut self, event: Event) -> TryNext {
        self.cursor = event.next_cursor();
        TryNext::Event(event)
    }

    async fn wait(&self) {
        // Made before the look, so that what comes after the look wakes us: `notify_waiters`
        // reaches every `Notified` that exists, polled or not.
        let changed = self.log.changed().notified();
        let place = self.log.state().place(self.cursor);
        if let Place::Ahead = place {
            changed.await;
        }
    }

    async fn fetch(&mut self) {
        if self.fetching.is_none() {
            self.fetching = self.start_fetch();
        }
        let Some(fetching) = &mut self.fetching else {
            // Dropped since it was seen; the next look says so.
            return;
        };
        let outcome = (&mut fetching.task).await;
        let outcome = outcome.unwrap_or_else(|error| Err(io::Error::other(error)));
        self.fetched(outcome);
    }

    fn start_fetch(&self) -> Option<Fetching> {
        let job = self.log.state().fetch(self.cursor, self.hint)?;
        let (segment, end) = (job.segment, job.tip.cursor);
        let task = spawn_blocking(move || job.run());
        Some(Fetching { task, segment, end })
    }

    fn fetched(&mut self, outcome: io::Result<Fetched>) {
        let Some(Fetching { segment, end, .. }) = self.fetching.take() else {
            return;
        };
        match outcome {
            Ok(Fetched { chunks, next }) => {
                self.ready.extend(chunks.into_iter().map(Event::Output));
                self.hint = Some((segment, next));
            }
            Err(error) => self.unreadable(end, &error),
        }
    }

    /// A segment that cannot be read is a gap to this reader, and a fault of the log.
    fn unreadable(&mut self, to: u64, error: &io::Error) {
        let from = self.cursor;
        self.log.note_fault(format!("failed to read output at cursor {from}: {error}"));
        self.ready.push_back(Event::Gap { from, to });
    }
}
