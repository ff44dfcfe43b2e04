//! Runs this program as a daemon, in its own session and without the caller's terminal.
//!
//! The original process waits until the daemon is ready or has failed, and exits with the daemon's status code. Must be
//! called before any thread is started: fork(2) copies only the calling thread.

use std::fs::File;
use std::io::{self, Read, Write};
use std::process::ExitCode;

use atoll_isolation::sys::process;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::exit;

/// The side of the fork that this process is.
pub(crate) enum Fork {
    /// The original process, with the code to exit with.
    Caller(ExitCode),
    /// The daemon, with its handle to the original process.
    Daemon(Caller),
}

/// The original process, which waits for the status code of the daemon.
#[derive(Debug)]
pub(crate) struct Caller {
    status: File,
}

/// Forks the daemon.
pub(crate) fn daemonize() -> io::Result<Fork> {
    let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC)?;
    if process::fork()?.is_some() {
        drop(theirs);
        return Ok(Fork::Caller(wait(File::from(ours))));
    }
    process::new_session()?;
    Ok(Fork::Daemon(Caller { status: File::from(theirs) }))
}

/// Waits for the status code of the daemon. A daemon that died without one has failed.
fn wait(mut status: File) -> ExitCode {
    let mut code = [exit::FAILED];
    drop(status.read_exact(&mut code));
    ExitCode::from(code[0])
}

/// Releases the caller's terminal, files and directory, and redirects output to `log`.
pub(crate) fn release_caller(log: Option<&File>) -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(log.unwrap_or(&null))?;
    rustix::stdio::dup2_stderr(log.unwrap_or(&null))?;
    // A working directory would keep its file system from being unmounted.
    std::env::set_current_dir("/")
}

impl Caller {
    /// Lets the original process exit with code 0, and redirects output to `log`.
    pub(crate) fn ready(self, log: Option<File>) -> io::Result<()> {
        release_caller(log.as_ref())?;
        self.exit_with(0);
        Ok(())
    }

    /// Lets the original process exit with `code`. The error must have been printed before.
    pub(crate) fn exit_with(mut self, code: u8) {
        // The original process may have been killed.
        drop(self.status.write_all(&[code]));
    }
}
