//! A search from its root to its summary.

use std::fs::File;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::budget::{Budget, Truncated};
use super::sink::{Deliver, FileSink, Stoppable};
use super::{Binary, Detail, MAX_LINE, Search, Summary};
use crate::error::{At, Failure, Kind, Result};
use crate::path::join;
use crate::stop::Stop;
use crate::tree::{Tree, readable};
use crate::walk::{Choice, Entry, EntryKind, MAX_DEPTH, Troubles, Visitor, Walk};

impl Search {
    /// Searches the file or the tree at `root`, and hands over what is found as it is found, a file's hits in order.
    ///
    /// What is wrong with the request, or with the root itself, is an error; all else is told in the summary.
    pub fn run(
        &self,
        tree: &Tree,
        root: &[u8],
        stop: &Stop,
        deliver: impl Fn(Vec<super::Hit>) -> ControlFlow<()> + Sync,
    ) -> Result<Summary> {
        let choice = Choice::new(&self.include, &self.exclude, self.hidden, self.ignored)?;
        let matcher = self.pattern.matcher()?;
        let opened = tree.open(root, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty())?;
        let stat = rustix::fs::fstat(&opened).at(root)?;
        let stop = stop.after(self.limits.time);
        let shared = Shared {
            search: self,
            matcher,
            budget: Budget::new(&self.limits),
            deliver: &deliver,
            stop: &stop,
            troubles: Troubles::default(),
            files: AtomicU64::new(0),
            files_matched: AtomicU64::new(0),
            matches: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
        };
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            shared.walk(opened, root, &choice);
        } else {
            readable(&opened, &stat, root)?;
            // One file: whether more is wanted makes no difference.
            let _over = shared.finder(root).file(opened, root);
        }
        if let Some(why) = stop.why() {
            shared.budget.end(Truncated::from(why));
        }
        Ok(shared.summary())
    }

    fn searcher(&self) -> Searcher {
        let lines = self.detail == Detail::Lines;
        let mut builder = SearcherBuilder::new();
        builder
            .line_number(lines)
            .before_context(if lines { self.before } else { 0 })
            .after_context(if lines { self.after } else { 0 })
            .multi_line(self.pattern.is_multiline())
            .heap_limit(Some(MAX_LINE))
            .memory_map(MmapChoice::never())
            .binary_detection(match self.binary {
                Binary::Skip => BinaryDetection::quit(0),
                Binary::Report => BinaryDetection::convert(0),
                Binary::Text => BinaryDetection::none(),
            });
        builder.build()
    }
}

/// What the threads of a search share.
struct Shared<'a> {
    search: &'a Search,
    matcher: RegexMatcher,
    budget: Budget,
    deliver: Deliver<'a>,
    stop: &'a Stop,
    troubles: Troubles,
    files: AtomicU64,
    files_matched: AtomicU64,
    matches: AtomicU64,
    bytes_read: AtomicU64,
}

impl Shared<'_> {
    fn walk(&self, root: OwnedFd, path: &[u8], choice: &Choice) {
        let walk = Walk {
            root,
            choice,
            order: self.search.order,
            depth: self.search.depth.unwrap_or(MAX_DEPTH),
            stop: self.stop,
            troubles: &self.troubles,
        };
        walk.run(|| self.finder(path));
    }

    fn finder<'a>(&'a self, root: &'a [u8]) -> Finder<'a> {
        Finder { shared: self, root, searcher: self.search.searcher() }
    }

    fn summary(self) -> Summary {
        let (troubles, first_troubles) = self.troubles.into_told();
        Summary {
            files: self.files.into_inner(),
            files_matched: self.files_matched.into_inner(),
            matches: self.matches.into_inner(),
            bytes_read: self.bytes_read.into_inner(),
            truncated: self.budget.truncated(),
            troubles,
            first_troubles,
        }
    }
}

/// One thread's part of a search.
struct Finder<'a> {
    shared: &'a Shared<'a>,
    root: &'a [u8],
    searcher: Searcher,
}

impl Visitor for Finder<'_> {
    fn entry(&mut self, entry: &Entry<'_>) -> ControlFlow<()> {
        if entry.kind != EntryKind::File {
            return ControlFlow::Continue(());
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(entry.directory, entry.name, flags, Mode::empty()) {
            Ok(file) => self.file(file, &told_path(self.root, entry.path)),
            // Removed or exchanged since its name was read.
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO | Errno::ISDIR) => ControlFlow::Continue(()),
            Err(errno) => {
                self.shared.troubles.add(Failure::from_errno(errno, &told_path(self.root, entry.path)));
                ControlFlow::Continue(())
            }
        }
    }
}

impl Finder<'_> {
    fn file(&mut self, file: OwnedFd, path: &[u8]) -> ControlFlow<()> {
        let shared = self.shared;
        match rustix::fs::fstat(&file) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
                if let Err(failure) = readable(&file, &stat, path) {
                    shared.troubles.add(failure);
                    return ControlFlow::Continue(());
                }
            }
            _ => return ControlFlow::Continue(()),
        }
        let mut sink = FileSink {
            matcher: &shared.matcher,
            budget: &shared.budget,
            deliver: shared.deliver,
            detail: shared.search.detail,
            binary: shared.search.binary,
            path: path.to_vec(),
            found: 0,
            per_file: shared.search.limits.matches_per_file,
            over: false,
            hits: Vec::new(),
            held: 0,
        };
        let mut reader = Stoppable { inner: File::from(file), stop: shared.stop, read: 0 };
        let searched = self.searcher.search_reader(&shared.matcher, &mut reader, &mut sink);
        sink.close();
        shared.files.fetch_add(1, Ordering::Relaxed);
        shared.bytes_read.fetch_add(reader.read, Ordering::Relaxed);
        if sink.found > 0 {
            shared.files_matched.fetch_add(1, Ordering::Relaxed);
            let told = if shared.search.detail == Detail::Lines { sink.found } else { 1 };
            shared.matches.fetch_add(told, Ordering::Relaxed);
        }
        if let Err(error) = searched
            && shared.stop.why().is_none()
        {
            shared.troubles.add(trouble(&error, path));
        }
        if sink.over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn trouble(error: &std::io::Error, path: &[u8]) -> Failure {
    if Errno::from_io_error(error).is_none() && error.to_string().contains("allocation limit") {
        return Failure::new(Kind::TooLarge, path, format!("has a line longer than {MAX_LINE} bytes"));
    }
    Failure::from_io(error, path)
}

/// A path of the walk, as it is told: from the root as it was asked for.
pub(super) fn told_path(root: &[u8], path: &[u8]) -> Vec<u8> {
    if root == b"." { path.to_vec() } else { join(root, path) }
}
