//! One segment file as readers see it: where it lies in the log, and how to read from it.
//!
//! Owns the sparse index and the reading of records. Must not write, and must not look past the
//! length that was committed: beyond it the writer may be in the middle of a record.
//!
//! A segment is contiguous. Bytes that were lost lie between segments, never inside one.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::{Buf, Bytes};

use super::event::Chunk;
use super::record::{FILE_HEADER, RECORD_HEADER, RecordHeader};

/// File bytes between two index entries: what a reader at any cursor scans at most.
const INDEX_STEP: u64 = 1 << 20;

/// File bytes read in one go. Several records, so that a replay is not one task per record.
const READ_BYTES: u64 = 256 * 1024;

/// Whether the file can be found by others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    /// It has this name, and must be removed to be gone.
    Kept(PathBuf),
    /// It has none any more, and is gone when the last descriptor is.
    Unlinked,
}

/// Whether the segment may be dropped to make room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zone {
    /// It holds the beginning of the log and stays.
    Head,
    /// It goes once it is the oldest of these.
    Tail,
}

/// A place where a record begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) cursor: u64,
    pub(super) offset: u64,
}

impl Mark {
    /// The first record of a segment that begins at `start`.
    pub(super) fn first(start: u64) -> Self {
        Self { cursor: start, offset: FILE_HEADER as u64 }
    }

    fn after(self, header: &RecordHeader) -> Self {
        Self { cursor: header.end(), offset: self.offset + header.disk_len() }
    }
}

/// The committed part of one segment file.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) file: Arc<File>,
    pub(super) name: Name,
    pub(super) zone: Zone,
    pub(super) start: u64,
    /// Where the next record will begin: the end of what is committed.
    pub(super) tip: Mark,
    /// File bytes known to have reached the device.
    pub(super) synced: u64,
    index: Vec<Mark>,
}

impl Segment {
    /// A segment that has its file header and no record yet.
    pub(super) fn new(file: Arc<File>, name: Name, start: u64) -> Self {
        let first = Mark::first(start);
        Self { file, name, zone: Zone::Tail, start, tip: first, synced: 0, index: vec![first] }
    }

    /// Commits one record that is in the file.
    pub(super) fn extend(&mut self, end: u64, disk_len: u64) {
        let last = self.index.last().map_or(0, |mark| mark.offset);
        if self.tip.offset - last >= INDEX_STEP {
            self.index.push(self.tip);
        }
        self.tip.cursor = end;
        self.tip.offset += disk_len;
    }

    /// A job that reads what is at `cursor`, starting from `hint` if that is nearer.
    pub(super) fn fetch(&self, cursor: u64, hint: Option<Mark>) -> Fetch {
        let after = self.index.partition_point(|mark| mark.cursor <= cursor);
        let indexed = self.index[after.saturating_sub(1)];
        let fits = |mark: &Mark| mark.cursor <= cursor && mark.cursor >= self.start;
        let near = hint.filter(fits).filter(|mark| mark.offset > indexed.offset);
        Fetch {
            file: Arc::clone(&self.file),
            segment: self.start,
            from: near.unwrap_or(indexed),
            tip: self.tip,
            cursor,
        }
    }
}

/// A read of committed records that needs no lock: it holds all it has to know.
#[derive(Debug)]
pub(super) struct Fetch {
    file: Arc<File>,
    /// The segment, named by its start.
    pub(super) segment: u64,
    from: Mark,
    pub(super) tip: Mark,
    pub(super) cursor: u64,
}

/// What a [`Fetch`] found.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) chunks: Vec<Chunk>,
    /// Where the record after them begins.
    pub(super) next: Mark,
}

impl Fetch {
    /// Reads on from the cursor: at least one chunk, at most [`READ_BYTES`]. Blocks on the disk.
    pub(super) fn run(&self) -> io::Result<Fetched> {
        let mut mark = self.from;
        loop {
            let block = self.block_at(mark.offset)?;
            let fetched = self.parse(block, mark)?;
            if !fetched.chunks.is_empty() {
                return Ok(fetched);
            }
            mark = fetched.next;
        }
    }

    fn block_at(&self, offset: u64) -> io::Result<Bytes> {
        let len = self.tip.offset.saturating_sub(offset).min(READ_BYTES);
        let mut block = vec![0; usize::try_from(len).map_err(io::Error::other)?];
        self.file.read_exact_at(&mut block, offset)?;
        Ok(Bytes::from(block))
    }

    fn parse(&self, mut block: Bytes, from: Mark) -> io::Result<Fetched> {
        let mut next = from;
        let mut chunks = Vec::new();
        while let Some(header) = self.header_at(&block, next)? {
            if block.len() < RECORD_HEADER + header.len {
                break;
            }
            block.advance(RECORD_HEADER);
            let chunk = chunk_of(&header, block.split_to(header.len));
            next = next.after(&header);
            if chunk.end() > self.cursor {
                let cursor = chunk.cursor.max(self.cursor);
                chunks.push(chunk.starting_at(cursor));
            }
        }
        if next == from {
            return Err(self.damaged(from));
        }
        Ok(Fetched { chunks, next })
    }

    fn header_at(&self, block: &Bytes, at: Mark) -> io::Result<Option<RecordHeader>> {
        let Some(bytes) = block.first_chunk::<RECORD_HEADER>() else {
            return Ok(None);
        };
        match RecordHeader::decode(bytes) {
            Some(header) if header.cursor == at.cursor => Ok(Some(header)),
            _ => Err(self.damaged(at)),
        }
    }

    fn damaged(&self, at: Mark) -> io::Error {
        let (segment, offset) = (self.segment, at.offset);
        let message = format!("segment {segment} has no record at offset {offset}");
        io::Error::new(io::ErrorKind::InvalidData, message)
    }
}

fn chunk_of(header: &RecordHeader, bytes: Bytes) -> Chunk {
    Chunk { cursor: header.cursor, stream: header.stream, bytes, time: header.time }
}
