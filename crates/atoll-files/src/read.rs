//! Reading a file: which part, in which state, and its bytes.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::ask::{Condition, Range};
use crate::error::{At, Failure, Kind, Result};
use crate::facts::Facts;
use crate::tree::Tree;
use crate::write::unexpected;

/// What comes of the wish to read.
#[derive(Debug)]
pub enum Reading {
    /// These bytes.
    Open(Open),
    /// The asker has it already.
    Unchanged(Facts),
    /// Nothing of the range is there.
    OutOfRange(Facts),
}

/// A part of an open file.
#[derive(Debug)]
pub struct Open {
    /// The file's facts.
    pub facts: Facts,
    /// Where the part begins.
    pub offset: u64,
    /// Its length; unknown for a file that the kernel makes while it is read.
    pub length: Option<u64>,
    file: File,
    path: Vec<u8>,
}

/// Opens a part of a file for reading.
pub fn open(
    tree: &Tree,
    path: &[u8],
    range: Option<Range>,
    condition: &Condition,
    unless: &Condition,
) -> Result<Reading> {
    let (file, stat) = tree.read_file(path)?;
    let facts = Facts::new(&stat);
    if !condition.holds(Some(&facts)) {
        return Err(unexpected(condition, Some(&facts), path));
    }
    if !unless.holds(Some(&facts)) {
        return Ok(Reading::Unchanged(facts));
    }
    let path = path.to_vec();
    if facts.size == 0 && made_while_read(&file) {
        let offset = match range {
            Some(Range::From { start } | Range::Between { start, .. }) if start > 0 => {
                return Err(Failure::new(Kind::Invalid, &path, "has no length: it is read from its beginning"));
            }
            _ => 0,
        };
        return Ok(Reading::Open(Open { facts, offset, length: None, file, path }));
    }
    let (offset, length) = match range {
        None => (0, facts.size),
        Some(range) => match range.within(facts.size) {
            Some(part) => part,
            None => return Ok(Reading::OutOfRange(facts)),
        },
    };
    Ok(Reading::Open(Open { facts, offset, length: Some(length), file, path }))
}

/// A file without a length that has bytes all the same: those of `/proc` and its kin.
fn made_while_read(file: &File) -> bool {
    matches!(file.read_at(&mut [0; 1], 0), Ok(1))
}

impl Open {
    /// Gives the bytes to `take`, in order, and stops at its first error. A file that became shorter is a failure.
    pub fn each(&self, buffer: &mut [u8], take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.rest(0, buffer, take)
    }

    /// The same without the first `done` bytes.
    pub(crate) fn rest(&self, done: u64, buffer: &mut [u8], take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let (mut at, mut left) = (self.offset + done, self.length.map(|length| length - done));
        loop {
            let want = left.map_or(buffer.len(), |left| usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len()));
            if want == 0 {
                return Ok(());
            }
            let count = match self.file.read_at(&mut buffer[..want], at) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                read => read.at(&self.path)?,
            };
            if count == 0 {
                return left.map_or(Ok(()), |_| Err(self.shorter()));
            }
            take(&buffer[..count])?;
            at += count as u64;
            left = left.map(|left| left - count as u64);
        }
    }

    /// To be read by somebody else.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn shorter(&self) -> Failure {
        Failure::new(Kind::Io, &self.path, "became shorter while it was read")
    }
}
