//! Tar: ustar headers with PAX records where they do not suffice, and whatever GNU tar writes when it is read.

mod header;
mod pax;
mod read;
mod write;

pub(super) use read::TarReader;
pub(super) use write::TarWriter;

/// Everything in a tar begins at a multiple of this.
const BLOCK: usize = 512;
/// The same, as a length.
const BLOCK_BYTES: u64 = 512;

/// How many bytes fill the last block.
fn padding(length: u64) -> u64 {
    (BLOCK_BYTES - length % BLOCK_BYTES) % BLOCK_BYTES
}
