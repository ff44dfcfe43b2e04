//! Reading a log back from its directory.
//!
//! Owns the judgement of what in a file is whole. Must not invent: what cannot be read is left
//! out, and so becomes a gap if anything follows it, or was never there if nothing does.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use atoll_protocol::Stream;

use super::catalog::Catalog;
use super::event::Length;
use super::limits::Caps;
use super::record::{BadHeader, FILE_HEADER, FileHeader, RECORD_HEADER, RecordHeader};
use super::segment::{Name, Segment};
use super::state::State;
use super::store;

/// Headers are what is read here: a small buffer skips the data between them.
const SCAN_BUFFER: usize = 8 * 1024;

/// A segment as found, and the bytes of standard output up to its end.
#[derive(Debug)]
struct Scanned {
    segment: Segment,
    stdout: u64,
}

/// Rebuilds the state of the log in `dir`, as ended.
pub(super) fn recover(dir: &Path, caps: Caps, length: Length) -> io::Result<State> {
    let mut catalog = Catalog::new(caps);
    let (mut end, mut stdout) = (0, 0);
    let mut fault = None;
    for path in store::segment_paths(dir)? {
        match scan(&path).map_err(|error| named(&path, &error))? {
            Some(found) if found.segment.start >= end => {
                (end, stdout) = (found.segment.tip.cursor, found.stdout);
                catalog.push(found.segment);
            }
            _ => fault = Some(format!("{} is not a readable segment", path.display())),
        }
    }
    if length.end > end {
        (end, stdout) = (length.end, length.stdout);
    }
    let mut state = State::ended(caps, catalog, end, stdout);
    if let Some(message) = fault {
        state.note_fault(message);
    }
    Ok(state)
}

/// `None` if the file holds no whole record: it was being begun when its writer died.
fn scan(path: &Path) -> io::Result<Option<Scanned>> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let len = file.metadata()?.len();
    let Some(header) = read_header(&file)? else {
        return Ok(None);
    };
    let name = Name::Kept(PathBuf::from(path));
    let mut scanned =
        Scanned { segment: Segment::new(Arc::new(file), name, header.start), stdout: header.stdout_before };
    scanned.walk(len)?;
    scanned.cut(len)?;
    let is_empty = scanned.segment.tip.cursor == header.start;
    Ok((!is_empty).then_some(scanned))
}

fn read_header(mut file: &File) -> io::Result<Option<FileHeader>> {
    let mut bytes = [0; FILE_HEADER];
    if !read_whole(&mut file, &mut bytes)? {
        return Ok(None);
    }
    match FileHeader::decode(&bytes) {
        Ok(header) => Ok(Some(header)),
        Err(BadHeader::Torn) => Ok(None),
        Err(BadHeader::Version(version)) => {
            let message = format!("output log version {version} is not supported");
            Err(io::Error::new(io::ErrorKind::Unsupported, message))
        }
    }
}

/// `false` if the file ends before the buffer is full.
fn read_whole(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

impl Scanned {
    /// Commits record after record, up to the first that is not whole. The file stands after its
    /// header.
    fn walk(&mut self, len: u64) -> io::Result<()> {
        let file = Arc::clone(&self.segment.file);
        let mut file = BufReader::with_capacity(SCAN_BUFFER, &*file);
        let mut bytes = [0; RECORD_HEADER];
        while read_whole(&mut file, &mut bytes)? {
            let Some(header) = self.accept(&bytes, len) else {
                return Ok(());
            };
            file.seek_relative(i64::try_from(header.len).map_err(io::Error::other)?)?;
        }
        Ok(())
    }

    fn accept(&mut self, bytes: &[u8; RECORD_HEADER], len: u64) -> Option<RecordHeader> {
        let header = RecordHeader::decode(bytes)?;
        let tip = self.segment.tip;
        if header.cursor != tip.cursor || tip.offset + header.disk_len() > len {
            return None;
        }
        if header.stream == Stream::Stdout {
            self.stdout += header.len as u64;
        }
        self.segment.extend(header.end(), header.disk_len());
        Some(header)
    }

    /// Cuts the torn record off the file, so that whoever reads it next sees only what was whole.
    fn cut(&mut self, len: u64) -> io::Result<()> {
        let whole = self.segment.tip.offset;
        self.segment.synced = whole;
        if len > whole {
            self.segment.file.set_len(whole)?;
        }
        Ok(())
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    let message = format!("failed to read {}: {error}", path.display());
    io::Error::new(error.kind(), message)
}
