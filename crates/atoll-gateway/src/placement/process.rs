//! A process that is not necessarily a child of ours. It is identified by its pid and start time, and watched and
//! signalled through a pidfd, so that another process with a reused pid is never mistaken for it.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::io::unix::AsyncFd;
use tokio::time::timeout;

/// A pidfd of a process.
#[derive(Debug)]
pub(super) struct Process {
    pidfd: AsyncFd<OwnedFd>,
}

impl Process {
    /// Opens the process with this pid and start time; `None` if it has exited.
    pub(super) fn open(pid: u32, start: u64) -> io::Result<Option<Self>> {
        let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(None) };
        let pidfd = match pidfd_open(number, PidfdFlags::NONBLOCK) {
            Err(rustix::io::Errno::SRCH) => return Ok(None),
            opened => opened?,
        };
        // Checked after opening the pidfd: from then on, the pid cannot be reused.
        if start_time(pid) != Some(start) {
            return Ok(None);
        }
        Ok(Some(Self { pidfd: register(pidfd)? }))
    }

    /// Returns when the process has exited.
    pub(super) async fn gone(&self) {
        // On an error the process cannot be watched, and must not be taken for alive.
        drop(self.pidfd.readable().await);
    }

    /// Whether the process exits within this time.
    pub(super) async fn exits_within(&self, limit: Duration) -> bool {
        timeout(limit, self.gone()).await.is_ok()
    }

    /// Sends a signal. Succeeds if the process has exited.
    pub(super) fn signal(&self, signal: Signal) -> io::Result<()> {
        match pidfd_send_signal(self.pidfd.get_ref(), signal) {
            Err(rustix::io::Errno::SRCH) => Ok(()),
            sent => Ok(sent?),
        }
    }
}

#[expect(
    deprecated,
    reason = "the replacement is unsafe for types that may lie about their descriptor; OwnedFd does not"
)]
fn register(pidfd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::new(pidfd)
}

/// Returns the start time of a process, in clock ticks since boot (proc_pid_stat(5), field 22). `None` if it has
/// exited or is a zombie.
pub(super) fn start_time(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command name may contain spaces and brackets; the last bracket ends it.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn process_is_identified_by_pid_and_start_time() {
        let pid = std::process::id();
        let start = start_time(pid).unwrap();
        let this = Process::open(pid, start).unwrap().unwrap();
        assert!(!this.exits_within(Duration::from_millis(1)).await);
        assert!(Process::open(pid, start + 1).unwrap().is_none(), "the same pid, another start time");
        assert!(Process::open(0, 0).unwrap().is_none());
    }
}
