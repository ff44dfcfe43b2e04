//! The sandbox's part of the cgroup2 tree, in which its leaves are made.
//!
//! Owns the sandbox's open directory, the pool, and the choice of where a command's memory is
//! counted. It must not set a sandbox's limits, and must not move processes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::Error;
use super::file;
use super::group::Owner;
use super::layout::{Controller, Layout, Tree};
use super::leaf::{Leaf, Memory};
use super::limits::{Home, Limit};
use super::parent;
use super::places::Places;
use super::pool::{self, Pool};

/// The sandbox's part of the cgroup2 tree.
#[derive(Debug)]
pub(super) enum Subtree {
    Present(Branch),
    Missing { why: String },
}

/// What there is of it.
#[derive(Debug)]
pub(super) struct Branch {
    pub(super) dir: File,
    pub(super) pool: Arc<Pool>,
    counting: Counting,
}

/// Where the memory of a command can be counted apart from its sandbox's.
#[derive(Debug)]
enum Counting {
    /// In its leaf, once this directory passes the controller on.
    V2(PathBuf),
    /// In a directory of its own in this one.
    V1(PathBuf),
    Nowhere {
        why: String,
    },
}

impl Subtree {
    /// Opens the sandbox's cgroup2 directory, which exists, and so pins the shared one: only now
    /// are controllers enabled there, because nobody can remove and remake it any more.
    pub(super) fn open(layout: &Layout, places: &Places, owner: Option<Owner>) -> Result<Self, Error> {
        let (mount, parent) = match &layout.tree {
            Tree::Cgroup2 { mount, parent } => (mount, parent),
            Tree::Unavailable { why } => return Ok(Self::Missing { why: why.clone() }),
        };
        let Some(tree) = &places.tree else {
            let why = "the sandbox has no place in it".to_owned();
            return Ok(Self::Missing { why });
        };
        let lacking = parent::lacking(tree, &places.limits_v2())?;
        for (_, enabled) in parent::enable_down(mount, parent, &lacking) {
            enabled?;
        }
        let counting = Counting::choose(layout, places);
        Branch::open(tree, owner, counting).map(Self::Present)
    }

    /// What there is, or an error that says why there is nothing.
    pub(super) fn branch(&self) -> Result<&Branch, Error> {
        match self {
            Self::Present(branch) => Ok(branch),
            Self::Missing { why } => Err(Error::NoTree { why: why.clone() }),
        }
    }
}

impl Branch {
    fn open(tree: &Path, owner: Option<Owner>, counting: Counting) -> Result<Self, Error> {
        if let Some(owner) = owner {
            pool::hand_over(tree, owner)?;
        }
        Ok(Self { dir: pool::open_directory(tree)?, pool: Arc::new(Pool::new(tree.to_owned(), owner)), counting })
    }

    /// A leaf whose memory is counted with its sandbox's.
    pub(super) fn plain_leaf(&self) -> Result<Leaf, Error> {
        Ok(self.leaf(self.pool.take()?, Memory::Shared))
    }

    /// A leaf whose memory is counted apart, from zero: never one that served before.
    pub(super) fn counting_leaf(&self) -> Result<Leaf, Error> {
        self.pool.must_be_open()?;
        match &self.counting {
            Counting::V2(tree) => {
                pass_memory_on(tree)?;
                let cell = self.pool.make()?;
                let home = Home::V2(cell.path.clone());
                Ok(self.leaf(cell, Memory::InLeaf(home)))
            }
            Counting::V1(dir) => {
                let leaf = self.plain_leaf()?;
                let memory = make_beside(dir.join(self.pool.next_name()), &self.pool)?;
                Ok(leaf.counted_in(memory))
            }
            Counting::Nowhere { why } => Err(Error::NoController { limit: Limit::Memory, why: why.clone() }),
        }
    }

    fn leaf(&self, cell: Arc<pool::Cell>, memory: Memory) -> Leaf {
        Leaf::new(cell, memory, Arc::clone(&self.pool))
    }
}

impl Counting {
    fn choose(layout: &Layout, places: &Places) -> Self {
        match (&places.memory, &layout.controllers.memory) {
            (Some(Home::V2(tree)), _) => Self::V2(tree.clone()),
            (Some(Home::V1(dir)), _) => Self::V1(dir.clone()),
            (None, Controller::Missing { why }) => Self::Nowhere { why: why.clone() },
            (None, Controller::V2 | Controller::V1(_)) => {
                Self::Nowhere { why: "the sandbox has no memory cgroup".to_owned() }
            }
        }
    }
}

/// Lets leaves count memory themselves. The kernel refuses with EBUSY while processes sit in the
/// directory (cgroup-v2.rst, "No Internal Process Constraint").
pub(super) fn pass_memory_on(tree: &Path) -> Result<(), Error> {
    match parent::enable(tree, Limit::Memory.controller()) {
        Err(Error::Io { cause, .. }) if cause.kind() == io::ErrorKind::ResourceBusy => {
            Err(Error::InitInTheWay { path: tree.to_owned() })
        }
        enabled => enabled,
    }
}

/// Makes a v1 memory directory for one command.
fn make_beside(dir: PathBuf, pool: &Pool) -> Result<Memory, Error> {
    fs::create_dir(&dir).map_err(|cause| Error::io("make", &dir, cause))?;
    let procs = file::open_to_write(&dir.join("cgroup.procs"));
    let procs = procs.inspect_err(|_| pool.discard(&dir))?;
    let home = Home::V1(dir);
    Ok(Memory::Beside { home, procs })
}
