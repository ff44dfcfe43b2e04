//! Which command opened a connection.
//!
//! The kernel knows the cgroup of whoever made a socket, and each command has its own. Where there are no cgroups, whoever
//! holds the socket is looked for below the wardens. What cannot be told (a socket that nobody holds any more, a command that
//! ended as it began) is held to the rules of every command that it could be.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atoll_egress::{Attribution, Kind, Owner, Policy};
use atoll_isolation::owner::{self, Owners};
use atoll_protocol::ProcessId;

use crate::tree::Tree;

/// Generations looked back.
const DEPTH_MAX: usize = 128;

/// Descriptors of the sandbox that are looked at for one connection. Beyond that its owner is not known, and it is held to
/// the rules of all.
const LOOKED_AT: usize = 20_000;

/// Commands that live, by the number of their registration.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    all: HashMap<u64, Entry>,
}

impl Table {
    /// The command of which nobody has said yet where it runs, if there is only one: what is of no other is its own.
    fn starting(&self) -> Option<&Entry> {
        let mut starting = self.all.values().filter(|entry| entry.cgroup.is_none() && entry.warden.is_none());
        starting.next().filter(|_| starting.next().is_none())
    }
}

#[derive(Debug)]
struct Entry {
    cgroup: Option<u64>,
    /// The process over its tree, where there is one, as it is numbered inside.
    warden: Option<u32>,
    command: Option<ProcessId>,
    /// Each of these must allow it: a session has those of the command that it runs, and of those that have left something.
    within: Vec<Arc<Policy>>,
}

/// A command's place in the table, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Registered {
    commands: Arc<Commands>,
    number: u64,
}

impl Commands {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Before the command is started, so that its first connection is known as its own. `command` is none for a session's
    /// shell, which runs one after the other.
    pub(crate) fn register(
        self: &Arc<Self>,
        tree: &Tree,
        command: Option<ProcessId>,
        within: Option<Arc<Policy>>,
    ) -> Registered {
        let cgroup = match tree {
            Tree::Cgroup(leaf) => Some(leaf.inode()),
            Tree::Warden(_) | Tree::Part(_) => None,
        };
        let mut table = self.table();
        table.next += 1;
        let number = table.next;
        table.all.insert(number, Entry { cgroup, warden: None, command, within: within.into_iter().collect() });
        Registered { commands: Arc::clone(self), number }
    }

    /// The owner in this cgroup, or else below one of these processes.
    fn owner(&self, cgroup: Option<u64>, ancestors: impl FnOnce() -> Vec<u32>) -> Owner {
        let wardens = self.table().all.values().any(|entry| entry.warden.is_some());
        let ancestors = if wardens { ancestors() } else { Vec::new() };
        let table = self.table();
        let is_own = |entry: &&Entry| {
            let below = entry.warden.is_some_and(|warden| ancestors.contains(&warden));
            below || (entry.cgroup.is_some() && entry.cgroup == cgroup)
        };
        match table.all.values().find(is_own) {
            Some(entry) => Owner { command: entry.command.clone(), within: entry.within.clone() },
            None => Owner {
                command: table.starting().and_then(|entry| entry.command.clone()),
                within: table.all.values().flat_map(|entry| entry.within.iter().cloned()).collect(),
            },
        }
    }
}

impl Registered {
    /// Its main process, inside, in whose place a warden keeps the tree: that is its parent.
    pub(crate) fn started(&self, proc: BorrowedFd<'_>, main: u32) {
        let warden = parent(proc, main);
        if let Some(entry) = self.commands.table().all.get_mut(&self.number)
            && entry.cgroup.is_none()
        {
            entry.warden = warden.filter(|warden| *warden > 1);
        }
    }

    /// A session's shell runs this one now, which may reach only so much for as long as anything of it lives. What is in
    /// the session's tree cannot be told apart, so for that long it holds for all of it.
    pub(crate) fn runs(&self, command: ProcessId, within: Option<Arc<Policy>>) -> Option<Narrowed> {
        if let Some(entry) = self.commands.table().all.get_mut(&self.number) {
            entry.command = Some(command);
            entry.within.extend(within.clone());
        }
        within.map(|policy| Narrowed { commands: Arc::clone(&self.commands), number: self.number, policy })
    }

    /// It no longer runs this one.
    pub(crate) fn done(&self, command: &ProcessId) {
        if let Some(entry) = self.commands.table().all.get_mut(&self.number)
            && entry.command.as_ref() == Some(command)
        {
            entry.command = None;
        }
    }
}

/// Holds a session to the rules of one of its commands, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Narrowed {
    commands: Arc<Commands>,
    number: u64,
    policy: Arc<Policy>,
}

impl Drop for Narrowed {
    fn drop(&mut self) {
        if let Some(entry) = self.commands.table().all.get_mut(&self.number) {
            entry.within.retain(|policy| !Arc::ptr_eq(policy, &self.policy));
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.commands.table().all.remove(&self.number);
    }
}

/// Asks the kernel.
#[derive(Debug)]
pub(super) struct ByKernel {
    pub(super) owners: Owners,
    /// The sandbox's own.
    pub(super) proc: OwnedFd,
    pub(super) commands: Arc<Commands>,
}

impl Attribution for ByKernel {
    fn owner(&self, kind: Kind, own: SocketAddr, other: SocketAddr) -> Owner {
        let kind = match kind {
            Kind::Tcp => owner::Kind::Tcp,
            Kind::Udp => owner::Kind::Udp,
        };
        let found = self.owners.find(kind, own, other).ok();
        let ancestors = || found.map_or_else(Vec::new, |owner| ancestors(self.proc.as_fd(), owner.inode));
        self.commands.owner(found.and_then(|owner| owner.cgroup), ancestors)
    }
}

/// Whoever holds the socket, its parent, and so on.
fn ancestors(proc: BorrowedFd<'_>, inode: u32) -> Vec<u32> {
    let mut chain = Vec::new();
    let mut next = holder(proc, inode);
    while let Some(pid) = next.filter(|pid| *pid > 1 && chain.len() < DEPTH_MAX) {
        chain.push(pid);
        next = parent(proc, pid);
    }
    chain
}

/// The process that holds the socket of this number; `None` if the sandbox has more descriptors than are looked at.
fn holder(proc: BorrowedFd<'_>, inode: u32) -> Option<u32> {
    let held = format!("socket:[{inode}]");
    let place = format!("/proc/self/fd/{}", proc.as_raw_fd());
    let mut left = LOOKED_AT;
    let pids = std::fs::read_dir(&place).ok()?.flatten();
    for pid in pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
        for file in std::fs::read_dir(format!("{place}/{pid}/fd")).into_iter().flatten().flatten() {
            left = left.checked_sub(1)?;
            if std::fs::read_link(file.path()).is_ok_and(|target| target.as_os_str() == held.as_str()) {
                return Some(pid);
            }
        }
    }
    None
}

/// proc_pid_stat(5): the second number behind the name, which may hold anything, parentheses included.
fn parent(proc: BorrowedFd<'_>, pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/self/fd/{}/{pid}/stat", proc.as_raw_fd())).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Option<Arc<Policy>> {
        Some(Arc::new(Policy::default()))
    }

    fn id(text: &str) -> Option<ProcessId> {
        ProcessId::new(text).ok()
    }

    fn entry(commands: &Arc<Commands>, warden: u32, command: &str, within: Option<Arc<Policy>>) -> Registered {
        let registered = commands.register(&Tree::Warden(1), id(command), within);
        commands.table().all.get_mut(&registered.number).unwrap().warden = Some(warden);
        registered
    }

    #[test]
    fn what_cannot_be_told_is_held_to_all_rules() {
        let commands = Arc::new(Commands::default());
        let first = entry(&commands, 10, "a", policy());
        let second = entry(&commands, 20, "b", policy());
        let third = entry(&commands, 30, "c", None);
        assert_eq!(commands.owner(None, || vec![99, 20]).command, id("b"));
        assert!(commands.owner(None, || vec![31, 30]).within.is_empty());
        let owner = commands.owner(Some(7), Vec::new);
        assert_eq!((owner.command, owner.within.len()), (None, 2));
        let starting = commands.register(&Tree::Warden(1), id("d"), None);
        let owner = commands.owner(None, || vec![40]);
        assert_eq!((owner.command, owner.within.len()), (id("d"), 2), "whose else, but nothing is allowed by a guess");
        let another = commands.register(&Tree::Warden(1), id("e"), None);
        assert_eq!(commands.owner(None, || vec![40]).command, None);
        drop((starting, another));
        drop((first, second, third));
        assert!(commands.owner(None, || vec![10]).within.is_empty());
    }

    #[test]
    fn a_shell_runs_one_after_the_other() {
        let commands = Arc::new(Commands::default());
        let shell = entry(&commands, 10, "none", None);
        let runs = || commands.owner(None, || vec![10]).command;
        shell.runs(id("a").unwrap(), None);
        shell.runs(id("b").unwrap(), None);
        shell.done(&id("a").unwrap());
        assert_eq!(runs(), id("b"));
        shell.done(&id("b").unwrap());
        assert_eq!(runs(), None);
    }

    #[test]
    fn a_session_is_held_to_the_rules_of_whatever_is_left_of_its_commands() {
        let commands = Arc::new(Commands::default());
        let shell = entry(&commands, 10, "none", None);
        let rules = || commands.owner(None, || vec![10]).within.len();
        let first = shell.runs(id("a").unwrap(), policy());
        assert!(shell.runs(id("b").unwrap(), None).is_none());
        assert_eq!(rules(), 1, "the first has left something");
        let third = shell.runs(id("c").unwrap(), policy());
        assert_eq!(rules(), 2);
        drop(first);
        assert_eq!(rules(), 1);
        drop(third);
        assert_eq!(rules(), 0);
    }
}
