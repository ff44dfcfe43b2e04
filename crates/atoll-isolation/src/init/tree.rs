//! Trees of processes by parentage, read from /proc: the fallback where no cgroup keeps a command together.
//!
//! A sweep is sound because a warden (or init) is the reaper of everything below it: nothing can leave the tree, a
//! process whose parent dies only moves up. What is new is found by looking again until nothing new is found. A number
//! may belong to somebody else by the time it is signalled, so a process is signalled by descriptor, and only if it
//! started when the one that was seen did.
//!
//! What cannot be read is an error, never an empty tree: a kill that sees nothing must not report that nothing is left.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use crate::sys::process;

/// Looks before a sweep gives up on seeing a still picture. A fork bomb under a process limit is still after two or
/// three; a chain of processes that each live for a moment may slip through many.
const ROUNDS: usize = 200;

/// Looks in a row that must find nothing: one can miss a process whose parent dies while it looks.
const EMPTY_LOOKS: usize = 3;

/// How long the last processes of a tree may take to die; longer only if they are stuck in the kernel.
const END_WITHIN: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// How long a look that fails is repeated: the machine may be out of memory or of open files for a moment.
const SEE_WITHIN: Duration = Duration::from_secs(1);

/// A process at the moment of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    pid: u32,
    parent: u32,
    group: u32,
    session: u32,
    /// Clock ticks since boot: with the number, it names a process for good.
    started: u64,
}

/// Which processes are meant, by descent.
#[derive(Debug)]
pub(super) enum Reach {
    /// Everything below `top`, not itself, and not `spared` and what is below them.
    Below { top: u32, spared: Vec<u32> },
    /// Of these, those in the session of `top` but not in its process group.
    Jobs { top: u32, spared: Vec<u32> },
    /// These and everything below them.
    Of { roots: Vec<u32> },
}

impl Reach {
    /// The living ones.
    pub(super) fn pids(&self) -> io::Result<Vec<u32>> {
        Ok(self.look()?.iter().map(|seen| seen.pid).collect())
    }

    /// Sends `signal` to all of them. Returns how many got it.
    pub(super) fn signal(&self, signal: i32) -> io::Result<u32> {
        match signal {
            libc::SIGKILL => self.kill(),
            _ => send_to(&self.look()?, signal),
        }
    }

    /// Kills all of them: stops them first, so that nothing forks while it is counted, and looks again until nothing
    /// is left. Returns how many were killed.
    pub(super) fn kill(&self) -> io::Result<u32> {
        // What takes a moment to die is met again, but counts once.
        let mut killed = HashSet::new();
        let mut empty = 0;
        for _ in 0..ROUNDS {
            let still = self.stop()?;
            send_to(&still, libc::SIGKILL)?;
            killed.extend(still.iter().map(|seen| (seen.pid, seen.started)));
            empty = if still.is_empty() { empty + 1 } else { 0 };
            if empty == EMPTY_LOOKS {
                break;
            }
        }
        Ok(u32::try_from(killed.len()).unwrap_or(u32::MAX))
    }

    /// Stops everything until two looks agree.
    fn stop(&self) -> io::Result<Vec<Seen>> {
        let mut seen = self.look()?;
        for _ in 0..ROUNDS {
            send_to(&seen, libc::SIGSTOP)?;
            let again = self.look()?;
            if again.iter().all(|process| seen.contains(process)) {
                return Ok(again);
            }
            seen = again;
        }
        Ok(seen)
    }

    fn look(&self) -> io::Result<Vec<Seen>> {
        patiently(|| match self {
            Self::Below { top, spared } => descend(&[*top], spared),
            Self::Jobs { top, spared } => {
                let job = |seen: &Seen| seen.session == *top && seen.group != *top;
                Ok(descend(&[*top], spared)?.into_iter().filter(job).collect())
            }
            Self::Of { roots } => {
                let mut found = look_at_all(roots.iter().copied())?;
                found.extend(descend(roots, roots)?);
                Ok(found)
            }
        })
    }
}

/// Everything below `top` but what is spared is killed.
pub(super) fn kill_below(top: u32, spared: &[u32]) -> io::Result<u32> {
    Reach::Below { top, spared: spared.to_vec() }.kill()
}

/// Kills everything below this process, and reaps what comes to it, until the kernel says that no child is left: a look
/// into /proc alone can miss a process whose parent dies while it looks, and one that fails is simply repeated.
pub(super) fn end_own() {
    let deadline = Instant::now() + END_WITHIN;
    while Instant::now() < deadline {
        drop(kill_below(std::process::id(), &[]));
        loop {
            match process::reap(false) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Repeats what fails for a while, then returns its error.
fn patiently<T>(look: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let deadline = Instant::now() + SEE_WITHIN;
    loop {
        match look() {
            Err(_) if Instant::now() < deadline => std::thread::sleep(LOOK_AGAIN),
            seen => return seen,
        }
    }
}

fn send_to(processes: &[Seen], signal: i32) -> io::Result<u32> {
    let mut count = 0;
    for seen in processes {
        count += u32::from(patiently(|| send_exactly(*seen, signal))?);
    }
    Ok(count)
}

/// `false` if the process has ended.
fn send_exactly(seen: Seen, signal: i32) -> io::Result<bool> {
    let Some(pidfd) = unless_gone(process::open_pidfd(seen.pid))? else { return Ok(false) };
    if look(seen.pid)?.is_none_or(|now| now.started != seen.started) {
        return Ok(false);
    }
    Ok(unless_gone(process::signal_pidfd(pidfd.as_fd(), signal))?.is_some())
}

/// `None` if the process that was meant has ended.
fn unless_gone<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What is below any of `tops`, not themselves.
fn descend(tops: &[u32], spared: &[u32]) -> io::Result<Vec<Seen>> {
    let mut children: HashMap<u32, Vec<Seen>> = HashMap::new();
    for seen in snapshot()? {
        children.entry(seen.parent).or_default().push(seen);
    }
    let mut found = Vec::new();
    let mut open = tops.to_vec();
    while let Some(pid) = open.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            if !spared.contains(&child.pid) {
                found.push(child);
                open.push(child.pid);
            }
        }
    }
    Ok(found)
}

/// Every process in this /proc that is not a zombie.
fn snapshot() -> io::Result<Vec<Seen>> {
    let mut pids = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        pids.extend(entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()));
    }
    look_at_all(pids.into_iter())
}

fn look_at_all(pids: impl Iterator<Item = u32>) -> io::Result<Vec<Seen>> {
    let mut found = Vec::new();
    for pid in pids {
        found.extend(look(pid)?);
    }
    Ok(found)
}

/// `None` if the process has ended, or is a zombie.
fn look(pid: u32) -> io::Result<Option<Seen>> {
    let stat = unless_gone(std::fs::read(format!("/proc/{pid}/stat")))?;
    Ok(stat.and_then(|stat| parse(pid, &stat)))
}

/// A `stat` line (proc_pid_stat(5), fields 4, 5, 6 and 22); `None` for a zombie. The name may hold anything, so look
/// behind its last bracket.
fn parse(pid: u32, stat: &[u8]) -> Option<Seen> {
    let end_of_name = stat.iter().rposition(|byte| *byte == b')')?;
    let fields = std::str::from_utf8(stat.get(end_of_name + 2..)?).ok()?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let alive = !matches!(*fields.first()?, "Z" | "X");
    let number = |at: usize| fields.get(at)?.parse::<u32>().ok();
    let (parent, group, session) = (number(1)?, number(2)?, number(3)?);
    let started = fields.get(19)?.parse().ok()?;
    alive.then_some(Seen { pid, parent, group, session, started })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_is_not_read_as_fields() {
        let rest = "42 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 100 200";
        let seen = Seen { pid: 7, parent: 42, group: 8, session: 9, started: 987_654 };
        assert_eq!(parse(7, format!("7 (a) R 99 (b) S {rest}").as_bytes()), Some(seen));
        assert_eq!(parse(7, format!("7 (sh) Z {rest}").as_bytes()), None);
        assert_eq!(parse(7, b"7 (sh) S 42"), None);
        assert_eq!(parse(7, b"7 (sh"), None);
    }

    #[test]
    fn this_process_is_below_its_parent_unless_spared() {
        let own = std::process::id();
        let parent = look(own).unwrap().expect("a running test can be seen").parent;
        let below = |spared| Reach::Below { top: parent, spared };
        assert!(below(Vec::new()).pids().unwrap().contains(&own));
        assert!(!below(vec![own]).pids().unwrap().contains(&own));
        assert!(Reach::Of { roots: vec![own] }.pids().unwrap().contains(&own));
    }

    #[test]
    fn a_number_that_means_another_process_is_not_signalled() {
        let own = look(std::process::id()).unwrap().expect("a running test can be seen");
        assert!(send_exactly(own, 0).unwrap());
        assert!(!send_exactly(Seen { started: own.started + 1, ..own }, 0).unwrap());
    }
}
