//! Bytes of files, out of the sandbox and into it, as they come.

use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};

use atoll_files::Facts;
use atoll_files::ask::Told;
use bytes::Bytes;
use tokio::net::UnixStream;

use super::call::{Call, Frame, Passed, lost};
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

/// Moves bytes off the connection that they come by: it is given that, and how many it may move, and tells how many it has.
pub type Pass<'a> = dyn FnMut(&mut Context<'_>, &UnixStream, usize) -> Poll<io::Result<usize>> + 'a;

/// Some of a file.
#[derive(Debug)]
pub enum Piece {
    /// These bytes.
    Bytes(Bytes),
    /// So many, which were moved to where they are wanted.
    Moved(usize),
}

impl Content {
    /// The next bytes, of which most are moved by `pass`, so that nobody copies them here; `None` at the end. Never more
    /// than was announced, and less is an error.
    pub fn poll_pass(&mut self, context: &mut Context<'_>, pass: &mut Pass<'_>) -> Poll<Result<Option<Piece>, Error>> {
        let (piece, length) = match ready!(self.call.poll_pass(context, pass))? {
            Passed::Moved(moved) => (Piece::Moved(moved), moved),
            Passed::Frame(Frame::Data(bytes)) => {
                let length = bytes.len();
                (Piece::Bytes(bytes), length)
            }
            Passed::Frame(last) => return Poll::Ready(self.ended(&last).map(|()| None)),
        };
        self.count(length)?;
        Poll::Ready(Ok(Some(piece)))
    }

    /// The next bytes; `None` at the end. Never more than was announced, and less is an error.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        match self.call.next().await? {
            Frame::Data(bytes) => {
                self.count(bytes.len())?;
                Ok(Some(bytes))
            }
            last @ (Frame::End | Frame::Told(_)) => self.ended(&last).map(|()| None),
        }
    }

    fn count(&mut self, bytes: usize) -> Result<(), Error> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(bytes as u64).ok_or_else(lost)?;
        }
        Ok(())
    }

    fn ended(&self, last: &Frame) -> Result<(), Error> {
        let is_whole = self.left.is_none_or(|left| left == 0);
        if matches!(last, Frame::End) && is_whole { Ok(()) } else { Err(lost()) }
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

    /// Adds bytes that are in a pipe: so many, and at most a mebibyte.
    pub async fn send_piped(&mut self, out: &OwnedFd, length: usize) -> Result<(), Error> {
        self.call.send_piped(out, length).await
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
