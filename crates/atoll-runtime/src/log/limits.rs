//! How much one log may hold, and every cap that follows from it.
//!
//! Owns the numbers. Must not act on them: `window` and `catalog` do.

/// Bytes of newest output held in memory.
///
/// Large enough that an ordinary command never touches a file and that a reader a few scheduling
/// rounds behind still reads from memory; small enough for ten thousand live logs in 2.5 GiB.
pub(super) const WINDOW_BYTES: usize = 256 * 1024;

/// Bytes of one log on disk, record headers included.
///
/// A build log of a day fits; a runaway `yes` does not fill the disk of its neighbours.
pub(super) const DISK_BYTES: u64 = 4 << 30;

/// Largest payload of one event and of one record on disk.
///
/// The size of a Linux pipe, so that what was read in one go is told in one go, and what a slow
/// client holds of a log stays small.
pub(super) const EVENT_BYTES: usize = 64 * 1024;

/// Share of the disk that keeps the beginning for ever: how a command began explains how it ended.
const HEAD_SHARE: u64 = 4;

/// Segments a full log is cut into. Dropping one loses 1/64 of the log at a time.
const SEGMENTS: usize = 64;

/// The window below which the headers of its chunks outweigh it on disk.
const SMALLEST_WINDOW: usize = 1024;

/// What the owner of a log may choose. All other caps are shares of these two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of newest output held in memory; see [`WINDOW_BYTES`].
    pub window_bytes: usize,
    /// Bytes on disk before the middle of the log is dropped; see [`DISK_BYTES`]. At least eight
    /// windows are taken.
    pub disk_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { window_bytes: WINDOW_BYTES, disk_bytes: DISK_BYTES }
    }
}

/// The caps in force, made from [`Limits`] once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caps {
    /// Bytes held in memory.
    pub(super) window: usize,
    /// Bytes of one chunk. Longer appends are cut, so that no single one overflows the disk.
    pub(super) chunk: usize,
    /// Chunks held in memory, so that one-byte chunks cannot cost 64 times their size.
    pub(super) chunks: usize,
    /// Bytes not yet on disk that make a write worth its system call.
    pub(super) batch: usize,
    /// Chunks not yet on disk that make a write worth its system call.
    pub(super) batch_chunks: usize,
    /// Size of the shared buffer into which small appends are copied.
    pub(super) slab: usize,
    /// Appends up to this size are copied, for a slice must not pin a buffer far larger than it.
    pub(super) small: usize,
    /// Bytes of one segment file.
    pub(super) segment: u64,
    /// Segment files of one log: each holds a descriptor, and a failing disk makes short ones.
    pub(super) segments: usize,
    /// Bytes of all segment files.
    pub(super) disk: u64,
    /// Bytes of the segment files that are never dropped.
    pub(super) head: u64,
}

impl From<Limits> for Caps {
    fn from(limits: Limits) -> Self {
        let window = limits.window_bytes.max(64);
        // A batch is up to two windows with its headers. The head, the file being written and the
        // next batch must all fit, or the cap could not be kept.
        let disk = limits.disk_bytes.max(8 * window.max(SMALLEST_WINDOW) as u64);
        let chunks = (window / 64).max(16);
        let slab = (window / 8).min(EVENT_BYTES);
        Self {
            window,
            chunk: (window / 4).min(EVENT_BYTES),
            chunks,
            batch: window / 4,
            batch_chunks: chunks / 4,
            slab,
            small: slab / 4,
            segment: disk / SEGMENTS as u64,
            segments: 2 * SEGMENTS,
            disk,
            head: disk / HEAD_SHARE,
        }
    }
}
