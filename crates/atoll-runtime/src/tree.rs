//! All the processes of one command: counting, signalling and ending them together.
//!
//! Where there is a cgroup2 the kernel keeps the tree; where not, a warden over it does.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use atoll_isolation::cgroup::{self, Leaf};
use atoll_isolation::sys::process;
use atoll_isolation::wire::Members;
use atoll_protocol::Signal;

use crate::Error;
use crate::link::Link;
use crate::session::part::Part;

/// How long the kernel may take to hold a tree still while it is signalled. It takes microseconds; a process deep in
/// the kernel may take its time, and is then signalled in motion.
const FREEZE_WITHIN: Duration = Duration::from_millis(50);

/// Whom a signal is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SignalScope {
    /// The main process alone.
    #[default]
    Main,
    /// Every process of the command.
    Tree,
}

/// The tree of one command.
#[derive(Debug)]
pub(crate) enum Tree {
    /// Kept by the kernel.
    Cgroup(Leaf),
    /// Kept by a warden inside; named by the command.
    Warden(u64),
    /// Part of a session's.
    Part(Part),
}

impl Tree {
    /// How many of it are alive.
    pub(crate) async fn count(&self, link: &Link) -> u64 {
        match self {
            Self::Cgroup(leaf) => match leaf.populated() {
                Ok(false) => 0,
                _ => leaf.count().map_or(0, |count| count as u64),
            },
            Self::Warden(_) => self.inside_pids(link).await.len() as u64,
            Self::Part(part) => part.count(link).await,
        }
    }

    /// Those that live, as they are numbered inside.
    pub(crate) async fn inside_pids(&self, link: &Link) -> Vec<u32> {
        let members = match self {
            Self::Cgroup(leaf) => {
                return leaf.pids().unwrap_or_default().into_iter().filter_map(process::innermost_pid).collect();
            }
            Self::Warden(command) => Members::Command { command: *command },
            Self::Part(part) => part.members(),
        };
        link.members(members).await.unwrap_or_default()
    }

    /// How many outlive the main process. A warden that has not said otherwise has at least one below it, even if none
    /// was seen: one that is just forking can slip through a look.
    pub(crate) async fn survivors(&self, link: &Link) -> u64 {
        match self {
            Self::Cgroup(_) | Self::Part(_) => self.count(link).await,
            Self::Warden(_) => self.count(link).await.max(1),
        }
    }

    /// Whether nothing of it is left, as far as can be told without asking init (a warden says so by itself).
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Cgroup(leaf) => leaf.populated().is_ok_and(|populated| !populated),
            Self::Warden(_) | Self::Part(_) => false,
        }
    }

    /// Sends a signal to all of it. Returns how many got it.
    pub(crate) async fn signal(&self, link: &Link, signal: i32) -> Result<u64, Error> {
        match self {
            Self::Cgroup(leaf) => {
                match leaf.signal_tree(signal, FREEZE_WITHIN, |pid, signal| ignore_gone(process::kill(pid, signal))) {
                    Err(cgroup::Error::NotInTime { .. }) => Ok(signal_in_motion(leaf, signal)),
                    other => other,
                }
                .map(|count| count as u64)
                .map_err(|error| Error::Internal { what: format!("failed to signal the command's processes: {error}") })
            }
            Self::Warden(command) => link.sweep(Members::Command { command: *command }, signal).await,
            Self::Part(part) => part.signal(link, signal).await,
        }
    }

    /// Kills all of it, at once. Returns how many there were.
    pub(crate) async fn kill(&mut self, link: &Link) -> u64 {
        match self {
            Self::Cgroup(leaf) => {
                let count = leaf.count().map_or(0, |count| count as u64);
                // Tried again by the caller until the tree is empty.
                drop(leaf.kill());
                count
            }
            Self::Warden(command) => {
                let members = Members::Command { command: *command };
                link.sweep(members, Signal::KILL.number()).await.unwrap_or(0)
            }
            Self::Part(part) => part.kill(link).await,
        }
    }

    /// Whether the kernel killed one of its processes for want of memory.
    pub(crate) fn oom_killed(&self) -> bool {
        match self {
            Self::Cgroup(leaf) => leaf.oom_kills().is_ok_and(|kills| kills.is_some_and(|kills| kills > 0)),
            Self::Warden(_) | Self::Part(_) => false,
        }
    }

    /// A part of a session's tree whose command is over and has left these.
    pub(crate) fn over(&mut self, left: Vec<u32>) {
        match self {
            Self::Part(part) => part.over(left),
            Self::Cgroup(_) | Self::Warden(_) => {}
        }
    }
}

/// For a tree that does not stand still: each by descriptor, and only if it is still a member then.
fn signal_in_motion(leaf: &Leaf, signal: i32) -> usize {
    let members = leaf.pids().unwrap_or_default();
    let opened: Vec<_> = members.iter().filter_map(|pid| Some((*pid, process::open_pidfd(*pid).ok()?))).collect();
    let still = leaf.pids().unwrap_or_default();
    let reached =
        |(pid, pidfd): &&(u32, OwnedFd)| still.contains(pid) && process::signal_pidfd(pidfd.as_fd(), signal).is_ok();
    opened.iter().filter(reached).count()
}

/// A process that has ended in the meantime needs no signal.
fn ignore_gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => Ok(()),
        other => other,
    }
}
