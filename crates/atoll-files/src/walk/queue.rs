//! What is still to be walked, shared by the threads of one walk: last in, first out, so that a walk goes deep before
//! it goes wide and holds few directories open.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use super::directory::{Directory, Names};

/// How many bytes of names may wait. A directory with more subdirectories than that is not walked whole, and told of.
pub(super) const MAX_PENDING: usize = 64 << 20;

/// Names of one directory that wait for a thread.
#[derive(Debug)]
pub(super) enum Task {
    /// Directories to be read.
    Enter(Arc<Directory>, Names),
    /// Files to be looked at.
    Visit(Arc<Directory>, Names),
}

impl Task {
    fn bytes(&self) -> usize {
        match self {
            Self::Enter(_, names) | Self::Visit(_, names) => names.bytes(),
        }
    }
}

#[derive(Debug, Default)]
struct State {
    tasks: Vec<Task>,
    bytes: usize,
    working: usize,
    over: bool,
}

/// The queue.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    idle: AtomicUsize,
}

impl Queue {
    /// Adds a task, or gives it back where too much waits already.
    pub(super) fn push(&self, task: Task) -> Result<(), Task> {
        let mut state = self.state.lock().expect("nobody panics with the lock held");
        if state.bytes + task.bytes() > MAX_PENDING {
            return Err(task);
        }
        state.bytes += task.bytes();
        state.tasks.push(task);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// The next task for a thread that has done its last. None when all is done, or the walk is over.
    pub(super) fn next(&self, first: &mut bool) -> Option<Task> {
        let mut state = self.state.lock().expect("nobody panics with the lock held");
        if !std::mem::take(first) {
            state.working -= 1;
        }
        loop {
            if state.over {
                return None;
            }
            if let Some(task) = state.tasks.pop() {
                state.bytes -= task.bytes();
                state.working += 1;
                return Some(task);
            }
            if state.working == 0 {
                state.over = true;
                self.changed.notify_all();
                return None;
            }
            self.idle.fetch_add(1, Ordering::Relaxed);
            state = self.changed.wait(state).expect("nobody panics with the lock held");
            self.idle.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Whether some thread has nothing to do.
    pub(super) fn is_wanted(&self) -> bool {
        self.idle.load(Ordering::Relaxed) > 0
    }

    /// Ends the walk of every thread.
    pub(super) fn end(&self) {
        let mut state = self.state.lock().expect("nobody panics with the lock held");
        state.over = true;
        state.tasks.clear();
        self.changed.notify_all();
    }
}
