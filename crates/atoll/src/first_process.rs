//! What PID 1 of a container owes to everybody else there: orphans are reaped, signals are passed on, and the container
//! ends with the one program that it is for. It does nothing else, so that nothing else can bring it down.

use std::process::ExitCode;

use atoll_isolation::sys::process;
use atoll_runtime::Error;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait};
use tokio::signal::unix::{SignalKind, signal};

use crate::exit;
use crate::interrupts::Interrupts;

/// If this is PID 1: becomes two, of which one stays that until the other ends, and has its exit code. `None` for the one
/// that goes on. Must be called before any thread is started.
pub(crate) fn stand_by() -> Result<Option<ExitCode>, Error> {
    if std::process::id() != 1 {
        return Ok(None);
    }
    let failed = |error| Error::Internal { what: format!("failed to become two: {error}") };
    let Some(child) = process::fork().map_err(failed)?.and_then(|pid| Pid::from_raw(pid.cast_signed())) else {
        return Ok(None);
    };
    let threads = tokio::runtime::Builder::new_current_thread();
    exit::outcome(threads, until_end_of(child)).map(|code| Some(ExitCode::from(code)))
}

async fn until_end_of(child: Pid) -> Result<u8, Error> {
    let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup(), SignalKind::quit()];
    let mut asked = Interrupts::new(&kinds)?;
    let mut news = signal(SignalKind::child())
        .map_err(|error| Error::Internal { what: format!("failed to watch signals: {error}") })?;
    loop {
        // Looked at first: it may have ended before anybody listened.
        if let Some(code) = reap(child) {
            return Ok(code);
        }
        tokio::select! {
            _ = news.recv() => {}
            number = asked.next() => {
                if let Some(signal) = Signal::from_named_raw(i32::from(number)) {
                    // It may have ended meanwhile, which is told by the next turn.
                    kill_process(child, signal).ok();
                }
            }
        }
    }
}

/// Everybody who has ended; the code of `child`, if it is among them.
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
