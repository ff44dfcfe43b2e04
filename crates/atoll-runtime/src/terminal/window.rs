//! The sizes that a terminal's window has had: which, when, where in the output, and by whom. The last one is in force.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::SystemTime;

use atoll_protocol::{Resized, WindowSize};
use tokio::sync::watch;

/// Changes that are remembered. Somebody who drags a window's corner makes some dozens; older ones matter only to a
/// replay of what was printed then.
const CHANGES_MAX: usize = 1024;

/// A terminal's window. Every clone is the same.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    history: Arc<watch::Sender<History>>,
}

/// The changes, oldest first; never empty. A change keeps its number for ever.
#[derive(Debug)]
pub(crate) struct History {
    forgotten: usize,
    changes: VecDeque<Resized>,
}

impl Window {
    /// A new one.
    pub(crate) fn new(size: WindowSize) -> Self {
        let first = Resized { cursor: 0, size, by: None, time: SystemTime::now().into() };
        let history = History { forgotten: 0, changes: VecDeque::from([first]) };
        Self { history: Arc::new(watch::Sender::new(history)) }
    }

    /// Notes a change that was made.
    pub(crate) fn resized(&self, change: Resized) {
        self.history.send_modify(|history| history.push(change));
    }

    /// The size in force.
    pub(crate) fn size(&self) -> WindowSize {
        self.last().size
    }

    /// The change that made it so.
    pub(crate) fn last(&self) -> Resized {
        let history = self.history.borrow();
        history.changes[history.changes.len() - 1].clone()
    }

    /// To be woken by changes.
    pub(crate) fn watch(&self) -> watch::Receiver<History> {
        self.history.subscribe()
    }
}

impl History {
    fn push(&mut self, change: Resized) {
        if self.changes.len() == CHANGES_MAX {
            self.changes.pop_front();
            self.forgotten += 1;
        }
        self.changes.push_back(change);
    }

    /// The number of the change that is in force at a place in the output, or of the oldest that is remembered.
    pub(crate) fn number_at(&self, cursor: u64) -> usize {
        let before = self.changes.partition_point(|change| change.cursor <= cursor);
        self.forgotten + before.saturating_sub(1)
    }

    /// The first change with at least this number, and its number.
    pub(crate) fn from(&self, number: usize) -> Option<(usize, &Resized)> {
        let number = number.max(self.forgotten);
        self.changes.get(number - self.forgotten).map(|change| (number, change))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(cursor: u64, cols: u16) -> Resized {
        let size = WindowSize::new(cols, 24).unwrap();
        Resized { cursor, size, by: Some("test".to_owned()), time: SystemTime::now().into() }
    }

    #[test]
    fn the_last_change_is_in_force_and_says_who_made_it() {
        let window = Window::new(WindowSize::default());
        assert_eq!((window.size().cols(), window.last().by), (80, None));
        window.resized(change(10, 100));
        assert_eq!((window.size().cols(), window.last().by.as_deref()), (100, Some("test")));
    }

    #[test]
    fn every_place_in_the_output_had_a_size() {
        let window = Window::new(WindowSize::default());
        window.resized(change(10, 100));
        window.resized(change(10, 101));
        window.resized(change(20, 102));
        let history = window.watch();
        let cols_at = |cursor| {
            let history = history.borrow();
            let (_, change) = history.from(history.number_at(cursor)).unwrap();
            change.size.cols()
        };
        assert_eq!([0, 9, 10, 19, 20, 99].map(cols_at), [80, 80, 101, 101, 102, 102]);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let window = Window::new(WindowSize::default());
        for cursor in 1..3000 {
            window.resized(change(cursor, 90));
        }
        let history = window.watch();
        let history = history.borrow();
        assert_eq!(history.changes.len(), CHANGES_MAX);
        let (number, oldest) = history.from(0).unwrap();
        assert_eq!((number as u64, number), (oldest.cursor, history.number_at(0)));
    }
}
