//! Init's children: what each of them is, and what the agent is told of them.
//!
//! Shared by the thread that serves, which alone reaps, and those that start programs beside it. A child may be reaped
//! before the thread that made it has said who it is: its end is kept until then, and told behind its start.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::spawn::Failure;
use crate::channel::Channel;
use crate::sys;
use crate::sys::process::{self, Reaped};
use crate::wire::{Event, Spawn};

/// What a known child of init is.
#[derive(Debug, Clone, Copy)]
enum Role {
    /// The main process of a command.
    Command { command: u64, unstoppable: bool },
    /// The warden over a command's tree.
    Warden(u64),
}

impl Role {
    /// A command that stops its own warden would never be told to have ended.
    fn is_continued(self) -> bool {
        matches!(self, Self::Warden(_) | Self::Command { unstoppable: true, .. })
    }
}

/// What became of an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// The agent was told, or knows already.
    Told,
    /// A warden was killed: what it kept together now hangs below init.
    WardenLost(u64),
    /// Nobody asked about it.
    Orphan,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Children {
    channel: Arc<Channel>,
    known: Mutex<Known>,
    at_rest: Condvar,
}

#[derive(Debug, Default)]
struct Known {
    roles: HashMap<u32, Role>,
    /// How many of them must not stay stopped.
    continued: usize,
    /// Starts that other threads are at.
    beside: usize,
    /// Ends of children that one of those may have made.
    early: HashMap<u32, Reaped>,
}

impl Children {
    pub(super) fn new(channel: Arc<Channel>) -> Self {
        Self { channel, known: Mutex::default(), at_rest: Condvar::new() }
    }

    /// Another thread is going to start something.
    pub(super) fn expect_one(&self) {
        self.known().beside += 1;
    }

    /// Waits until no other thread is starting anything: what was asked for before has been done, and is told.
    pub(super) fn rest(&self) {
        let resting = self.at_rest.wait_while(self.known(), |known| known.beside > 0);
        drop(resting.unwrap_or_else(PoisonError::into_inner));
    }

    /// A start by the thread that serves.
    pub(super) fn started(&self, tag: u32, request: &Spawn, outcome: Outcome) -> io::Result<()> {
        self.known().started(&self.channel, tag, request, outcome)
    }

    /// A start that was expected of another thread. It must have asked for the child's pidfd.
    pub(super) fn started_beside(&self, tag: u32, request: &Spawn, outcome: Outcome) -> io::Result<()> {
        let mut known = self.known();
        let early = match &outcome {
            Ok((pid, Some(pidfd))) => known.early.remove(pid).filter(|_| process::is_reaped(pidfd.as_fd())),
            Ok((_, None)) | Err(_) => None,
        };
        let outcome = outcome.map(|(pid, pidfd)| (pid, pidfd.filter(|_| request.pidfd)));
        let told = known.started(&self.channel, tag, request, outcome);
        let told = told.and_then(|()| early.map_or(Ok(()), |ended| known.ended(&self.channel, ended).map(drop)));
        known.beside -= 1;
        if known.beside == 0 {
            known.early.clear();
            self.at_rest.notify_all();
        }
        told
    }

    /// A warden was started; it tells of its command by itself.
    pub(super) fn guarded(&self, pid: u32, command: u64) {
        self.known().insert(pid, Role::Warden(command));
    }

    /// Tells the agent of an end.
    pub(super) fn ended(&self, ended: Reaped) -> io::Result<Ended> {
        let mut known = self.known();
        let became = known.ended(&self.channel, ended)?;
        if became == Ended::Orphan && known.beside > 0 {
            known.early.insert(ended.pid, ended);
        }
        Ok(became)
    }

    /// Continues what must not stay stopped, after a look at up to `most` children. Returns how many were looked at.
    pub(super) fn keep_going(&self, most: usize) -> io::Result<usize> {
        let known = self.known();
        let mut looks = 0;
        while known.continued > 0
            && looks < most
            && let Some(pid) = process::stopped_child()
        {
            looks += 1;
            if known.roles.get(&pid).is_some_and(|role| role.is_continued()) {
                process::kill(pid, libc::SIGCONT)?;
            }
        }
        Ok(looks)
    }

    pub(super) fn pids(&self) -> Vec<u32> {
        self.known().roles.keys().copied().collect()
    }

    pub(super) fn main_of(&self, command: u64) -> Option<u32> {
        self.find(|role| matches!(role, Role::Command { command: of, .. } if of == command))
    }

    pub(super) fn warden_of(&self, command: u64) -> Option<u32> {
        self.find(|role| matches!(role, Role::Warden(of) if of == command))
    }

    fn find(&self, is_it: impl Fn(Role) -> bool) -> Option<u32> {
        self.known().roles.iter().find_map(|(pid, role)| is_it(*role).then_some(*pid))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A child that executes its program, with its pidfd if one was asked for, or why there is none.
pub(super) type Outcome = Result<(u32, Option<OwnedFd>), Failure>;

impl Known {
    fn insert(&mut self, pid: u32, role: Role) {
        self.continued += usize::from(role.is_continued());
        self.roles.insert(pid, role);
    }

    fn started(&mut self, channel: &Channel, tag: u32, request: &Spawn, outcome: Outcome) -> io::Result<()> {
        match outcome {
            Ok((pid, pidfd)) => {
                self.insert(pid, Role::Command { command: request.command, unstoppable: request.unstoppable });
                let fds: Vec<_> = pidfd.iter().map(AsFd::as_fd).collect();
                channel.send(&Event::Spawned { tag, pid }, &fds)
            }
            Err((stage, error)) => channel.send(&Event::SpawnFailed { tag, stage, errno: sys::errno(&error) }, &[]),
        }
    }

    fn ended(&mut self, channel: &Channel, ended: Reaped) -> io::Result<Ended> {
        let Reaped { pid, status, usage } = ended;
        let role = self.roles.remove(&pid);
        self.continued -= usize::from(role.is_some_and(Role::is_continued));
        match role {
            Some(Role::Command { command, .. }) => {
                channel.send(&Event::Exited { command, status, usage, alone: false }, &[])?;
                Ok(Ended::Told)
            }
            // A warden ends with 0 when its tree is empty, and has said so itself.
            Some(Role::Warden(_)) if status == 0 => Ok(Ended::Told),
            Some(Role::Warden(command)) => Ok(Ended::WardenLost(command)),
            None => Ok(Ended::Orphan),
        }
    }
}
