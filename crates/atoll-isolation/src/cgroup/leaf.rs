//! One command's leaf: everything the command starts is in it, and nothing else.
//!
//! Owns what can be asked of and done to one command's processes. It must not wait for a command
//! to end, nor send a signal itself (a system call that the caller lends), nor outlive its use:
//! a dropped leaf may serve the next command.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::error::Error;
use super::file;
use super::freezer;
use super::limits::Home;
use super::members;
use super::patience::Patience;
use super::pool::{Cell, Pool, Reuse};
use super::usage;

/// The cgroup of one command. Made by [`Group::leaf`](super::Group::leaf).
///
/// Drop it only when no process can be started into it any more: once empty it is used again.
#[derive(Debug)]
pub struct Leaf {
    cell: Arc<Cell>,
    memory: Memory,
    held: Mutex<Held>,
    killed: AtomicBool,
    empty: AtomicBool,
    pool: Arc<Pool>,
}

/// Where the command's memory is counted.
#[derive(Debug)]
pub(super) enum Memory {
    /// With that of its sandbox.
    Shared,
    /// In the leaf itself.
    InLeaf(Home),
    /// In a v1 directory, which the command must enter by writing to the file.
    Beside { home: Home, procs: File },
}

/// Whether the command is meant to stand still. The lock is held as long as that must not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Running,
    Frozen,
}

impl Leaf {
    pub(super) fn new(cell: Arc<Cell>, memory: Memory, pool: Arc<Pool>) -> Self {
        Self {
            cell,
            memory,
            held: Mutex::new(Held::Running),
            killed: AtomicBool::new(false),
            empty: AtomicBool::new(false),
            pool,
        }
    }

    /// The same leaf, with its memory counted elsewhere than before.
    pub(super) fn counted_in(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// The directory, for clone3(2) with CLONE_INTO_CGROUP.
    pub fn dir(&self) -> BorrowedFd<'_> {
        self.cell.dir.as_fd()
    }

    /// The same as a path of the host.
    pub fn path(&self) -> &Path {
        &self.cell.path
    }

    /// The same as the number by which the kernel names it.
    pub fn inode(&self) -> u64 {
        self.cell.inode
    }

    /// `cgroup.events`: poll(2) reports POLLPRI on it when the leaf becomes empty or frozen.
    pub fn events(&self) -> BorrowedFd<'_> {
        self.cell.events.as_fd()
    }

    /// The file into which the new process itself must write "0" before it executes anything, if
    /// its memory is counted in v1. Who opened the file counts, not who writes to it.
    pub fn memory_procs(&self) -> Option<BorrowedFd<'_>> {
        match &self.memory {
            Memory::Beside { procs, .. } => Some(procs.as_fd()),
            Memory::Shared | Memory::InLeaf(_) => None,
        }
    }

    /// Moves a running process into the leaf, for want of CLONE_INTO_CGROUP. What it started
    /// before stays where it is.
    pub fn enter(&self, host_pid: u32) -> Result<(), Error> {
        let pid = host_pid.to_string();
        file::write(&self.cell.path.join("cgroup.procs"), &pid)?;
        match &self.memory {
            Memory::Beside { home: Home::V1(dir) | Home::V2(dir), .. } => file::write(&dir.join("cgroup.procs"), &pid),
            Memory::Shared | Memory::InLeaf(_) => Ok(()),
        }
    }

    /// True while anything of the command lives; zombies do not count. One pread(2).
    pub fn populated(&self) -> Result<bool, Error> {
        self.cell.populated()
    }

    /// Nothing of its command lives, as its user has seen: nothing will ever again.
    pub fn note_empty(&self) {
        self.empty.store(true, Ordering::Relaxed);
    }

    /// Waits until nothing of the command lives.
    pub fn wait_empty(&self, within: Duration) -> Result<(), Error> {
        let mut patience = Patience::new(within);
        while self.populated()? {
            if !patience.wait() {
                let path = self.cell.path.clone();
                return Err(Error::NotInTime { action: "empty", path, within });
            }
        }
        Ok(())
    }

    /// The processes in it, as the host numbers them.
    pub fn pids(&self) -> Result<Vec<u32>, Error> {
        members::of(&self.cell.path)
    }

    /// How many processes are in it.
    pub fn count(&self) -> Result<usize, Error> {
        Ok(self.pids()?.len())
    }

    /// Kills all of it at once; no fork escapes, frozen or not. They are dead when the leaf is
    /// empty, a moment later.
    pub fn kill(&self) -> Result<(), Error> {
        self.killed.store(true, Ordering::Relaxed);
        file::write(&self.cell.path.join("cgroup.kill"), "1")
    }

    /// Stops all of it, and returns when it stands still; gives up, and lets it run, if that takes
    /// longer than `within`.
    pub fn freeze(&self, within: Duration) -> Result<(), Error> {
        let mut held = self.lock();
        freezer::freeze(&self.cell.path, &self.cell.events, within)?;
        *held = Held::Frozen;
        Ok(())
    }

    /// Lets it run again.
    pub fn thaw(&self) -> Result<(), Error> {
        let mut held = self.lock();
        freezer::thaw(&self.cell.path)?;
        *held = Held::Running;
        Ok(())
    }

    /// Sends a signal to each process, once, by `send`; returns how many got it.
    ///
    /// They stand still meanwhile: none forks, and none ends before its turn, so that no number
    /// in the list can come to mean another process. (A signal that would end a process anyway
    /// does so even while it is frozen; one with a handler waits for the thaw.) SIGKILL takes the
    /// shorter way. A process that is gone is not counted; the first other refusal is returned
    /// after all have been tried.
    pub fn signal_tree(
        &self,
        signal: i32,
        within: Duration,
        send: impl Fn(u32, i32) -> io::Result<()>,
    ) -> Result<usize, Error> {
        if signal == libc::SIGKILL {
            let count = self.count()?;
            return self.kill().map(|()| count);
        }
        let held = self.lock();
        freezer::freeze(&self.cell.path, &self.cell.events, within)?;
        let sent = self.send_to_all(signal, send);
        if *held == Held::Running {
            freezer::thaw(&self.cell.path)?;
        }
        sent
    }

    fn send_to_all(&self, signal: i32, send: impl Fn(u32, i32) -> io::Result<()>) -> Result<usize, Error> {
        let mut refused = None;
        let mut count = 0;
        for pid in self.pids()? {
            match send(pid, signal) {
                Ok(()) => count += 1,
                Err(cause) if cause.raw_os_error() == Some(libc::ESRCH) => {}
                Err(cause) => refused = refused.or(Some(cause)),
            }
        }
        refused.map_or(Ok(count), |cause| Err(Error::io("signal the processes of", &self.cell.path, cause)))
    }

    /// How many of its processes were killed for want of memory; `None` if its memory is not
    /// counted apart from its sandbox's.
    pub fn oom_kills(&self) -> Result<Option<u64>, Error> {
        let (dir, name) = match self.memory_home() {
            None => return Ok(None),
            Some(Home::V2(dir)) => (dir, "memory.events"),
            Some(Home::V1(dir)) => (dir, "memory.oom_control"),
        };
        file::read_key(&dir.join(name), "oom_kill").map(Some)
    }

    /// The most memory it ever held, in bytes; `None` if this machine or leaf does not count it.
    pub fn memory_peak(&self) -> Option<u64> {
        self.memory_home().and_then(usage::memory_peak)
    }

    pub(super) fn memory_home(&self) -> Option<&Home> {
        match &self.memory {
            Memory::Shared => None,
            Memory::InLeaf(home) | Memory::Beside { home, .. } => Some(home),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Leaf {
    fn drop(&mut self) {
        if *self.lock() == Held::Frozen {
            // A leaf that cannot be thawed is gone, or is found populated and not used again.
            freezer::thaw(&self.cell.path).ok();
        }
        let reuse = match &self.memory {
            Memory::Shared => Reuse::Yes,
            Memory::InLeaf(_) => Reuse::No,
            Memory::Beside { home: Home::V1(dir) | Home::V2(dir), .. } => {
                self.pool.discard(dir);
                Reuse::Yes
            }
        };
        // The kernel counts kills of a cgroup and compares the count of the *parent's* cgroup when a process is cloned
        // into it (cgroup_css_set_fork, seen on 6.18): one that was ever killed kills whatever is born in it.
        let reuse = if self.killed.load(Ordering::Relaxed) { Reuse::No } else { reuse };
        let empty = self.empty.load(Ordering::Relaxed) || matches!(self.cell.populated(), Ok(false));
        self.pool.give_back(Arc::clone(&self.cell), empty, reuse);
    }
}
