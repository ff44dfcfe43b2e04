//! Names by pattern: every entry of a tree whose path matches.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use rustix::fs::{Mode, OFlags};

use super::budget::{Budget, Limits, Truncated};
use super::find::told_path;
use super::{Hidden, Ignored, Order, Summary};
use crate::error::{Failure, Kind, Result};
use crate::stop::Stop;
use crate::tree::Tree;
use crate::walk::{Choice, Entry, EntryKind, MAX_DEPTH, Troubles, Visitor, Walk};

/// How many names are handed over at once.
const PORTION: usize = 512;

/// Names that are asked for.
#[derive(Debug, Clone, Default)]
pub struct Glob {
    /// Patterns over the path from the root: `*` and `?` stay within a name, `**` does not.
    pub patterns: Vec<String>,
    /// Globs of what is left out; a directory that matches is not entered.
    pub exclude: Vec<String>,
    /// Names that begin with a dot.
    pub hidden: Hidden,
    /// What `.gitignore` and `.ignore` name.
    pub ignored: Ignored,
    /// In which order.
    pub order: Order,
    /// How many levels; none for all.
    pub depth: Option<usize>,
    /// When it is enough.
    pub limits: Limits,
}

/// One name that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its path, from the root as it was asked for.
    pub path: Vec<u8>,
    /// What it is.
    pub kind: EntryKind,
}

impl Glob {
    /// Finds names below the directory `root`, and hands them over as they are found.
    pub fn run(
        &self,
        tree: &Tree,
        root: &[u8],
        stop: &Stop,
        deliver: impl Fn(Vec<Named>) -> ControlFlow<()> + Sync,
    ) -> Result<Summary> {
        let set = self.set()?;
        let choice = Choice::new(&[], &self.exclude, self.hidden, self.ignored)?;
        let opened = tree.open(root, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::DIRECTORY, Mode::empty())?;
        let stop = stop.after(self.limits.time);
        let (troubles, budget, matches) = (Troubles::default(), Budget::new(&self.limits), AtomicU64::new(0));
        let walk = Walk {
            root: opened,
            choice: &choice,
            order: self.order,
            depth: self.depth.unwrap_or(MAX_DEPTH),
            stop: &stop,
            troubles: &troubles,
        };
        let shared = Shared { set: &set, budget: &budget, root, deliver: &deliver, matches: &matches };
        walk.run(|| Namer { shared, names: Vec::new() });
        if let Some(why) = stop.why() {
            budget.end(Truncated::from(why));
        }
        let (troubles, first_troubles) = troubles.into_told();
        let (matches, truncated) = (matches.into_inner(), budget.truncated());
        Ok(Summary { matches, truncated, troubles, first_troubles, ..Summary::default() })
    }

    fn set(&self) -> Result<GlobSet> {
        let refuse = |why: String| Failure::new(Kind::Invalid, b"", why);
        if self.patterns.is_empty() {
            return Err(refuse("there is no pattern".into()));
        }
        let mut set = GlobSetBuilder::new();
        for pattern in &self.patterns {
            if pattern.starts_with('/') {
                return Err(refuse(format!(
                    "the glob `{pattern}` begins at the root, but names are found below a directory"
                )));
            }
            let glob = GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build();
            set.add(glob.map_err(|error| refuse(format!("the glob `{pattern}` cannot be read: {error}")))?);
        }
        set.build().map_err(|error| refuse(format!("the globs cannot be read: {error}")))
    }
}

/// What the threads share.
#[derive(Clone, Copy)]
struct Shared<'a> {
    set: &'a GlobSet,
    budget: &'a Budget,
    root: &'a [u8],
    deliver: &'a (dyn Fn(Vec<Named>) -> ControlFlow<()> + Sync),
    matches: &'a AtomicU64,
}

/// One thread's part.
struct Namer<'a> {
    shared: Shared<'a>,
    names: Vec<Named>,
}

impl Visitor for Namer<'_> {
    fn entry(&mut self, entry: &Entry<'_>) -> ControlFlow<()> {
        if !self.shared.set.is_match(Path::new(OsStr::from_bytes(entry.path))) {
            return ControlFlow::Continue(());
        }
        let path = told_path(self.shared.root, entry.path);
        let bytes = u64::try_from(path.len()).unwrap_or(u64::MAX);
        if !self.shared.budget.take_match() || !self.shared.budget.take_bytes(bytes) {
            return ControlFlow::Break(());
        }
        self.shared.matches.fetch_add(1, Ordering::Relaxed);
        self.names.push(Named { path, kind: entry.kind });
        if self.names.len() >= PORTION { self.hand_over() } else { ControlFlow::Continue(()) }
    }

    fn finish(&mut self) {
        // Whether somebody still takes names no longer matters: these were the last.
        let _flow = self.hand_over();
    }
}

impl Namer<'_> {
    fn hand_over(&mut self) -> ControlFlow<()> {
        let names = std::mem::take(&mut self.names);
        if names.is_empty() {
            return ControlFlow::Continue(());
        }
        let flow = (self.shared.deliver)(names);
        if flow.is_break() {
            self.shared.budget.end(Truncated::Cancelled);
        }
        flow
    }
}
