//! Events with numbers, for readers that come back. Bounded: the oldest go first, and who asks for them is told.

use std::collections::VecDeque;

use super::Event;

/// The newest events of a watch.
#[derive(Debug)]
pub struct Log {
    events: VecDeque<Event>,
    /// The cursor of the first that is kept.
    first: u64,
    bytes: usize,
    most_events: usize,
    most_bytes: usize,
}

/// What was asked for is no longer kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooOld {
    /// The oldest cursor from which reading is possible.
    pub oldest: u64,
}

impl Log {
    /// Keeps at most so many events, and so many bytes of paths.
    #[must_use]
    pub fn new(most_events: usize, most_bytes: usize) -> Self {
        Self { events: VecDeque::new(), first: 0, bytes: 0, most_events, most_bytes }
    }

    /// Adds an event and gives its cursor.
    pub fn push(&mut self, event: Event) -> u64 {
        self.bytes += cost(&event);
        self.events.push_back(event);
        while self.events.len() > self.most_events || self.bytes > self.most_bytes {
            let Some(oldest) = self.events.pop_front() else { break };
            self.bytes -= cost(&oldest);
            self.first += 1;
        }
        self.next() - 1
    }

    /// The cursor of the next event.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.first + u64::try_from(self.events.len()).unwrap_or(u64::MAX)
    }

    /// Events from a cursor on, with theirs, at most so many. A cursor behind the end has none yet.
    pub fn since(&self, cursor: u64, limit: usize) -> Result<impl Iterator<Item = (u64, &Event)>, TooOld> {
        let skipped = cursor.checked_sub(self.first).ok_or(TooOld { oldest: self.first })?;
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX).min(self.events.len());
        let numbered = self.events.range(skipped..).take(limit);
        Ok((cursor..).zip(numbered))
    }
}

fn cost(event: &Event) -> usize {
    let from = match &event.change {
        super::Change::Renamed { from } => from.len(),
        super::Change::Created
        | super::Change::Modified
        | super::Change::Attributes
        | super::Change::Removed
        | super::Change::Overflow
        | super::Change::Settled
        | super::Change::Gone => 0,
    };
    size_of::<Event>() + event.path.len() + from
}

#[cfg(test)]
mod tests {
    use super::super::Change;
    use super::*;

    fn event(name: &str) -> Event {
        Event { change: Change::Created, path: name.into(), directory: false }
    }

    #[test]
    fn a_reader_goes_on_where_it_was_or_is_told_that_it_cannot() {
        let mut log = Log::new(3, 1 << 20);
        for name in ["a", "b", "c", "d"] {
            log.push(event(name));
        }
        assert_eq!(log.next(), 4);
        let names = |cursor: u64, limit: usize| -> Result<Vec<(u64, String)>, TooOld> {
            let told = log.since(cursor, limit)?;
            Ok(told.map(|(at, event)| (at, String::from_utf8_lossy(&event.path).into_owned())).collect())
        };
        assert_eq!(names(1, 2).unwrap(), [(1, "b".to_string()), (2, "c".to_string())]);
        assert_eq!(names(4, 9).unwrap(), []);
        assert_eq!(names(9, 9).unwrap(), []);
        assert_eq!(names(0, 9), Err(TooOld { oldest: 1 }));
    }

    #[test]
    fn long_paths_are_bounded_too() {
        let mut log = Log::new(1000, 10_000);
        for _ in 0..100 {
            log.push(event(&"x".repeat(1000)));
        }
        assert!(log.since(0, 1).is_err() && log.since(95, 9).unwrap().count() == 5);
    }
}
