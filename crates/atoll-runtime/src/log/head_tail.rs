//! The beginning and the end of one stream, for answers that carry output inline.
//!
//! Owns two bounded buffers. Must not hold on to the log's chunks: it copies, since a kept slice
//! would pin a buffer that may be far larger.

use bytes::Bytes;

/// Keeps the first and the last half of `limit` bytes; everything if it is no more than `limit`.
#[derive(Debug)]
pub(crate) struct HeadTail {
    head: Vec<u8>,
    head_cap: usize,
    tail: Ring,
    total: u64,
    /// Cursor of the first byte after the head, once there is one.
    tail_from: Option<u64>,
}

/// What was kept of one stream: its two ends, or all of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capture {
    /// The first bytes, or all of them if none were omitted.
    pub head: Vec<u8>,
    /// The last bytes; empty if none were omitted.
    pub tail: Vec<u8>,
    /// How many bytes of the stream lie between the two.
    pub omitted: u64,
    /// Where in the combined log the omitted part begins.
    pub omitted_from: Option<u64>,
}

impl HeadTail {
    /// Allocates nothing yet, and never much more than `limit`.
    #[must_use]
    pub(crate) fn new(limit: usize) -> Self {
        Self { head: Vec::new(), head_cap: limit / 2, tail: Ring::new(limit - limit / 2), total: 0, tail_from: None }
    }

    /// Adds the next bytes of the stream, which lie at `cursor` in the combined log.
    pub(crate) fn push(&mut self, cursor: u64, bytes: &Bytes) {
        self.total += bytes.len() as u64;
        let taken = bytes.len().min(self.head_cap - self.head.len());
        extend_within(&mut self.head, &bytes[..taken], self.head_cap);
        let rest = &bytes[taken..];
        if !rest.is_empty() {
            self.tail_from.get_or_insert(cursor + taken as u64);
            self.tail.push(rest);
        }
    }

    /// What was kept.
    #[must_use]
    pub(crate) fn finish(self) -> Capture {
        let Self { mut head, head_cap: _, tail, total, tail_from } = self;
        let omitted = total - (head.len() + tail.bytes.len()) as u64;
        let tail = tail.into_vec();
        if omitted > 0 {
            return Capture { head, tail, omitted, omitted_from: tail_from };
        }
        head.extend_from_slice(&tail);
        Capture { head, ..Capture::default() }
    }
}

/// The last `cap` bytes pushed.
#[derive(Debug)]
struct Ring {
    bytes: Vec<u8>,
    cap: usize,
    /// The oldest byte, once the ring is full.
    oldest: usize,
}

impl Ring {
    fn new(cap: usize) -> Self {
        Self { bytes: Vec::new(), cap, oldest: 0 }
    }

    fn push(&mut self, bytes: &[u8]) {
        let last = &bytes[bytes.len().saturating_sub(self.cap)..];
        let fill = last.len().min(self.cap - self.bytes.len());
        extend_within(&mut self.bytes, &last[..fill], self.cap);
        self.overwrite(&last[fill..]);
    }

    /// Puts bytes, no more than the ring holds, over the oldest ones.
    fn overwrite(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let first = bytes.len().min(self.cap - self.oldest);
        let (front, wrapped) = bytes.split_at(first);
        self.bytes[self.oldest..self.oldest + first].copy_from_slice(front);
        self.bytes[..wrapped.len()].copy_from_slice(wrapped);
        self.oldest = (self.oldest + bytes.len()) % self.cap;
    }

    fn into_vec(mut self) -> Vec<u8> {
        self.bytes.rotate_left(self.oldest);
        self.bytes
    }
}

/// Appends with doubling growth that stops at `cap`, where `Vec` alone could reach twice that.
fn extend_within(buffer: &mut Vec<u8>, bytes: &[u8], cap: usize) {
    let needed = buffer.len() + bytes.len();
    if needed > buffer.capacity() {
        let grown = needed.max(2 * buffer.capacity()).min(cap);
        buffer.reserve_exact(grown - buffer.len());
    }
    buffer.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keeps_both_ends_of_any_stream(
            limit in 0_usize..40,
            pieces in prop::collection::vec((0_u64..5, prop::collection::vec(any::<u8>(), 0..30)), 0..12),
        ) {
            let mut kept = HeadTail::new(limit);
            let (mut all, mut cursors, mut cursor) = (Vec::new(), Vec::new(), 0);
            for (skip, piece) in pieces {
                // The other stream's bytes lie between.
                cursor += skip;
                kept.push(cursor, &Bytes::from(piece.clone()));
                cursors.extend((cursor..).take(piece.len()));
                cursor += piece.len() as u64;
                all.extend(piece);
            }
            let capture = kept.finish();
            if all.len() <= limit {
                prop_assert_eq!(capture, Capture { head: all, ..Capture::default() });
            } else {
                let half = limit / 2;
                prop_assert_eq!(&capture.head, &all[..half]);
                prop_assert_eq!(&capture.tail, &all[all.len() - (limit - half)..]);
                prop_assert_eq!(capture.omitted, (all.len() - limit) as u64);
                prop_assert_eq!(capture.omitted_from, Some(cursors[half]));
            }
        }
    }

    #[test]
    fn memory_stays_within_the_limit() {
        let mut kept = HeadTail::new(1000);
        for _ in 0..1000 {
            kept.push(0, &Bytes::from(vec![1; 77]));
        }
        assert!(kept.head.capacity() + kept.tail.bytes.capacity() <= 1000);
    }
}
