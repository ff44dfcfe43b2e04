//! Writing segment files.
//!
//! Owns the file being written and what happens when a write fails. Must not read the log or hold
//! the lock that readers take: a slow disk may stall the writer, never a reader.

use std::fs::File;
use std::io::{self, IoSlice, Seek, SeekFrom, Write};
use std::sync::Arc;

use super::event::Chunk;
use super::limits::Caps;
use super::record::{self, FILE_HEADER, FileHeader, RECORD_HEADER, RecordHeader};
use super::segment::Segment;
use super::store::{self, Store};

/// Chunks that go to disk together, contiguous and never empty.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) chunks: Vec<Chunk>,
    /// Bytes of standard output before the first of them.
    pub(super) stdout_before: u64,
}

impl Batch {
    fn start(&self) -> u64 {
        self.chunks.first().map_or(0, |chunk| chunk.cursor)
    }

    fn end(&self) -> u64 {
        self.chunks.last().map_or(0, Chunk::end)
    }

    /// Bytes this takes on disk, a new file header counted in case it needs one.
    pub(super) fn disk_len(&self) -> u64 {
        record::disk_len(&self.chunks) + FILE_HEADER as u64
    }
}

/// The file being written.
#[derive(Debug)]
struct Active {
    file: Arc<File>,
    end: u64,
    len: u64,
}

/// The writing end of the store.
#[derive(Debug)]
pub(super) struct Writer {
    store: Store,
    segment_cap: u64,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// No file was ever made.
    Fresh,
    /// The directory is ours, and the next batch begins a file.
    Ready,
    /// Batches go to this file.
    Writing(Active),
}

impl Writer {
    /// Does no I/O: a log that stays in memory never does any.
    pub(super) fn new(store: Store, caps: &Caps) -> Self {
        Self { store, segment_cap: caps.segment, stage: Stage::Fresh }
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Whether a directory or a file was ever made.
    pub(super) fn has_begun(&self) -> bool {
        !matches!(self.stage, Stage::Fresh)
    }

    /// Writes a batch, all of it or nothing. Returns the new segment if it began one.
    pub(super) fn write(&mut self, batch: &Batch) -> io::Result<Option<Segment>> {
        if let Stage::Writing(active) = &mut self.stage
            && active.fits(batch, self.segment_cap)
        {
            if let Err(error) = active.write(batch) {
                self.step_back();
                return Err(error);
            }
            return Ok(None);
        }
        self.begin(batch).map(Some)
    }

    /// Starts a new segment with `batch`. A segment without records is never left behind.
    fn begin(&mut self, batch: &Batch) -> io::Result<Segment> {
        if let Stage::Fresh = self.stage {
            self.store.prepare()?;
            self.stage = Stage::Ready;
        }
        let (file, name) = self.store.create(batch.start())?;
        let segment = Segment::new(Arc::new(file), name, batch.start());
        let mut active = Active { file: Arc::clone(&segment.file), end: segment.start, len: 0 };
        match active.write_header(batch).and_then(|()| active.write(batch)) {
            Ok(()) => {
                self.stage = Stage::Writing(active);
                Ok(segment)
            }
            Err(error) => {
                // What went wrong first is what has to be told.
                store::remove(segment).ok();
                Err(error)
            }
        }
    }

    /// Cuts off what a failed write left. If even that fails, the file is left as it is: readers
    /// stop at its committed length, and recovery at its torn record.
    fn step_back(&mut self) {
        if let Stage::Writing(active) = &mut self.stage
            && active.truncate().is_err()
        {
            self.stage = Stage::Ready;
        }
    }
}

impl Active {
    /// Contiguous with the file, and within its size.
    fn fits(&self, batch: &Batch, cap: u64) -> bool {
        self.end == batch.start() && self.len + record::disk_len(&batch.chunks) <= cap
    }

    fn write_header(&mut self, batch: &Batch) -> io::Result<()> {
        let header = FileHeader { start: batch.start(), stdout_before: batch.stdout_before };
        self.file.as_ref().write_all(&header.encode())?;
        self.len = FILE_HEADER as u64;
        Ok(())
    }

    fn write(&mut self, batch: &Batch) -> io::Result<()> {
        let headers: Vec<[u8; RECORD_HEADER]> = batch.chunks.iter().map(RecordHeader::encode).collect();
        let pairs = headers.iter().zip(&batch.chunks);
        let mut slices: Vec<IoSlice<'_>> =
            pairs.flat_map(|(header, chunk)| [IoSlice::new(header), IoSlice::new(&chunk.bytes)]).collect();
        write_all(&self.file, &mut slices)?;
        self.end = batch.end();
        self.len += record::disk_len(&batch.chunks);
        Ok(())
    }

    fn truncate(&self) -> io::Result<()> {
        self.file.set_len(self.len)?;
        self.file.as_ref().seek(SeekFrom::Start(self.len)).map(drop)
    }
}

fn write_all(mut file: &File, mut slices: &mut [IoSlice<'_>]) -> io::Result<()> {
    while !slices.is_empty() {
        match file.write_vectored(slices) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut slices, written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use atoll_protocol::Stream;
    use bytes::Bytes;

    use super::super::limits::Limits;
    use super::*;

    fn batch(cursor: u64) -> Batch {
        let chunk = Chunk {
            cursor,
            stream: Stream::Stdout,
            bytes: Bytes::from_static(b"0123456789"),
            time: SystemTime::UNIX_EPOCH,
        };
        Batch { chunks: vec![chunk], stdout_before: cursor }
    }

    #[test]
    fn a_file_that_takes_no_more_is_left_for_a_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::Dir(dir.path().to_owned());
        let mut writer = Writer::new(store, &Limits::default().into());
        let first = writer.write(&batch(0)).unwrap();
        assert!(first.is_some() && writer.write(&batch(10)).unwrap().is_none());

        let Stage::Writing(active) = &mut writer.stage else {
            panic!("no file");
        };
        let path = &store::segment_paths(dir.path()).unwrap()[0];
        active.file = Arc::new(File::open(path).unwrap());
        writer.write(&batch(20)).unwrap_err();
        assert_eq!(writer.write(&batch(20)).unwrap().unwrap().start, 20);
    }

    #[test]
    fn bytes_that_do_not_follow_begin_a_new_file() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::Dir(dir.path().to_owned());
        let mut writer = Writer::new(store, &Limits::default().into());
        writer.write(&batch(0)).unwrap();
        assert_eq!(writer.write(&batch(11)).unwrap().unwrap().start, 11);
    }
}
