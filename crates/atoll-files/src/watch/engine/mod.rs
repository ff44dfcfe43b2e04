//! What follows from what the kernel tells.
//!
//! What it tells is old: by the time it is looked at, a directory may have another name, or another directory its name.
//! So a directory is known by the kernel's number of it alone. Before anything is believed of a name, it is opened and
//! watched, and the number says which directory it is. Where a path does not lead to the directory it should, the
//! kernel will tell why; until then its reader is put off (`unsettled`).

mod find;
mod known;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::fs::inotify::ReadFlags;
use rustix::fs::{AtFlags, FileType};

use super::map::{Map, Number};
use super::queue::{Queue, Raw};
use super::{Change, Event, Watch};
use crate::error::{Failure, Kind, Result};
use crate::stop::Stop;
use crate::walk::Choice;

/// How long to wait for the kernel before looking whether somebody wants us to stop.
const LOOK_UP: Duration = Duration::from_millis(250);
/// How many events are handed over at once.
const PORTION: usize = 4096;

pub(super) struct Engine<'a> {
    watch: &'a Watch,
    choice: &'a Choice,
    root: OwnedFd,
    root_number: Number,
    queue: Queue,
    map: Map,
    /// Directories that could not be read when something new was in them.
    unsettled: BTreeSet<Number>,
    events: Vec<Event>,
    /// Whether what is found is told.
    silent: bool,
    over: bool,
}

impl<'a> Engine<'a> {
    pub(super) fn new(watch: &'a Watch, choice: &'a Choice, root: OwnedFd) -> Result<Self> {
        Ok(Self {
            watch,
            choice,
            root,
            root_number: 0,
            queue: Queue::new()?,
            map: Map::default(),
            unsettled: BTreeSet::new(),
            events: Vec::new(),
            silent: !watch.existing,
            over: false,
        })
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    pub(super) fn begin(&mut self) -> Result<()> {
        self.read_all()?;
        self.silent = false;
        self.tell(Change::Settled, Vec::new(), true);
        Ok(())
    }

    pub(super) fn hand_over(&mut self, deliver: &mut dyn FnMut(Vec<Event>) -> ControlFlow<()>) -> ControlFlow<()> {
        if self.events.is_empty() { ControlFlow::Continue(()) } else { deliver(std::mem::take(&mut self.events)) }
    }

    pub(super) fn wait(&self, hang_up: Option<BorrowedFd<'_>>) -> Result<bool> {
        self.queue.wait(hang_up, LOOK_UP)
    }

    /// Looks at what the kernel has told, up to a portion.
    pub(super) fn work(&mut self, stop: &Stop) -> Result<()> {
        while self.events.len() < PORTION && !self.over && stop.why().is_none() {
            match self.queue.next()? {
                Some(raw) => self.take(&raw)?,
                None => return self.settle(),
            }
        }
        Ok(())
    }

    fn take(&mut self, raw: &Raw) -> Result<()> {
        let flags = raw.flags;
        if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            return self.start_again();
        }
        if !self.map.holds(raw.number) {
            return Ok(());
        }
        if flags.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::UNMOUNT) {
            if raw.number == self.root_number {
                self.tell(Change::Gone, Vec::new(), true);
                self.over = true;
            }
            return Ok(());
        }
        if flags.contains(ReadFlags::IGNORED) {
            // Deleted, which its parent tells, or unmounted.
            return Ok(());
        }
        if flags.contains(ReadFlags::MOVED_FROM) {
            return match self.queue.other_half(raw.cookie)? {
                Some(to) if self.map.holds(to.number) => self.renamed(raw, &to),
                _ => self.vanished(raw),
            };
        }
        if flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
            return self.appeared(raw);
        }
        if flags.contains(ReadFlags::DELETE) {
            return self.vanished(raw);
        }
        // Of a directory itself its parent tells.
        if !raw.name.is_empty() && flags.intersects(ReadFlags::MODIFY | ReadFlags::CLOSE_WRITE) {
            self.tell_of(Change::Modified, raw);
        } else if !raw.name.is_empty() && flags.contains(ReadFlags::ATTRIB) {
            self.tell_of(Change::Attributes, raw);
        }
        Ok(())
    }

    fn appeared(&mut self, raw: &Raw) -> Result<()> {
        if !raw.is_directory() {
            self.tell_of(Change::Created, raw);
            return Ok(());
        }
        self.adopt(raw.number, &raw.name)
    }

    fn vanished(&mut self, raw: &Raw) -> Result<()> {
        if !raw.is_directory() {
            self.tell_of(Change::Removed, raw);
            return Ok(());
        }
        match self.map.child(raw.number, &raw.name) {
            // Another directory has its name by now, and is known already.
            Some(child) if self.is_there(child) => {}
            Some(child) => self.drop_directory(child),
            None => self.tell_of(Change::Removed, raw),
        }
        Ok(())
    }

    fn renamed(&mut self, from: &Raw, to: &Raw) -> Result<()> {
        if !from.is_directory() {
            return self.file_renamed(from, to);
        }
        let moved = self.map.child(from.number, &from.name);
        let target = self.map.path(to.number, &to.name);
        let opened = self.open_child(to.number, &to.name);
        match (moved, opened) {
            // Moved on already, or the way there has: believe it, the kernel will tell what came next.
            (Some(moved), None) if !self.is_there(moved) && self.takes(&target, true) => {
                if !self.map.is_within(to.number, moved) {
                    self.relocate(moved, to.number, &to.name);
                }
                self.unsettled.insert(to.number);
            }
            _ => {
                self.adopt(to.number, &to.name)?;
                if let Some(left) = self.map.child(from.number, &from.name)
                    && !self.is_there(left)
                {
                    self.drop_directory(left);
                } else if moved.is_none() {
                    self.tell_of(Change::Removed, from);
                }
                self.exchanged(from)?;
            }
        }
        self.retry()
    }

    /// Two names that were exchanged: the first is still there, as something else.
    fn exchanged(&mut self, from: &Raw) -> Result<()> {
        let Some(directory) = self.open_node(from.number) else { return Ok(()) };
        match rustix::fs::statat(&directory, &from.name[..], AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
                self.adopt(from.number, &from.name)
            }
            Ok(_) => {
                let path = self.map.path(from.number, &from.name);
                self.tell(Change::Created, path, false);
                Ok(())
            }
            Err(_) => Ok(()),
        }
    }

    fn file_renamed(&mut self, from: &Raw, to: &Raw) -> Result<()> {
        let old = self.map.path(from.number, &from.name);
        let new = self.map.path(to.number, &to.name);
        let taken = self.map.child(from.number, &from.name).is_some_and(|child| self.is_there(child));
        match (self.takes(&old, false) && !taken, self.takes(&new, false)) {
            (true, true) => self.tell(Change::Renamed { from: old }, new, false),
            (true, false) => self.tell(Change::Removed, old, false),
            (false, true) => self.tell(Change::Created, new, false),
            (false, false) => {}
        }
        Ok(())
    }

    fn check_limit(&self, path: &[u8]) -> Result<()> {
        if u64::try_from(self.map.len()).unwrap_or(u64::MAX) >= self.watch.directories {
            let why = format!("there are more than {} directories to watch; exclude some", self.watch.directories);
            return Err(Failure::new(Kind::Limit, path, why));
        }
        Ok(())
    }

    fn takes(&self, path: &[u8], directory: bool) -> bool {
        self.choice.takes_by_globs(path, directory)
    }

    fn tell_of(&mut self, change: Change, raw: &Raw) {
        let path = self.map.path(raw.number, &raw.name);
        if self.takes(&path, raw.is_directory()) {
            self.tell(change, path, raw.is_directory());
        }
    }

    fn tell(&mut self, change: Change, path: Vec<u8>, directory: bool) {
        let event = Event { change, path, directory };
        // Many writes are one change for whoever reads them together.
        let repeated = event.change == Change::Modified && self.events.last() == Some(&event);
        if !self.silent && !repeated {
            self.events.push(event);
        }
    }
}
