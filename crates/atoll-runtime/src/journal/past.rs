//! What follows from a journal's entries: everything that is remembered. Pure; must not know files.
//!
//! Any prefix of the entries gives a past that was true at some moment.

use std::collections::BTreeMap;

use atoll_protocol::{EndRecord, Resized, Timestamp};

use super::entry::{Began, EndedEntry, Entry, Made, Number};

/// Changes of size that are remembered of a terminal, as its window does.
const RESIZES_MAX: usize = 1024;

/// Everything that is remembered, by number, which is the order in which it began.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Past {
    items: BTreeMap<Number, Item>,
}

/// One thing that is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    Command(Box<CommandItem>),
    Session(Box<SessionItem>),
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandItem {
    pub(crate) began: Began,
    /// How often it was started again, and when last.
    pub(crate) restarted: Option<(u32, Timestamp)>,
    pub(crate) resizes: Vec<Resized>,
    pub(crate) ended: Option<EndedEntry>,
    /// When its sandbox was stopped, if it had not ended by then.
    pub(crate) stopped: Option<Timestamp>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionItem {
    pub(crate) made: Made,
    pub(crate) end: Option<EndRecord>,
    pub(crate) stopped: Option<Timestamp>,
}

impl Past {
    /// Everything that is remembered, oldest first.
    pub(crate) fn items(&self) -> impl Iterator<Item = (Number, &Item)> {
        self.items.iter().map(|(number, item)| (*number, item))
    }

    /// Whether something of this number is remembered.
    pub(crate) fn knows(&self, number: Number) -> bool {
        self.items.contains_key(&number)
    }

    /// A number that nothing has.
    pub(crate) fn next_number(&self) -> Number {
        self.items.keys().next_back().map_or(1, |last| last + 1)
    }

    /// One more thing has happened. What it means for something unknown is nothing.
    pub(crate) fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Began { number, began } => {
                let item = CommandItem { began, restarted: None, resizes: Vec::new(), ended: None, stopped: None };
                self.items.insert(number, Item::Command(Box::new(item)));
            }
            Entry::Session { number, made } => {
                let item = SessionItem { made, end: None, stopped: None };
                self.items.insert(number, Item::Session(Box::new(item)));
            }
            Entry::Forgotten { number } => drop(self.items.remove(&number)),
            Entry::Stopped { at } => self.items.values_mut().for_each(|item| item.stop(at)),
            Entry::Restarted { number, restarts, at } => {
                self.command(number, |item| item.restarted = Some((restarts, at)));
            }
            Entry::Resized { number, change } => self.command(number, |item| item.resize(change)),
            Entry::Ended { number, ended } => self.command(number, |item| item.ended = Some(ended)),
            Entry::Died { number, end } => self.session(number, |item| item.end = Some(end)),
            Entry::Revived { number } => self.session(number, |item| (item.end, item.stopped) = (None, None)),
        }
    }

    fn command(&mut self, number: Number, change: impl FnOnce(&mut CommandItem)) {
        if let Some(Item::Command(item)) = self.items.get_mut(&number) {
            change(item);
        }
    }

    fn session(&mut self, number: Number, change: impl FnOnce(&mut SessionItem)) {
        if let Some(Item::Session(item)) = self.items.get_mut(&number) {
            change(item);
        }
    }

    /// The shortest entries from which the same follows, of a past in which everything has ended.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.items.iter().flat_map(|(number, item)| item.entries(*number)).collect()
    }
}

impl Item {
    fn stop(&mut self, at: Timestamp) {
        match self {
            Self::Command(item) if item.ended.is_none() => item.stopped = Some(at),
            Self::Session(item) if item.end.is_none() => item.stopped = Some(at),
            Self::Command(_) | Self::Session(_) => {}
        }
    }

    fn entries(&self, number: Number) -> Vec<Entry> {
        match self {
            Self::Command(item) => item.entries(number),
            Self::Session(item) => {
                let died = item.end.clone().map(|end| Entry::Died { number, end });
                std::iter::once(Entry::Session { number, made: item.made.clone() }).chain(died).collect()
            }
        }
    }
}

impl CommandItem {
    fn resize(&mut self, change: Resized) {
        if self.resizes.len() == RESIZES_MAX {
            self.resizes.remove(0);
        }
        self.resizes.push(change);
    }

    /// When it was last started.
    pub(crate) fn started_at(&self) -> Timestamp {
        self.restarted.map_or(self.began.at, |(_, at)| at)
    }

    fn entries(&self, number: Number) -> Vec<Entry> {
        let mut entries = vec![Entry::Began { number, began: self.began.clone() }];
        entries.extend(self.restarted.map(|(restarts, at)| Entry::Restarted { number, restarts, at }));
        entries.extend(self.resizes.iter().cloned().map(|change| Entry::Resized { number, change }));
        entries.extend(self.ended.clone().map(|ended| Entry::Ended { number, ended }));
        entries
    }
}
