//! Children of an init that have not executed yet, seen from the host.
//!
//! Init starts programs by vfork and sleeps until they execute. A process inside may stop such a child before it does
//! (SIGSTOP, which cannot be blocked), and init cannot continue it while it sleeps: that must be done from outside.

use std::fs;
use std::io;

use crate::sys::process;

/// The name of a warden, which starts programs as init does.
const WARDEN: &str = "warden";

/// A child that is stopped although it has not executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stopped {
    /// Its pid on the host.
    pub pid: u32,
}

impl Stopped {
    /// Lets it continue.
    pub fn resume(self) -> io::Result<()> {
        process::kill(self.pid, libc::SIGCONT)
    }

    /// Ends it.
    pub fn kill(self) -> io::Result<()> {
        process::kill(self.pid, libc::SIGKILL)
    }
}

/// Those of the init with this pid on the host. A program that gave itself the name of init or of a warden may be among them:
/// it is the sandbox's own.
pub fn stopped_before_start(init: u32) -> Vec<Stopped> {
    let Ok(own) = fs::read_to_string(format!("/proc/{init}/comm")) else { return Vec::new() };
    let mut found = Vec::new();
    for (pid, name, state) in children(init) {
        if name == own.trim_end() && state == 'T' {
            found.push(Stopped { pid });
        }
        if name == WARDEN {
            let below = children(pid).into_iter().filter(|(_, name, state)| name == WARDEN && *state == 'T');
            found.extend(below.map(|(pid, _, _)| Stopped { pid }));
        }
    }
    found
}

/// Pid, name and state of the children of all threads of a process.
fn children(of: u32) -> Vec<(u32, String, char)> {
    let threads = fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let pids: Vec<u32> =
        lists.flat_map(|list| list.split(' ').filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect();
    pids.into_iter().filter_map(|pid| parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)).collect()
}

/// The second and third field of proc_pid_stat(5). The name may hold anything, so look behind its last bracket.
fn parse(pid: u32, stat: &str) -> Option<(u32, String, char)> {
    let (name, rest) = (stat.find('(')?, stat.rfind(')')?);
    let state = stat.get(rest + 2..)?.chars().next()?;
    Some((pid, stat.get(name + 1..rest)?.to_owned(), state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_state_are_told_apart() {
        assert_eq!(parse(7, "7 (a) T (b) T 1 2"), Some((7, "a) T (b".to_owned(), 'T')));
        assert_eq!(parse(7, "7 (init) S 1 2"), Some((7, "init".to_owned(), 'S')));
        assert_eq!(parse(7, "7 (init)"), None);
    }
}
