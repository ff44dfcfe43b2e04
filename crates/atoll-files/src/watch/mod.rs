//! What happens in a tree, as it happens.
//!
//! The kernel tells of one directory at a time (inotify); this makes it a tree. A new directory is watched first and
//! read afterwards, so nothing that is made in it meanwhile is lost; what is read and what is told may say the same
//! twice, never too little. `map` is what is watched, `queue` what the kernel has told, `engine` what follows from it.
//!
//! Whoever plays the events over an empty tree, and empties it at every [`Change::Overflow`], has the tree that is
//! there once the watcher has caught up. Events may name things that have gone since; their end is told later.

mod engine;
mod log;
mod map;
mod queue;

use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;

use rustix::fs::{Mode, OFlags};

pub use log::{Log, TooOld};

use crate::error::Result;
use crate::stop::Stop;
use crate::tree::Tree;
use crate::walk::{Choice, Hidden, Ignored};
use engine::Engine;

/// How many directories a watch may hold unless told otherwise. Each costs the kernel about a kilobyte.
pub const USUAL_DIRECTORIES: u64 = 65_536;

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It is there.
    Created,
    /// Its content has changed.
    Modified,
    /// Its mode, owner, times or attributes have changed.
    Attributes,
    /// It is gone, with all that was in it.
    Removed,
    /// It has another name now, with all that is in it.
    Renamed {
        /// Its path before.
        from: Vec<u8>,
    },
    /// More happened than could be told. All that was told before is void; what is there follows as created.
    Overflow,
    /// Everything that was there when the watch began, or after an overflow, has been told.
    Settled,
    /// The directory that is watched is gone, or has another name. Nothing follows.
    Gone,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What.
    pub change: Change,
    /// To which path, from the root of the watch; empty for the root itself.
    pub path: Vec<u8>,
    /// Whether it is a directory.
    pub directory: bool,
}

/// A watch that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    /// Globs that a file must match to be told of, if there is any.
    pub include: Vec<String>,
    /// Globs of what is not told of; a directory that matches is not watched.
    pub exclude: Vec<String>,
    /// Whether directories below the root are watched too.
    pub recursive: bool,
    /// Whether what is there at the beginning is told as created.
    pub existing: bool,
    /// How many directories may be watched.
    pub directories: u64,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            include: Vec::new(),
            exclude: Vec::new(),
            recursive: true,
            existing: false,
            directories: USUAL_DIRECTORIES,
        }
    }
}

impl Watch {
    /// Watches until stopped, until `hang_up` is readable or closed, until `deliver` ends it, or until the root is gone.
    ///
    /// Too many directories are an error, at the beginning or later: a watch that sees only a part is none.
    pub fn run(
        &self,
        tree: &Tree,
        root: &[u8],
        stop: &Stop,
        hang_up: Option<BorrowedFd<'_>>,
        mut deliver: impl FnMut(Vec<Event>) -> ControlFlow<()>,
    ) -> Result<()> {
        let choice = Choice::new(&self.include, &self.exclude, Hidden::Included, Ignored::Included)?;
        let root = tree.open(root, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
        let mut engine = Engine::new(self, &choice, root)?;
        engine.begin()?;
        loop {
            if let ControlFlow::Break(()) = engine.hand_over(&mut deliver) {
                return Ok(());
            }
            if engine.is_over() || stop.why().is_some() || !engine.wait(hang_up)? {
                return Ok(());
            }
            engine.work(stop)?;
        }
    }
}

#[cfg(test)]
mod tests;
