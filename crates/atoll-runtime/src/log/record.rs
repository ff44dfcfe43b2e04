//! The bytes of a segment file: one file header, then records of a fixed header and the data.
//!
//! Owns the format and its version. Must not open or read files. All numbers are little endian.
//!
//! ```text
//! file header, 40 bytes:    magic 8 | version 4 | zero 4 | start 8 | stdout before 8 | check 8
//! record header, 32 bytes:  cursor 8 | time in ns 8 | length 4 | stream 1 | zero 3 | check 8
//! ```
//!
//! The checks tell a header that was written whole from one that was not. The data has none: a
//! record cut short is seen by the length of the file. Only a power cut before a flush could leave
//! a whole header over data that never reached the device, and nobody was promised those bytes.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use atoll_protocol::Stream;
use bytes::{Buf, BufMut};

use super::event::Chunk;
use super::limits::EVENT_BYTES;

/// First bytes of every segment file.
const MAGIC: [u8; 8] = *b"ATOLLLOG";
/// Version of everything below. A reader refuses any other.
const VERSION: u32 = 1;

/// Size of [`FileHeader`] on disk.
pub(super) const FILE_HEADER: usize = 40;
/// Size of [`RecordHeader`] on disk.
pub(super) const RECORD_HEADER: usize = 32;

const STDOUT: u8 = 1;
const STDERR: u8 = 2;

/// What a segment file says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileHeader {
    /// Cursor of the first record.
    pub(super) start: u64,
    /// Bytes of standard output before it, so that totals survive dropped segments.
    pub(super) stdout_before: u64,
}

/// Why a file header was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadHeader {
    /// It was not written whole, or the file is not ours.
    Torn,
    /// It is ours, and newer or older than this code.
    Version(u32),
}

impl FileHeader {
    pub(super) fn encode(self) -> [u8; FILE_HEADER] {
        let mut bytes = [0; FILE_HEADER];
        let mut out = &mut bytes[..];
        out.put_slice(&MAGIC);
        out.put_u32_le(VERSION);
        out.put_u32_le(0);
        out.put_u64_le(self.start);
        out.put_u64_le(self.stdout_before);
        seal(&mut bytes);
        bytes
    }

    pub(super) fn decode(bytes: &[u8; FILE_HEADER]) -> Result<Self, BadHeader> {
        if bytes[..8] != MAGIC || !is_sealed(bytes) {
            return Err(BadHeader::Torn);
        }
        let mut rest = &bytes[8..];
        match rest.get_u32_le() {
            VERSION => rest.advance(4),
            other => return Err(BadHeader::Version(other)),
        }
        Ok(Self { start: rest.get_u64_le(), stdout_before: rest.get_u64_le() })
    }
}

/// What a record says of the data that follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordHeader {
    pub(super) cursor: u64,
    pub(super) time: SystemTime,
    pub(super) len: usize,
    pub(super) stream: Stream,
}

impl RecordHeader {
    #[expect(clippy::cast_possible_truncation, reason = "a chunk is at most EVENT_BYTES long, which fits 32 bits")]
    pub(super) fn encode(chunk: &Chunk) -> [u8; RECORD_HEADER] {
        let mut bytes = [0; RECORD_HEADER];
        let mut out = &mut bytes[..];
        out.put_u64_le(chunk.cursor);
        out.put_u64_le(nanos(chunk.time));
        out.put_u32_le(chunk.bytes.len() as u32);
        out.put_u8(match chunk.stream {
            Stream::Stdout => STDOUT,
            Stream::Stderr => STDERR,
        });
        seal(&mut bytes);
        bytes
    }

    /// `None` if these bytes are no record header.
    pub(super) fn decode(bytes: &[u8; RECORD_HEADER]) -> Option<Self> {
        if !is_sealed(bytes) {
            return None;
        }
        let mut rest = &bytes[..];
        let cursor = rest.get_u64_le();
        let time = UNIX_EPOCH + Duration::from_nanos(rest.get_u64_le());
        let len = usize::try_from(rest.get_u32_le()).ok()?;
        let stream = match rest.get_u8() {
            STDOUT => Stream::Stdout,
            STDERR => Stream::Stderr,
            _ => return None,
        };
        (1..=EVENT_BYTES).contains(&len).then_some(Self { cursor, time, len, stream })
    }

    /// The cursor after the data.
    pub(super) fn end(&self) -> u64 {
        self.cursor + self.len as u64
    }

    /// Bytes of the whole record in the file.
    pub(super) fn disk_len(&self) -> u64 {
        (RECORD_HEADER + self.len) as u64
    }
}

/// Bytes that `chunks` take in a file.
pub(super) fn disk_len(chunks: &[Chunk]) -> u64 {
    let lens = chunks.iter().map(|chunk| RECORD_HEADER + chunk.bytes.len());
    lens.sum::<usize>() as u64
}

/// A clock before 1970 or after 2554 is a broken clock; its times are clamped, not refused.
fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

fn seal<const N: usize>(bytes: &mut [u8; N]) {
    let sum = check(&bytes[..N - 8]);
    bytes[N - 8..].copy_from_slice(&sum.to_le_bytes());
}

fn is_sealed<const N: usize>(bytes: &[u8; N]) -> bool {
    bytes[N - 8..] == check(&bytes[..N - 8]).to_le_bytes()
}

/// FNV-1a: it has to catch accidents, not forgers, and a file of zeroes must not pass.
fn check(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn chunk() -> Chunk {
        Chunk {
            cursor: 9,
            stream: Stream::Stderr,
            bytes: Bytes::from_static(b"abc"),
            time: UNIX_EPOCH + Duration::from_nanos(123_456_789_012),
        }
    }

    #[test]
    fn a_record_header_says_what_the_chunk_was() {
        let header = RecordHeader::decode(&RecordHeader::encode(&chunk())).unwrap();
        let expected = RecordHeader { cursor: 9, time: chunk().time, len: 3, stream: Stream::Stderr };
        assert_eq!(header, expected);
    }

    #[test]
    fn any_changed_byte_of_a_header_is_seen() {
        let good = RecordHeader::encode(&chunk());
        for position in 0..RECORD_HEADER {
            let mut bad = good;
            bad[position] ^= 0x10;
            assert_eq!(RecordHeader::decode(&bad), None, "byte {position}");
        }
        assert_eq!(RecordHeader::decode(&[0; RECORD_HEADER]), None);
    }

    #[test]
    fn a_file_of_another_version_is_told_from_a_torn_one() {
        let header = FileHeader { start: 5, stdout_before: 2 };
        let mut bytes = header.encode();
        assert_eq!(FileHeader::decode(&bytes), Ok(header));
        bytes[8] = 9;
        assert_eq!(FileHeader::decode(&bytes), Err(BadHeader::Torn));
        seal(&mut bytes);
        assert_eq!(FileHeader::decode(&bytes), Err(BadHeader::Version(9)));
    }
}
