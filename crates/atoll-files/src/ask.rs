//! What the agent asks of a worker, and what it is told. Paths are absolute, as the sandbox sees them.
//!
//! A request has a connection for itself until it is over. The agent writes frames: the question, then data if the
//! question says so, then the end. The worker writes frames: what it found, data, and the end or a failure. Whoever hangs
//! up calls it off. After the end of a plain request the connection may carry another ([`Ask::leaves_the_line`]).

use atoll_isolation::wire;
use atoll_isolation::wire::Wire;

use crate::error::{Failure, Kind};
use crate::facts::Facts;
use crate::watch::{Change, Event, Watch};

/// The largest frame that either side takes.
pub const FRAME_MAX: usize = 1024 * 1024;

/// Kind and length before each frame.
pub const HEADER: usize = 5;

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// An [`Ask`] or a [`Told`].
    Message,
    /// Bytes of a file.
    Data,
    /// All was said.
    End,
    /// A [`Failure`]; nothing comes after it.
    Failed,
}

impl FrameKind {
    /// As it travels.
    #[must_use]
    pub fn byte(self) -> u8 {
        match self {
            Self::Message => 1,
            Self::Data => 2,
            Self::End => 3,
            Self::Failed => 4,
        }
    }

    /// From how it travels.
    #[must_use]
    pub fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::Message,
            2 => Self::Data,
            3 => Self::End,
            4 => Self::Failed,
            _ => return None,
        })
    }
}

/// The head of a frame.
#[must_use]
pub fn header(kind: FrameKind, length: usize) -> [u8; HEADER] {
    let length = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    [kind.byte(), length[0], length[1], length[2], length[3]]
}

/// Takes a head apart; `None` if it is no frame of ours.
#[must_use]
pub fn parse_header(head: [u8; HEADER]) -> Option<(FrameKind, usize)> {
    let [kind, length @ ..] = head;
    let length = usize::try_from(u32::from_le_bytes(length)).ok()?;
    (length <= FRAME_MAX).then_some((FrameKind::of(kind)?, length))
}

/// Which state a file must be in for the request to be done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Condition {
    /// Any.
    #[default]
    Any,
    /// Not there.
    Absent,
    /// There, whatever it is.
    Present,
    /// One with one of these tags.
    Tagged {
        /// The tags.
        tags: Vec<String>,
    },
    /// None with one of these tags.
    NotTagged {
        /// The tags.
        tags: Vec<String>,
    },
}
wire!(enum Condition { 0 => Any, 1 => Absent, 2 => Present, 3 => Tagged { tags }, 4 => NotTagged { tags } });

impl Condition {
    /// Whether the file, if it is there, is as it must be.
    #[must_use]
    pub fn holds(&self, found: Option<&Facts>) -> bool {
        match (self, found) {
            (Self::Any, _) | (Self::Absent | Self::NotTagged { .. }, None) | (Self::Present, Some(_)) => true,
            (Self::Absent, Some(_)) | (Self::Present | Self::Tagged { .. }, None) => false,
            (Self::Tagged { tags }, Some(facts)) => tags.contains(&facts.tag()),
            (Self::NotTagged { tags }, Some(facts)) => !tags.contains(&facts.tag()),
        }
    }
}

/// Which part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// From here to the end.
    From {
        /// The first byte.
        start: u64,
    },
    /// From here to there, both included.
    Between {
        /// The first byte.
        start: u64,
        /// The last byte.
        last: u64,
    },
    /// So many at the end.
    Last {
        /// How many.
        count: u64,
    },
}
wire!(enum Range { 1 => From { start }, 2 => Between { start, last }, 3 => Last { count } });

impl Range {
    /// Offset and length in a file of this size; `None` if nothing of it is there.
    #[must_use]
    pub fn within(self, size: u64) -> Option<(u64, u64)> {
        match self {
            Self::From { start } if start < size => Some((start, size - start)),
            Self::Between { start, last } if start < size && start <= last => {
                Some((start, last.min(size - 1) - start + 1))
            }
            Self::Last { count } if count > 0 && size > 0 => Some((size - count.min(size), count.min(size))),
            Self::From { .. } | Self::Between { .. } | Self::Last { .. } => None,
        }
    }
}

/// How a file is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteOptions {
    /// Make the directories above it that are missing.
    pub parents: bool,
    /// Add to its end instead of replacing it.
    pub append: bool,
    /// Its permission bits; else those that it has, or 0644.
    pub mode: Option<u32>,
    /// The state that it must be in, at the moment in which it is replaced.
    pub condition: Condition,
}
wire!(struct WriteOptions { parents, append, mode, condition });

/// Which entries of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListOptions {
    /// How many levels: 1 is the directory alone.
    pub depth: u32,
    /// Those whose name begins with a dot, too.
    pub hidden: bool,
    /// In the order of their names; else as the file system has them.
    pub sorted: bool,
    /// Only what comes after this path, relative to the directory; needs the order of names.
    pub after: Option<Vec<u8>>,
    /// So many at most.
    pub limit: Option<u64>,
}
wire!(struct ListOptions { depth, hidden, sorted, after, limit });

impl Default for ListOptions {
    fn default() -> Self {
        Self { depth: 1, hidden: true, sorted: true, after: None, limit: None }
    }
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// Bytes of a file. Told: [`Told::Opened`], then data; or [`Told::Unchanged`]; or [`Told::OutOfRange`].
    Read {
        /// The file.
        path: Vec<u8>,
        /// Which part.
        range: Option<Range>,
        /// The state it must be in to be read at all.
        condition: Condition,
        /// The state it must be in to be worth sending.
        unless: Condition,
        /// The facts alone, no data.
        head: bool,
    },
    /// Write a file; data follows. Told: [`Told::Written`].
    Write {
        /// The file.
        path: Vec<u8>,
        /// How.
        options: WriteOptions,
    },
    /// Told: [`Told::Found`].
    Stat {
        /// What.
        path: Vec<u8>,
        /// What a link leads to, instead of the link.
        follow: bool,
    },
    /// Told: an [`Told::Entry`] each, then [`Told::Listed`].
    List {
        /// The directory.
        path: Vec<u8>,
        /// Which.
        options: ListOptions,
    },
    /// Told: [`Told::Made`].
    MakeDirectory {
        /// The directory.
        path: Vec<u8>,
        /// Those above it too; and it is no error that it is there.
        parents: bool,
        /// Its permission bits; else 0755.
        mode: Option<u32>,
    },
    /// Told: [`Told::Counted`].
    Remove {
        /// What.
        path: Vec<u8>,
        /// A directory with all that is in it.
        recursive: bool,
        /// It is no error that it is not there.
        missing_ok: bool,
        /// The state that it must be in.
        condition: Condition,
    },
    /// Told: [`Told::Found`], of the new name.
    Rename {
        /// What.
        from: Vec<u8>,
        /// Its new name.
        to: Vec<u8>,
        /// Replace what is there.
        replace: bool,
        /// Make the directories above the new name that are missing.
        parents: bool,
        /// Copy and remove where the two names are on different file systems.
        across: bool,
    },
    /// Told: [`Told::Counted`].
    Copy {
        /// What.
        from: Vec<u8>,
        /// The copy's name.
        to: Vec<u8>,
        /// A directory with all that is in it.
        recursive: bool,
        /// Replace files that are there; directories are merged.
        replace: bool,
        /// Make the directories above the new name that are missing.
        parents: bool,
    },
    /// Told: [`Told::Counted`].
    SetMode {
        /// What.
        path: Vec<u8>,
        /// Permission bits.
        mode: u32,
        /// Of all that is in it, too.
        recursive: bool,
    },
    /// A larger thing. What it is given and what it says is JSON, in the words of the API; texts and archives come and
    /// go as data.
    Task {
        /// Which.
        task: Task,
        /// The file, or the directory below which it is done.
        path: Vec<u8>,
        /// How, as JSON.
        options: Vec<u8>,
    },
    /// Told: [`Told::Found`], of the link.
    MakeLink {
        /// Its name.
        path: Vec<u8>,
        /// Where it leads; anything is allowed.
        target: Vec<u8>,
        /// Replace what is there, if it is no directory.
        replace: bool,
        /// Make the directories above it that are missing.
        parents: bool,
    },
    /// Told: a [`Told::Happened`] each, for as long as somebody listens.
    Watch {
        /// The directory.
        path: Vec<u8>,
        /// How.
        watch: Watch,
    },
}
wire!(enum Ask {
    1 => Read { path, range, condition, unless, head },
    2 => Write { path, options },
    3 => Stat { path, follow },
    4 => List { path, options },
    6 => MakeDirectory { path, parents, mode },
    7 => Remove { path, recursive, missing_ok, condition },
    8 => Rename { from, to, replace, parents, across },
    9 => Copy { from, to, recursive, replace, parents },
    10 => SetMode { path, mode, recursive },
    11 => MakeLink { path, target, replace, parents },
    20 => Task { task, path, options },
    30 => Watch { path, watch },
});

impl Ask {
    /// Whether both sides know, once it has ended well, that nothing more of it comes: then the connection is as good as
    /// new. Of an archive that was complete before its stream was, some may still be on the way.
    #[must_use]
    pub fn leaves_the_line(&self) -> bool {
        match self {
            Self::Read { .. }
            | Self::Write { .. }
            | Self::Stat { .. }
            | Self::List { .. }
            | Self::MakeDirectory { .. }
            | Self::Remove { .. }
            | Self::Rename { .. }
            | Self::Copy { .. }
            | Self::SetMode { .. }
            | Self::MakeLink { .. } => true,
            Self::Task { .. } | Self::Watch { .. } => false,
        }
    }
}

/// The larger things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Options: a `SearchRequest`. Told: a `SearchLine` each.
    Search,
    /// Options: a `GlobRequest`. Told: a `GlobEntry` each, then a `GlobAnswer` without them.
    Glob,
    /// Data: an `EditRequest`. Told: [`Told::Found`], then the lines.
    Edit,
    /// Options: `PatchOptions`; data: the patch. Told: a `PatchReceipt`.
    Patch,
    /// Options: `PackOptions`. Told: an `Omitted`; then data comes back.
    Pack,
    /// Options: `UnpackOptions`; data: the archive. Told: an `UnpackReceipt`.
    Unpack,
}
wire!(enum Task { 1 => Search, 2 => Glob, 3 => Edit, 4 => Patch, 5 => Pack, 6 => Unpack });

/// What is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// The file is open; data follows unless only the facts were asked for.
    Opened {
        /// Of the file.
        facts: Facts,
        /// Where the data begins.
        offset: u64,
        /// How much there is; unknown for files that the kernel makes while they are read.
        length: Option<u64>,
    },
    /// The file is as the asker knows it.
    Unchanged {
        /// Of the file.
        facts: Facts,
    },
    /// Nothing of the range is there.
    OutOfRange {
        /// Of the file.
        facts: Facts,
    },
    /// The file is written.
    Written {
        /// As it is now.
        facts: Facts,
        /// It was not there before.
        created: bool,
        /// It was replaced in one step; else it was changed where it is, which others may have seen halfway.
        atomic: bool,
    },
    /// What is there.
    Found {
        /// The facts.
        facts: Facts,
    },
    /// One of a list.
    Entry {
        /// Below the directory that was listed.
        path: Vec<u8>,
        /// The facts.
        facts: Facts,
    },
    /// The list is at its end.
    Listed {
        /// There is more behind the last entry.
        more: bool,
        /// So many directories below could not be read.
        unreadable: u64,
    },
    /// The directory is there.
    Made {
        /// The facts.
        facts: Facts,
        /// It was not before.
        created: bool,
    },
    /// Something in the words of the API.
    Said {
        /// As JSON.
        json: Vec<u8>,
    },
    /// So many things were done.
    Counted {
        /// How many.
        count: u64,
    },
    /// Something happened in a tree that is watched.
    Happened {
        /// What.
        event: Event,
    },
}
/// The number of [`Told::Entry`].
const ENTRY: u8 = 6;
wire!(enum Told {
    1 => Opened { facts, offset, length },
    2 => Unchanged { facts },
    3 => OutOfRange { facts },
    4 => Written { facts, created, atomic },
    5 => Found { facts },
    6 => Entry { path, facts },
    7 => Listed { more, unreadable },
    8 => Made { facts, created },
    9 => Counted { count },
    20 => Said { json },
    30 => Happened { event },
});

impl Told {
    /// Puts a [`Told::Entry`] whose parts are somebody else's.
    pub(crate) fn put_entry(path: &[u8], facts: &Facts, out: &mut Vec<u8>) {
        out.push(ENTRY);
        wire::put_list(path, out);
        facts.put(out);
    }
}

wire!(struct Watch { include, exclude, recursive, existing, directories });
wire!(struct Event { change, path, directory });
wire!(enum Change {
    1 => Created, 2 => Modified, 3 => Attributes, 4 => Removed, 5 => Renamed { from }, 6 => Overflow, 7 => Settled,
    8 => Gone,
});

wire!(struct Failure { kind, path, detail });
wire!(enum Kind {
    1 => NotFound, 2 => Exists, 3 => IsDirectory, 4 => NotDirectory, 5 => NotRegular, 6 => NotEmpty, 7 => Denied,
    8 => NoSpace, 9 => TooLarge, 10 => ReadOnly, 11 => NameTooLong, 12 => LinkLoop, 13 => Escapes, 14 => CrossDevice,
    15 => Busy, 16 => TooManyFiles, 17 => Precondition, 18 => Invalid, 19 => Content, 20 => Limit, 21 => Cancelled,
    22 => Unsupported, 23 => Io,
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut_to_the_file() {
        assert_eq!(Range::From { start: 3 }.within(10), Some((3, 7)));
        assert_eq!(Range::From { start: 10 }.within(10), None);
        assert_eq!(Range::Between { start: 0, last: 0 }.within(10), Some((0, 1)));
        assert_eq!(Range::Between { start: 8, last: 99 }.within(10), Some((8, 2)));
        assert_eq!(Range::Between { start: 5, last: 4 }.within(10), None);
        assert_eq!(Range::Last { count: 4 }.within(10), Some((6, 4)));
        assert_eq!(Range::Last { count: 40 }.within(10), Some((0, 10)));
        assert_eq!(Range::Last { count: 0 }.within(10), None);
        assert_eq!(Range::Last { count: 1 }.within(0), None);
    }

    #[test]
    fn an_entry_is_put_as_any_other_word() {
        let stat = rustix::fs::stat("/").unwrap();
        let told = Told::Entry { path: b"a\xff".to_vec(), facts: Facts::new(&stat) };
        let mut out = Vec::new();
        Told::put_entry(b"a\xff", &Facts::new(&stat), &mut out);
        assert_eq!(out, told.encode());
    }

    #[test]
    fn only_frames_of_ours_are_taken() {
        assert_eq!(parse_header(header(FrameKind::Data, 7)), Some((FrameKind::Data, 7)));
        assert_eq!(parse_header(header(FrameKind::Data, FRAME_MAX + 1)), None);
        assert_eq!(parse_header([9, 0, 0, 0, 0]), None);
    }
}
