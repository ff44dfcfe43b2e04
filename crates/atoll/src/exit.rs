//! Exit codes: an interface like any other.
//!
//! A command's own code is passed on; a signal is 128 plus its number. The rest are Atoll's own.

use std::io;
use std::process::ExitCode;

use atoll_protocol::{EndReason, EndRecord, ErrorCode};
use atoll_runtime::Error;

use crate::failure::Failure;
use crate::printer;

/// The command printed more than it may.
pub(crate) const OUTPUT_LIMIT: u8 = 123;
/// The command's time was up.
pub(crate) const TIMEOUT: u8 = 124;
/// Atoll could not do what was asked; the command did not run, or its end is not known.
pub(crate) const FAILED: u8 = 125;
/// The program cannot be executed.
pub(crate) const NOT_EXECUTABLE: u8 = 126;
/// There is no such program.
pub(crate) const NOT_FOUND: u8 = 127;

/// Nobody takes the output any more: what a program gets that does not catch SIGPIPE.
pub(crate) const BROKEN_PIPE: u8 = 141;

/// For `--help`.
pub(crate) const HELP: &str = "Exit codes:
  the command's own code; 128+N if signal N ended it
  123  it printed more than --max-output
  124  --timeout or --idle-timeout was up
  125  Atoll failed: bad options, no isolation, no disk
  126  the program cannot be executed
  127  there is no such program
  141  nobody takes the output any more";

/// The code for how a command ended.
pub(crate) fn of_end(end: &EndRecord) -> u8 {
    match end.reason {
        EndReason::Timeout | EndReason::IdleTimeout => TIMEOUT,
        EndReason::OutputLimit => OUTPUT_LIMIT,
        EndReason::SandboxStopped | EndReason::HostLost => FAILED,
        EndReason::Exited | EndReason::Signaled | EndReason::Killed | EndReason::Oom | EndReason::ShellExited => {
            let signal = end.signal.map(|signal| 128 + signal.number());
            end.code.or(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED)
        }
    }
}

/// The code for a command that was not run.
pub(crate) fn of_error(error: &Error) -> u8 {
    of_code(error.code())
}

fn of_code(code: ErrorCode) -> u8 {
    if code == ErrorCode::CommandNotFound {
        NOT_FOUND
    } else if code == ErrorCode::NotExecutable {
        NOT_EXECUTABLE
    } else if code == ErrorCode::WaitTimeout {
        TIMEOUT
    } else {
        FAILED
    }
}

/// Bad arguments are told by clap; `--help` and `--version` are no failure.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // A closed terminal cannot be told anything.
    drop(error.print());
    if error.use_stderr() { ExitCode::from(FAILED) } else { ExitCode::SUCCESS }
}

/// What the command was refused on the way out.
fn explain_denials(end: &EndRecord) {
    for denial in &end.denials {
        let what = denial.host.as_deref().or(denial.address.as_deref()).unwrap_or("something");
        let port = denial.port.map(|port| format!(" port {port}")).unwrap_or_default();
        let reason = serde_json::to_value(denial.reason).unwrap_or_default();
        let reason = reason.as_str().unwrap_or_default().replace('_', " ");
        drop(printer::err(format!("atoll: refused {what}{port}: {reason}\n").as_bytes()));
    }
}

/// What the exit code alone does not say.
pub(crate) fn explain(end: &EndRecord) {
    explain_denials(end);
    let text = match end.reason {
        EndReason::Timeout => format!("atoll: timeout after {} ms\n", end.duration_ms),
        EndReason::IdleTimeout => format!("atoll: no output for too long, ended after {} ms\n", end.duration_ms),
        EndReason::OutputLimit => "atoll: ended for printing too much\n".to_owned(),
        EndReason::Oom => "atoll: killed by the kernel, out of memory\n".to_owned(),
        EndReason::HostLost => "atoll: the sandbox was lost\n".to_owned(),
        EndReason::Exited
        | EndReason::Signaled
        | EndReason::Killed
        | EndReason::ShellExited
        | EndReason::SandboxStopped => {
            return;
        }
    };
    drop(printer::err(text.as_bytes()));
}

/// Runs a command's work to its end and turns its outcome into an exit code; a failure is told first.
pub(crate) fn after<E: From<Error> + Into<Failure>>(
    work: impl Future<Output = Result<u8, E>>,
    as_json: bool,
) -> ExitCode {
    told(outcome(tokio::runtime::Builder::new_current_thread(), work), as_json)
}

/// Runs a command's work to its end.
pub(crate) fn outcome<E: From<Error>>(
    mut threads: tokio::runtime::Builder,
    work: impl Future<Output = Result<u8, E>>,
) -> Result<u8, E> {
    let runtime = threads.enable_all().build();
    runtime.map_err(|error| Error::Internal { what: format!("failed to start: {error}") })?.block_on(work)
}

/// The exit code of an outcome; a failure is told first.
pub(crate) fn told<E: Into<Failure>>(outcome: Result<u8, E>, as_json: bool) -> ExitCode {
    match outcome.map_err(Into::into) {
        Ok(code) => ExitCode::from(code),
        Err(Failure::Printing(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(BROKEN_PIPE),
        Err(failure) => {
            let body = failure.body();
            printer::failure(&body, as_json);
            ExitCode::from(of_code(body.code))
        }
    }
}
