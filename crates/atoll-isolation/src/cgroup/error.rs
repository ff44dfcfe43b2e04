//! What can go wrong with control groups, in the user's words.
//!
//! Owns the error type and its hints. It must not decide what to do about an error, and its text
//! already contains the cause, so there is no `source` to print a second time.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::limits::Limit;

/// A failure of this module. The text names the thing and the path; [`Error::hint`] says what to
/// do about it, where that is known.
#[derive(Debug)]
pub enum Error {
    /// A limit was asked for that nothing on this machine can enforce.
    NoController {
        /// The limit that was asked for.
        limit: Limit,
        /// Why neither cgroup2 nor v1 can do it.
        why: String,
    },
    /// A limit was asked for that the kernel would refuse, or that would let nothing run.
    OutOfRange {
        /// The limit that was asked for.
        limit: Limit,
        /// The value that was asked for.
        value: u64,
    },
    /// There is no cgroup2 tree to work in.
    NoTree {
        /// Why not.
        why: String,
    },
    /// The name cannot be the name of a sandbox's directory.
    BadName {
        /// The name as given.
        name: String,
    },
    /// Processes sit in the sandbox's own directory, so its leaves cannot count memory. Call
    /// [`Group::shelter_init`](super::Group::shelter_init) first.
    InitInTheWay {
        /// The sandbox's cgroup2 directory.
        path: PathBuf,
    },
    /// Something the kernel was asked for did not happen in time.
    NotInTime {
        /// What was waited for, as "freeze" or "empty".
        action: &'static str,
        /// The directory concerned.
        path: PathBuf,
        /// How long it was waited for.
        within: Duration,
    },
    /// The group has been destroyed and makes no more leaves.
    Destroyed {
        /// The sandbox's name.
        name: String,
    },
    /// Directories that could not be removed in time.
    Left {
        /// What is still there, deepest first.
        paths: Vec<PathBuf>,
        /// Why the last of them could not be removed.
        cause: io::Error,
    },
    /// An operation on a file or directory of the tree failed.
    Io {
        /// What was tried, as "read" or "make".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the kernel said.
        cause: io::Error,
    },
}

impl Error {
    /// Wraps what the kernel said about `path`.
    pub(super) fn io(action: &'static str, path: &Path, cause: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), cause }
    }

    /// True if the directory is not there (any more).
    ///
    /// An open file of a removed cgroup answers ENODEV where a path answers ENOENT
    /// (kernfs: an operation on a deactivated node).
    pub(super) fn is_gone(&self) -> bool {
        self.cause().is_some_and(gone)
    }

    /// True if the kernel refused the value itself.
    pub(super) fn is_invalid(&self) -> bool {
        self.cause().and_then(io::Error::raw_os_error) == Some(libc::EINVAL)
    }

    /// The kernel's answer, if there was one.
    pub fn cause(&self) -> Option<&io::Error> {
        match self {
            Self::Io { cause, .. } | Self::Left { cause, .. } => Some(cause),
            Self::NoController { .. }
            | Self::OutOfRange { .. }
            | Self::NoTree { .. }
            | Self::BadName { .. }
            | Self::InitInTheWay { .. }
            | Self::NotInTime { .. }
            | Self::Destroyed { .. } => None,
        }
    }

    /// What the user can do about it, if that is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoController { .. } => Some(
                "run `atoll doctor`; start atoll as root, or by `systemd-run --user --scope -p Delegate=yes`, or leave the limit out",
            ),
            Self::NoTree { .. } => {
                Some("run `atoll doctor`; a cgroup2 filesystem must be mounted and writable at our place in it")
            }
            Self::BadName { .. } => Some("use letters, digits, `-` and `_`, at most 128 of them"),
            Self::Left { .. } => Some("see which processes are listed in cgroup.procs there"),
            Self::OutOfRange { .. }
            | Self::InitInTheWay { .. }
            | Self::NotInTime { .. }
            | Self::Destroyed { .. }
            | Self::Io { .. } => None,
        }
    }

    fn kind(&self) -> io::ErrorKind {
        match self {
            Self::NoController { .. } | Self::NoTree { .. } => io::ErrorKind::Unsupported,
            Self::OutOfRange { .. } | Self::BadName { .. } => io::ErrorKind::InvalidInput,
            Self::InitInTheWay { .. } => io::ErrorKind::ResourceBusy,
            Self::NotInTime { .. } => io::ErrorKind::TimedOut,
            Self::Destroyed { .. } => io::ErrorKind::NotFound,
            Self::Left { cause, .. } | Self::Io { cause, .. } => cause.kind(),
        }
    }
}

/// True for the two ways in which the kernel says that a cgroup is no more.
pub(super) fn gone(cause: &io::Error) -> bool {
    cause.kind() == io::ErrorKind::NotFound || cause.raw_os_error() == Some(libc::ENODEV)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoController { limit, why } => {
                write!(f, "cannot limit {limit} on this machine: {why}")
            }
            Self::OutOfRange { limit, value } => {
                let (least, most) = limit.range();
                let unit = limit.unit();
                write!(f, "{limit} limit of {value} {unit} is out of range: must be {least} to {most}")
            }
            Self::NoTree { why } => write!(f, "no cgroup2 tree for the sandbox: {why}"),
            Self::BadName { name } => write!(f, "{name:?} cannot be a cgroup's name"),
            Self::InitInTheWay { path } => {
                write!(f, "cannot count memory per command: processes sit in {} itself", path.display())
            }
            Self::NotInTime { action, path, within } => {
                write!(f, "{} did not {action} within {within:?}", path.display())
            }
            Self::Destroyed { name } => {
                write!(f, "the cgroup of sandbox {name} is already destroyed")
            }
            Self::Left { paths, cause } => {
                write!(f, "failed to remove {}: {}", listed(paths), lower(cause))
            }
            Self::Io { action, path, cause } => {
                write!(f, "failed to {action} {}: {}", path.display(), lower(cause))
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(error.kind(), error)
    }
}

/// How many leftover directories an error names before it only counts them.
const LISTED: usize = 4;

fn listed(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths.iter().take(LISTED).map(|path| path.display().to_string()).collect();
    match paths.len().saturating_sub(LISTED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// The kernel's words without their capital, since they follow a colon.
pub(super) fn lower(cause: &io::Error) -> String {
    let text = cause.to_string();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_names_the_path_and_the_cause() {
        let denied = io::Error::from_raw_os_error(libc::EACCES);
        let error = Error::io("make", Path::new("/sys/fs/cgroup/atoll"), denied);
        assert_eq!(error.to_string(), "failed to make /sys/fs/cgroup/atoll: permission denied (os error 13)");
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_missing_controller_says_which_and_why_and_hints() {
        let why = "no memory controller is mounted".to_owned();
        let error = Error::NoController { limit: Limit::Memory, why };
        assert_eq!(error.to_string(), "cannot limit memory on this machine: no memory controller is mounted");
        assert!(error.hint().unwrap().contains("atoll doctor"));
    }

    #[test]
    fn a_long_list_of_leftovers_is_counted() {
        let paths: Vec<_> = (0..6).map(|n| PathBuf::from(format!("/c/{n}"))).collect();
        assert_eq!(listed(&paths), "/c/0, /c/1, /c/2, /c/3 and 2 more");
    }
}
