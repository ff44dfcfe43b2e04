//! `atoll serve --stop`: ends the server of this user on this machine, which may be in the background.
//!
//! The kernel says who listens on its socket (unix(7), `SO_PEERCRED`), and a descriptor makes sure that it is still that
//! process which is told to end: there is no file of pids that could be wrong.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

use atoll_runtime::Error;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::printer;

/// How long it may take: it gives requests that are on their way ten seconds.
const ENDED_WITHIN: Timespec = Timespec { tv_sec: 20, tv_nsec: 0 };

/// Ends it, and returns when it is gone. None at all is what was wished for, too.
pub(super) fn stop(socket: &Path) -> Result<u8, Error> {
    let Ok(stream) = UnixStream::connect(socket) else {
        printer::note("no server is running");
        return Ok(0);
    };
    let process = listener(&stream)?;
    drop(stream);
    pidfd_send_signal(&process, Signal::TERM).map_err(|error| failed("tell it to end", error))?;
    let mut watched = [PollFd::new(&process, PollFlags::IN)];
    let ended = poll(&mut watched, Some(&ENDED_WITHIN)).map_err(|error| failed("wait for its end", error))?;
    if ended == 0 {
        return Err(Error::Internal { what: format!("it was told to end, and has not in {} s", ENDED_WITHIN.tv_sec) });
    }
    Ok(0)
}

fn listener(stream: &UnixStream) -> Result<OwnedFd, Error> {
    let who = rustix::net::sockopt::socket_peercred(stream).map_err(|error| failed("find out who listens", error))?;
    pidfd_open(who.pid, PidfdFlags::empty()).map_err(|error| failed("take hold of it", error))
}

fn failed(what: &str, error: rustix::io::Errno) -> Error {
    Error::Internal { what: format!("failed to stop the server: failed to {what}: {error}") }
}
