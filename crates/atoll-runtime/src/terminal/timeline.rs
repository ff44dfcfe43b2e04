//! What happened to a terminal in one order: output, and changes of its size at the place where they were made.
//!
//! Owns one position, like the log's own reader. Dropping the future of `next` loses nothing.

use atoll_protocol::Resized;
use tokio::sync::watch;

use super::window::{History, Window};
use crate::log::{Chunk, Event, Log, Reader};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Moment {
    /// It printed.
    Output(Chunk),
    /// What it printed here is gone.
    Gap { from: u64, to: u64 },
    /// Its window changed.
    Resized(Resized),
}

/// A position in what happened.
#[derive(Debug)]
pub(crate) struct Timeline {
    reader: Reader,
    changes: watch::Receiver<History>,
    next_change: usize,
    /// Whether the size at the beginning has been told.
    told_size: bool,
    /// Everything before this place has been told.
    position: u64,
    /// Read, and to be told after a change of size.
    rest: Option<Chunk>,
}

impl Timeline {
    /// From a place on. The first thing told is the size that is in force there.
    pub(crate) fn new(log: &Log, window: &Window, since: u64) -> Self {
        let changes = window.watch();
        let next_change = changes.borrow().number_at(since);
        Self { reader: log.reader(since), changes, next_change, told_size: false, position: since, rest: None }
    }

    /// Everything before this place has been told.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The next thing; `None` when there will never be more.
    pub(crate) async fn next(&mut self) -> Option<Moment> {
        loop {
            if let Some(change) = self.due() {
                return Some(Moment::Resized(change));
            }
            if let Some(chunk) = self.rest.take() {
                return Some(Moment::Output(self.up_to_change(chunk)));
            }
            tokio::select! {
                biased;
                Ok(()) = self.changes.changed() => {}
                event = self.reader.next() => match event? {
                    Event::Output(chunk) => self.rest = Some(chunk),
                    Event::Gap { from, to } => {
                        self.position = to;
                        return Some(Moment::Gap { from, to });
                    }
                },
            }
        }
    }

    /// The next change of size, if it is its turn.
    pub(crate) fn due(&mut self) -> Option<Resized> {
        let changes = self.changes.borrow_and_update();
        let (number, change) = changes.from(self.next_change)?;
        if self.told_size && change.cursor > self.position {
            return None;
        }
        let change = change.clone();
        drop(changes);
        self.next_change = number + 1;
        self.told_size = true;
        Some(change)
    }

    /// The part before the next change of size; the rest is kept for later.
    fn up_to_change(&mut self, mut chunk: Chunk) -> Chunk {
        let border = self.changes.borrow().from(self.next_change).map_or(u64::MAX, |(_, change)| change.cursor);
        let before = usize::try_from(border.saturating_sub(chunk.cursor)).unwrap_or(usize::MAX);
        if before > 0 && before < chunk.bytes.len() {
            let bytes = chunk.bytes.split_off(before);
            self.rest = Some(Chunk { cursor: border, bytes, ..chunk.clone() });
        }
        self.position = chunk.end();
        chunk
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use atoll_protocol::{Stream, WindowSize};
    use bytes::Bytes;

    use super::*;
    use crate::log::{Limits, Store};

    fn log() -> Log {
        Log::new(Store::Unlinked(std::env::temp_dir()), Limits::default())
    }

    fn print(log: &Log, bytes: &'static [u8]) {
        log.append(Stream::Stdout, Bytes::from_static(bytes), SystemTime::now()).unwrap();
    }

    fn resize(log: &Log, window: &Window, cols: u16) {
        let size = WindowSize::new(cols, 24).unwrap();
        window.resized(Resized { cursor: log.end(), size, by: None, time: SystemTime::now().into() });
    }

    async fn told(log: &Log, window: &Window, since: u64) -> Vec<String> {
        let mut timeline = Timeline::new(log, window, since);
        let mut told = Vec::new();
        while let Some(moment) = timeline.next().await {
            told.push(match moment {
                Moment::Output(chunk) => String::from_utf8(chunk.bytes.to_vec()).unwrap(),
                Moment::Gap { from, to } => format!("gap {from} {to}"),
                Moment::Resized(change) => change.size.cols().to_string(),
            });
        }
        told
    }

    #[tokio::test]
    async fn a_change_of_size_cuts_the_output_at_its_place() {
        let (log, window) = (log(), Window::new(WindowSize::default()));
        print(&log, b"abc");
        resize(&log, &window, 100);
        resize(&log, &window, 101);
        print(&log, b"def");
        log.close();
        assert_eq!(told(&log, &window, 0).await, ["80", "abc", "100", "101", "def"]);
        assert_eq!(told(&log, &window, 1).await, ["80", "bc", "100", "101", "def"]);
        assert_eq!(told(&log, &window, 3).await, ["101", "def"]);
        assert_eq!(told(&log, &window, 6).await, ["101"]);
    }

    #[tokio::test]
    async fn what_happens_later_is_told_when_it_happens() {
        let (log, window) = (log(), Window::new(WindowSize::default()));
        let mut timeline = Timeline::new(&log, &window, 0);
        assert!(matches!(timeline.next().await, Some(Moment::Resized(_))));
        let waiting = tokio::spawn(async move { (timeline.next().await, timeline.next().await) });
        resize(&log, &window, 90);
        print(&log, b"x");
        let (first, second) = waiting.await.unwrap();
        assert!(matches!(first, Some(Moment::Resized(change)) if change.size.cols() == 90));
        assert!(matches!(second, Some(Moment::Output(_))));
    }
}
