//! What a log says: chunks of output, gaps, pages and totals. Plain data, no behaviour of the log.

use std::time::SystemTime;

use atoll_protocol::Stream;
use bytes::Bytes;

/// A run of bytes that one stream produced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Position of the first byte in the combined log.
    pub cursor: u64,
    /// The stream that produced the bytes.
    pub stream: Stream,
    /// The bytes, exactly as produced.
    pub bytes: Bytes,
    /// When the first byte was read from the command.
    pub time: SystemTime,
}

impl Chunk {
    /// The cursor just after the last byte.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.cursor + self.bytes.len() as u64
    }

    /// The part at and after `cursor`, which must lie in this chunk or at its end.
    pub(super) fn starting_at(mut self, cursor: u64) -> Self {
        let skip = usize::try_from(cursor - self.cursor).map_or(self.bytes.len(), |skip| skip);
        self.bytes = self.bytes.slice(skip.min(self.bytes.len())..);
        self.cursor = cursor;
        self
    }
}

/// One thing a reader is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Output, at most 64 KiB of it.
    Output(Chunk),
    /// The bytes from `from` up to `to` are gone: dropped by the disk cap or lost to a disk error.
    Gap {
        /// First cursor that cannot be read.
        from: u64,
        /// First cursor after it that can.
        to: u64,
    },
}

impl Event {
    /// The cursor a reader has reached once it has taken this event.
    #[must_use]
    pub fn next_cursor(&self) -> u64 {
        match self {
            Self::Output(chunk) => chunk.end(),
            Self::Gap { to, .. } => *to,
        }
    }

    /// The output, if this is output.
    #[must_use]
    pub fn into_output(self) -> Option<Chunk> {
        match self {
            Self::Output(chunk) => Some(chunk),
            Self::Gap { .. } => None,
        }
    }
}

/// A range of a log, as read by [`Log::read`](super::Log::read).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPage {
    /// The events of the range, in order.
    pub events: Vec<Event>,
    /// Where the next page begins.
    pub next_cursor: u64,
    /// The log is closed and `next_cursor` is its end: there is no next page.
    pub closed: bool,
}

/// How long a log is known to have been when it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Length {
    /// The cursor after its last byte.
    pub(crate) end: u64,
    /// How many of these bytes were standard output.
    pub(crate) stdout: u64,
}

/// Bytes that went through a log since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Bytes of standard output, kept or not.
    pub stdout: u64,
    /// Bytes of standard error, kept or not.
    pub stderr: u64,
    /// Bytes of both that can no longer be read.
    pub dropped: u64,
}
