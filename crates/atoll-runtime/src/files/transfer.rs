//! Bytes of files, out of the sandbox and into it, as they come.

use atoll_files::Facts;
use atoll_files::ask::Told;
use bytes::Bytes;

use super::call::{Call, Frame, lost};
use crate::Error;

/// What came of the wish to read.
#[derive(Debug)]
pub enum Reading {
    /// It is open.
    Open(Content),
    /// The asker has it already.
    Unchanged(Facts),
    /// Nothing of the range is there.
    OutOfRange(Facts),
}

/// A part of a file.
#[derive(Debug)]
pub struct Content {
    /// The file's facts when it was opened.
    pub facts: Facts,
    /// Where the part begins.
    pub offset: u64,
    /// How long it is, if that is known before.
    pub length: Option<u64>,
    left: Option<u64>,
    call: Call,
}

impl Reading {
    pub(super) async fn begin(mut call: Call) -> Result<Self, Error> {
        let Frame::Told(told) = call.next().await? else { return Err(lost()) };
        if let Told::Opened { facts, offset, length } = told {
            return Ok(Self::Open(Content { facts, offset, length, left: length, call }));
        }
        if let Told::Unchanged { facts } = told {
            return Ok(Self::Unchanged(facts));
        }
        let Told::OutOfRange { facts } = told else { return Err(lost()) };
        Ok(Self::OutOfRange(facts))
    }
}

impl Content {
    /// The next bytes; `None` at the end. Never more than was announced, and less is an error.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        match self.call.next().await? {
            Frame::Data(bytes) => {
                if let Some(left) = &mut self.left {
                    *left = left.checked_sub(bytes.len() as u64).ok_or_else(lost)?;
                }
                Ok(Some(bytes))
            }
            Frame::End if self.left.is_none_or(|left| left == 0) => Ok(None),
            Frame::End | Frame::Told(_) => Err(lost()),
        }
    }
}

/// How a write went.
#[derive(Debug, Clone)]
pub struct Written {
    /// The file as it is now.
    pub facts: Facts,
    /// It was not there before.
    pub created: bool,
    /// It was replaced in one step.
    pub atomic: bool,
}

/// A file on its way in. Dropped before it is finished, nothing has happened.
#[derive(Debug)]
pub struct Upload {
    call: Call,
}

impl Upload {
    pub(super) fn new(call: Call) -> Self {
        Self { call }
    }

    /// Adds bytes.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.call.send(bytes).await
    }

    /// Waits for the refusal of what was begun; ready only if there is one. Nothing is lost if the wait is given up.
    pub async fn refused(&mut self) -> Error {
        match self.call.next().await {
            Err(error) => error,
            Ok(_) => lost(),
        }
    }

    /// Puts it in its place.
    pub async fn finish(mut self) -> Result<Written, Error> {
        self.call.finish().await?;
        written(self.call).await
    }
}

/// What came of it.
pub(super) async fn written(call: Call) -> Result<Written, Error> {
    let Told::Written { facts, created, atomic } = call.told().await? else { return Err(lost()) };
    Ok(Written { facts, created, atomic })
}
