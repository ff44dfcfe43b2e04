//! What the agent asks of a worker, and what it is told. Paths are absolute, as the sandbox sees them.
//!
//! A request has a connection for itself until it is over. The agent writes frames: the question, then data if the
//! question says so, then the end. The worker writes frames: what it found, data, and the end or a failure. Whoever hangs
//! up calls it off. After the end of a plain request the connection may carry another ([`Ask::leaves_the_line`]).

mod frame;
mod told;
mod which;

use atoll_isolation::wire;

use crate::watch::Watch;

pub use frame::{FRAME_MAX, FrameKind, HEADER, header, parse_header};
pub use told::Told;
pub use which::{Condition, Range};

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
