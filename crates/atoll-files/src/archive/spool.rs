//! Bytes that must be kept for a while: in memory while they are few, then in a file without a name.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::BorrowedFd;

use rustix::fs::{CWD, Mode, OFlags};

/// How much is kept in memory.
const IN_MEMORY: usize = 1 << 20;

/// The bytes.
#[derive(Debug)]
pub(super) enum Spool {
    Memory(Vec<u8>),
    File(File),
}

impl Spool {
    pub(super) fn new() -> Self {
        Self::Memory(Vec::new())
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Memory(held) if held.len() + bytes.len() <= IN_MEMORY => held.extend_from_slice(bytes),
            Self::Memory(held) => {
                let mut file = nameless(CWD, "/tmp")?;
                file.write_all(held)?;
                file.write_all(bytes)?;
                *self = Self::File(file);
            }
            Self::File(file) => file.write_all(bytes)?,
        }
        Ok(())
    }

    /// Pours all of it out.
    pub(super) fn pour(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Memory(held) => out.write_all(held),
            Self::File(file) => {
                file.seek(SeekFrom::Start(0))?;
                io::copy(file, out).map(drop)
            }
        }
    }
}

/// A file without a name, in this directory if it can be had, else among those that are for a while.
pub(super) fn file(near: BorrowedFd<'_>) -> io::Result<File> {
    nameless(near, ".").or_else(|_| nameless(CWD, "/tmp")).or_else(|_| nameless(CWD, "/var/tmp"))
}

fn nameless(directory: BorrowedFd<'_>, path: &str) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(directory, path, flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// Reads as much as there is, up to the length of the buffer.
pub(super) fn fill(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
