//! Where segment files live: how they are named, created and removed.
//!
//! Owns the directory. Must not write or read what is in the files: `writer` and `segment` do.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::segment::{Name, Segment};

const PREFIX: &str = "output-";
const SUFFIX: &str = ".log";

/// Output may hold secrets: only the owner of the server reads it.
const FILE_MODE: u32 = 0o600;
const DIR_MODE: u32 = 0o700;

/// Where the part of a log that does not fit in memory goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Store {
    /// Named files in this directory, one log to a directory, made if missing. They are kept, and
    /// can be read later with [`Log::open`](super::Log::open).
    Dir(PathBuf),
    /// Nameless files in this directory, which must exist and may be shared by many logs. Nothing
    /// is left of them when the process ends, however it ends.
    Unlinked(PathBuf),
}

impl Store {
    /// The directory.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Dir(path) | Self::Unlinked(path) => path,
        }
    }

    /// A new, empty file for the segment that begins at `start`.
    pub(super) fn create(&self, start: u64) -> io::Result<(File, Name)> {
        match self {
            Self::Dir(dir) => {
                let path = dir.join(format!("{PREFIX}{start:020}{SUFFIX}"));
                Ok((create_new(&path)?, Name::Kept(path)))
            }
            Self::Unlinked(dir) => Ok((create_unlinked(dir)?, Name::Unlinked)),
        }
    }

    /// Makes the directory. Refuses one that holds a log: two logs in one would be read as one.
    pub(super) fn prepare(&self) -> io::Result<()> {
        let Self::Dir(dir) = self else {
            return Ok(());
        };
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(DIR_MODE).create(dir)?;
        if segment_paths(dir)?.is_empty() {
            return Ok(());
        }
        let message = format!("{} already holds an output log", dir.display());
        Err(io::Error::new(io::ErrorKind::AlreadyExists, message))
    }
}

/// The segment files in `dir`, by rising cursor: the cursor in the name has a fixed width.
pub(super) fn segment_paths(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    options.mode(FILE_MODE).open(path)
}

/// Created and unlinked at once. `O_TMPFILE` would close the instant between, but overlayfs and
/// NFS refuse it, and a stray empty file is all that instant can leave.
fn create_unlinked(dir: &Path) -> io::Result<File> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".{PREFIX}{}-{number}{SUFFIX}", std::process::id());
        let path = dir.join(name);
        match create_new(&path) {
            Ok(file) => return fs::remove_file(&path).map(|()| file),
            // Left by a process of the same id that died in that instant.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Gives a dropped segment back to the file system.
pub(super) fn remove(segment: Segment) -> io::Result<()> {
    match segment.name {
        Name::Kept(path) => fs::remove_file(path),
        Name::Unlinked => Ok(()),
    }
}
