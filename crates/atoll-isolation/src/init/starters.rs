//! Threads that start programs beside the one that serves.
//!
//! A thread that starts a program waits until it executes, and on a busy machine that may take a while. Where several
//! programs are wanted at once, these take some of the starts. There are none until then, and never more than a few:
//! they count as processes of the sandbox.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::children::Children;
use super::spawn::Starter;
use crate::sys::process;
use crate::wire::Spawn;

/// How many there may be, on however many CPUs; on fewer, one for each. A program that is being made waits for its CPU
/// like any other, so with as many starts as CPUs one of those would still be idle now and then.
const MOST: usize = 4;

/// Room for few frames: the child has a stack of its own.
const STACK: usize = 128 * 1024;

/// One program to start.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) tag: u32,
    pub(super) spawn: Spawn,
    pub(super) fds: Vec<OwnedFd>,
}

/// The serving thread's hold on them.
#[derive(Debug)]
pub(super) struct Starters {
    children: Arc<Children>,
    jobs: Sender<Job>,
    taken: Arc<Mutex<Receiver<Job>>>,
    idle: Arc<AtomicUsize>,
    there: usize,
    /// As many as there may be; `None` until that was looked at.
    most: Option<usize>,
}

impl Starters {
    pub(super) fn new(children: Arc<Children>) -> Self {
        let (jobs, taken) = channel();
        Self { children, jobs, taken: Arc::new(Mutex::new(taken)), idle: Arc::default(), there: 0, most: None }
    }

    /// Gives a job to one that has none, if there is one or can be. Otherwise it is given back.
    pub(super) fn give(&mut self, job: Job, like: &Starter) -> Option<Job> {
        if self.idle.load(Ordering::Acquire) == 0 && !self.add_one(like) {
            return Some(job);
        }
        self.idle.fetch_sub(1, Ordering::AcqRel);
        self.children.expect_one();
        // They hold the other end as long as they live, and so does this.
        self.jobs.send(job).err().map(|back| back.0)
    }

    fn add_one(&mut self, like: &Starter) -> bool {
        let most = *self.most.get_or_insert_with(|| process::cpus().min(MOST));
        if self.there >= most {
            return false;
        }
        let (children, taken, idle) = (Arc::clone(&self.children), Arc::clone(&self.taken), Arc::clone(&self.idle));
        let starter = like.another();
        let thread = thread::Builder::new().stack_size(STACK);
        if thread.spawn(move || start_all(&children, &taken, &idle, starter)).is_err() {
            // No room for one now; then it goes without.
            self.most = Some(self.there);
            return false;
        }
        self.there += 1;
        self.idle.fetch_add(1, Ordering::AcqRel);
        true
    }
}

fn start_all(children: &Children, taken: &Mutex<Receiver<Job>>, idle: &AtomicUsize, mut starter: Starter) {
    loop {
        let next = taken.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { tag, spawn, fds }) = next else { return };
        let outcome = starter.spawn(&spawn, &fds, true);
        drop(fds);
        idle.fetch_add(1, Ordering::AcqRel);
        // If nobody hears any more, the serving thread finds out by itself.
        drop(children.started_beside(tag, &spawn, outcome));
    }
}
