//! The warden: a process over one command's tree where no cgroup keeps it together.
//!
//! It is the reaper of everything the command leaves behind, so descent from it *is* membership. It starts the
//! command, reports its end, and ends itself when nothing is left below it. It only ever sends on the socket. Should
//! init be killed where no namespace ends with it, the warden ends its tree and then itself.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::parent_id;

use super::spawn::Starter;
use super::tree;
use crate::channel::Channel;
use crate::sys::{self, identity, process, signal};
use crate::wire::{Event, Spawn};

/// Runs the warden in the forked child; returns its exit code.
pub(super) fn run(channel: &Channel, starter: &mut Starter, tag: u32, request: &Spawn, fds: &[OwnedFd]) -> i32 {
    match guard(channel, starter, tag, request, fds) {
        Ok(()) => 0,
        Err(_) => 1,
    }
}

fn guard(channel: &Channel, starter: &mut Starter, tag: u32, request: &Spawn, fds: &[OwnedFd]) -> io::Result<()> {
    let init = parent_id();
    identity::become_subreaper()?;
    identity::tell_end_of_parent(libc::SIGHUP)?;
    process::set_name(c"warden")?;
    let main = match starter.spawn(request, fds, request.pidfd) {
        Ok((pid, pidfd)) => {
            let fds: Vec<_> = pidfd.iter().map(AsFd::as_fd).collect();
            channel.send(&Event::Spawned { tag, pid }, &fds)?;
            pid
        }
        Err((stage, error)) => {
            return channel.send(&Event::SpawnFailed { tag, stage, errno: sys::errno(&error) }, &[]);
        }
    };
    release_pipes()?;
    loop {
        // Looked at each time: the command may send HUP too, and its children may end faster than they can be reaped.
        if parent_id() != init {
            tree::end_own();
            return Ok(());
        }
        match process::reap(false) {
            Ok(Some(ended)) if ended.pid == main => {
                let (status, usage, alone) = (ended.status, ended.usage, is_alone());
                channel.send(&Event::Exited { command: request.command, status, usage, alone }, &[])?;
            }
            Ok(Some(_)) => {}
            Ok(None) => {
                keep_going(request.unstoppable.then_some(main))?;
                signal::take(&[libc::SIGCHLD, libc::SIGHUP])?;
            }
            Err(error) if error.raw_os_error() == Some(libc::ECHILD) => break,
            Err(error) => return Err(error),
        }
    }
    channel.send(&Event::TreeEmpty { command: request.command }, &[])
}

/// Continues what must not stay stopped.
fn keep_going(unstoppable: Option<u32>) -> io::Result<()> {
    while let Some(pid) = process::stopped_child() {
        if unstoppable == Some(pid) {
            process::kill(pid, libc::SIGCONT)?;
        }
    }
    Ok(())
}

/// Whether no child is left, dead or alive. The kernel knows; a look into /proc could miss one that is just forking.
fn is_alone() -> bool {
    loop {
        match process::reap(false) {
            Ok(Some(_)) => {}
            Ok(None) => return false,
            Err(error) => return error.raw_os_error() == Some(libc::ECHILD),
        }
    }
}

/// The warden must not be what keeps a command's pipes open.
fn release_pipes() -> io::Result<()> {
    sys::fd::close_from(crate::program::SOCKET + 1)
}
