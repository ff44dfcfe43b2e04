//! The keeper: a small process on the host's side that outlives its agent by a moment, to remove what the kernel
//! does not remove by itself: cgroups and directories. One per agent.
//!
//! It is told of a thing before the thing is made. It does nothing else until its agent is gone, and ignores the signals that
//! a terminal or a service manager sends to the agent's group.

use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::cgroup;
use crate::channel::Channel;
use crate::program::SOCKET;
use crate::removal::remove_directory;
use crate::sys::{fd, process, signal};
use crate::wire::{KeeperRequest, Kept};

/// How long a cgroup's processes may take to die: the kernel is tearing down whole namespaces meanwhile.
const PATIENCE: Duration = Duration::from_secs(20);

/// How soon a directory that would not go is tried again.
const REMOVE_AGAIN: Duration = Duration::from_millis(5);

pub(crate) fn run() -> ExitCode {
    match keep() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn keep() -> io::Result<()> {
    process::new_session()?;
    process::set_name(c"atoll-keeper")?;
    signal::block_all()?;
    let channel = Channel::new(fd::inherited(SOCKET)?);
    let mut kept: Vec<(Kept, PathBuf)> = Vec::new();
    // An error is an end too: an agent that is killed with our answer unread leaves a reset connection behind.
    while let Ok(Some((request, _))) = channel.receive() {
        match request {
            KeeperRequest::Keep { kind, path } => {
                kept.push((kind, PathBuf::from(std::ffi::OsString::from_vec(path))));
                // Whoever is gone is noticed by the next receive; what was kept so far must not be forgotten for it.
                drop(channel.send(&true, &[]));
            }
            KeeperRequest::Forget { path } => {
                let path = PathBuf::from(std::ffi::OsString::from_vec(path));
                kept.retain(|(_, other)| *other != path);
            }
        }
    }
    clean_up(&kept)
}

/// Cgroups first: what they hold may still be writing into the directories. Goes on past failures.
fn clean_up(kept: &[(Kept, PathBuf)]) -> io::Result<()> {
    let mut outcome = Ok(());
    for (kind, path) in kept.iter().rev() {
        if *kind == Kept::Cgroup {
            outcome = cgroup::kill_and_remove(path, PATIENCE).map_err(io::Error::from).and(outcome);
        }
    }
    for (kind, path) in kept {
        if *kind == Kept::Directory {
            outcome = remove_patiently(path).and(outcome);
        }
    }
    outcome
}

/// Where no cgroup holds them, its processes may still be dying, and writing, for a moment.
fn remove_patiently(path: &Path) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match remove_directory(path) {
            Err(_) if Instant::now() < deadline => std::thread::sleep(REMOVE_AGAIN),
            done => return done,
        }
    }
}
