//! The one function in which every program of every sandbox is born.
//!
//! All memory is prepared before the clone; the child makes system calls only. What fails in it is written into
//! our shared memory, so a start that did not happen is known exactly, with its stage.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use super::children::Outcome;
use crate::sys::process::StringArray;
use crate::sys::vfork::{self, Stack};
use crate::sys::{self, c_string, fd, identity, process, signal};
use crate::wire::{Session, Spawn, SpawnStage};

/// A failed start: where, and the OS error.
pub(super) type Failure = (SpawnStage, io::Error);

/// What the child does at one stage.
type Stage = fn(&Prepared<'_>) -> io::Result<()>;

/// Everything the child needs, allocated by the parent.
struct Prepared<'a> {
    request: &'a Spawn,
    candidates: Vec<CString>,
    argv: StringArray,
    env: StringArray,
    cwd: CString,
    /// What the program gets as 0, 1, 2 and so on.
    given: Vec<RawFd>,
    memory_cgroup: Option<RawFd>,
    /// The program's user is not this process's.
    other_user: bool,
}

/// Starts programs, one at a time.
#[derive(Debug)]
pub(super) struct Starter {
    stack: Stack,
    /// This process's own.
    user: (u32, u32),
}

impl Starter {
    pub(super) fn new() -> Self {
        Self { stack: Stack::new(), user: (identity::user(), identity::group()) }
    }

    /// One for another thread.
    pub(super) fn another(&self) -> Self {
        Self { stack: Stack::new(), user: self.user }
    }

    /// Starts the program. Returns once it executes, with its pid and, if wanted, its pidfd, or with the reason why it
    /// does not.
    pub(super) fn spawn(&mut self, request: &Spawn, fds: &[OwnedFd], want_pidfd: bool) -> Outcome {
        let prepared = self.prepare(request, fds).map_err(|error| (SpawnStage::Request, error))?;
        let cgroup = request.in_cgroup.then(|| fds[prepared.given.len()].as_fd());
        let mut failure: Option<(SpawnStage, i32)> = None;
        let mut child = || failure = Some(become_program(&prepared));
        let spawned = vfork::spawn(&mut self.stack, cgroup, want_pidfd, &mut child);
        let (pid, pidfd) = spawned.map_err(|error| (SpawnStage::Clone, error))?;
        if let Some((stage, errno)) = failure {
            // The child has ended by itself; it is reaped here so that nobody hears of it. Where another thread may have
            // been faster its number means nothing any more.
            drop(pidfd.map_or_else(|| process::wait_exactly(pid), |pidfd| process::wait_pidfd(pidfd.as_fd())));
            return Err((stage, io::Error::from_raw_os_error(errno)));
        }
        Ok((pid, pidfd))
    }

    fn prepare<'a>(&self, request: &'a Spawn, fds: &[OwnedFd]) -> io::Result<Prepared<'a>> {
        let given = usize::try_from(request.extras).map_or(usize::MAX, |extras| extras.saturating_add(3));
        let expected = given.saturating_add(usize::from(request.in_cgroup) + usize::from(request.in_memory_cgroup));
        if fds.len() != expected {
            return Err(io::Error::from_raw_os_error(libc::EBADF));
        }
        Ok(Prepared {
            request,
            candidates: request.candidates.iter().map(|path| c_string(path)).collect::<Result<_, _>>()?,
            argv: StringArray::new(&request.argv)?,
            env: StringArray::new(&request.env)?,
            cwd: c_string(&request.cwd)?,
            given: fds[..given].iter().map(AsRawFd::as_raw_fd).collect(),
            memory_cgroup: request.in_memory_cgroup.then(|| fds[expected - 1].as_raw_fd()),
            other_user: request.user != self.user,
        })
    }
}

/// Runs in the child. Returns only if something failed.
fn become_program(prepared: &Prepared<'_>) -> (SpawnStage, i32) {
    let stages: [(SpawnStage, Stage); 5] = [
        (SpawnStage::Cgroup, enter_memory_cgroup),
        (SpawnStage::Session, enter_session),
        (SpawnStage::Limits, set_limits),
        (SpawnStage::User, set_user),
        (SpawnStage::Cwd, enter_cwd),
    ];
    for (stage, enter) in stages {
        if let Err(error) = enter(prepared) {
            return (stage, sys::errno(&error));
        }
    }
    (SpawnStage::Exec, execute(prepared))
}

fn enter_memory_cgroup(prepared: &Prepared<'_>) -> io::Result<()> {
    prepared.memory_cgroup.map_or(Ok(()), |procs| fd::write_once(procs, b"0"))
}

fn enter_session(prepared: &Prepared<'_>) -> io::Result<()> {
    process::new_session()?;
    // Received ones lie above the socket, which lies above 2: none is overwritten before it has been put in its place,
    // as long as there are few.
    for (from, to) in prepared.given.iter().zip(0..) {
        fd::duplicate_onto(*from, to)?;
    }
    if prepared.request.session == Session::Terminal {
        process::take_terminal(0)?;
    }
    signal::unblock_all()?;
    // Closed now, not on exec: until then /proc/self/fd is a way to them, for the working directory above all
    // (CVE-2024-21626), and one of them is a directory of the host's cgroup file system.
    let given = RawFd::try_from(prepared.given.len()).unwrap_or(RawFd::MAX);
    fd::close_from(given)
}

fn set_limits(prepared: &Prepared<'_>) -> io::Result<()> {
    identity::set_umask(prepared.request.umask);
    prepared.request.limits.iter().try_for_each(|&(resource, soft, hard)| identity::set_limit(resource, soft, hard))
}

fn set_user(prepared: &Prepared<'_>) -> io::Result<()> {
    if let Some(groups) = &prepared.request.groups {
        identity::set_groups(groups)?;
    }
    if !prepared.other_user {
        return Ok(());
    }
    let (uid, gid) = prepared.request.user;
    identity::set_group(gid)?;
    identity::set_user(uid)
}

/// As the user, not before: a directory that only root may enter is closed to others.
fn enter_cwd(prepared: &Prepared<'_>) -> io::Result<()> {
    fd::change_directory(&prepared.cwd)
}

/// Tries the candidates as `execvp` would: a path that may not be executed is remembered, one that is not there is not.
fn execute(prepared: &Prepared<'_>) -> i32 {
    let mut worst = libc::ENOENT;
    let several = prepared.candidates.len() > 1;
    for candidate in &prepared.candidates {
        // A try that fails costs several times as much as a look: by then half of a new program has been made.
        if several && !fd::is_there(candidate) {
            continue;
        }
        let errno = sys::errno(&process::execute(candidate, &prepared.argv, &prepared.env));
        match errno {
            libc::ENOENT | libc::ENOTDIR => {}
            libc::EACCES => worst = errno,
            _ => return errno,
        }
    }
    worst
}
