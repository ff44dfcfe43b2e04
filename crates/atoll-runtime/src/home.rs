//! Where Atoll keeps things on this machine.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use atoll_isolation::sys::identity;
use atoll_isolation::{IdMap, Ids, cgroup};

use crate::Error;

/// The file in a sandbox's directory that names its cgroups.
pub(crate) const CGROUPS: &str = "cgroups";

/// How long a dead sandbox's processes may take to go.
const SWEEP_WITHIN: Duration = Duration::from_secs(5);

/// The file in a kept directory that names the first of the ids that own its files.
const IDS: &str = "ids";

/// Atoll's directories: state that matters, and a cache that can be made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// Sandboxes.
    pub state: PathBuf,
    /// Prepared roots.
    pub cache: PathBuf,
}

/// Where a sandbox's files are, and what becomes of them when it ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Storage {
    /// A directory of its own below the home, removed when the sandbox ends, however that comes about.
    #[default]
    Own,
    /// This directory. It is made if it is not there, and stays when the sandbox ends: a later sandbox over the same
    /// directory finds its files. Its parent must exist.
    Kept(PathBuf),
}

/// A sandbox's directory, locked for as long as this lives.
#[derive(Debug)]
pub(crate) struct SandboxDir {
    pub(crate) path: PathBuf,
    pub(crate) kept: bool,
    _lock: File,
}

/// Why a kept directory cannot be used.
#[derive(Debug)]
pub(crate) enum KeptError {
    /// A sandbox lives over it.
    Busy(&'static str),
    Io(io::Error),
}

impl From<io::Error> for KeptError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
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
        let _held = self.lock()?;
        make_private(&self.sandboxes())?;
        if path.symlink_metadata().is_ok() {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists).into());
        }
        known(&path)?;
        // Closed to other users of the machine: a sandbox's files are not theirs to read, nor its setuid programs
        // theirs to run.
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        let lock = private_file(&path.join("lock"))?;
        lock.lock()?;
        make_parts(&path)?;
        Ok(SandboxDir { path, kept: false, _lock: lock })
    }

    /// Lets other users of the host traverse the directories of a sandbox without isolation, whose commands may run as any
    /// of them. They can still not list them.
    pub(crate) fn allow_traversal(&self, dir: &SandboxDir) -> io::Result<()> {
        if !dir.kept {
            let_through(&self.state)?;
            let_through(&self.sandboxes())?;
        }
        let_through(&dir.path)
    }

    /// Takes a directory that outlives its sandbox. What an earlier life left running is ended first: its agent and
    /// its keeper may both have been killed.
    pub(crate) fn open_kept(&self, path: &Path) -> Result<SandboxDir, KeptError> {
        make_if_absent(path)?;
        let lock = private_file(&path.join("lock"))?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(KeptError::Busy("a sandbox lives over it")),
            Err(TryLockError::Error(error)) => return Err(error.into()),
            Ok(()) => {}
        }
        end_cgroups(path)?;
        make_parts(path)?;
        Ok(SandboxDir { path: path.to_owned(), kept: true, _lock: lock })
    }

    /// Ids for a sandbox over `dir`: as root those that own the files in it, if there are any, else a free block that
    /// no kept directory of this home has a claim to.
    pub(crate) fn claim_ids(&self, dir: &SandboxDir) -> Result<Ids, KeptError> {
        let noted = dir.path.join(IDS);
        if let Some(base) = std::fs::read_to_string(&noted).ok().and_then(|text| text.trim().parse().ok()) {
            let ids = Ids::claim_again(base)?;
            let ids = ids.ok_or(KeptError::Busy("another sandbox has the ids that own its files"))?;
            self.reserve_again(base, &dir.path)?;
            return Ok(ids);
        }
        let ids = Ids::claim_unless(|base| self.is_reserved(base))?;
        if let (true, IdMap::Range { base, .. }) = (dir.kept, ids.map()) {
            self.reserve(base, &dir.path)?;
            write_private(&noted, &base.to_string())?;
        }
        Ok(ids)
    }

    fn reservation(&self, base: u32) -> PathBuf {
        self.state.join("ids").join(base.to_string())
    }

    /// A link to the directory; it counts for as long as the directory is there.
    fn reserve(&self, base: u32, kept: &Path) -> io::Result<()> {
        make_private_below(&self.state)?;
        make_private(&self.state.join("ids"))?;
        std::os::unix::fs::symlink(std::path::absolute(kept)?, self.reservation(base))
    }

    /// A link that leads nowhere is left by a directory that was moved.
    fn reserve_again(&self, base: u32, kept: &Path) -> io::Result<()> {
        if self.is_reserved(base) { Ok(()) } else { self.reserve(base, kept) }
    }

    /// Follows a kept directory to where it is now.
    pub(crate) fn moved(&self, dir: &mut SandboxDir, path: &Path, ids: Option<&Ids>) -> io::Result<()> {
        path.join("lock").metadata()?;
        path.clone_into(&mut dir.path);
        match ids.map(Ids::map) {
            Some(IdMap::Range { base, .. }) => self.reserve_again(base, path),
            Some(IdMap::Own { .. }) | None => Ok(()),
        }
    }

    fn is_reserved(&self, base: u32) -> bool {
        let link = self.reservation(base);
        if link.symlink_metadata().is_err() {
            return false;
        }
        // Not removed if that cannot be: then the block stays unused, which harms nobody.
        link.exists() || std::fs::remove_file(&link).is_err()
    }

    /// Held while a directory is made or judged stale: one that is not locked then belongs to nobody.
    fn lock(&self) -> io::Result<File> {
        make_private_below(&self.state)?;
        let lock = private_file(&self.state.join("lock"))?;
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
    if end_cgroups(sandbox).is_ok() {
        drop(atoll_isolation::remove_directory(sandbox));
    }
}

/// Ends what lives in the cgroups that the directory names, and removes them.
fn end_cgroups(sandbox: &Path) -> io::Result<()> {
    let groups = std::fs::read_to_string(sandbox.join(CGROUPS)).unwrap_or_default();
    groups.lines().try_for_each(|group| cgroup::kill_and_remove(Path::new(group), SWEEP_WITHIN))?;
    match std::fs::remove_file(sandbox.join(CGROUPS)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Creates a directory with mode 0700, or removes the permissions of other users from an existing one. Mode 0711 stays: a
/// sandbox without isolation needs it ([`Home::allow_traversal`]).
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    match std::fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let found = std::fs::metadata(path)?;
    if found.mode() & OTHERS_READ_OR_WRITE == 0 {
        return Ok(());
    }
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o700)).map_err(|error| {
        let (mode, owner) = (found.mode() & 0o7777, found.uid());
        let what = format!(
            "{} is accessible to other users (mode {mode:04o}), and its mode cannot be changed: {error} (its owner is user {owner}: run \
             `chmod 700` on it as that user, or set ATOLL_HOME to a directory of your own)",
            path.display()
        );
        io::Error::new(error.kind(), what)
    })
}

/// Creates a directory with mode 0700. The mode of an existing one, which the caller named, is the caller's choice.
fn make_if_absent(path: &Path) -> io::Result<()> {
    match std::fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Permissions of other users to list or change a directory.
const OTHERS_READ_OR_WRITE: u32 = 0o066;

/// The same, with missing parents, which get mode 0755.
fn make_private_below(path: &Path) -> io::Result<()> {
    if let Some(above) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o755).create(above)?;
    }
    make_private(path)
}

/// Lets other users traverse a directory, but not list it.
fn let_through(path: &Path) -> io::Result<()> {
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o711))
}

/// Creates the parts of a sandbox's directory. Sets their modes, regardless of the umask.
fn make_parts(path: &Path) -> io::Result<()> {
    for (name, mode) in [("disk", 0o711), ("logs", 0o700)] {
        let part = path.join(name);
        match std::fs::DirBuilder::new().mode(mode).create(&part) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => {
                made?;
                std::fs::set_permissions(&part, PermissionsExt::from_mode(mode))?;
            }
        }
    }
    Ok(())
}

/// Opens or creates a file with mode 0600, which other users cannot open and so cannot lock.
fn private_file(path: &Path) -> io::Result<File> {
    let file = File::options().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    if file.metadata()?.mode() & 0o077 != 0 {
        file.set_permissions(PermissionsExt::from_mode(0o600))?;
    }
    Ok(file)
}

/// Writes a file with mode 0600.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file = private_file(path)?;
    file.set_len(0)?;
    io::Write::write_all(&mut file, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn a_home_has_no_permissions_for_other_users() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(&dir.path().join("above/home"));
        let made = home.make_sandbox("one", |_| Ok::<_, io::Error>(())).unwrap();
        for closed in [&home.state, &home.sandboxes(), &made.path, &made.path.join("logs")] {
            assert_eq!(mode(closed), 0o700, "{closed:?}");
        }
        for lock in [home.state.join("lock"), made.path.join("lock")] {
            assert_eq!(mode(&lock), 0o600, "{lock:?}");
        }
    }

    #[test]
    fn permissions_that_an_earlier_version_left_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        std::fs::create_dir_all(home.sandboxes()).unwrap();
        std::fs::write(home.state.join("lock"), "").unwrap();
        for (path, open) in [(&home.state, 0o777), (&home.sandboxes(), 0o755), (&home.state.join("lock"), 0o666)] {
            std::fs::set_permissions(path, PermissionsExt::from_mode(open)).unwrap();
        }
        drop(home.make_sandbox("one", |_| Ok::<_, io::Error>(())).unwrap());
        let modes = [&home.state, &home.sandboxes(), &home.state.join("lock")].map(|path| mode(path));
        assert_eq!(modes, [0o700, 0o700, 0o600]);
    }
}
