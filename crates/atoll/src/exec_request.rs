//! Runs commands on a server: turns `CommandArguments` into an `ExecRequest` and sends it. Shared by `exec` and
//! `session exec`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use atoll_client::Client;
use atoll_client::Until;
use atoll_protocol::{Encoding, ErrorCode, ExecRequest, ProcessId, SessionId, StartRequest, StdinMode};
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc;

use crate::error::CliError;
use crate::interrupts::Interrupts;
use crate::options::CommandArguments;
use crate::stream_output::{self, RunningCommand, Source};
use crate::{exit, parse, printer, tty};

/// Size of the chunks in which standard input is sent; each chunk is one request.
const STDIN_CHUNK: usize = 256 * 1024;

/// Limit for standard input inside a JSON request: the server accepts 16 MiB, and base64 turns three bytes into four.
const STDIN_MAX: usize = 11 * 1024 * 1024;

/// How the result of a command is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputMode {
    /// Output is streamed as it arrives.
    Stream,
    /// The result is printed as one JSON document.
    Json,
}

impl OutputMode {
    pub(crate) fn new(as_json: bool) -> Self {
        if as_json { Self::Json } else { Self::Stream }
    }
}

/// Runs a command in a sandbox, or in one of its sessions, and returns its exit code.
pub(crate) async fn run(
    client: Client,
    session: Option<SessionId>,
    arguments: CommandArguments,
    mode: OutputMode,
) -> Result<u8, CliError> {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut interrupts = Interrupts::new(&kinds)?;
    let (grace, pass_stdin) = (arguments.grace, arguments.stdin);
    let request = request(arguments)?;
    match (mode, pass_stdin) {
        (OutputMode::Json, _) => run_to_json(client, session, request, pass_stdin, grace, &mut interrupts).await,
        (OutputMode::Stream, false) => {
            let stream = match &session {
                None => client.exec_stream(request)?,
                Some(session) => client.session_exec_stream(session, request)?,
            };
            let running = RunningCommand { client, id: stream.id().clone(), grace };
            let code = stream_output::follow(Source::Exec(Box::new(stream)), &running, &mut interrupts).await;
            running.remove_record().await;
            code
        }
        (OutputMode::Stream, true) => run_with_stdin(client, session, request, grace, &mut interrupts).await,
    }
}

/// Starts a command in the background and prints its id.
pub(crate) async fn start(
    client: &Client,
    id: Option<ProcessId>,
    arguments: CommandArguments,
    mode: OutputMode,
) -> Result<u8, CliError> {
    let request = StartRequest { id, ..as_process(request(arguments)?) };
    let started = client.start(&request).await?;
    match mode {
        OutputMode::Json => printer::json(&started).map_err(CliError::Output)?,
        OutputMode::Stream => printer::out(format!("{}\n", started.id).as_bytes()).map_err(CliError::Output)?,
    }
    Ok(0)
}

/// Runs a command with this program's standard input: starts a process and writes to its pipe.
async fn run_with_stdin(
    client: Client,
    session: Option<SessionId>,
    request: ExecRequest,
    grace: Option<Duration>,
    interrupts: &mut Interrupts,
) -> Result<u8, CliError> {
    let request = StartRequest { stdin: StdinMode::Pipe, ..as_process(request) };
    let info = match &session {
        None => client.start(&request).await?,
        Some(session) => client.session_queue(session, &request).await?,
    };
    let follow = client.follow(&info.id, 0, Until::End);
    feed(client.clone(), info.id.clone(), tty::input(STDIN_CHUNK));
    let running = RunningCommand { client, id: info.id, grace };
    let code = stream_output::follow(Source::Follow(Box::new(follow)), &running, interrupts).await;
    running.remove_record().await;
    code
}

fn feed(client: Client, id: ProcessId, mut input: mpsc::Receiver<bytes::Bytes>) {
    tokio::spawn(async move {
        let mut offset = 0;
        while let Some(bytes) = input.recv().await {
            match client.write_stdin(&id, offset, bytes).await {
                Ok(next) => offset = next,
                // The process closed its input or ended; the output stream reports its end.
                Err(_) => return,
            }
        }
        drop(client.close_stdin(&id).await);
    });
}

/// Runs a command and prints its result as one JSON document.
async fn run_to_json(
    client: Client,
    session: Option<SessionId>,
    mut request: ExecRequest,
    pass_stdin: bool,
    grace: Option<Duration>,
    interrupts: &mut Interrupts,
) -> Result<u8, CliError> {
    if pass_stdin {
        request.stdin_base64 = Some(Encoding::Base64.encode(&all_input().await?).0);
    }
    let id = Client::new_process_id()?;
    request.id = Some(id.clone());
    let running = RunningCommand { client: client.clone(), id, grace };
    let exec = async {
        match &session {
            None => client.exec(&request).await,
            Some(session) => client.session_exec(session, &request).await,
        }
    };
    tokio::pin!(exec);
    let (result, interrupted) = tokio::select! {
        result = &mut exec => (result, None),
        number = interrupts.next() => {
            running.kill(running.grace).await;
            (exec.await, Some(number))
        }
    };
    let result = match (result, interrupted) {
        // The command was still queued.
        (Err(error), Some(number)) if error.code() == Some(ErrorCode::CommandCancelled) => return Ok(128 + number),
        (result, _) => result?,
    };
    running.remove_record().await;
    printer::json(&result)?;
    Ok(interrupted.map_or_else(|| exit::of_end(&result.end), |number| 128 + number))
}

async fn all_input() -> Result<Vec<u8>, CliError> {
    let mut input = tty::input(STDIN_CHUNK);
    let mut all = Vec::new();
    while let Some(bytes) = input.recv().await {
        all.extend_from_slice(&bytes);
        if all.len() > STDIN_MAX {
            let mebibytes = STDIN_MAX / 1024 / 1024;
            return Err(CliError::invalid(format!(
                "standard input is larger than {mebibytes} MiB, the limit with --json (stream it without --json)"
            )));
        }
    }
    Ok(all)
}

fn request(arguments: CommandArguments) -> Result<ExecRequest, CliError> {
    let CommandArguments { context, timeout, idle_timeout, grace, max_output, only, encoding, command, .. } = arguments;
    let request = match command_line(command)? {
        CommandLine::Shell(text) => ExecRequest::shell(text),
        CommandLine::Argv(argv) => ExecRequest::argv(argv),
    };
    Ok(ExecRequest {
        cwd: context.cwd.map(|cwd| text(cwd.into_os_string())).transpose()?,
        env: variables(context.env)?,
        user: context.user,
        timeout_ms: timeout.map(millis),
        idle_timeout_ms: idle_timeout.map(millis),
        max_output_bytes: max_output,
        network: parse::only_rules(only),
        grace_ms: grace.map(millis),
        encoding: encoding.into(),
        ..request
    })
}

fn as_process(request: ExecRequest) -> StartRequest {
    StartRequest {
        command: request.command,
        argv: request.argv,
        cwd: request.cwd,
        env: request.env,
        user: request.user,
        timeout_ms: request.timeout_ms,
        idle_timeout_ms: request.idle_timeout_ms,
        max_output_bytes: request.max_output_bytes,
        network: request.network,
        grace_ms: request.grace_ms,
        ..StartRequest::default()
    }
}

/// The words after `--`.
#[derive(Debug)]
pub(crate) enum CommandLine {
    /// One word: a shell string.
    Shell(String),
    /// Several words: a program and its arguments.
    Argv(Vec<String>),
}

/// Interprets the words after `--`.
pub(crate) fn command_line(given: Vec<OsString>) -> Result<CommandLine, CliError> {
    let mut words = given.into_iter().map(text).collect::<Result<Vec<_>, _>>()?;
    Ok(if words.len() == 1 { CommandLine::Shell(words.remove(0)) } else { CommandLine::Argv(words) })
}

/// Converts environment variables to text; `None` unsets a variable.
pub(crate) fn variables(
    given: Vec<(OsString, Option<OsString>)>,
) -> Result<BTreeMap<String, Option<String>>, CliError> {
    given.into_iter().map(|(name, value)| Ok((text(name)?, value.map(text).transpose()?))).collect()
}

/// Converts an argument to UTF-8, because JSON cannot carry other bytes.
pub(crate) fn text(given: OsString) -> Result<String, CliError> {
    given.into_string().map_err(|given| {
        CliError::invalid(format!(
            "`{}` is not valid UTF-8 and cannot be sent to a server",
            given.to_string_lossy().escape_debug()
        ))
    })
}

/// Converts a duration to whole milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
