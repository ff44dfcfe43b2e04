//! A walk by many threads: each takes names of one directory, looks at files and leaves directories for whoever is free.

use std::ffi::CStr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;

use super::directory::{Directory, Names};
use super::queue::{Queue, Task};
use super::{Context, Entry, EntryKind, Visitor};
use crate::error::{Failure, Kind};

/// More threads gain nothing: the disk and the page cache are shared.
const MAX_THREADS: usize = 8;
/// How many files one thread takes at a time, by the bytes of their names.
const FILES_AT_ONCE: usize = 2048;
/// How many directories. Fewer, so that a tree is spread early.
const DIRECTORIES_AT_ONCE: usize = 128;

pub(super) fn run<V: Visitor>(context: &Context<'_>, root: Arc<Directory>, visitor: impl Fn() -> V + Sync) {
    let queue = Queue::default();
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let mut first = Worker { context, queue: &queue, visitor: visitor(), path: Vec::new() };
    if first.list(&root).is_break() {
        return first.visitor.finish();
    }
    drop(root);
    thread::scope(|scope| {
        for _ in 1..threads {
            // Where the sandbox may have no more threads, those that are there do the work.
            let spawned = thread::Builder::new().name("walk".into()).spawn_scoped(scope, || {
                Worker { context, queue: &queue, visitor: visitor(), path: Vec::new() }.work();
            });
            if spawned.is_err() {
                break;
            }
        }
        first.work();
    });
}

struct Worker<'a, V> {
    context: &'a Context<'a>,
    queue: &'a Queue,
    visitor: V,
    path: Vec<u8>,
}

impl<V: Visitor> Worker<'_, V> {
    fn work(&mut self) {
        let mut first = true;
        while let Some(task) = self.queue.next(&mut first) {
            if self.task(task).is_break() {
                self.queue.end();
            }
        }
        self.visitor.finish();
    }

    fn task(&mut self, task: Task) -> ControlFlow<()> {
        match task {
            Task::Visit(directory, names) => self.visit_all(&directory, names),
            Task::Enter(directory, names) => self.enter_all(&directory, names),
        }
    }

    /// Reads directories one after the other; half of what is left is for a thread that has nothing to do.
    fn enter_all(&mut self, directory: &Arc<Directory>, mut names: Names) -> ControlFlow<()> {
        let mut next = 0;
        while let Some(name) = names.at(next) {
            next += name.to_bytes_with_nul().len();
            self.unless_stopped()?;
            if let Some(entered) = directory.enter(name, self.context) {
                self.list(&Arc::new(entered))?;
            }
            if self.queue.is_wanted()
                && let Some(half) = names.take_half(next)
            {
                self.leave(directory, half);
            }
        }
        ControlFlow::Continue(())
    }

    /// Reads a directory: what is in it is looked at now or by others, its directories are left in the queue.
    fn list(&mut self, directory: &Arc<Directory>) -> ControlFlow<()> {
        let (mut files, mut directories) = (Names::default(), Names::default());
        let mut flow = ControlFlow::Continue(());
        directory.read(self.context, |name, kind| {
            flow = self.sort_in(directory, name, kind, &mut files, &mut directories);
            flow.is_continue()
        });
        flow?;
        self.leave(directory, directories);
        self.visit_all(directory, files)
    }

    fn sort_in(
        &mut self,
        directory: &Arc<Directory>,
        name: &CStr,
        kind: EntryKind,
        files: &mut Names,
        directories: &mut Names,
    ) -> ControlFlow<()> {
        match kind {
            EntryKind::File => {
                files.push(name);
                if files.bytes() >= FILES_AT_ONCE {
                    self.share(directory, std::mem::take(files))?;
                }
            }
            EntryKind::Directory => {
                self.visit(directory, name, kind)?;
                if directory.goes_deeper(self.context) {
                    directories.push(name);
                }
                if directories.bytes() >= DIRECTORIES_AT_ONCE {
                    self.leave(directory, std::mem::take(directories));
                }
            }
            EntryKind::Link | EntryKind::Other => self.visit(directory, name, kind)?,
        }
        self.unless_stopped()
    }

    /// Leaves files to others, or looks at them now where too much waits.
    fn share(&mut self, directory: &Arc<Directory>, files: Names) -> ControlFlow<()> {
        match self.queue.push(Task::Visit(Arc::clone(directory), files)) {
            Err(Task::Visit(directory, files)) => self.visit_all(&directory, files),
            Ok(()) | Err(Task::Enter(..)) => ControlFlow::Continue(()),
        }
    }

    fn leave(&mut self, directory: &Arc<Directory>, directories: Names) {
        if directories.is_empty() {
            return;
        }
        if let Err(Task::Enter(directory, names)) = self.queue.push(Task::Enter(Arc::clone(directory), directories)) {
            for name in names.iter() {
                let path = directory.path(name, &mut self.path).to_vec();
                self.context.troubles.add(Failure::new(Kind::Limit, &path, "too many directories wait to be read"));
            }
        }
    }

    /// Looks at files one after the other; half of what is left is for a thread that has nothing to do.
    fn visit_all(&mut self, directory: &Arc<Directory>, mut files: Names) -> ControlFlow<()> {
        let mut next = 0;
        while let Some(name) = files.at(next) {
            next += name.to_bytes_with_nul().len();
            self.unless_stopped()?;
            self.visit(directory, name, EntryKind::File)?;
            if self.queue.is_wanted()
                && let Some(half) = files.take_half(next)
            {
                self.share(directory, half)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn visit(&mut self, directory: &Directory, name: &CStr, kind: EntryKind) -> ControlFlow<()> {
        let path = directory.path(name, &mut self.path);
        self.visitor.entry(&Entry { directory: directory.fd(), name, path, kind })
    }

    fn unless_stopped(&self) -> ControlFlow<()> {
        if self.context.stop.why().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
