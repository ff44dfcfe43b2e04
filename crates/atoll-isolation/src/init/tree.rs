//! Trees of processes by parentage, read from /proc: the fallback where no cgroup keeps a command together.
//!
//! A sweep is sound because a warden (or init) is the reaper of everything below it: nothing can leave the tree, a
//! process whose parent dies only moves up. What is new is found by looking again until nothing new is found.

use std::collections::HashMap;

use crate::sys::process;

/// Rounds of stop-and-look before a sweep gives up on seeing a still picture. A fork bomb under a process limit is
/// still after two or three.
const ROUNDS: usize = 100;

/// All living processes below `top`, not itself.
pub(super) fn below(top: u32) -> Vec<u32> {
    let parents = snapshot();
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for (pid, parent) in parents {
        children.entry(parent).or_default().push(pid);
    }
    let mut found = Vec::new();
    let mut open = vec![top];
    while let Some(pid) = open.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            found.push(child);
            open.push(child);
        }
    }
    found
}

/// Direct children of `top` that are alive.
pub(super) fn children_of(top: u32) -> Vec<u32> {
    snapshot().into_iter().filter(|(_, parent)| *parent == top).map(|(pid, _)| pid).collect()
}

/// Sends `signal` to everything below `top`. Returns how many got it.
pub(super) fn signal_below(top: u32, signal: i32) -> u32 {
    match signal {
        libc::SIGKILL => kill_below(top),
        _ => send_to(&below(top), signal),
    }
}

/// Kills everything below `top`: stops it first, so that nothing forks while it is counted, and looks again until
/// nothing is left. Returns how many were killed.
pub(super) fn kill_below(top: u32) -> u32 {
    let mut killed = 0;
    for _ in 0..ROUNDS {
        let still = stop_below(top);
        if still.is_empty() {
            break;
        }
        killed += send_to(&still, libc::SIGKILL);
        reap_quietly(top);
    }
    killed
}

/// Stops everything below `top` until two looks agree.
fn stop_below(top: u32) -> Vec<u32> {
    let mut seen = below(top);
    for _ in 0..ROUNDS {
        send_to(&seen, libc::SIGSTOP);
        let again = below(top);
        if again.iter().all(|pid| seen.contains(pid)) {
            return again;
        }
        seen = again;
    }
    seen
}

/// Ended children of this very process would be seen as living for ever by a sweep that waits for them.
fn reap_quietly(top: u32) {
    if top == std::process::id() {
        while let Ok(Some(_)) = process::reap(false) {}
    }
}

fn send_to(pids: &[u32], signal: i32) -> u32 {
    let count = pids.iter().filter(|pid| process::kill(**pid, signal).is_ok()).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// (pid, parent) of every process in this /proc that is not a zombie.
fn snapshot() -> Vec<(u32, u32)> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid: u32| parent_of(pid).map(|parent| (pid, parent)))
        .collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_parent(&stat)
}

/// The parent out of a `stat` line; `None` for a zombie. The name may hold anything, so look behind its last bracket.
fn parse_parent(stat: &[u8]) -> Option<u32> {
    let end_of_name = stat.iter().rposition(|byte| *byte == b')')?;
    let mut fields = stat.get(end_of_name + 2..)?.split(|byte| *byte == b' ');
    let state = fields.next()?;
    let parent = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    (state != b"Z" && state != b"X").then_some(parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parent_is_found_behind_a_hostile_name() {
        assert_eq!(parse_parent(b"7 (a) R 99 (b) S 42 7 7 0"), Some(42));
        assert_eq!(parse_parent(b"7 (sh) Z 42 7"), None);
        assert_eq!(parse_parent(b"7 (sh"), None);
    }

    #[test]
    fn this_process_is_below_its_parent() {
        let parent = parent_of(std::process::id()).expect("a running test has a parent");
        assert!(below(parent).contains(&std::process::id()));
    }
}
