//! What is known of one file: the facts that every answer carries, and the tag by which two states are told apart.

use std::os::fd::AsFd;

use atoll_isolation::wire;
use rustix::fs::{AtFlags, FileType};

use crate::error::{At, Result};
use crate::tree::Stat;

/// The longest link that the kernel keeps.
const LINK_MAX: usize = 4096;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A device that is read in bytes.
    CharacterDevice,
    /// A device that is read in blocks.
    BlockDevice,
}
wire!(enum FileKind {
    0 => File, 1 => Directory, 2 => Symlink, 3 => Fifo, 4 => Socket, 5 => CharacterDevice, 6 => BlockDevice,
});

/// A moment as the file system keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Moment {
    /// Seconds since 1970.
    pub seconds: i64,
    /// And nanoseconds.
    pub nanos: u32,
}
wire!(struct Moment { seconds, nanos });

/// The facts of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// What it is.
    pub kind: FileKind,
    /// Its length in bytes.
    pub size: u64,
    /// Bytes that it takes on the disk: less than its length if it has holes.
    pub allocated: u64,
    /// Permission bits, with set-id and sticky.
    pub mode: u32,
    /// Owner, as numbered inside.
    pub uid: u32,
    /// Group, as numbered inside.
    pub gid: u32,
    /// How many names it has.
    pub links: u64,
    /// When its content last changed.
    pub modified: Moment,
    /// When anything about it last changed.
    pub changed: Moment,
    /// Its number in its file system.
    pub inode: u64,
    /// Where it leads, if it is a symbolic link.
    pub target: Option<Vec<u8>>,
}
wire!(struct Facts { kind, size, allocated, mode, uid, gid, links, modified, changed, inode, target });

impl Facts {
    /// From what the kernel says; a link's target is added by [`Facts::of_name`].
    #[must_use]
    pub fn new(stat: &Stat) -> Self {
        Self {
            kind: kind(stat),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            allocated: u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512),
            mode: stat.st_mode & 0o7777,
            uid: stat.st_uid,
            gid: stat.st_gid,
            #[expect(clippy::useless_conversion, reason = "narrower on other architectures")]
            links: stat.st_nlink.into(),
            modified: moment(stat.st_mtime, stat.st_mtime_nsec),
            changed: moment(stat.st_ctime, stat.st_ctime_nsec),
            inode: stat.st_ino,
            target: None,
        }
    }

    /// Of an open file.
    pub fn of(file: impl AsFd, path: &[u8]) -> Result<Self> {
        Ok(Self::new(&rustix::fs::fstat(file).at(path)?))
    }

    /// Of a name in a directory; a link is not followed, but told where it leads.
    pub fn of_name(directory: impl AsFd, name: &[u8]) -> rustix::io::Result<Self> {
        let directory = directory.as_fd();
        let mut facts = Self::new(&rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?);
        if facts.kind == FileKind::Symlink {
            // It may be another thing by now; then it leads nowhere.
            facts.target = read_link(directory, name).ok();
        }
        Ok(facts)
    }

    /// Tells two states of a file apart: another file, another length, another moment of change.
    #[must_use]
    pub fn tag(&self) -> String {
        let Self { inode, size, modified, changed, .. } = self;
        format!(
            "{inode:x}-{size:x}-{:x}.{:x}-{:x}.{:x}",
            modified.seconds, modified.nanos, changed.seconds, changed.nanos
        )
    }
}

/// Where a link leads.
pub(crate) fn read_link(directory: impl AsFd, name: &[u8]) -> rustix::io::Result<Vec<u8>> {
    rustix::fs::readlinkat(directory, name, Vec::with_capacity(LINK_MAX)).map(std::ffi::CString::into_bytes)
}

fn kind(stat: &Stat) -> FileKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        FileType::Fifo => FileKind::Fifo,
        FileType::Socket => FileKind::Socket,
        FileType::CharacterDevice => FileKind::CharacterDevice,
        FileType::BlockDevice => FileKind::BlockDevice,
        FileType::RegularFile | FileType::Unknown => FileKind::File,
    }
}

fn moment(seconds: impl Into<i64>, nanos: impl TryInto<u32>) -> Moment {
    Moment { seconds: seconds.into(), nanos: nanos.try_into().unwrap_or(0) }
}
