//! One sandbox's group: its directories, its limits, and the leaves of its commands.
//!
//! Owns the sandbox's directories from `create` to `destroy`. It must not remove them when merely
//! dropped: a sandbox outlives a handle, and a cleaner that was told [`Group::paths`] outlives us.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::error::Error;
use super::file;
use super::freezer;
use super::layout::Layout;
use super::leaf::Leaf;
use super::limits::{self, Home, LeafLimits, Limit, Limits};
use super::members;
use super::parent;
use super::places::{Places, check_name};
use super::removal;
use super::subtree::{self, Subtree};
use super::usage::Usage;

/// Who may put processes into a sandbox's leaves: root inside, by its ids on the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The user.
    pub uid: u32,
    /// The group.
    pub gid: u32,
}

/// The control groups of one sandbox. A handle: clones are the same group.
#[derive(Debug, Clone)]
pub struct Group {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    layout: Layout,
    places: Places,
    subtree: Subtree,
    limits: Mutex<Limits>,
    /// Held while limits are written, which may block; `limits` is not.
    changing: Mutex<()>,
}

impl Group {
    /// Every directory that [`Group::create`] may make for `name`, the one with the processes
    /// first. Tell them to the cleaner before they exist; it removes them in this order.
    pub fn paths(layout: &Layout, name: &str) -> Vec<PathBuf> {
        let places = Places::plan(layout, name);
        places.all().into_iter().map(Path::to_owned).collect()
    }

    /// Makes the directories of a sandbox and sets its limits. `owner` may then move processes
    /// between the sandbox's leaves, and nothing else. On failure nothing is left.
    pub fn create(layout: &Layout, name: &str, limits: &Limits, owner: Option<Owner>) -> Result<Self, Error> {
        check_name(name)?;
        limits.check()?;
        layout.require(limits)?;
        let places = Places::plan(layout, name);
        let mut made = Vec::new();
        let built = Self::build(layout, places, limits, owner, &mut made);
        built.inspect_err(|_| {
            let made: Vec<&Path> = made.iter().map(PathBuf::as_path).collect();
            // The first error is the one to report; the cleaner knows the paths.
            removal::kill_and_remove_all(&made, Duration::ZERO).ok();
        })
    }

    fn build(
        layout: &Layout,
        places: Places,
        limits: &Limits,
        owner: Option<Owner>,
        made: &mut Vec<PathBuf>,
    ) -> Result<Self, Error> {
        for dir in places.all() {
            parent::pin(dir)?;
            made.push(dir.to_owned());
        }
        let subtree = Subtree::open(layout, &places, owner)?;
        let group = Self {
            inner: Arc::new(Inner {
                layout: layout.clone(),
                places,
                subtree,
                limits: Mutex::new(Limits::default()),
                changing: Mutex::new(()),
            }),
        };
        group.set_limits(limits)?;
        Ok(group)
    }

    /// The sandbox's cgroup2 directory, for clone3(2) with CLONE_INTO_CGROUP; `None` without a tree.
    pub fn dir(&self) -> Option<BorrowedFd<'_>> {
        let branch = self.inner.subtree.branch().ok()?;
        Some(branch.dir.as_fd())
    }

    /// Puts a process, and what it starts from now on, under the limits that v1 carries. Nothing
    /// to do where v1 carries none.
    pub fn enter_v1(&self, host_pid: u32) -> Result<(), Error> {
        let pid = host_pid.to_string();
        let enter = |dir: &&Path| file::write(&dir.join("cgroup.procs"), &pid);
        self.inner.places.v1().iter().try_for_each(enter)
    }

    /// Moves init out of the sandbox's own directory, so that cgroup2 can count memory per
    /// command. Call it always, before the first leaf: nothing happens where v1 counts memory.
    ///
    /// With `nsdelegate` init may use leaves only if its cgroup namespace was made while it was
    /// in the sandbox's directory, so before this call (cgroup-v2.rst, "Delegation Containment").
    pub fn shelter_init(&self, host_pid: u32) -> Result<(), Error> {
        let Some(Home::V2(tree)) = &self.inner.places.memory else {
            return Ok(());
        };
        let shelter = tree.join("init");
        match fs::create_dir(&shelter) {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.map_err(|cause| Error::io("make", &shelter, cause))?,
        }
        file::write(&shelter.join("cgroup.procs"), &host_pid.to_string())?;
        subtree::pass_memory_on(tree)
    }

    /// Changes the limits of the running sandbox; `None` lifts one. Those before a failing one
    /// are in force.
    pub fn set_limits(&self, limits: &Limits) -> Result<(), Error> {
        limits.check()?;
        self.inner.layout.require(limits)?;
        let _one_at_a_time = lock(&self.inner.changing);
        for limit in Limit::ALL {
            self.set_limit(limit, limits.get(limit))?;
        }
        Ok(())
    }

    fn set_limit(&self, limit: Limit, value: Option<u64>) -> Result<(), Error> {
        if self.limits().get(limit) == value {
            return Ok(());
        }
        if let Some(home) = self.inner.places.home(limit) {
            limits::write(home, limit, value)?;
        }
        lock(&self.inner.limits).set(limit, value);
        Ok(())
    }

    /// The limits in force.
    pub fn limits(&self) -> Limits {
        *lock(&self.inner.limits)
    }

    /// What the sandbox uses now.
    pub fn usage(&self) -> Usage {
        Usage::read(&self.inner.places)
    }

    /// A leaf for one command. Its memory is counted apart if the sandbox's is limited and, in
    /// cgroup2, init is sheltered; otherwise [`Leaf::oom_kills`] is `None`.
    pub fn leaf(&self) -> Result<Leaf, Error> {
        let branch = self.inner.subtree.branch()?;
        if self.limits().memory_bytes.is_none() {
            return branch.plain_leaf();
        }
        match branch.counting_leaf() {
            Err(Error::InitInTheWay { .. }) => branch.plain_leaf(),
            leaf => leaf,
        }
    }

    /// A leaf for one command with limits of its own.
    pub fn leaf_with(&self, wanted: LeafLimits) -> Result<Leaf, Error> {
        let Some(bytes) = wanted.memory_bytes else {
            return self.leaf();
        };
        Limit::Memory.check(Some(bytes))?;
        let leaf = self.inner.subtree.branch()?.counting_leaf()?;
        if let Some(home) = leaf.memory_home() {
            limits::write(home, Limit::Memory, Some(bytes))?;
        }
        Ok(leaf)
    }

    /// Makes up to `count` leaves (at most 16) ahead of their use.
    pub fn warm(&self, count: usize) -> Result<(), Error> {
        self.inner.subtree.branch()?.pool.warm(count)
    }

    /// Tries again to remove leaves that were dropped while something lived in them; returns how
    /// many still are in use.
    pub fn sweep(&self) -> usize {
        let branch = self.inner.subtree.branch();
        branch.map_or(0, |branch| branch.pool.sweep())
    }

    /// Every process of the sandbox, init included, as the host numbers them.
    pub fn processes(&self) -> Result<Vec<u32>, Error> {
        match self.inner.places.all().first() {
            Some(dir) => members::below(dir),
            None => self.tree().and_then(members::below),
        }
    }

    /// Kills every process of the sandbox at once. They are dead a moment later.
    pub fn kill(&self) -> Result<(), Error> {
        file::write(&self.tree()?.join("cgroup.kill"), "1")
    }

    /// Stops the whole sandbox, and returns when it stands still; gives up, and lets it run, if
    /// that takes longer than `within`.
    pub fn freeze(&self, within: Duration) -> Result<(), Error> {
        let tree = self.tree()?;
        freezer::freeze(tree, &freezer::open_events(tree)?, within)
    }

    /// Lets the sandbox run again, except for leaves that are frozen themselves.
    pub fn thaw(&self) -> Result<(), Error> {
        freezer::thaw(self.tree()?)
    }

    /// Kills what is left and removes every directory. Waits up to `within` for the processes to
    /// be gone from each; the error names the directories that are left then.
    ///
    /// Other handles answer "already destroyed" from then on. It may be called again by one of
    /// them after a failure, so a sandbox's name must not be given to another one meanwhile.
    pub fn destroy(self, within: Duration) -> Result<(), Error> {
        if let Ok(branch) = self.inner.subtree.branch() {
            branch.pool.close();
        }
        removal::kill_and_remove_all(&self.inner.places.all(), within)
    }

    /// The sandbox's cgroup2 directory, while it is still this sandbox's.
    fn tree(&self) -> Result<&Path, Error> {
        let branch = self.inner.subtree.branch()?;
        branch.pool.must_be_open()?;
        Ok(branch.pool.tree())
    }
}

/// What these locks guard is whole after every step, so a poisoned one is taken all the same.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
