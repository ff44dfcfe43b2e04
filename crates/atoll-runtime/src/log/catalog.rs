//! The segments of a log in order: which one holds a cursor, and which one goes to make room.
//!
//! Owns the decision of what is kept. Must not touch files: the segments it drops are handed to
//! the caller, who removes them outside the lock.

use std::fs::File;
use std::sync::Arc;

use super::event::Chunk;
use super::limits::Caps;
use super::record;
use super::segment::{Segment, Zone};

/// Where a cursor lies on disk.
#[derive(Debug)]
pub(super) enum Found<'a> {
    /// In this segment.
    In(&'a Segment),
    /// In none; the next segment, if any, begins at this cursor.
    Missing(Option<u64>),
}

/// The segments on disk, by rising cursor.
#[derive(Debug)]
pub(super) struct Catalog {
    caps: Caps,
    segments: Vec<Segment>,
    disk_len: u64,
}

impl Catalog {
    pub(super) fn new(caps: Caps) -> Self {
        Self { caps, segments: Vec::new(), disk_len: 0 }
    }

    /// Adds the newest segment. The first ones, up to the head's share, will never be dropped.
    pub(super) fn push(&mut self, mut segment: Segment) {
        segment.zone = match self.segments.last().map(|last| last.zone) {
            None | Some(Zone::Head) if self.disk_len + self.caps.segment <= self.caps.head => Zone::Head,
            _ => Zone::Tail,
        };
        self.disk_len += segment.tip.offset;
        self.segments.push(segment);
    }

    /// Commits records that were written to the newest segment.
    pub(super) fn commit(&mut self, chunks: &[Chunk]) {
        let Some(newest) = self.segments.last_mut() else {
            return;
        };
        for chunk in chunks {
            let disk_len = record::disk_len(std::slice::from_ref(chunk));
            newest.extend(chunk.end(), disk_len);
            self.disk_len += disk_len;
        }
    }

    /// Takes out the segments that must go before `incoming` file bytes are written.
    ///
    /// The newest one stays: it is being written, and its bytes are the ones most wanted.
    pub(super) fn make_room(&mut self, incoming: u64) -> Vec<Segment> {
        let mut dropped = Vec::new();
        while self.is_full(incoming) {
            let Some(oldest) = self.droppable() else {
                break;
            };
            let segment = self.segments.remove(oldest);
            self.disk_len -= segment.tip.offset;
            dropped.push(segment);
        }
        dropped
    }

    fn is_full(&self, incoming: u64) -> bool {
        self.disk_len + incoming > self.caps.disk || self.segments.len() >= self.caps.segments
    }

    fn droppable(&self) -> Option<usize> {
        let mut zones = self.segments.iter().map(|segment| segment.zone);
        let oldest = zones.position(|zone| zone == Zone::Tail)?;
        (oldest + 1 < self.segments.len()).then_some(oldest)
    }

    /// Finds the segment that holds `cursor`.
    pub(super) fn find(&self, cursor: u64) -> Found<'_> {
        let next = |segment: &Segment| segment.tip.cursor <= cursor;
        match self.segments.get(self.segments.partition_point(next)) {
            Some(segment) if segment.start <= cursor => Found::In(segment),
            Some(segment) => Found::Missing(Some(segment.start)),
            None => Found::Missing(None),
        }
    }

    /// How many bytes before `limit` no segment holds.
    pub(super) fn missing_before(&self, limit: u64) -> u64 {
        let held = |segment: &Segment| {
            let end = segment.tip.cursor.min(limit);
            end.saturating_sub(segment.start)
        };
        limit - self.segments.iter().map(held).sum::<u64>()
    }

    /// The files that hold bytes not known to be on the device, each with its length.
    pub(super) fn unsynced(&self) -> Vec<(Arc<File>, u64)> {
        let stale = |segment: &&Segment| segment.synced < segment.tip.offset;
        let file = |segment: &Segment| (Arc::clone(&segment.file), segment.tip.offset);
        self.segments.iter().filter(stale).map(file).collect()
    }

    /// Notes that `file` is on the device up to `len`.
    pub(super) fn mark_synced(&mut self, file: &Arc<File>, len: u64) {
        for segment in &mut self.segments {
            if Arc::ptr_eq(&segment.file, file) {
                segment.synced = len;
            }
        }
    }
}
