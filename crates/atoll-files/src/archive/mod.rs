//! Trees as one stream: tar, with zstd or gzip or without, and zip, in both directions.
//!
//! [`pack`](Pack::run) writes a tree as it walks it; [`unpack`](Unpack::run) reads a stream and makes files below one
//! directory. Memory is constant but for what a format demands (the directory of a zip). What comes in is hostile:
//! names that lead out, links to be written through, devices, bombs. The rules against each are in `place.rs` and
//! `limits.rs`.

mod limits;
mod member;
mod pack;
mod place;
mod spool;
mod tar;
mod unpack;
mod zip;

pub use limits::Limits;
pub use member::{Extent, Member, MemberKind};
pub use pack::{Pack, Packed};
pub use place::Existing;
pub use unpack::{Skipped, Unpack, Unpacked};

/// The form of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// A tar.
    #[default]
    Tar,
    /// A tar in zstd.
    TarZst,
    /// A tar in gzip.
    TarGz,
    /// A zip.
    Zip,
}

impl Format {
    /// How many bytes at the beginning of a stream tell its form.
    pub const MAGIC: usize = 4;

    /// The form, by how the stream begins. What is nothing else is a tar.
    #[must_use]
    pub fn of(beginning: &[u8]) -> Self {
        match beginning {
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::TarZst,
            [0x1f, 0x8b, ..] => Self::TarGz,
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Self::Zip,
            _ => Self::Tar,
        }
    }
}

#[cfg(test)]
mod tests;
