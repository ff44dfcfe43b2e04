//! Where Atoll keeps things on this machine.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use atoll_isolation::cgroup;
use atoll_isolation::sys::identity;

use crate::Error;

/// The file in a sandbox's directory that names its cgroups.
pub(crate) const CGROUPS: &str = "cgroups";

/// How long a dead sandbox's processes may take to go.
const SWEEP_WITHIN: Duration = Duration::from_secs(5);

/// Atoll's directories: state that matters, and a cache that can be made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// Sandboxes.
    pub state: PathBuf,
    /// Prepared roots.
    pub cache: PathBuf,
}

/// A sandbox's directory, locked for as long as this lives.
#[derive(Debug)]
pub(crate) struct SandboxDir {
    pub(crate) path: PathBuf,
    _lock: File,
}

impl Home {
    /// `$ATOLL_HOME` if set; as root /var/lib/atoll and /var/cache/atoll; else the user's XDG directories.
    pub fn discover() -> Result<Self, Error> {
        if let Some(home) = std::env::var_os("ATOLL_HOME").filter(|home| !home.is_empty()) {
            return Ok(Self::at(Path::new(&home)));
        }
        if identity::user() == 0 {
            return Ok(Self { state: "/var/lib/atoll".into(), cache: "/var/cache/atoll".into() });
        }
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let below = |variable: &str, fallback: &str| {
            let given = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            given.or_else(|| home.as_ref().map(|home| home.join(fallback))).map(|path| path.join("atoll"))
        };
        match (below("XDG_STATE_HOME", ".local/state"), below("XDG_CACHE_HOME", ".cache")) {
            (Some(state), Some(cache)) => Ok(Self { state, cache }),
            _ => Err(Error::invalid("neither HOME nor ATOLL_HOME is set: there is no place to keep sandboxes")),
        }
    }

    /// Everything below one directory.
    pub fn at(path: &Path) -> Self {
        Self { state: path.join("state"), cache: path.join("cache") }
    }

    fn sandboxes(&self) -> PathBuf {
        self.state.join("sandboxes")
    }

    /// Where a sandbox of this name will be.
    pub(crate) fn sandbox_path(&self, name: &str) -> PathBuf {
        self.sandboxes().join(name)
    }

    /// Makes and locks a sandbox's directory. `AlreadyExists` if the name is taken. `known` is called before anything
    /// is made, when it is certain that the directory will be ours.
    pub(crate) fn make_sandbox<E: From<io::Error>>(
        &self,
        name: &str,
        known: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<SandboxDir, E> {
        let path = self.sandbox_path(name);
        std::fs::create_dir_all(self.sandboxes())?;
        let _held = self.lock()?;
        if path.symlink_metadata().is_ok() {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists).into());
        }
        known(&path)?;
        // Closed to other users of the machine: a sandbox's files are not theirs to read, nor its setuid programs
        // theirs to run.
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        let lock = File::create(path.join("lock"))?;
        lock.lock()?;
        for name in ["disk", "logs"] {
            std::fs::create_dir(path.join(name))?;
        }
        Ok(SandboxDir { path, _lock: lock })
    }

    /// Held while a directory is made or judged stale: one that is not locked then belongs to nobody.
    fn lock(&self) -> io::Result<File> {
        let lock = File::create(self.state.join("lock"))?;
        lock.lock()?;
        Ok(lock)
    }

    /// Removes what agents left whose keeper was killed too: directories that nobody holds a lock on, and the cgroups
    /// that they name.
    pub(crate) fn sweep(&self) {
        let Ok(entries) = std::fs::read_dir(self.sandboxes()) else { return };
        let Ok(_held) = self.lock() else { return };
        for entry in entries.flatten().filter(|entry| !is_locked(&entry.path())) {
            remove_stale(&entry.path());
        }
    }
}

fn is_locked(sandbox: &Path) -> bool {
    File::open(sandbox.join("lock")).is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

/// What cannot be removed now stays named in the directory, for the next time.
fn remove_stale(sandbox: &Path) {
    let groups = std::fs::read_to_string(sandbox.join(CGROUPS)).unwrap_or_default();
    let gone = groups.lines().all(|group| cgroup::kill_and_remove(Path::new(group), SWEEP_WITHIN).is_ok());
    if gone {
        drop(atoll_isolation::remove_directory(sandbox));
    }
}
