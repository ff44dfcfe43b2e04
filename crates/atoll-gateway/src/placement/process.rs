//! A process of this machine that may not be our child: known by its pid and when it was started, watched and ended
//! through a descriptor, so that a pid that was given to another process is never mistaken for it.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::io::unix::AsyncFd;
use tokio::time::timeout;

/// A descriptor on a living process.
#[derive(Debug)]
pub(super) struct Process {
    pidfd: AsyncFd<OwnedFd>,
}

impl Process {
    /// The process that had this pid when it was started at `start`; `None` if it is gone.
    pub(super) fn open(pid: u32, start: u64) -> io::Result<Option<Self>> {
        let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(None) };
        let pidfd = match pidfd_open(number, PidfdFlags::NONBLOCK) {
            Err(rustix::io::Errno::SRCH) => return Ok(None),
            opened => opened?,
        };
        // Looked at after the descriptor was opened: from then on the pid is this process's.
        if start_time(pid) != Some(start) {
            return Ok(None);
        }
        Ok(Some(Self { pidfd: register(pidfd)? }))
    }

    /// Returns when it has ended.
    pub(super) async fn gone(&self) {
        // An error means that it cannot be watched, which is no reason to take it for alive.
        drop(self.pidfd.readable().await);
    }

    /// Whether it ends within so long.
    pub(super) async fn is_gone_within(&self, patience: Duration) -> bool {
        timeout(patience, self.gone()).await.is_ok()
    }

    /// Sends a signal. One that has ended needs none.
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

/// When a process was started, in clock ticks since boot (proc_pid_stat(5), field 22). `None` for one that is gone or
/// waits to be reaped.
pub(super) fn start_time(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold spaces and brackets; the last bracket ends it.
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
    async fn a_process_is_itself_and_no_other() {
        let pid = std::process::id();
        let start = start_time(pid).unwrap();
        let this = Process::open(pid, start).unwrap().unwrap();
        assert!(!this.is_gone_within(Duration::from_millis(1)).await);
        assert!(Process::open(pid, start + 1).unwrap().is_none(), "the same pid, another life");
        assert!(Process::open(0, 0).unwrap().is_none());
    }
}
