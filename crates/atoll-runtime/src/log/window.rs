//! The memory tail of a log: the newest bytes, as chunks that share the writer's buffers.
//!
//! Owns what is in memory, and how much of it is on disk already. Must not do I/O, and must never
//! let go of bytes that are not on disk unless told to [`shed`](Window::shed) them.
//!
//! Large appends are held by reference. Small ones are copied into a slab, where neighbours of the
//! same stream become one chunk; so neither many tiny appends nor a tiny slice of a huge buffer
//! can make the window cost much more than its bytes.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use atoll_protocol::Stream;
use bytes::{Bytes, BytesMut};

use super::event::Chunk;
use super::limits::Caps;

/// Appends further apart than this are not joined: a chunk has one time, and this is its error.
const JOIN_SPAN: Duration = Duration::from_millis(10);

/// What the window needs after an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pressure {
    /// Nothing: it is within its caps.
    Fits,
    /// A batch must go to disk before anything more can be let go.
    SpillDue,
}

/// The newest bytes of a log, contiguous from `start` to `end`.
#[derive(Debug)]
pub(super) struct Window {
    caps: Caps,
    sealed: VecDeque<Chunk>,
    open: OpenChunk,
    start: u64,
    end: u64,
    /// How many of the newest sealed chunks are not on disk. The open chunk never is.
    unspilled: usize,
    unspilled_bytes: usize,
}

/// The chunk that small appends still join; none while the buffer is empty.
#[derive(Debug)]
struct OpenChunk {
    buffer: BytesMut,
    stream: Stream,
    time: SystemTime,
}

impl OpenChunk {
    fn takes(&self, stream: Stream, time: SystemTime) -> bool {
        let near = time.duration_since(self.time);
        self.stream == stream && near.is_ok_and(|span| span <= JOIN_SPAN)
    }

    fn spare(&self) -> usize {
        self.buffer.capacity() - self.buffer.len()
    }
}

impl Window {
    /// An empty window at `cursor`.
    pub(super) fn new(caps: Caps, cursor: u64) -> Self {
        let open = OpenChunk { buffer: BytesMut::new(), stream: Stream::Stdout, time: SystemTime::UNIX_EPOCH };
        Self { caps, sealed: VecDeque::new(), open, start: cursor, end: cursor, unspilled: 0, unspilled_bytes: 0 }
    }

    /// First cursor held in memory; the end if nothing is.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// The cursor after the newest byte.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// The cursor after the newest byte that is on disk; the start if none is.
    pub(super) fn spilled_end(&self) -> u64 {
        let first = self.sealed.len() - self.unspilled;
        self.sealed.get(first).map_or_else(|| self.open_start(), |chunk| chunk.cursor)
    }

    /// Adds the newest bytes, and lets go of old ones that are on disk if the caps ask for it.
    pub(super) fn push(&mut self, stream: Stream, bytes: Bytes, time: SystemTime) -> Pressure {
        self.unspilled_bytes += bytes.len();
        if bytes.len() <= self.caps.small {
            self.join(stream, &bytes, time);
        } else {
            self.seal();
            let cursor = self.end;
            self.end += bytes.len() as u64;
            self.hold(cursor, stream, bytes, time);
        }
        if self.is_spill_due() {
            return Pressure::SpillDue;
        }
        self.evict();
        Pressure::Fits
    }

    /// Whether the window is over its caps and what is not on disk is worth a write.
    ///
    /// A window that never fills is never due, so a command that prints little costs no file.
    pub(super) fn is_spill_due(&self) -> bool {
        let worth = self.unspilled_bytes >= self.caps.batch;
        self.is_over() && (worth || self.unspilled >= self.caps.batch_chunks)
    }

    fn is_over(&self) -> bool {
        self.end - self.start > self.caps.window as u64 || self.sealed.len() >= self.caps.chunks
    }

    fn join(&mut self, stream: Stream, bytes: &[u8], time: SystemTime) {
        if !self.open.takes(stream, time) || self.open.spare() < bytes.len() {
            self.seal();
            self.open.stream = stream;
            self.open.time = time;
        }
        if self.open.spare() < bytes.len() {
            self.open.buffer = BytesMut::with_capacity(self.caps.slab);
        }
        self.open.buffer.extend_from_slice(bytes);
        self.end += bytes.len() as u64;
    }

    /// Ends the open chunk. The rest of its slab serves the next one.
    fn seal(&mut self) {
        if self.open.buffer.is_empty() {
            return;
        }
        let cursor = self.open_start();
        let bytes = self.open.buffer.split().freeze();
        self.hold(cursor, self.open.stream, bytes, self.open.time);
    }

    fn hold(&mut self, cursor: u64, stream: Stream, bytes: Bytes, time: SystemTime) {
        self.unspilled += 1;
        self.sealed.push_back(Chunk { cursor, stream, bytes, time });
    }

    fn open_start(&self) -> u64 {
        self.end - self.open.buffer.len() as u64
    }

    /// Lets go of the oldest chunks that are on disk, as far as the caps ask for it.
    pub(super) fn evict(&mut self) {
        while self.is_over() && self.sealed.len() > self.unspilled {
            self.pop();
        }
    }

    /// Lets go of the oldest chunks, on disk or not: for when the disk refuses them.
    pub(super) fn shed(&mut self) {
        self.evict();
        while self.is_over() && !self.sealed.is_empty() {
            self.unspilled -= 1;
            self.unspilled_bytes -= self.sealed[0].bytes.len();
            self.pop();
        }
    }

    fn pop(&mut self) {
        self.sealed.pop_front();
        self.start = self.sealed.front().map_or_else(|| self.open_start(), |chunk| chunk.cursor);
    }

    /// All chunks that are not on disk, oldest first. They stay held until confirmed.
    pub(super) fn unspilled(&mut self) -> Vec<Chunk> {
        self.seal();
        let spilled = self.sealed.len() - self.unspilled;
        self.sealed.range(spilled..).cloned().collect()
    }

    /// Notes that the oldest unspilled chunks, those of `batch`, are on disk now.
    pub(super) fn confirm(&mut self, batch: &[Chunk]) {
        self.unspilled -= batch.len();
        self.unspilled_bytes -= batch.iter().map(|chunk| chunk.bytes.len()).sum::<usize>();
        self.evict();
    }

    /// What is held at `cursor`, up to the end of the chunk it lies in.
    pub(super) fn chunk_at(&self, cursor: u64) -> Option<Chunk> {
        if cursor < self.start || cursor >= self.end {
            return None;
        }
        if cursor >= self.open_start() {
            return Some(self.open_at(cursor));
        }
        let position = self.sealed.partition_point(|chunk| chunk.end() <= cursor);
        self.sealed.get(position).map(|chunk| chunk.clone().starting_at(cursor))
    }

    /// Copies, since the buffer is still being filled and sealing it would undo the joining.
    fn open_at(&self, cursor: u64) -> Chunk {
        let skip = usize::try_from(cursor - self.open_start()).map_or(0, |skip| skip);
        Chunk {
            cursor,
            stream: self.open.stream,
            bytes: Bytes::copy_from_slice(&self.open.buffer[skip..]),
            time: self.open.time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::Limits;
    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn window(bytes: usize) -> Window {
        let limits = Limits { window_bytes: bytes, ..Limits::default() };
        Window::new(limits.into(), 0)
    }

    fn push(window: &mut Window, stream: Stream, bytes: &'static [u8]) -> Pressure {
        window.push(stream, Bytes::from_static(bytes), NOW)
    }

    #[test]
    fn small_neighbours_of_one_stream_become_one_chunk() {
        let mut window = window(1 << 16);
        push(&mut window, Stream::Stdout, b"ab");
        push(&mut window, Stream::Stdout, b"cd");
        push(&mut window, Stream::Stderr, b"ef");
        let chunks = window.unspilled();
        assert_eq!(chunks.len(), 2);
        assert_eq!(&chunks[0].bytes[..], b"abcd");
        assert_eq!((chunks[1].cursor, &chunks[1].bytes[..]), (4, &b"ef"[..]));
    }

    #[test]
    fn appends_far_apart_in_time_keep_their_times() {
        let mut window = window(1 << 16);
        push(&mut window, Stream::Stdout, b"ab");
        let later = NOW + 2 * JOIN_SPAN;
        window.push(Stream::Stdout, Bytes::from_static(b"cd"), later);
        assert_eq!(window.chunk_at(3).unwrap().time, later);
    }

    #[test]
    fn large_appends_are_held_without_a_copy() {
        let mut window = window(1 << 20);
        let bytes = Bytes::from(vec![7; 1 << 16]);
        window.push(Stream::Stdout, bytes.clone(), NOW);
        assert_eq!(window.chunk_at(0).unwrap().bytes.as_ptr(), bytes.as_ptr());
    }

    #[test]
    fn one_byte_chunks_are_bounded_by_count() {
        let mut window = window(1 << 16);
        for _ in 0..100_000 {
            for stream in [Stream::Stdout, Stream::Stderr] {
                if push(&mut window, stream, b"x") == Pressure::SpillDue {
                    let batch = window.unspilled();
                    window.confirm(&batch);
                }
            }
        }
        assert!(window.sealed.len() <= window.caps.chunks);
        assert_eq!(window.end(), 200_000);
    }

    #[test]
    fn shedding_keeps_the_newest_bytes_and_the_caps() {
        let mut window = window(64);
        for _ in 0..100 {
            push(&mut window, Stream::Stdout, b"0123456789");
            window.shed();
        }
        assert!(window.end() - window.start() <= 64);
        assert_eq!(window.end(), 1000);
        assert!(window.chunk_at(window.start()).is_some());
    }
}
