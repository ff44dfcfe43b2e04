//! Exit codes, which are part of the stable interface.
//!
//! A command's own code is returned as it is; a signal is 128 plus its number. The others are Atoll's own.

use std::io;
use std::process::ExitCode;

use atoll_protocol::{EndReason, EndRecord, ErrorCode};
use atoll_runtime::Error;

use crate::error::CliError;
use crate::printer;

/// The command exceeded its output limit.
pub(crate) const OUTPUT_LIMIT: u8 = 123;
/// The command exceeded its time limit.
pub(crate) const TIMEOUT: u8 = 124;
/// Atoll failed: the command did not run, or its result is unknown.
pub(crate) const FAILED: u8 = 125;
/// The program cannot be executed.
pub(crate) const NOT_EXECUTABLE: u8 = 126;
/// The program does not exist.
pub(crate) const NOT_FOUND: u8 = 127;

/// The output is closed: the code of a program that SIGPIPE ended.
pub(crate) const BROKEN_PIPE: u8 = 141;

/// The section on exit codes in `--help`.
pub(crate) const HELP: &str = "Exit codes:
  the command's own code, or 128+N if signal N ended it
  123  the command exceeded --max-output
  124  the command exceeded --timeout or --idle-timeout
  125  Atoll failed: invalid options, no isolation, no disk space
  126  the program is not executable
  127  the program was not found
  141  the output was closed (SIGPIPE)";

/// Returns the exit code for the end of a command.
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

/// Returns the exit code for a command that did not run.
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

/// Prints clap's message. `--help` and `--version` are not errors.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    drop(error.print());
    if error.use_stderr() { ExitCode::from(FAILED) } else { ExitCode::SUCCESS }
}

/// Prints the connections that the egress rules denied.
fn explain_denials(end: &EndRecord) {
    for denial in &end.denials {
        let what = denial.host.as_deref().or(denial.address.as_deref()).unwrap_or("a connection");
        let port = denial.port.map(|port| format!(" port {port}")).unwrap_or_default();
        let reason = serde_json::to_value(denial.reason).unwrap_or_default();
        let reason = reason.as_str().unwrap_or_default().replace('_', " ");
        drop(printer::err(format!("atoll: refused {what}{port}: {reason}\n").as_bytes()));
    }
}

/// Prints why a command ended, if the exit code alone does not say so.
pub(crate) fn explain(end: &EndRecord) {
    explain_denials(end);
    let text = match end.reason {
        EndReason::Timeout => format!("atoll: timeout after {} ms\n", end.duration_ms),
        EndReason::IdleTimeout => {
            format!("atoll: idle timeout: no output for too long, ended after {} ms\n", end.duration_ms)
        }
        EndReason::OutputLimit => "atoll: output limit exceeded\n".to_owned(),
        EndReason::Oom => "atoll: out of memory: killed by the kernel\n".to_owned(),
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

/// Runs a subcommand on the current thread. Prints its error, if any, and returns its exit code.
pub(crate) fn run<E: From<Error> + Into<CliError>>(
    work: impl Future<Output = Result<u8, E>>,
    as_json: bool,
) -> ExitCode {
    report(block_on(tokio::runtime::Builder::new_current_thread(), work), as_json)
}

/// Runs a future on a new runtime.
pub(crate) fn block_on<E: From<Error>>(
    mut threads: tokio::runtime::Builder,
    work: impl Future<Output = Result<u8, E>>,
) -> Result<u8, E> {
    let runtime = threads.enable_all().build();
    runtime
        .map_err(|error| Error::Internal { what: format!("failed to start the async runtime: {error}") })?
        .block_on(work)
}

/// Prints the error, if any, and returns the exit code.
pub(crate) fn report<E: Into<CliError>>(outcome: Result<u8, E>, as_json: bool) -> ExitCode {
    match outcome.map_err(Into::into) {
        Ok(code) => ExitCode::from(code),
        Err(CliError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(BROKEN_PIPE),
        Err(error) => {
            let body = error.body();
            printer::error(&body, as_json);
            ExitCode::from(of_code(body.code))
        }
    }
}
