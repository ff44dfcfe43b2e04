//! Every entry of a tree, by many threads at once or by one in order.
//!
//! A walk holds directory descriptors and goes down one name at a time, without following links; so a tree that is
//! being changed by others can make it miss entries, and never leads it elsewhere. It keeps no more names than
//! `queue::MAX_PENDING` bytes, tells what it could not look at ([`Troubles`]), and enters no file system that the kernel
//! makes up (`/proc`, `/sys`) unless it begins there: what looks like a file there may block, or never end.

mod directory;
mod parallel;
mod queue;
mod rules;
mod sorted;
mod troubles;

use std::ffi::CStr;
use std::ops::ControlFlow;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use crate::stop::Stop;

use directory::Directory;
pub use rules::{Choice, Hidden, Ignored};
pub use troubles::Troubles;

/// How deep a walk goes. Each level may hold a descriptor.
pub const MAX_DEPTH: usize = 512;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link; never followed.
    Link,
    /// A fifo, a socket or a device; never opened.
    Other,
}

/// One entry of the tree.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The directory it is in.
    pub directory: BorrowedFd<'a>,
    /// Its name there.
    pub name: &'a CStr,
    /// Its path from the root of the walk.
    pub path: &'a [u8],
    /// What it was when its name was read.
    pub kind: EntryKind,
}

/// What looks at entries. Each thread has its own.
pub trait Visitor: Send {
    /// Looks at one entry. `Break` ends the walk of every thread.
    fn entry(&mut self, entry: &Entry<'_>) -> ControlFlow<()>;

    /// The walk is over for this thread, to its end or not.
    fn finish(&mut self) {}
}

/// In which order entries come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// As they are found, by this many threads or as many as there are processors.
    #[default]
    Found,
    /// By name, each directory before what is in it. One thread.
    Sorted,
}

/// A tree to walk.
#[derive(Debug)]
pub struct Walk<'a> {
    /// Its root, open for reading.
    pub root: OwnedFd,
    /// Which entries are looked at.
    pub choice: &'a Choice,
    /// In which order.
    pub order: Order,
    /// How many levels below the root; the root's own entries are level one.
    pub depth: usize,
    /// When to end early.
    pub stop: &'a Stop,
    /// What could not be looked at.
    pub troubles: &'a Troubles,
}

impl Walk<'_> {
    /// Walks to the end, or until a visitor or `stop` ends it. `visitor` makes one for each thread.
    pub fn run<V: Visitor>(self, visitor: impl Fn() -> V + Sync) {
        let context =
            Context { choice: self.choice, depth: self.depth.min(MAX_DEPTH), stop: self.stop, troubles: self.troubles };
        let root = match Directory::root(self.root, self.choice) {
            Ok(root) => Arc::new(root),
            Err(failure) => return self.troubles.add(failure),
        };
        match self.order {
            Order::Found => parallel::run(&context, root, visitor),
            Order::Sorted => sorted::run(&context, root, &mut visitor()),
        }
    }
}

/// What all threads of a walk share.
#[derive(Debug, Clone, Copy)]
struct Context<'a> {
    choice: &'a Choice,
    depth: usize,
    stop: &'a Stop,
    troubles: &'a Troubles,
}

#[cfg(test)]
mod tests;
