//! The duties of PID 1 in a container: reap orphans, forward signals to the main process, and exit with its exit code.
//! It does nothing else, so that nothing else can make it fail.

use std::process::ExitCode;

use atoll_isolation::sys::process;
use atoll_runtime::Error;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait};
use tokio::signal::unix::{SignalKind, signal};

use crate::exit;
use crate::interrupts::Interrupts;

/// Forks if this process is PID 1. The parent stays PID 1 until the child ends and returns its exit code; the child,
/// and a process that is not PID 1, get `None`. Must be called before any thread is started.
pub(crate) fn fork_init() -> Result<Option<ExitCode>, Error> {
    if std::process::id() != 1 {
        return Ok(None);
    }
    let failed = |error| Error::Internal { what: format!("failed to fork from PID 1: {error}") };
    let Some(child) = process::fork().map_err(failed)?.and_then(|pid| Pid::from_raw(pid.cast_signed())) else {
        return Ok(None);
    };
    let threads = tokio::runtime::Builder::new_current_thread();
    exit::block_on(threads, supervise(child)).map(|code| Some(ExitCode::from(code)))
}

async fn supervise(child: Pid) -> Result<u8, Error> {
    let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup(), SignalKind::quit()];
    let mut signals = Interrupts::new(&kinds)?;
    let mut child_exits = signal(SignalKind::child())
        .map_err(|error| Error::Internal { what: format!("failed to install a signal handler: {error}") })?;
    loop {
        // Reaps before waiting: the child may have ended before the handler was installed.
        if let Some(code) = reap(child) {
            return Ok(code);
        }
        tokio::select! {
            _ = child_exits.recv() => {}
            number = signals.next() => {
                if let Some(signal) = Signal::from_named_raw(i32::from(number)) {
                    // The child may have ended; the next iteration reaps it.
                    kill_process(child, signal).ok();
                }
            }
        }
    }
}

/// Reaps all ended processes. Returns the exit code of `child` if it is one of them.
fn reap(child: Pid) -> Option<u8> {
    let mut code = None;
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        if pid == child {
            code = Some(code_of(status));
        }
    }
    code
}

fn code_of(status: WaitStatus) -> u8 {
    let signal = status.terminating_signal().map(|number| 128 + number);
    status.exit_status().or(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(exit::FAILED)
}
