//! From the words of a request to those of the runtime. Checks only what the runtime cannot see any more.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use atoll_protocol::{
    Background, Encoding, ExecRequest, HttpCondition, LogCondition, PortCondition, ReadyCondition, RestartFrom,
    RestartPolicy, SessionRequest, SignalScope, StartRequest, StdinMode, TerminalRequest, WindowSize,
};
use atoll_runtime::{
    Command, HttpCheck, Invocation, LogPattern, PortCheck, ProcessSpec, Readiness, Restart, SessionSpec, StartFrom,
    Stdin, TerminalSpec,
};

use crate::error::Refusal;

/// What an answer holds of each output, if not told otherwise.
const ANSWER_BYTES: u64 = 1024 * 1024;

/// The most that it may be told to hold; what is larger is read from the log.
const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Statuses of an HTTP check that names none: whatever is no error.
const NO_ERROR: (u16, u16) = (200, 399);

/// The process that an exec is.
pub(crate) fn exec(request: ExecRequest) -> Result<ProcessSpec, Refusal> {
    let stdin = exec_stdin(request.stdin, request.stdin_base64)?;
    let command = Command {
        cwd: request.cwd.map(Into::into),
        env: changes(request.env),
        user: request.user,
        stdin,
        timeout: millis(request.timeout_ms),
        idle_timeout: millis(request.idle_timeout_ms),
        max_output_bytes: request.max_output_bytes,
        memory_bytes: request.memory_bytes,
        network: request.network,
        background: background(request.background),
        ..with_grace(Command::new(invocation(request.command, request.argv)?), request.grace_ms)
    };
    Ok(ProcessSpec { id: request.id, labels: request.labels, ..ProcessSpec::new(command) })
}

/// The process that is to be started.
pub(crate) fn start(request: StartRequest) -> Result<ProcessSpec, Refusal> {
    let command = Command {
        cwd: request.cwd.map(Into::into),
        env: changes(request.env),
        user: request.user,
        stdin: match request.stdin {
            StdinMode::Closed => Stdin::Closed,
            StdinMode::Pipe => Stdin::Pipe,
        },
        timeout: millis(request.timeout_ms),
        idle_timeout: millis(request.idle_timeout_ms),
        max_output_bytes: request.max_output_bytes,
        memory_bytes: request.memory_bytes,
        network: request.network,
        background: background(request.background),
        ..with_grace(Command::new(invocation(request.command, request.argv)?), request.grace_ms)
    };
    let readiness = request.ready.map(readiness).transpose()?;
    let restart = restart(request.restart);
    Ok(ProcessSpec { id: request.id, labels: request.labels, restart, readiness, ..ProcessSpec::new(command) })
}

/// The session that is to be made.
pub(crate) fn session(request: SessionRequest) -> SessionSpec {
    SessionSpec {
        id: request.id,
        cwd: request.cwd.map(Into::into),
        env: changes(request.env),
        user: request.user,
        timeout: millis(request.timeout_ms),
        options: request.options,
    }
}

/// What a dead session is started from.
pub(crate) fn restart_from(given: RestartFrom) -> StartFrom {
    match given {
        RestartFrom::Snapshot => StartFrom::Snapshot,
        RestartFrom::Nothing => StartFrom::Nothing,
    }
}

/// The terminal that is to be opened.
pub(crate) fn terminal(request: TerminalRequest) -> Result<TerminalSpec, Refusal> {
    let invocation = match (request.command, request.argv) {
        (None, None) => Invocation::Interactive,
        (command, argv) => invocation(command, argv)?,
    };
    let mut spec = TerminalSpec::new(invocation);
    spec.size = size_or_default(request.cols, request.rows)?;
    spec.id = request.id;
    spec.cwd = request.cwd.map(Into::into);
    spec.env = changes(request.env);
    spec.user = request.user;
    if let Some(term) = request.term {
        spec.term = term.into();
    }
    Ok(spec)
}

/// A size with a side that may be left out.
pub(crate) fn size_or_default(cols: Option<u16>, rows: Option<u16>) -> Result<WindowSize, Refusal> {
    let usual = WindowSize::default();
    size(cols.unwrap_or(usual.cols()), rows.unwrap_or(usual.rows()))
}

/// A size.
pub(crate) fn size(cols: u16, rows: u16) -> Result<WindowSize, Refusal> {
    WindowSize::new(cols, rows).map_err(|error| Refusal::invalid(error.to_string()))
}

fn invocation(command: Option<String>, argv: Option<Vec<String>>) -> Result<Invocation, Refusal> {
    match (command, argv) {
        (Some(command), None) => Ok(Invocation::Shell(command.into())),
        (None, Some(argv)) => Ok(Invocation::Argv(argv.into_iter().map(OsString::from).collect())),
        (Some(_), Some(_)) => Err(Refusal::invalid("`command` and `argv` exclude each other")),
        (None, None) => Err(Refusal::invalid("either `command` or `argv` must be given")),
    }
}

fn exec_stdin(text: Option<String>, base64: Option<String>) -> Result<Stdin, Refusal> {
    match (text, base64) {
        (None, None) => Ok(Stdin::Closed),
        (Some(text), None) => Ok(Stdin::Bytes(text.into())),
        (None, Some(base64)) => {
            let bytes = Encoding::Base64.decode(&base64);
            bytes.map(|bytes| Stdin::Bytes(bytes.into())).ok_or_else(|| Refusal::invalid("`stdin_base64` is no base64"))
        }
        (Some(_), Some(_)) => Err(Refusal::invalid("`stdin` and `stdin_base64` exclude each other")),
    }
}

fn changes(env: BTreeMap<String, Option<String>>) -> BTreeMap<OsString, Option<OsString>> {
    env.into_iter().map(|(name, value)| (name.into(), value.map(Into::into))).collect()
}

/// Milliseconds, if given.
pub(crate) fn millis(given: Option<u64>) -> Option<Duration> {
    given.map(Duration::from_millis)
}

fn with_grace(mut command: Command, given: Option<u64>) -> Command {
    command.grace = millis(given).unwrap_or(command.grace);
    command
}

fn background(given: Background) -> atoll_runtime::Background {
    match given {
        Background::Keep => atoll_runtime::Background::Keep,
        Background::Kill => atoll_runtime::Background::Kill,
    }
}

fn restart(given: RestartPolicy) -> Restart {
    let Restart::OnFailure { max: usual_max, backoff: usual, backoff_max: usual_longest } = Restart::ON_FAILURE else {
        return Restart::Never;
    };
    match given {
        RestartPolicy::Never => Restart::Never,
        RestartPolicy::OnFailure { max, backoff_ms, backoff_max_ms } => Restart::OnFailure {
            max: max.unwrap_or(usual_max),
            backoff: millis(backoff_ms).unwrap_or(usual),
            backoff_max: millis(backoff_max_ms).unwrap_or(usual_longest),
        },
    }
}

fn readiness(given: ReadyCondition) -> Result<Readiness, Refusal> {
    match given {
        ReadyCondition::Log(LogCondition { since: Some(_), .. }) => {
            Err(Refusal::invalid("`since` has no meaning for a process that is yet to be started"))
        }
        ReadyCondition::Log(condition) => pattern(condition).map(Readiness::Log),
        ReadyCondition::Port(condition) => Ok(Readiness::Port(port(condition))),
    }
}

/// What to look for in the output.
pub(crate) fn pattern(given: LogCondition) -> Result<LogPattern, Refusal> {
    match (given.text, given.regex) {
        (Some(text), None) => Ok(LogPattern::Text(text)),
        (None, Some(regex)) => Ok(LogPattern::Regex(regex)),
        (Some(_), Some(_)) => Err(Refusal::invalid("`text` and `regex` exclude each other")),
        (None, None) => Err(Refusal::invalid("either `text` or `regex` must be given")),
    }
}

/// When a port counts as open.
pub(crate) fn port(given: PortCondition) -> PortCheck {
    let http = given.http.map(|HttpCondition { path, status }| HttpCheck {
        path,
        statuses: status.map_or(NO_ERROR, |status| (status, status)),
    });
    PortCheck { port: given.port, http }
}

/// Whom a signal is for.
pub(crate) fn scope(given: SignalScope) -> atoll_runtime::SignalScope {
    match given {
        SignalScope::Main => atoll_runtime::SignalScope::Main,
        SignalScope::Tree => atoll_runtime::SignalScope::Tree,
    }
}

/// Bytes of each output that an answer may hold.
pub(crate) fn answer_bytes(given: Option<u64>) -> Result<usize, Refusal> {
    let bytes = given.unwrap_or(ANSWER_BYTES);
    if bytes > ANSWER_BYTES_MAX {
        let message = format!("answer_bytes: {bytes} is more than an answer may hold ({ANSWER_BYTES_MAX})");
        return Err(Refusal::invalid(message).hint("read the rest from the log: GET /v1/processes/{id}/output"));
    }
    usize::try_from(bytes).map_err(|error| Refusal::invalid(error.to_string()))
}
