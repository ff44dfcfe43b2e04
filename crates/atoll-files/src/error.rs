//! What can go wrong with a file: one kind each, and the path that it is about.

use std::fmt;
use std::io;

use rustix::io::Errno;

/// One kind of failure. Each has one code in the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing of this name, or a link that leads nowhere.
    NotFound,
    /// Something of this name is there already.
    Exists,
    /// A directory where a file is needed.
    IsDirectory,
    /// A file where a directory is needed.
    NotDirectory,
    /// A fifo, a socket or a device where a file is needed.
    NotRegular,
    /// A directory that must be empty is not.
    NotEmpty,
    /// The user may not.
    Denied,
    /// The disk, or the user's share of it, is full.
    NoSpace,
    /// The file would be larger than allowed.
    TooLarge,
    /// The file system cannot be written.
    ReadOnly,
    /// A name longer than 255 bytes, or a path longer than 4096.
    NameTooLong,
    /// Links that lead in a circle, or more of them than the kernel follows.
    LinkLoop,
    /// The path leads out of the tree that it must stay in.
    Escapes,
    /// Source and target are on different file systems.
    CrossDevice,
    /// Somebody uses it: a mount point, a program that runs.
    Busy,
    /// Too many open files.
    TooManyFiles,
    /// The state is not the one that was asked for (`if-match`, `if-absent`).
    Precondition,
    /// The request makes no sense: a NUL in a path, a range behind the end.
    Invalid,
    /// The file is not of the form that the operation needs: text, an archive, a patch that fits.
    Content,
    /// A limit of the request was reached: bytes, entries, matches, time.
    Limit,
    /// Who asked went away.
    Cancelled,
    /// The file system cannot do this.
    Unsupported,
    /// Anything else the kernel says.
    Io,
}

/// A failure: its kind, the path, and what was being done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Which kind.
    pub kind: Kind,
    /// The path that it is about, as it was asked for; empty where there is none.
    pub path: Vec<u8>,
    /// What there is to say beyond the kind, for people; may be empty.
    pub detail: String,
}

/// The result of an operation on files.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// A failure of this kind.
    #[must_use]
    pub fn new(kind: Kind, path: &[u8], detail: impl Into<String>) -> Self {
        Self { kind, path: path.to_vec(), detail: detail.into() }
    }

    /// What the kernel said about a path.
    #[must_use]
    pub fn from_errno(errno: Errno, path: &[u8]) -> Self {
        // Without Rust's `(os error N)`.
        let text = io::Error::from(errno).to_string();
        Self::new(Kind::from(errno), path, text.split(" (os error").next().unwrap_or_default().to_lowercase())
    }

    /// What reading or writing said about a path.
    #[must_use]
    pub fn from_io(error: &io::Error, path: &[u8]) -> Self {
        match Errno::from_io_error(error) {
            Some(errno) => Self::from_errno(errno, path),
            None => Self::new(Kind::Io, path, error.to_string()),
        }
    }
}

/// Turns an errno into a failure that names the path: `openat(..).at(path)?`.
pub trait At<T> {
    /// Names the path.
    fn at(self, path: &[u8]) -> Result<T>;
}

impl<T> At<T> for Result<T, Errno> {
    fn at(self, path: &[u8]) -> Result<T> {
        self.map_err(|errno| Failure::from_errno(errno, path))
    }
}

impl<T> At<T> for Result<T, io::Error> {
    fn at(self, path: &[u8]) -> Result<T> {
        self.map_err(|error| Failure::from_io(&error, path))
    }
}

impl From<Errno> for Kind {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::NotFound,
            Errno::EXIST => Self::Exists,
            Errno::ISDIR => Self::IsDirectory,
            Errno::NOTDIR => Self::NotDirectory,
            Errno::NXIO | Errno::NODEV | Errno::SPIPE => Self::NotRegular,
            Errno::NOTEMPTY => Self::NotEmpty,
            Errno::ACCESS | Errno::PERM => Self::Denied,
            Errno::NOSPC | Errno::DQUOT => Self::NoSpace,
            Errno::FBIG => Self::TooLarge,
            Errno::ROFS => Self::ReadOnly,
            Errno::NAMETOOLONG => Self::NameTooLong,
            Errno::LOOP | Errno::MLINK => Self::LinkLoop,
            Errno::XDEV => Self::CrossDevice,
            Errno::BUSY | Errno::TXTBSY => Self::Busy,
            Errno::MFILE | Errno::NFILE => Self::TooManyFiles,
            Errno::INVAL => Self::Invalid,
            Errno::NOTSUP | Errno::NOSYS => Self::Unsupported,
            Errno::CANCELED => Self::Cancelled,
            _ => Self::Io,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", String::from_utf8_lossy(&self.path))?;
        }
        if self.detail.is_empty() { write!(f, "{:?}", self.kind) } else { f.write_str(&self.detail) }
    }
}

impl std::error::Error for Failure {}
