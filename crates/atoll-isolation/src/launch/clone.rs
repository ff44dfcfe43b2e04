//! The one place where the agent makes a process: clone3 into everything new, a few calls, exec of the init program.
//!
//! Between clone and exec the child is a copy of a threaded process, so it only makes system calls; everything it
//! needs was allocated before.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use super::LaunchError;
use crate::program::SOCKET;
use crate::spec::IdMap;
use crate::sys::process::{self, Cloned, StringArray};
use crate::sys::{fd, identity, signal, socket};

/// Descriptors that the child moves to their places are at least this high before, so that no move overwrites another.
pub(super) const FREE: RawFd = 10;

/// Where the program sits for the moment before it is executed.
const PROGRAM: RawFd = SOCKET + 1;

/// What the new process is born into.
#[derive(Debug)]
pub(super) struct Into<'a> {
    pub(super) namespaces: u64,
    pub(super) cgroup: Option<BorrowedFd<'a>>,
    pub(super) ids: Option<IdMap>,
    /// Whether this process was dumpable before it made any sandbox.
    pub(super) dumpable: bool,
}

impl Into<'_> {
    /// Runs `act` as the ids that the new user namespace shall belong to: the kernel charges what is made inside to the
    /// namespace's creator, and a block of ids belongs to one sandbox alone.
    fn as_owner<T>(&self, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self.ids {
            Some(IdMap::Range { base, .. }) => identity::with_effective((base, base), self.dumpable, act),
            Some(IdMap::Own { .. }) | None => act(),
        }
    }
}

/// A process that waits for our word before it executes.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) pid: u32,
    pidfd: OwnedFd,
    /// Its user namespace, if that is a new one.
    pub(super) user_namespace: Option<OwnedFd>,
}

/// Clones; the child waits on `theirs` for one byte, then becomes root inside (if ids are mapped) and executes `program`.
pub(super) fn start(
    program: BorrowedFd<'_>,
    theirs: BorrowedFd<'_>,
    argv: &[&str],
    into: Option<&Into<'_>>,
) -> io::Result<Started> {
    let argv = StringArray::new(argv)?;
    let env = StringArray::new::<&str>(&[])?;
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    let null = fd::duplicate_above(null.as_fd(), FREE)?;
    let ids = into.and_then(|into| into.ids);
    let (namespaces, cgroup) = into.map_or((0, None), |into| (into.namespaces, into.cgroup));
    let clone = || match process::clone_into(namespaces, cgroup)? {
        Cloned::Child => {
            let error = become_program(program, theirs, null.as_fd(), ids, &argv, &env);
            process::exit_now(error.raw_os_error().unwrap_or(1))
        }
        Cloned::Parent(pid, pidfd) => {
            let mut started = Started { pid, pidfd, user_namespace: None };
            if let Some(ids) = ids {
                write_maps(pid, ids)?;
                started.user_namespace = Some(std::fs::File::open(format!("/proc/{pid}/ns/user"))?.into());
            }
            Ok(started)
        }
    };
    match into {
        Some(into) => into.as_owner(clone),
        None => clone(),
    }
}

impl Started {
    /// Lets the process go on.
    pub(super) fn go(self, ours: BorrowedFd<'_>) -> Result<OwnedFd, LaunchError> {
        socket::send(ours, b"g", &[]).map_err(|error| LaunchError::new("let init start", error))?;
        Ok(self.pidfd)
    }
}

/// In the child. Returns only on failure.
fn become_program(
    program: BorrowedFd<'_>,
    socket: BorrowedFd<'_>,
    null: BorrowedFd<'_>,
    ids: Option<IdMap>,
    argv: &StringArray,
    env: &StringArray,
) -> io::Error {
    match prepare(program, socket, null, ids) {
        Ok(program) => process::execute_fd(program, argv, env),
        Err(error) => error,
    }
}

fn prepare<'a>(
    program: BorrowedFd<'a>,
    socket: BorrowedFd<'_>,
    null: BorrowedFd<'_>,
    ids: Option<IdMap>,
) -> io::Result<BorrowedFd<'a>> {
    // For good: a Ctrl-C is for the agent, and no signal from inside is for init. Commands get an open mask.
    signal::block_all()?;
    for standard in 0..3 {
        fd::duplicate_onto(null.as_raw_fd(), standard)?;
    }
    fd::duplicate_onto(socket.as_raw_fd(), SOCKET)?;
    let program = fd::move_onto(program, PROGRAM)?;
    // Everything of the agent is closed here, its own end of the socket too: if it dies now, we see it.
    fd::close_from(PROGRAM + 1)?;
    fd::close_on_exec_from(PROGRAM)?;
    if fd::read_byte(SOCKET)?.is_none() {
        return Err(io::Error::from_raw_os_error(libc::EPIPE));
    }
    if let Some(ids) = ids {
        become_root(ids)?;
    }
    Ok(program)
}

/// Root of the new user namespace. The caller's groups are left behind where the kernel lets us.
pub(crate) fn become_root(ids: IdMap) -> io::Result<()> {
    if matches!(ids, IdMap::Range { .. }) {
        identity::set_groups(&[])?;
    }
    identity::set_group(0)?;
    identity::set_user(0)
}

pub(crate) fn write_maps(pid: u32, ids: IdMap) -> io::Result<()> {
    let write = |name: &str, text: String| std::fs::write(format!("/proc/{pid}/{name}"), text);
    match ids {
        IdMap::Range { base, count } => {
            write("uid_map", format!("0 {base} {count}\n"))?;
            write("gid_map", format!("0 {base} {count}\n"))
        }
        IdMap::Own { uid, gid } => {
            write("uid_map", format!("0 {uid} 1\n"))?;
            // user_namespaces(7): without privilege a group may be mapped only after setgroups is given up.
            write("setgroups", "deny".to_owned())?;
            write("gid_map", format!("0 {gid} 1\n"))
        }
    }
}
