//! The leaves of one sandbox that nobody uses: idle ones to use again, stale ones to remove.
//!
//! Owns the cgroup2 directories of leaves between their uses. Its lock guards two lists and
//! nothing else: no file is touched while it is held.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::{Error, gone};
use super::file;
use super::freezer;
use super::group::Owner;

/// How many empty leaves are kept. Each holds two descriptors of the agent and some kilobytes of
/// the kernel; more than this many commands at once in one sandbox are rare enough to pay a mkdir.
pub(super) const IDLE_CAP: usize = 16;

/// Each time so many more stale leaves have gathered, they are tried again. Every one of them
/// holds a live process, so their number is bounded by the limit on processes.
const SWEEP_EVERY: usize = 64;

/// A leaf's cgroup2 directory, with what is needed of it often.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) path: PathBuf,
    /// O_PATH is all that clone3(2) wants of CLONE_INTO_CGROUP.
    pub(super) dir: File,
    pub(super) events: File,
    /// By which the kernel names it.
    pub(super) inode: u64,
}

/// Whether a leaf may serve a second command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reuse {
    /// Nothing of the first command shows in it.
    Yes,
    /// Its counters would.
    No,
}

/// The idle and stale leaves of one sandbox.
#[derive(Debug)]
pub(super) struct Pool {
    tree: PathBuf,
    owner: Option<Owner>,
    made: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Open { idle: Vec<Arc<Cell>>, stale: Vec<PathBuf> },
    Closed,
}

impl Cell {
    fn open(path: PathBuf, owner: Option<Owner>) -> Result<Self, Error> {
        if let Some(owner) = owner {
            hand_over(&path, owner)?;
        }
        let events = freezer::open_events(&path)?;
        let dir = open_directory(&path)?;
        let inode = dir.metadata().map_err(|cause| Error::io("look at", &path, cause))?.ino();
        Ok(Self { path, dir, events, inode })
    }

    /// True while a process that is no zombie is in it.
    pub(super) fn populated(&self) -> Result<bool, Error> {
        Ok(file::reread_key(&self.events, &self.path, "populated")? != 0)
    }
}

/// Opens a directory for clone3(2).
pub(super) fn open_directory(path: &Path) -> Result<File, Error> {
    OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_DIRECTORY)
        .open(path)
        .map_err(|cause| Error::io("open", path, cause))
}

/// Lets `owner` put processes into the directory, and no more than that.
pub(super) fn hand_over(dir: &Path, owner: Owner) -> Result<(), Error> {
    let path = dir.join("cgroup.procs");
    chown(&path, Some(owner.uid), Some(owner.gid)).map_err(|cause| Error::io("change the owner of", &path, cause))
}

type Shared = Arc<Cell>;

impl Pool {
    pub(super) fn new(tree: PathBuf, owner: Option<Owner>) -> Self {
        Self {
            tree,
            owner,
            made: AtomicU64::new(0),
            state: Mutex::new(State::Open { idle: Vec::with_capacity(IDLE_CAP), stale: Vec::new() }),
        }
    }

    /// The sandbox's cgroup2 directory.
    pub(super) fn tree(&self) -> &Path {
        &self.tree
    }

    /// An empty leaf, from the idle ones if there is one.
    pub(super) fn take(&self) -> Result<Shared, Error> {
        // It was empty when it came, and only we let anything in.
        match self.pop()? {
            Some(cell) => Ok(cell),
            None => self.make(),
        }
    }

    /// A new leaf.
    pub(super) fn make(&self) -> Result<Shared, Error> {
        let path = self.tree.join(self.next_name());
        fs::create_dir(&path).map_err(|cause| Error::io("make", &path, cause))?;
        let opened = Cell::open(path.clone(), self.owner).map(Shared::new);
        opened.inspect_err(|_| self.discard(&path))
    }

    /// An error once the sandbox is destroyed: its paths may mean another one by now.
    pub(super) fn must_be_open(&self) -> Result<(), Error> {
        self.idle().map(drop)
    }

    /// A name that no leaf of this sandbox had.
    pub(super) fn next_name(&self) -> String {
        format!("leaf-{}", self.made.fetch_add(1, Ordering::Relaxed))
    }

    /// Takes a leaf whose command is over: idle if it is empty, else removed when it is.
    pub(super) fn give_back(&self, cell: Shared, empty: bool, reuse: Reuse) {
        let path = cell.path.clone();
        if !(empty && reuse == Reuse::Yes && self.shelve(cell)) {
            self.discard(&path);
        }
    }

    /// Removes a directory, now or later. Not any more once closed: a sandbox of the same name may
    /// have taken the place since, and the path may be that of its leaf.
    pub(super) fn discard(&self, path: &Path) {
        let refused = |cause: io::Error| !gone(&cause);
        if self.must_be_open().is_ok() && fs::remove_dir(path).is_err_and(refused) && self.park(path) {
            self.sweep();
        }
    }

    /// Tries again to remove what was still in use; says how many still are.
    pub(super) fn sweep(&self) -> usize {
        let mut stale = match &mut *self.lock() {
            State::Open { stale, .. } => std::mem::take(stale),
            State::Closed => return 0,
        };
        stale.retain(|path| fs::remove_dir(path).is_err_and(|cause| !gone(&cause)));
        match &mut *self.lock() {
            State::Open { stale: now, .. } => {
                now.append(&mut stale);
                now.len()
            }
            State::Closed => 0,
        }
    }

    /// Makes leaves ahead of their use, up to `wanted` idle ones.
    pub(super) fn warm(&self, wanted: usize) -> Result<(), Error> {
        for _ in self.idle()?..wanted.min(IDLE_CAP) {
            let cell = self.make()?;
            self.give_back(cell, true, Reuse::Yes);
        }
        Ok(())
    }

    /// No more leaves from now on. What is on disk is removed with the sandbox.
    pub(super) fn close(&self) {
        // The old state, and so its descriptors, is dropped after the lock.
        let _old = std::mem::replace(&mut *self.lock(), State::Closed);
    }

    fn idle(&self) -> Result<usize, Error> {
        match &*self.lock() {
            State::Open { idle, .. } => Ok(idle.len()),
            State::Closed => Err(self.destroyed()),
        }
    }

    fn pop(&self) -> Result<Option<Shared>, Error> {
        match &mut *self.lock() {
            State::Open { idle, .. } => Ok(idle.pop()),
            State::Closed => Err(self.destroyed()),
        }
    }

    fn shelve(&self, cell: Shared) -> bool {
        match &mut *self.lock() {
            State::Open { idle, .. } if idle.len() < IDLE_CAP => {
                idle.push(cell);
                true
            }
            State::Open { .. } | State::Closed => false,
        }
    }

    /// Notes a directory to remove later; true if it is time to try them all.
    fn park(&self, path: &Path) -> bool {
        match &mut *self.lock() {
            State::Open { stale, .. } => {
                stale.push(path.to_owned());
                stale.len() % SWEEP_EVERY == 0
            }
            State::Closed => false,
        }
    }

    fn destroyed(&self) -> Error {
        let name = self.tree.file_name().unwrap_or_default();
        Error::Destroyed { name: name.to_string_lossy().into_owned() }
    }

    /// A panic elsewhere leaves both lists valid, so a poisoned lock is taken all the same.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
