//! The `host` root: the host's own system directories, and a base of a few public files from its /etc.
//!
//! The base is made once per state of the host and shared by all sandboxes as a read-only layer. It holds nothing
//! secret: named files only, and of those only what every user of the host may read.

mod base;
mod copy;
mod locale;

use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::sys::identity;

/// The system directories, where a host has them as directories. On a merged system only `usr` is one.
const SYSTEM: [&str; 7] = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/// A root made of the host's system directories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRoot {
    /// The prepared base.
    pub base: PathBuf,
    /// System directories to overlay.
    pub system: Vec<String>,
    /// Those of them to which the base adds something.
    pub added_to: Vec<String>,
}

/// The base could not be made.
#[derive(Debug)]
pub struct RootError {
    path: PathBuf,
    source: io::Error,
}

impl RootError {
    /// What the kernel said.
    pub fn cause(&self) -> &io::Error {
        &self.source
    }
}

impl std::fmt::Display for RootError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "failed to prepare the root at {}: {}", self.path.display(), self.source)
    }
}

impl std::error::Error for RootError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl HostRoot {
    /// Finds or makes the base below `cache`.
    pub fn prepare(cache: &Path) -> Result<Self, RootError> {
        let path = cache.join(format!("host-{:016x}", base::fingerprint()));
        let system: Vec<String> =
            SYSTEM.iter().filter(|name| is_directory(name)).map(|name| (*name).to_owned()).collect();
        if !path.is_dir() {
            make(cache, &path).map_err(|source| RootError { path: path.clone(), source })?;
        }
        make_private(cache).map_err(|source| RootError { path: cache.to_owned(), source })?;
        let has_something =
            |name: &&String| path.join(name).read_dir().is_ok_and(|mut entries| entries.next().is_some());
        let added_to = system.iter().filter(has_something).cloned().collect();
        Ok(Self { base: path, system, added_to })
    }
}

fn is_directory(name: &str) -> bool {
    Path::new("/").join(name).symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// Removes the permissions of other users from the directory of prepared roots. Every user may write to some directories of
/// a root (`/var/tmp`), and what another user of the host put there would be in every sandbox.
fn make_private(cache: &Path) -> io::Result<()> {
    let found = cache.metadata()?;
    let is_closed = found.mode() & 0o077 == 0 || found.uid() != identity::user();
    if is_closed { Ok(()) } else { std::fs::set_permissions(cache, PermissionsExt::from_mode(0o700)) }
}

/// Made under another name, then renamed: whoever sees it sees it whole, and of two makers one wins.
fn make(cache: &Path, path: &Path) -> io::Result<()> {
    copy::make_directories(cache)?;
    let draft = cache.join(format!(".draft-{}-{:?}", std::process::id(), std::thread::current().id()));
    let made = base::fill(&draft).and_then(|()| std::fs::rename(&draft, path));
    match made {
        Err(_) if path.is_dir() => std::fs::remove_dir_all(&draft),
        Err(error) => {
            drop(std::fs::remove_dir_all(&draft));
            Err(error)
        }
        Ok(()) => Ok(()),
    }
}
