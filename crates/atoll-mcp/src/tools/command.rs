//! Tools that run a command to completion: `run_command` and `run_in_session`.

use std::collections::BTreeMap;
use std::time::Duration;

use atoll_client::{Client, ExecEvent, ExecStream};
use atoll_protocol::{
    EndReason, EndRecord, ErrorCode, ExecRequest, ExecResult, KillRequest, ProcessId, RestartFrom, SessionId,
    SessionRequest,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{millis, seconds};
use crate::call::Call;
use crate::error::ToolError;
use crate::tool::{Effect, Tool, ToolOutput};
use crate::truncated_output::{Encoding, LastLine, TruncatedOutput, output_limit};

/// Default time limit of a command.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Default session.
const SESSION: &str = "main";

/// How long a cancelled call waits for a command that is still starting.
const START_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) struct RunCommand;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Command {
    /// Bash command line; pipes, globs and && work.
    command: String,
    /// Working directory; relative paths are below /workspace (default /workspace).
    cwd: Option<String>,
    /// Environment variables for this command.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Text for standard input; closed if not given.
    stdin: Option<String>,
    /// Time limit in seconds; the command and all its processes are killed after it (default 120, at most 1800).
    timeout_seconds: Option<u64>,
    /// Maximum bytes of stdout and of stderr to return, half from the start and half from the end (default 16000, at
    /// most 262144). Omitted output can be read with read_output.
    max_output_bytes: Option<u64>,
    /// Encoding of stdout and stderr: text, or base64 for exact bytes (default text).
    #[serde(default)]
    encoding: Encoding,
}

impl Tool for RunCommand {
    const NAME: &'static str = "run_command";
    const TITLE: &'static str = "Run a command";
    const ABOUT: &'static str = "Run a shell command in the sandbox and wait until it ends. Each call uses a new \
        shell: directory and variables do not carry over (use run_in_session for that). Background processes of the \
        command keep running. An exit code other than 0 is a result, not an error.";
    const EFFECT: Effect = Effect::Executes;
    type Input = Command;
    type Output = CommandResult;

    async fn run(input: Command, call: &mut Call) -> Result<CommandResult, ToolError> {
        let (timeout, show) =
            (seconds("timeout_seconds", input.timeout_seconds, TIMEOUT)?, output_limit(input.max_output_bytes)?);
        let request = ExecRequest {
            cwd: input.cwd,
            env: environment(input.env),
            stdin: input.stdin,
            timeout_ms: Some(millis(timeout)),
            answer_bytes: Some(show),
            ..ExecRequest::shell(input.command)
        };
        let sandbox = call.sandbox().await?;
        call.set_time_limit(timeout);
        let stream = sandbox.exec_stream(request)?;
        let result = follow(&sandbox, stream, call).await?;
        CommandResult::new(&sandbox, result, input.encoding, None).await
    }
}

pub(crate) struct RunInSession;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InSession {
    /// Bash command line, or several lines.
    command: String,
    /// Name of the session; created if it does not exist. Sessions run in parallel, the commands of one session in
    /// order (default main).
    session: Option<String>,
    /// Text for standard input; closed if not given.
    stdin: Option<String>,
    /// Time limit in seconds; the command is killed after it, and the session stays (default 120, at most 1800).
    timeout_seconds: Option<u64>,
    /// Maximum bytes of stdout and of stderr to return, half from the start and half from the end (default 16000, at
    /// most 262144).
    max_output_bytes: Option<u64>,
    /// Encoding of stdout and stderr: text, or base64 for exact bytes (default text).
    #[serde(default)]
    encoding: Encoding,
}

impl Tool for RunInSession {
    const NAME: &'static str = "run_in_session";
    const TITLE: &'static str = "Run in a session";
    const ABOUT: &'static str = "Run a command in a persistent bash session and wait until it ends. The next command \
        of the same session keeps the directory, variables, functions, aliases, options and background jobs. The \
        first use creates a session.";
    const EFFECT: Effect = Effect::Executes;
    type Input = InSession;
    type Output = CommandResult;

    async fn run(input: InSession, call: &mut Call) -> Result<CommandResult, ToolError> {
        let (timeout, show) =
            (seconds("timeout_seconds", input.timeout_seconds, TIMEOUT)?, output_limit(input.max_output_bytes)?);
        let session = SessionId::new(input.session.unwrap_or_else(|| SESSION.to_owned()))
            .map_err(|error| ToolError::invalid(error.to_string()))?;
        let request = ExecRequest {
            stdin: input.stdin,
            timeout_ms: Some(millis(timeout)),
            answer_bytes: Some(show),
            ..ExecRequest::shell(input.command)
        };
        let sandbox = call.sandbox().await?;
        call.set_time_limit(timeout);
        let stream = sandbox.session_exec_stream(&session, request.clone())?;
        let (result, note) = match follow(&sandbox, stream, call).await {
            Err(FollowError::Server(error)) => {
                let note = recover_session(&sandbox, &session, error).await?;
                let stream = sandbox.session_exec_stream(&session, request)?;
                (follow(&sandbox, stream, call).await?, note)
            }
            other => (other?, None),
        };
        CommandResult::new(&sandbox, result, input.encoding, note).await
    }
}

/// Creates a missing session, and restarts one whose shell has ended. Returns any other error unchanged.
async fn recover_session(
    sandbox: &Client,
    id: &SessionId,
    error: atoll_client::Error,
) -> Result<Option<String>, ToolError> {
    match error.code() {
        Some(ErrorCode::SessionNotFound) => {
            let request = SessionRequest { id: Some(id.clone()), ..SessionRequest::default() };
            match sandbox.create_session(&request).await {
                Ok(_) => Ok(None),
                // A concurrent call created it first.
                Err(error) if error.code() == Some(ErrorCode::SessionAlreadyExists) => Ok(None),
                Err(error) => Err(error.into()),
            }
        }
        Some(ErrorCode::SessionTerminated) => match sandbox.session_restart(id, RestartFrom::Snapshot).await {
            Ok(_) => Ok(Some("the session's shell had ended and was restarted from its last snapshot".to_owned())),
            Err(error) if error.code() == Some(ErrorCode::SessionAlive) => Ok(None),
            Err(error) => Err(error.into()),
        },
        _ => Err(error.into()),
    }
}

/// Why a command was not followed to its end.
enum FollowError {
    Server(atoll_client::Error),
    Cancelled,
}

impl From<FollowError> for ToolError {
    fn from(failed: FollowError) -> Self {
        match failed {
            FollowError::Server(error) => error.into(),
            FollowError::Cancelled => Self::cancelled(),
        }
    }
}

/// Follows a command to its end. If the call is cancelled, kills the command and all its processes.
async fn follow(sandbox: &Client, mut stream: ExecStream, call: &mut Call) -> Result<ExecResult, FollowError> {
    let mut last_line = LastLine::default();
    loop {
        let Some(event) = call.wait(stream.next()).await else {
            kill_command(sandbox, stream).await;
            return Err(FollowError::Cancelled);
        };
        match event.map_err(FollowError::Server)? {
            Some(ExecEvent::End(result)) => return Ok(*result),
            Some(ExecEvent::Output(output)) => {
                last_line.add(&output.bytes);
                call.set_message(|| last_line.text());
            }
            Some(ExecEvent::Start(_) | ExecEvent::Gap(_)) => {}
            None => {
                let why = "the stream ended before the command did".to_owned();
                return Err(FollowError::Server(atoll_client::Error::Broken { why }));
            }
        }
    }
}

/// Kills a command. Waits for one that is still starting, because it would run on unobserved otherwise.
async fn kill_command(sandbox: &Client, mut stream: ExecStream) {
    let id = stream.id().clone();
    let kill = async || sandbox.kill(&id, &KillRequest::default()).await;
    if let Err(error) = kill().await
        && error.code() == Some(ErrorCode::ProcessNotFound)
        && let Ok(Ok(Some(_))) = tokio::time::timeout(START_TIMEOUT, stream.next()).await
    {
        drop(kill().await);
    }
}

/// Result of a command.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CommandResult {
    /// Exit code, if the command exited by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// Why the command ended: exited, signaled, killed, timeout, idle_timeout, oom, output_limit, shell_exited,
    /// sandbox_stopped or host_lost.
    reason: String,
    /// Signal that killed the command, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    /// Standard output.
    stdout: TruncatedOutput,
    /// Standard error.
    stderr: TruncatedOutput,
    /// Run time in milliseconds.
    duration_ms: u64,
    /// Id of the command: for read_output, and for kill_process to kill its background processes.
    process: String,
    /// Number of background processes that are still running.
    left_running: u64,
    /// Network connections that the sandbox's policy denied.
    refused_connections: Vec<String>,
    /// Additional information.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl CommandResult {
    async fn new(
        sandbox: &Client,
        result: ExecResult,
        encoding: Encoding,
        mut note: Option<String>,
    ) -> Result<Self, ToolError> {
        let (stdout, stderr) =
            (TruncatedOutput::new(&result.stdout, encoding)?, TruncatedOutput::new(&result.stderr, encoding)?);
        let is_complete = stdout.omitted_bytes == 0 && stderr.omitted_bytes == 0;
        if is_complete && result.end.survivors == 0 {
            // The result is complete and no process is left, so the record would only clutter the list of processes.
            drop(sandbox.remove_process(&result.id).await);
        }
        if result.session_reset {
            note = Some(
                "the session's shell did not survive the end of the command and was restored from its last snapshot"
                    .to_owned(),
            );
        }
        let ended = EndSummary::new(&result.end);
        Ok(Self {
            exit_code: ended.exit_code,
            reason: ended.reason,
            signal: ended.signal,
            stdout,
            stderr,
            duration_ms: result.end.duration_ms,
            process: result.id.to_string(),
            left_running: result.end.survivors,
            refused_connections: refused(&result.end),
            note,
        })
    }
}

/// Summary of how a command ended.
pub(super) struct EndSummary {
    pub(super) exit_code: Option<i32>,
    pub(super) reason: String,
    pub(super) signal: Option<String>,
}

impl EndSummary {
    pub(super) fn new(end: &EndRecord) -> Self {
        let exits = matches!(end.reason, EndReason::Exited | EndReason::ShellExited);
        Self {
            exit_code: end.code.filter(|_| exits),
            reason: json_name(end.reason),
            signal: end.signal.as_ref().map(ToString::to_string),
        }
    }

    pub(super) fn text(&self) -> String {
        match (self.exit_code, &self.signal) {
            (Some(code), _) if self.reason == "exited" => format!("exit code {code}"),
            (Some(code), _) => format!("{}, exit code {code}", self.reason),
            (None, Some(signal)) => format!("{}, signal {signal}", self.reason),
            (None, None) => self.reason.clone(),
        }
    }
}

/// Returns the JSON name of an enum variant.
pub(super) fn json_name(value: impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

fn refused(end: &EndRecord) -> Vec<String> {
    let denials = end.denials.iter().map(|denial| {
        let what = denial.host.as_deref().or(denial.address.as_deref()).unwrap_or("something");
        let port = denial.port.map(|port| format!(" port {port}")).unwrap_or_default();
        format!("{what}{port}: {}", json_name(denial.reason).replace('_', " "))
    });
    denials.collect()
}

impl ToolOutput for CommandResult {
    fn text(&self) -> String {
        let mut text = self.stdout.readable(&self.process);
        let ends_line = |text: &mut String| {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
        };
        ends_line(&mut text);
        if self.stderr.bytes > 0 {
            text.push_str("[stderr]\n");
            text.push_str(&self.stderr.readable(&self.process));
            ends_line(&mut text);
        }
        let ended = EndSummary { exit_code: self.exit_code, reason: self.reason.clone(), signal: self.signal.clone() };
        text.push_str(&format!("[{} after {} ms]", ended.text(), self.duration_ms));
        if self.left_running > 0 {
            text.push_str(&format!(
                "\n[{} background processes are still running; to kill them, call kill_process with process \"{}\"]",
                self.left_running, self.process
            ));
        }
        for refused in &self.refused_connections {
            text.push_str(&format!("\n[connection denied by the sandbox's network policy: {refused}]"));
        }
        if let Some(note) = &self.note {
            text.push_str(&format!("\n[{note}]"));
        }
        text
    }
}

/// Converts variables to the API's form, in which `None` unsets one.
pub(super) fn environment(env: BTreeMap<String, String>) -> BTreeMap<String, Option<String>> {
    env.into_iter().map(|(name, value)| (name, Some(value))).collect()
}

/// Parses an optional process id.
pub(super) fn optional_process_id(given: Option<String>) -> Result<Option<ProcessId>, ToolError> {
    given.map(super::process_id).transpose()
}
