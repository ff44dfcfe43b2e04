//! What follows from what the kernel tells.
//!
//! What it tells is old: by the time it is looked at, a directory may have another name, or another directory its name.
//! So a directory is known by the kernel's number of it alone. Before anything is believed of a name, it is opened and
//! watched, and the number says which directory it is. Where a path does not lead to the directory it should, the
//! kernel will tell why; until then its reader is put off (`unsettled`).

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::fs::inotify::ReadFlags;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;

use super::map::{Map, Number};
use super::queue::{Queue, Raw};
use super::{Change, Event, Watch};
use crate::error::{At, Failure, Kind, Result};
use crate::stop::Stop;
use crate::walk::{Choice, MAX_DEPTH};

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

    /// Finds out which directory has this name, watches it, and reads it if it is new.
    fn adopt(&mut self, above: Number, name: &[u8]) -> Result<()> {
        let path = self.map.path(above, name);
        if !self.takes(&path, true) {
            return Ok(());
        }
        let Some((parent, child)) = self.open_child_or_put_off(above, name) else { return Ok(()) };
        drop(parent);
        self.adopt_open(above, name, child)
    }

    fn adopt_open(&mut self, above: Number, name: &[u8], child: OwnedFd) -> Result<()> {
        let mut open = vec![(above, name.to_vec(), child)];
        while let Some((above, name, child)) = open.pop() {
            let path = self.map.path(above, &name);
            let Some(number) = self.number(&child, &path)? else { continue };
            if !self.watch.recursive {
                self.tell(Change::Created, path, true);
                self.queue.forget(number);
                continue;
            }
            match self.map.place(number).map(|(old, old_name)| (old, old_name.to_vec())) {
                Some(place) if place == (above, name.clone()) => {}
                // One directory in two places: it is mounted here as well. It is told of, and watched at the first.
                Some((old, old_name)) if self.leads_to(old, &old_name, number) => {
                    self.tell(Change::Created, path, true)
                }
                Some(_) if !self.map.is_within(above, number) => self.relocate(number, above, &name),
                Some(_) => {}
                None if number == self.root_number => {}
                None => {
                    self.make_room(above, &name, number);
                    self.check_limit(&path)?;
                    self.map.put(number, above, &name);
                    self.tell(Change::Created, path, true);
                    self.read(number, &child, &mut open)?;
                }
            }
        }
        Ok(())
    }

    /// Tells of all that is in a directory; the directories in it are left to be adopted.
    fn read(&mut self, number: Number, directory: &OwnedFd, open: &mut Vec<(Number, Vec<u8>, OwnedFd)>) -> Result<()> {
        let mut buffer = vec![MaybeUninit::uninit(); 32 << 10];
        let mut entries = RawDir::new(directory, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(Errno::NOENT) => return Ok(()),
                Err(errno) => return Err(errno).at(&self.map.path(number, b"")),
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if !is_directory(directory, name, entry.file_type()) {
                let path = self.map.path(number, name.to_bytes());
                if self.takes(&path, false) {
                    self.tell(Change::Created, path, false);
                }
                continue;
            }
            let path = self.map.path(number, name.to_bytes());
            if self.takes(&path, true)
                && self.map.depth(number) < MAX_DEPTH
                && let Some(child) = open_directory(directory.as_fd(), name.to_bytes())
            {
                open.push((number, name.to_bytes().to_vec(), child));
            }
        }
        Ok(())
    }

    /// A watched directory has another place now.
    fn relocate(&mut self, number: Number, above: Number, name: &[u8]) {
        let from = self.map.place(number).map(|(old, old_name)| self.map.path(old, old_name)).unwrap_or_default();
        self.make_room(above, name, number);
        if !self.map.holds(number) {
            return;
        }
        self.map.put(number, above, name);
        let path = self.map.path(above, name);
        self.tell(Change::Renamed { from }, path, true);
    }

    /// What has this place in the map, and is another directory, is not there any longer.
    fn make_room(&mut self, above: Number, name: &[u8], number: Number) {
        if let Some(other) = self.map.child(above, name)
            && other != number
        {
            self.drop_directory(other);
        }
    }

    fn drop_directory(&mut self, number: Number) {
        let path = self.map.place(number).map(|(above, name)| self.map.path(above, name)).unwrap_or_default();
        for gone in self.map.remove(number) {
            self.queue.forget(gone);
            self.unsettled.remove(&gone);
        }
        self.tell(Change::Removed, path, true);
    }

    /// The kernel has told less than happened: what is there is read from the beginning.
    fn start_again(&mut self) -> Result<()> {
        let before = self.map.numbers();
        self.map.clear();
        self.unsettled.clear();
        self.tell(Change::Overflow, Vec::new(), true);
        self.read_all()?;
        for number in before.into_iter().filter(|number| !self.map.holds(*number)) {
            self.queue.forget(number);
        }
        self.tell(Change::Settled, Vec::new(), true);
        Ok(())
    }

    fn read_all(&mut self) -> Result<()> {
        // A new description: the place up to which a directory was read belongs to it.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::openat(&self.root, ".", flags, Mode::empty()).at(b"")?;
        self.root_number = self.number(&root, b"")?.ok_or_else(|| Failure::new(Kind::NotFound, b"", "is gone"))?;
        self.map.put_root(self.root_number);
        let mut open = Vec::new();
        self.read(self.root_number, &root, &mut open)?;
        while let Some((above, name, child)) = open.pop() {
            self.adopt_open(above, &name, child)?;
        }
        Ok(())
    }

    /// Tries again to read directories that could not be read when something new was in them.
    fn retry(&mut self) -> Result<()> {
        for number in std::mem::take(&mut self.unsettled) {
            if !self.map.holds(number) {
                continue;
            }
            let Some(directory) = self.open_node(number) else {
                self.unsettled.insert(number);
                continue;
            };
            let mut open = Vec::new();
            self.read(number, &directory, &mut open)?;
            while let Some((above, name, child)) = open.pop() {
                self.adopt_open(above, &name, child)?;
            }
        }
        Ok(())
    }

    /// The kernel has nothing more to tell: whatever is still not where it should be was lost.
    fn settle(&mut self) -> Result<()> {
        if self.root_is_dead() {
            self.tell(Change::Gone, Vec::new(), true);
            self.over = true;
            return Ok(());
        }
        self.retry()?;
        if self.unsettled.is_empty() || self.queue.has_more() {
            return Ok(());
        }
        self.start_again()
    }

    /// Of a directory that somebody has open, as we do, the kernel does not tell that it is deleted. But it is no longer
    /// read.
    fn root_is_dead(&self) -> bool {
        let mut buffer = [MaybeUninit::uninit(); 1024];
        open_directory(self.root.as_fd(), b".")
            .is_some_and(|root| matches!(RawDir::new(root, &mut buffer).next(), Some(Err(Errno::NOENT))))
    }

    /// The descriptor of a watched directory, if its path still leads to it.
    fn open_node(&self, number: Number) -> Option<OwnedFd> {
        let directory = self.open_path(number)?;
        match self.queue.watch(directory.as_fd()) {
            Ok(found) if found == number => Some(directory),
            Ok(other) => {
                if !self.map.holds(other) {
                    self.queue.forget(other);
                }
                None
            }
            Err(_) => None,
        }
    }

    fn open_path(&self, number: Number) -> Option<OwnedFd> {
        let Some((above, name)) = self.map.place(number) else {
            return open_directory(self.root.as_fd(), b".");
        };
        let path = self.map.path(above, name);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        let opened = crate::tree::open(self.root.as_fd(), &path, flags, Mode::empty(), crate::tree::Reach::NoLinks);
        match opened {
            Ok(directory) => Some(directory),
            // A path longer than the kernel takes at once.
            Err(failure) if failure.kind == Kind::NameTooLong => {
                let mut at = open_directory(self.root.as_fd(), b".")?;
                for name in crate::path::components(&path) {
                    at = open_directory(at.as_fd(), name)?;
                }
                Some(at)
            }
            Err(_) => None,
        }
    }

    fn open_child(&self, above: Number, name: &[u8]) -> Option<OwnedFd> {
        open_directory(self.open_node(above)?.as_fd(), name)
    }

    fn open_child_or_put_off(&mut self, above: Number, name: &[u8]) -> Option<(OwnedFd, OwnedFd)> {
        let Some(parent) = self.open_node(above) else {
            self.unsettled.insert(above);
            return None;
        };
        // Gone already: its end is told later, and who reads expects both.
        let Some(child) = open_directory(parent.as_fd(), name) else {
            let path = self.map.path(above, name);
            self.tell(Change::Created, path, true);
            return None;
        };
        Some((parent, child))
    }

    /// Whether a watched directory is where the map has it.
    fn is_there(&self, number: Number) -> bool {
        self.map.place(number).is_some_and(|(above, name)| self.leads_to(above, name, number))
    }

    fn leads_to(&self, above: Number, name: &[u8], number: Number) -> bool {
        let Some(child) = self.open_child(above, name) else { return false };
        match self.queue.watch(child.as_fd()) {
            Ok(found) => {
                if found != number && !self.map.holds(found) {
                    self.queue.forget(found);
                }
                found == number
            }
            Err(_) => false,
        }
    }

    fn number(&self, directory: &OwnedFd, path: &[u8]) -> Result<Option<Number>> {
        match self.queue.watch(directory.as_fd()) {
            Ok(number) => Ok(Some(number)),
            Err(Errno::NOSPC) => {
                let why = "the user watches as many directories as the kernel allows (fs.inotify.max_user_watches)";
                Err(Failure::new(Kind::Limit, path, why))
            }
            Err(Errno::ACCESS | Errno::NOENT) => Ok(None),
            Err(errno) => Err(Failure::from_errno(errno, path)),
        }
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

fn open_directory(from: BorrowedFd<'_>, name: &[u8]) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(from, name, flags, Mode::empty()).ok()
}

fn is_directory(directory: &OwnedFd, name: &CStr, told: FileType) -> bool {
    if told != FileType::Unknown {
        return told == FileType::Directory;
    }
    rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}
