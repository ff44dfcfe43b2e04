//! Which directories are watched, and what is in them: adopted when they appear, told and forgotten when they go, and read
//! from the beginning when the kernel has told less than happened.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, RawDir};
use rustix::io::Errno;

use super::find::{is_directory, open_directory};
use super::{Change, Engine, Number};
use crate::error::{At, Failure, Kind, Result};
use crate::walk::MAX_DEPTH;

impl Engine<'_> {
    /// Finds out which directory has this name, watches it, and reads it if it is new.
    pub(super) fn adopt(&mut self, above: Number, name: &[u8]) -> Result<()> {
        let path = self.map.path(above, name);
        if !self.takes(&path, true) {
            return Ok(());
        }
        let Some((parent, child)) = self.open_child_or_put_off(above, name) else { return Ok(()) };
        drop(parent);
        self.adopt_open(above, name, child)
    }

    pub(super) fn adopt_open(&mut self, above: Number, name: &[u8], child: OwnedFd) -> Result<()> {
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
    pub(super) fn read(
        &mut self,
        number: Number,
        directory: &OwnedFd,
        open: &mut Vec<(Number, Vec<u8>, OwnedFd)>,
    ) -> Result<()> {
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
    pub(super) fn relocate(&mut self, number: Number, above: Number, name: &[u8]) {
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
    pub(super) fn make_room(&mut self, above: Number, name: &[u8], number: Number) {
        if let Some(other) = self.map.child(above, name)
            && other != number
        {
            self.drop_directory(other);
        }
    }

    pub(super) fn drop_directory(&mut self, number: Number) {
        let path = self.map.place(number).map(|(above, name)| self.map.path(above, name)).unwrap_or_default();
        for gone in self.map.remove(number) {
            self.queue.forget(gone);
            self.unsettled.remove(&gone);
        }
        self.tell(Change::Removed, path, true);
    }

    /// The kernel has told less than happened: what is there is read from the beginning.
    pub(super) fn start_again(&mut self) -> Result<()> {
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

    pub(super) fn read_all(&mut self) -> Result<()> {
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
    pub(super) fn retry(&mut self) -> Result<()> {
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
    pub(super) fn settle(&mut self) -> Result<()> {
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
}
