//! Where directories are now: by their paths, and believed only if the kernel's number says so.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;

use super::{Change, Engine, Number};
use crate::error::{Failure, Kind, Result};

impl Engine<'_> {
    /// Of a directory that somebody has open, as we do, the kernel does not tell that it is deleted. But it is no longer
    /// read.
    pub(super) fn root_is_dead(&self) -> bool {
        let mut buffer = [MaybeUninit::uninit(); 1024];
        open_directory(self.root.as_fd(), b".")
            .is_some_and(|root| matches!(RawDir::new(root, &mut buffer).next(), Some(Err(Errno::NOENT))))
    }

    /// The descriptor of a watched directory, if its path still leads to it.
    pub(super) fn open_node(&self, number: Number) -> Option<OwnedFd> {
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

    pub(super) fn open_path(&self, number: Number) -> Option<OwnedFd> {
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

    pub(super) fn open_child(&self, above: Number, name: &[u8]) -> Option<OwnedFd> {
        open_directory(self.open_node(above)?.as_fd(), name)
    }

    pub(super) fn open_child_or_put_off(&mut self, above: Number, name: &[u8]) -> Option<(OwnedFd, OwnedFd)> {
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
    pub(super) fn is_there(&self, number: Number) -> bool {
        self.map.place(number).is_some_and(|(above, name)| self.leads_to(above, name, number))
    }

    pub(super) fn leads_to(&self, above: Number, name: &[u8], number: Number) -> bool {
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

    pub(super) fn number(&self, directory: &OwnedFd, path: &[u8]) -> Result<Option<Number>> {
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
}

pub(super) fn open_directory(from: BorrowedFd<'_>, name: &[u8]) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(from, name, flags, Mode::empty()).ok()
}

pub(super) fn is_directory(directory: &OwnedFd, name: &CStr, told: FileType) -> bool {
    if told != FileType::Unknown {
        return told == FileType::Directory;
    }
    rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}
