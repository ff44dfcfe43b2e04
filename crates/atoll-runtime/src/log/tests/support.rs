//! A log and the truth about it: every byte that was appended, and the stream it was appended to.

use std::time::SystemTime;

use atoll_protocol::Stream;
use bytes::Bytes;

use crate::log::{Event, Limits, Log, Reader};

/// Small enough that a few hundred bytes spill, roll and drop.
pub(super) const TINY: Limits = Limits { window_bytes: 64, disk_bytes: 64 * 256 };

/// All bytes appended, by cursor.
#[derive(Debug, Default)]
pub(super) struct Truth {
    bytes: Vec<(Stream, u8)>,
}

impl Truth {
    pub(super) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Appends bytes that differ from their neighbours, to the log and to the truth.
    pub(super) fn append(&mut self, log: &Log, stream: Stream, len: usize) {
        let bytes: Vec<u8> = (self.bytes.len()..).map(byte_at).take(len).collect();
        self.bytes.extend(bytes.iter().map(|byte| (stream, *byte)));
        // A failing disk is part of some tests; the bytes are in the log either way.
        drop(log.append(stream, Bytes::from(bytes), SystemTime::now()));
    }

    /// Checks one event of a reader that stood at `cursor`; returns where it stands now.
    pub(super) fn check(&self, cursor: u64, event: &Event) -> u64 {
        match event {
            Event::Gap { from, to } => {
                assert_eq!(*from, cursor);
                assert!(to > from && *to <= self.len(), "gap {from}..{to}");
            }
            Event::Output(chunk) => {
                assert_eq!(chunk.cursor, cursor);
                assert!(!chunk.bytes.is_empty());
                let start = usize::try_from(cursor).unwrap();
                let told = chunk.bytes.iter().map(|byte| (chunk.stream, *byte));
                let truth = &self.bytes[start..start + chunk.bytes.len()];
                assert!(told.eq(truth.iter().copied()), "wrong bytes at {cursor}");
            }
        }
        event.next_cursor()
    }
}

/// The byte that tests put at a position: 251 is prime, so no shift by a power of two goes unseen.
pub(super) fn byte_at(position: usize) -> u8 {
    u8::try_from(position % 251).unwrap()
}

/// Reads a closed log to its end, checking each event; returns how many bytes were gaps.
pub(super) async fn drain(truth: &Truth, reader: &mut Reader) -> u64 {
    let mut cursor = reader.cursor();
    let mut gaps = 0;
    while let Some(event) = reader.next().await {
        if let Event::Gap { from, to } = &event {
            gaps += to - from;
        }
        cursor = truth.check(cursor, &event);
    }
    gaps
}

pub(super) fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().build().unwrap()
}
