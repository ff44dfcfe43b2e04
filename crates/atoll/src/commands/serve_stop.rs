//! `atoll serve --stop`: stops this user's server on this machine, which may run in the background.
//!
//! The kernel reports the pid of the listener (unix(7), `SO_PEERCRED`), and a pidfd ensures that the signal reaches
//! that process. There is no pid file that could be stale.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

use atoll_runtime::Error;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::printer;

/// How long to wait for the exit: the server gives open requests ten seconds.
const EXIT_TIMEOUT: Timespec = Timespec { tv_sec: 20, tv_nsec: 0 };

/// Sends SIGTERM and waits for the exit. Succeeds if no server is running.
pub(super) fn stop(socket: &Path) -> Result<u8, Error> {
    let Ok(stream) = UnixStream::connect(socket) else {
        printer::note("no server is running");
        return Ok(0);
    };
    let process = listener(&stream)?;
    drop(stream);
    pidfd_send_signal(&process, Signal::TERM).map_err(|error| failed("send SIGTERM", error))?;
    let mut watched = [PollFd::new(&process, PollFlags::IN)];
    let ended = poll(&mut watched, Some(&EXIT_TIMEOUT)).map_err(|error| failed("wait for its exit", error))?;
    if ended == 0 {
        return Err(Error::Internal {
            what: format!("the server is still running {} s after SIGTERM", EXIT_TIMEOUT.tv_sec),
        });
    }
    Ok(0)
}

fn listener(stream: &UnixStream) -> Result<OwnedFd, Error> {
    let peer = rustix::net::sockopt::socket_peercred(stream).map_err(|error| failed("find its process", error))?;
    pidfd_open(peer.pid, PidfdFlags::empty()).map_err(|error| failed("open its process", error))
}

fn failed(what: &str, error: rustix::io::Errno) -> Error {
    Error::Internal { what: format!("failed to stop the server: failed to {what}: {error}") }
}
