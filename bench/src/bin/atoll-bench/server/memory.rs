//! Memory of processes as proportional set size (PSS): shared pages are divided among the processes that map them.
//! The kernel reports it in `/proc/PID/smaps_rollup` (proc(5)).

use std::fs;
use std::path::Path;

use atoll_bench::BenchError;

/// Returns the PSS of one process, in bytes.
pub(super) fn pss(pid: u32) -> Result<i64, BenchError> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let text = fs::read_to_string(&path).map_err(BenchError::contender)?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:")).unwrap_or_default();
    let kilobytes: i64 = line.trim().trim_end_matches(" kB").parse().map_err(BenchError::contender)?;
    Ok(kilobytes * 1024)
}

/// Returns the PSS of a sandbox's agent and of all its descendants: keeper and init.
pub(super) fn agent_pss(home: &Path, sandbox: &str) -> Result<i64, BenchError> {
    let dir = home.join("state/server/sandboxes").join(sandbox);
    let agent = processes().into_iter().find(|pid| is_agent_of(*pid, &dir));
    let agent = agent.ok_or_else(|| BenchError::contender(format!("no agent of sandbox {sandbox} found in /proc")))?;
    let mut all = vec![agent];
    let mut at = 0;
    while let Some(parent) = all.get(at).copied() {
        all.extend(processes().into_iter().filter(|pid| parent_of(*pid) == Some(parent)));
        at += 1;
    }
    all.into_iter().map(pss).sum()
}

fn processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Recognises an agent by its standard error: the log in its sandbox's directory.
fn is_agent_of(pid: u32, dir: &Path) -> bool {
    let log = fs::read_link(format!("/proc/{pid}/fd/2")).unwrap_or_default();
    log == dir.join("agent.log")
}

/// Returns the fourth field of the stat file, behind the name in brackets (proc_pid_stat(5)).
fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}
