//! Where Atoll keeps things on this machine.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use atoll_isolation::sys::identity;

use crate::Error;

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

    /// Makes and locks a sandbox's directory. `AlreadyExists` if the name is taken.
    pub(crate) fn make_sandbox(&self, name: &str) -> io::Result<SandboxDir> {
        let path = self.sandbox_path(name);
        std::fs::create_dir_all(self.sandboxes())?;
        std::fs::create_dir(&path)?;
        let lock = File::create(path.join("lock"))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::Error(error) => error,
            TryLockError::WouldBlock => io::Error::from(io::ErrorKind::AlreadyExists),
        })?;
        for name in ["disk", "logs"] {
            std::fs::create_dir(path.join(name))?;
        }
        Ok(SandboxDir { path, _lock: lock })
    }

    /// Removes what agents left whose keeper was killed too: directories that nobody holds a lock on.
    pub(crate) fn sweep(&self) {
        let Ok(entries) = std::fs::read_dir(self.sandboxes()) else {
            return;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let stale = File::open(path.join("lock")).is_ok_and(|lock| lock.try_lock().is_ok());
            if stale {
                // Another agent may be sweeping too: whoever comes second finds nothing.
                drop(atoll_isolation::remove_directory(&path));
            }
        }
    }
}
