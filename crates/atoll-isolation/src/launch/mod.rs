//! The agent's side of making a sandbox: claims ids, starts the keeper, clones init, hands it the plan.
//!
//! Synchronous. Owns nothing that lives on: what it returns ([`Launched`]) belongs to the caller.

pub(crate) mod clone;
mod error;
mod ids;
mod keeper;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

pub use error::LaunchError;
pub use ids::Ids;
pub use keeper::Keeper;

#[cfg(feature = "embed")]
use crate::carried;
use crate::cgroup::{Group, Limits};
use crate::channel::Channel;
use crate::plan::{Plan, Source, Step};
use crate::spec::IdMap;
use crate::sys::{fd, identity, mount, socket};
use crate::wire::{Event, Request, Setup, VERSION};

/// Longest that a plan may take. It takes milliseconds; a machine that is out of memory may take its time.
const PATIENCE_MS: i32 = 30_000;

/// Starts inits. Holds the executable; one per agent.
#[derive(Debug)]
pub struct Launcher {
    program: OwnedFd,
    /// Whether this process was dumpable when it started.
    dumpable: bool,
}

/// A sandbox that has everything but its name. Dropping it ends it.
#[derive(Debug)]
pub struct Staged {
    channel: Channel,
    pidfd: OwnedFd,
    /// Init's pid on the host.
    pub pid: u32,
    plan: Plan,
}

/// A sandbox that stands.
#[derive(Debug)]
pub struct Launched {
    /// The socket to init. Closing it ends the sandbox.
    pub socket: OwnedFd,
    /// Init itself.
    pub pidfd: OwnedFd,
    /// Init's pid on the host.
    pub pid: u32,
    /// The sandbox's `/proc`, as a path descriptor.
    pub proc: OwnedFd,
}

impl Launcher {
    /// Prepares the executable.
    #[cfg(feature = "embed")]
    pub fn new() -> Result<Self, LaunchError> {
        Self::of(&carried::INIT)
    }

    /// Prepares one of the embedded executables.
    #[cfg(feature = "embed")]
    pub(crate) fn of(program: &carried::Carried) -> Result<Self, LaunchError> {
        let program = program.file().and_then(|program| fd::duplicate_above(program, clone::FREE));
        let program = program.map_err(|error| LaunchError::new("prepare the init program", error))?;
        let dumpable =
            identity::is_dumpable().map_err(|error| LaunchError::new("ask whether it is dumpable", error))?;
        Ok(Self { program, dumpable })
    }

    /// Starts the keeper of this agent.
    pub fn keeper(&self) -> Result<Keeper, LaunchError> {
        self.role("keeper").map(Keeper::new)
    }

    /// Starts another role of the init program on the host's side.
    pub(crate) fn role(&self, role: &str) -> Result<Channel, LaunchError> {
        let (ours, theirs) = pair()?;
        clone::start(self.program.as_fd(), theirs.as_fd(), &["atoll-init", role], None)
            .map_err(|error| LaunchError::new(format!("start the {role}"), error))?
            .go(ours.as_fd())?;
        Ok(Channel::new(ours))
    }

    /// Makes the sandbox that `plan` describes, in `storage`, inside `group`, but for its name. Returns when init has the
    /// plan; whether it can be done is told by [`Staged::close`].
    pub fn stage(&self, plan: Plan, storage: &Path, group: Option<&Group>) -> Result<Staged, LaunchError> {
        make_storage(&plan, storage)?;
        let (ours, theirs) = pair()?;
        if plan.ids.is_some() {
            no_shared_dumps()?;
        }
        let cgroup = group.and_then(Group::dir);
        let into = clone::Into { namespaces: plan.namespaces, cgroup, ids: plan.ids, dumpable: self.dumpable };
        let started = clone::start(self.program.as_fd(), theirs.as_fd(), &["init"], Some(&into))
            .map_err(|error| LaunchError::cloning(plan.namespaces != 0, error))?;
        drop(theirs);
        // Moving a process between v1 cgroups waits for the whole machine (a grace period of milliseconds), so it is done
        // only if there is a limit to keep. In v2 init was born where it belongs.
        if let Some(group) = group.filter(|group| group.limits() != Limits::default()) {
            group
                .enter_v1(started.pid)
                .map_err(|error| LaunchError::new("enter the sandbox's cgroups", io::Error::other(error)))?;
        }
        let trees = trees(&plan, started.user_namespace.as_ref())?;
        let (pid, pidfd) = (started.pid, started.go(ours.as_fd())?);
        let channel = Channel::new(ours);
        let setup = Request::Setup { setup: Setup { version: VERSION, steps: plan.steps.clone() } };
        let fds: Vec<BorrowedFd<'_>> = trees.iter().map(AsFd::as_fd).collect();
        channel.send(&setup, &fds).map_err(|error| LaunchError::new("send the plan to init", error))?;
        Ok(Staged { channel, pidfd, pid, plan })
    }
}

impl Staged {
    /// Gives it its name and closes it.
    pub fn close(self, name: &str) -> Result<Launched, LaunchError> {
        let Self { mut channel, pidfd, pid, plan } = self;
        let steps = plan.closing(name);
        let asked = channel.send(&Request::Close { steps: steps.clone() }, &[]);
        // An init that has failed already says why.
        let proc = await_ready(&mut channel, |step| plan.steps.iter().chain(&steps).nth(step))
            .map_err(|error| asked.err().map_or(error, |asked| LaunchError::new("name the sandbox", asked)))?;
        Ok(Launched { socket: channel.into_socket(), pidfd, pid, proc })
    }
}

fn pair() -> Result<(OwnedFd, OwnedFd), LaunchError> {
    let pair = || {
        let (ours, theirs) = socket::pair()?;
        Ok((fd::duplicate_above(ours.as_fd(), clone::FREE)?, fd::duplicate_above(theirs.as_fd(), clone::FREE)?))
    };
    pair().map_err(|error| LaunchError::new("make a socket", error))
}

/// The directories that the plan's overlays and binds need, owned by root inside.
pub(crate) fn make_storage(plan: &Plan, storage: &Path) -> Result<(), LaunchError> {
    let Some(ids) = plan.ids else { return Ok(()) };
    let (uid, gid) = ids.root();
    for (name, mode) in &plan.storage {
        let path = storage.join(name);
        let make = || {
            match std::fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
                other => other?,
            }
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(*mode))?;
            if matches!(ids, IdMap::Range { .. }) { chown(&path, Some(uid), Some(gid)) } else { Ok(()) }
        };
        make().map_err(|error| LaunchError::new(format!("make {}", path.display()), error))?;
    }
    Ok(())
}

/// A child of init that has changed its user and not executed yet shares init's memory. With `fs.suid_dumpable` set to 1
/// (proc_sys_fs(5)) another process of that user could trace it, and change init.
fn no_shared_dumps() -> Result<(), LaunchError> {
    let setting = std::fs::read_to_string("/proc/sys/fs/suid_dumpable")
        .map_err(|error| LaunchError::new("read fs.suid_dumpable", error))?;
    if setting.trim() == "1" { Err(LaunchError::shared_dumps()) } else { Ok(()) }
}

pub(crate) fn trees(plan: &Plan, user_namespace: Option<&OwnedFd>) -> Result<Vec<OwnedFd>, LaunchError> {
    let Some(userns) = user_namespace.filter(|_| !plan.sources.is_empty()) else { return Ok(Vec::new()) };
    plan.sources
        .iter()
        .map(|source| {
            tree(source, userns.as_fd())
                .map_err(|error| LaunchError::new(format!("take the mount of {}", source.path), error))
        })
        .collect()
}

/// A mount that init can attach. Filesystems that cannot show other owners (EINVAL) are passed as they are: the
/// host's files then belong to `nobody` inside, which is stricter, not weaker.
fn tree(source: &Source, userns: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let tree = mount::clone_tree(source.path.as_bytes())?;
    let mapped_by = source.idmapped.then_some(userns);
    match mount::restrict_tree(tree.as_fd(), source.read_only, mapped_by) {
        Err(error) if source.idmapped && error.raw_os_error() == Some(libc::EINVAL) => {
            mount::restrict_tree(tree.as_fd(), source.read_only, None)?;
        }
        other => other?,
    }
    Ok(tree)
}

fn await_ready<'a>(
    channel: &mut Channel,
    step_at: impl FnOnce(usize) -> Option<&'a Step>,
) -> Result<OwnedFd, LaunchError> {
    let waiting = |error| LaunchError::new("wait for init", error);
    if !fd::wait_readable(channel.as_fd(), PATIENCE_MS).map_err(waiting)? {
        return Err(waiting(io::Error::from_raw_os_error(libc::ETIMEDOUT)));
    }
    match channel.receive().map_err(waiting)? {
        Some((Event::Ready { version: VERSION }, mut fds)) if fds.len() == 1 => Ok(fds.remove(0)),
        Some((Event::SetupFailed { step, errno }, _)) => Err(LaunchError::step(step_at(step as usize), errno)),
        Some(_) => Err(waiting(io::Error::from_raw_os_error(libc::EPROTO))),
        None => Err(LaunchError::new("start init", io::Error::other("it ended before it was ready"))),
    }
}
