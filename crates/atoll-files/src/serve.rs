//! The worker: takes requests off one socket, serves each in a thread, ends when the socket closes.
//!
//! A connection, handed over as a descriptor, carries one request after the other, and has a thread for itself while it
//! is open. Threads are kept for the next one; there are as many as connections were ever open at once, up to a limit,
//! beyond which they wait.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use atoll_isolation::sys::socket;
use rustix::fs::{Mode, OFlags};

use crate::ask::{Ask, Told};
use crate::error::{Failure, Kind, Result};
use crate::line::Line;
use crate::read::{Open, Reading};
use crate::stop::Stop;
use crate::tree::{Reach, Tree};
use crate::watch::Watch;
use crate::write::{Writing, Written};
use crate::{change, copy, list, path, read, remove};

/// Requests at once. The agent sends no more; a watch is one for as long as it lasts.
const THREADS: usize = 256;

/// Enough for the deepest recursion (a tree of 256 levels), and only touched pages count.
const STACK: usize = 1024 * 1024;

/// What is read of a file at a time.
const PIECE: usize = 256 * 1024;

/// The same of data that is here already.
const SMALL: usize = 16 * 1024;

/// What has more goes out by reference: for less it is not worth its system calls.
const LARGE: u64 = 128 * 1024;

/// Between how many entries somebody looks whether anyone still waits.
const LOOK_EVERY: u32 = 256;

/// Serves until the agent hangs up.
pub fn serve(control: &OwnedFd) -> io::Result<()> {
    let pool = Arc::new(Pool::default());
    let mut byte = [0; 8];
    loop {
        match socket::receive(control.as_fd(), &mut byte) {
            Ok(Some((_, mut fds))) => {
                if let Some(fd) = fds.pop() {
                    pool.take(UnixStream::from(fd));
                }
            }
            Ok(None) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // What is under way is brought to its end.
    pool.drain();
    Ok(())
}

#[derive(Debug, Default)]
struct Pool {
    state: Mutex<State>,
    /// There is a request.
    more: Condvar,
    /// There is one less under way.
    done: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<UnixStream>,
    threads: usize,
    idle: usize,
}

impl Pool {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(self: &Arc<Self>, request: UnixStream) {
        let mut state = self.state();
        state.waiting.push_back(request);
        if state.idle >= state.waiting.len() || state.threads >= THREADS {
            self.more.notify_one();
            return;
        }
        let pool = Arc::clone(self);
        let spawned = std::thread::Builder::new().stack_size(STACK).spawn(move || pool.work());
        match spawned {
            Ok(_) => state.threads += 1,
            // There may be no more threads. Those that are there take it; if there are none, it is told why.
            Err(error) if state.threads == 0 => {
                if let Some(request) = state.waiting.pop_back() {
                    let why = format!("the sandbox may not have more processes: {error}");
                    Line::new(request).end(Err(Failure::new(Kind::Limit, b"", why)));
                }
            }
            Err(_) => {}
        }
    }

    fn work(&self) {
        loop {
            let mut state = self.state();
            state.idle += 1;
            self.done.notify_one();
            let request = loop {
                match state.waiting.pop_front() {
                    Some(request) => break request,
                    None => state = self.more.wait(state).unwrap_or_else(PoisonError::into_inner),
                }
            };
            state.idle -= 1;
            drop(state);
            answer(&mut Line::new(request));
        }
    }

    fn drain(&self) {
        let mut state = self.state();
        while state.idle < state.threads || !state.waiting.is_empty() {
            state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Serves a connection to its end.
fn answer(line: &mut Line) {
    let root = root();
    loop {
        let ask = match line.ask() {
            Ok(Some(ask)) => ask,
            Ok(None) => return,
            Err(failure) => return line.end(Err(failure)),
        };
        let goes_on = ask.leaves_the_line();
        let outcome = match &root {
            Ok(tree) => perform(tree, ask, line),
            Err(failure) => Err(failure.clone()),
        };
        let went_well = outcome.is_ok();
        line.end(outcome);
        if !goes_on || !went_well {
            return;
        }
    }
}

fn root() -> Result<Tree> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open("/", flags, Mode::empty()).map_err(|errno| Failure::from_errno(errno, b"/"))?;
    Ok(Tree::new(root, Reach::Anywhere))
}

fn perform(tree: &Tree, ask: Ask, line: &mut Line) -> Result<()> {
    let watched = line.watch();
    let calls = std::cell::Cell::new(0_u32);
    // A look costs a system call: not between any two files.
    let gone = || {
        calls.set(calls.get().wrapping_add(1));
        calls.get().is_multiple_of(LOOK_EVERY) && crate::line::is_gone(&watched)
    };
    match ask {
        Ask::Read { path, range, condition, unless, head } => {
            path::check(&path)?;
            reading(line, read::open(tree, &path, range, &condition, &unless)?, head)
        }
        Ask::Write { path, options } => {
            path::check(&path)?;
            let written = writing(line, Writing::at(tree, &path, options)?)?;
            let Written { facts, created, atomic } = written;
            line.tell(&Told::Written { facts, created, atomic })
        }
        Ask::Stat { path, follow } => {
            path::check(&path)?;
            line.tell(&Told::Found { facts: list::stat(tree, &path, follow)? })
        }
        Ask::List { path, options } => {
            path::check(&path)?;
            let listed = list::list(tree, &path, &options, &mut |path, facts| line.tell_entry(path, facts))?;
            line.tell(&Told::Listed { more: listed.more, unreadable: listed.unreadable })
        }
        Ask::MakeDirectory { path, parents, mode } => {
            path::check(&path)?;
            let (facts, created) = change::make_directory(tree, &path, parents, mode)?;
            line.tell(&Told::Made { facts, created })
        }
        Ask::Remove { path, recursive, missing_ok, condition } => {
            path::check(&path)?;
            let removed =
                remove::check(tree, &path, &condition).and_then(|()| remove::remove(tree, &path, recursive, &gone));
            let count = match removed {
                Err(failure) if missing_ok && failure.kind == Kind::NotFound => 0,
                other => other?,
            };
            line.tell(&Told::Counted { count })
        }
        Ask::Rename { from, to, replace, parents, across } => {
            both(&from, &to)?;
            let facts = change::rename(tree, (&from, &to), replace, parents, across, &gone)?;
            line.tell(&Told::Found { facts })
        }
        Ask::Copy { from, to, recursive, replace, parents } => {
            both(&from, &to)?;
            let options = copy::Options { recursive, replace, parents };
            line.tell(&Told::Counted { count: copy::copy(tree, (&from, &to), options, &gone)? })
        }
        Ask::SetMode { path, mode, recursive } => {
            path::check(&path)?;
            line.tell(&Told::Counted { count: change::set_mode(tree, &path, mode, recursive, &gone)? })
        }
        Ask::Task { task, path, options } => crate::task::perform(tree, task, &path, &options, line),
        Ask::MakeLink { path, target, replace, parents } => {
            path::check(&path)?;
            let facts = change::make_link(tree, &path, &target, replace, parents)?;
            line.tell(&Told::Found { facts })
        }
        Ask::Watch { path, watch } => {
            path::check(&path)?;
            watching(line, tree, &path, &watch, &watched)
        }
    }
}

fn both(from: &[u8], to: &[u8]) -> Result<()> {
    path::check(from)?;
    path::check(to)
}

fn reading(line: &mut Line, reading: Reading, head: bool) -> Result<()> {
    let open = match reading {
        Reading::Open(open) => open,
        Reading::Unchanged(facts) => return line.tell(&Told::Unchanged { facts }),
        Reading::OutOfRange(facts) => return line.tell(&Told::OutOfRange { facts }),
    };
    line.tell(&Told::Opened { facts: open.facts.clone(), offset: open.offset, length: open.length })?;
    if head {
        return Ok(());
    }
    let done = if open.length.is_some_and(|length| length > LARGE) { pages(line, &open)? } else { 0 };
    let left = open.length.map_or(PIECE as u64, |length| length - done);
    let size = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
    open.rest(done, &mut vec![0; size], &mut |bytes| line.send(bytes))
}

/// Sends as much of a file by reference as it has pages. Returns how much that is.
fn pages(line: &mut Line, open: &Open) -> Result<u64> {
    let length = open.length.unwrap_or(0);
    let mut done = 0;
    while done < length {
        match line.send_pages(open.file(), open.offset + done, length - done)? {
            Some(0) => return Err(open.shorter()),
            Some(count) => done += count as u64,
            None => break,
        }
    }
    Ok(done)
}

fn writing(line: &mut Line, mut writing: Writing) -> Result<Written> {
    let mut buffer = if line.has_all_data() {
        vec![0; SMALL]
    } else {
        // What can be refused before its bytes are here is.
        writing.check_early()?;
        vec![0; PIECE]
    };
    loop {
        if let Some((file, path)) = writing.spooled()
            && line.data_into(file, path)? > 0
        {
            continue;
        }
        match line.data(&mut buffer)? {
            0 => {
                let mut old = None;
                let written = writing.finish(&mut old);
                line.close_later(old);
                return written;
            }
            count => writing.write(&buffer[..count])?,
        }
    }
}

/// Tells what happens until nobody listens.
fn watching(line: &mut Line, tree: &Tree, path: &[u8], watch: &Watch, hang_up: &UnixStream) -> Result<()> {
    let mut told = Ok(());
    let ended = watch.run(tree, path, &Stop::never(), Some(hang_up.as_fd()), |events| {
        told =
            events.into_iter().try_for_each(|event| line.tell(&Told::Happened { event })).and_then(|()| line.flush());
        if told.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    told.and(ended)
}
