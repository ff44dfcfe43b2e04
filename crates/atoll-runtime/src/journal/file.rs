//! The journal's file: written at its end, replaced as a whole. Must not know what its frames mean.
//!
//! Frames are written at their place, not appended: a write that failed half-way is written over by the next one, and
//! what it left at the end is told from a frame by its check.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use super::frame;

/// Commands may hold what is nobody else's business.
const MODE: u32 = 0o600;

/// Room that is taken ahead of need, so that a command that could be begun can also be ended on a full disk.
const AHEAD: u64 = 64 * 1024;

/// The file.
#[derive(Debug)]
pub(super) struct JournalFile {
    file: Arc<File>,
    len: u64,
    /// Up to here the disk has promised room.
    reserved: u64,
}

impl JournalFile {
    /// The file of which `len` bytes are good, to be written on.
    pub(super) fn open(path: &Path, len: u64) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(len)?;
        Ok(Self { file: Arc::new(file), len, reserved: len })
    }

    /// The first one of a storage. Nothing has been promised yet: it is on the device with the first thing that is.
    pub(super) fn first(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(path)?;
        let header = frame::header();
        if let Err(error) = file.write_all_at(&header, 0) {
            std::fs::remove_file(path).ok();
            return Err(error);
        }
        let len = header.len() as u64;
        Ok(Self { file: Arc::new(file), len, reserved: len })
    }

    /// A new one with these frames in the place of the old one: either all of it or nothing.
    pub(super) fn replace(path: &Path, frames: &[u8]) -> io::Result<Self> {
        let beside = path.with_extension("new");
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(MODE).open(&beside)?;
        let whole = [&frame::header(), frames].concat();
        let written = file.write_all_at(&whole, 0).and_then(|()| file.sync_data());
        if let Err(error) = written.and_then(|()| std::fs::rename(&beside, path)) {
            // What went wrong first is what has to be told.
            std::fs::remove_file(&beside).ok();
            return Err(error);
        }
        sync_parent(path)?;
        let len = whole.len() as u64;
        Ok(Self { file: Arc::new(file), len, reserved: len })
    }

    /// Where the next frame goes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// To be synced while others write.
    pub(super) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Writes a frame, all of it or nothing. It has then left this process, and outlives it.
    pub(super) fn write(&mut self, frame: &[u8]) -> io::Result<()> {
        if let Err(error) = self.file.write_all_at(frame, self.len) {
            // Gives the room back. If that fails, the next frame is written over it all the same.
            self.file.set_len(self.len).ok();
            self.reserved = self.len;
            return Err(error);
        }
        self.len += frame.len() as u64;
        Ok(())
    }

    /// Makes sure that so many bytes can still be written, on a disk that may fill up.
    pub(super) fn reserve(&mut self, bytes: u64) -> io::Result<()> {
        let wanted = self.len + bytes;
        if self.reserved >= wanted {
            return Ok(());
        }
        match rustix::fs::fallocate(&*self.file, FallocateFlags::KEEP_SIZE, self.len, bytes + AHEAD) {
            Ok(()) => self.reserved = wanted + AHEAD,
            // Not every filesystem can promise room; then a full disk is met when it is written to.
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => self.reserved = u64::MAX,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

/// A name is on the device only when its directory is.
fn sync_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |parent| File::open(parent)?.sync_all())
}
