//! One thing in an archive, whatever the archive's form.

use crate::facts::Moment;

/// A part of a file that is not a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Its first byte.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
}

/// What it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink {
        /// Where it leads, as it is.
        target: Vec<u8>,
    },
    /// Another name of a file that came before.
    HardLink {
        /// That file's path in the archive.
        target: Vec<u8>,
    },
    /// A named pipe.
    Fifo,
    /// A device, or something of which we know nothing: never made.
    Other {
        /// What it is.
        what: &'static str,
    },
}

/// One thing, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its path in the archive.
    pub path: Vec<u8>,
    /// What it is.
    pub kind: MemberKind,
    /// Permission bits.
    pub mode: u32,
    /// When its content last changed; none where the archive does not say.
    pub modified: Option<Moment>,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// The length of a file, holes included.
    pub size: u64,
    /// The parts of a file that are no holes; none for a file without holes.
    pub extents: Option<Vec<Extent>>,
    /// Extended attributes of users (`user.*`), by name.
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Member {
    /// How many bytes of content follow.
    #[must_use]
    pub fn stored(&self) -> u64 {
        match &self.extents {
            Some(extents) => extents.iter().map(|extent| extent.length).sum(),
            None => self.size,
        }
    }
}
