//! How the main process of a command ended, and what that was.

use std::os::fd::OwnedFd;
use std::time::SystemTime;

use atoll_isolation::sys::process::Usage;
use atoll_protocol::{EndReason, Signal};
use tokio::time::Instant;

use crate::Error;

/// How the main process ended. What is not known is `None`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exit {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<Signal>,
    /// If it says more than code and signal.
    pub(super) reason: Option<EndReason>,
    pub(super) user_us: Option<u64>,
    pub(super) system_us: Option<u64>,
    pub(super) max_rss_bytes: Option<u64>,
    pub(super) at: Instant,
    pub(super) wall: SystemTime,
}

impl Exit {
    pub(super) fn new(code: Option<i32>, signal: Option<Signal>, reason: Option<EndReason>) -> Self {
        let (at, wall) = (Instant::now(), SystemTime::now());
        Self { code, signal, reason, user_us: None, system_us: None, max_rss_bytes: None, at, wall }
    }

    pub(super) fn of_process(status: i32, usage: Usage, reason: Option<EndReason>) -> Self {
        let Usage { user_us, system_us, max_rss_bytes } = usage;
        Self {
            user_us: Some(user_us),
            system_us: Some(system_us),
            max_rss_bytes: Some(max_rss_bytes),
            ..Self::new(exit_code(status), exit_signal(status), reason)
        }
    }
}

/// What runs the command.
#[derive(Debug)]
pub(crate) enum Main {
    /// A child of init, which signals it for us.
    Command,
    /// A process that we signal ourselves.
    Process(OwnedFd),
    /// A session's shell.
    Turn,
}

impl Main {
    /// The process itself.
    pub(crate) fn into_pidfd(self) -> Result<OwnedFd, Error> {
        match self {
            Self::Process(pidfd) => Ok(pidfd),
            Self::Command | Self::Turn => Err(Error::Internal { what: "the process was not handed out".to_owned() }),
        }
    }
}

/// wait(2): the low seven bits are the signal, the next byte the code.
pub(crate) fn exit_code(status: i32) -> Option<i32> {
    (status & 0x7f == 0).then_some((status >> 8) & 0xff)
}

pub(crate) fn exit_signal(status: i32) -> Option<Signal> {
    Signal::from_number(status & 0x7f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_statuses_are_read_exactly() {
        assert_eq!((exit_code(0), exit_signal(0)), (Some(0), None));
        assert_eq!((exit_code(255 << 8), exit_signal(255 << 8)), (Some(255), None));
        assert_eq!((exit_code(9), exit_signal(9)), (None, Some(Signal::KILL)));
        // Killed with a core dump.
        assert_eq!((exit_code(0x80 | 6), exit_signal(0x80 | 6)), (None, Signal::from_number(6)));
    }
}
