//! Commands that are run to their end: by themselves, or in a shell that remembers.

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
use crate::printed::{Encoding, Newest, Printed, shown};
use crate::tool::{Nature, Told, Tool};
use crate::trouble::Trouble;

/// How long a command may take if nothing is said.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The session that is meant if none is named.
const SESSION: &str = "main";

/// How long it is waited for a command that is being started when its call is taken back.
const BEGUN_WITHIN: Duration = Duration::from_secs(5);

pub(crate) struct RunCommand;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Command {
    /// A bash command line; pipes, globs and && work.
    command: String,
    /// Directory to run it in; relative ones are below /workspace (/workspace).
    cwd: Option<String>,
    /// Variables for this command alone.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Text for its standard input, which is closed otherwise.
    stdin: Option<String>,
    /// Seconds after which it is killed with everything that it started (120, at most 1800).
    timeout_seconds: Option<u64>,
    /// Bytes of each of stdout and stderr to answer with, half from the beginning and half from the end (16000, at most
    /// 262144). Nothing is lost: read_output gives what is left out.
    max_output_bytes: Option<u64>,
    /// How stdout and stderr are given: as text, or exactly as base64 (text).
    #[serde(default)]
    encoding: Encoding,
}

impl Tool for RunCommand {
    const NAME: &'static str = "run_command";
    const TITLE: &'static str = "Run a command";
    const ABOUT: &'static str = "Run a shell command in the sandbox and wait for its end. Each call is a shell of its \
        own: directory and variables do not carry over (use run_in_session for that). Processes that it leaves in the \
        background go on running. A code other than 0 is a result, not an error.";
    const NATURE: Nature = Nature::Runs;
    type Input = Command;
    type Output = Ran;

    async fn run(input: Command, call: &mut Call) -> Result<Ran, Trouble> {
        let (timeout, show) =
            (seconds("timeout_seconds", input.timeout_seconds, TIMEOUT)?, shown(input.max_output_bytes)?);
        let request = ExecRequest {
            cwd: input.cwd,
            env: environment(input.env),
            stdin: input.stdin,
            timeout_ms: Some(millis(timeout)),
            answer_bytes: Some(show),
            ..ExecRequest::shell(input.command)
        };
        let inside = call.inside().await?;
        call.may_take(timeout);
        let stream = inside.exec_stream(request)?;
        let result = follow(&inside, stream, call).await?;
        Ran::new(&inside, result, input.encoding, None).await
    }
}

pub(crate) struct RunInSession;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InSession {
    /// A bash command line, or several lines.
    command: String,
    /// Which session; one that is not there is made. Sessions run side by side, commands of one after one another (main).
    session: Option<String>,
    /// Text for its standard input, which is closed otherwise.
    stdin: Option<String>,
    /// Seconds after which the command is killed; the session stays (120, at most 1800).
    timeout_seconds: Option<u64>,
    /// Bytes of each of stdout and stderr to answer with, half from the beginning and half from the end (16000, at most
    /// 262144).
    max_output_bytes: Option<u64>,
    /// How stdout and stderr are given: as text, or exactly as base64 (text).
    #[serde(default)]
    encoding: Encoding,
}

impl Tool for RunInSession {
    const NAME: &'static str = "run_in_session";
    const TITLE: &'static str = "Run in a session";
    const ABOUT: &'static str = "Run a command in a bash session that remembers, and wait for its end. The directory, \
        variables, functions, aliases, options and background jobs stay for the next command of the same session. A \
        session is made by its first use.";
    const NATURE: Nature = Nature::Runs;
    type Input = InSession;
    type Output = Ran;

    async fn run(input: InSession, call: &mut Call) -> Result<Ran, Trouble> {
        let (timeout, show) =
            (seconds("timeout_seconds", input.timeout_seconds, TIMEOUT)?, shown(input.max_output_bytes)?);
        let session = SessionId::new(input.session.unwrap_or_else(|| SESSION.to_owned()))
            .map_err(|error| Trouble::invalid(error.to_string()))?;
        let request = ExecRequest {
            stdin: input.stdin,
            timeout_ms: Some(millis(timeout)),
            answer_bytes: Some(show),
            ..ExecRequest::shell(input.command)
        };
        let inside = call.inside().await?;
        call.may_take(timeout);
        let stream = inside.session_exec_stream(&session, request.clone())?;
        let (result, note) = match follow(&inside, stream, call).await {
            Err(Failed::There(error)) => {
                let note = ready(&inside, &session, error).await?;
                let stream = inside.session_exec_stream(&session, request)?;
                (follow(&inside, stream, call).await?, note)
            }
            other => (other?, None),
        };
        Ran::new(&inside, result, input.encoding, note).await
    }
}

/// Makes a session that is not there, and brings one back whose shell has ended; any other error stays one.
async fn ready(inside: &Client, id: &SessionId, error: atoll_client::Error) -> Result<Option<String>, Trouble> {
    match error.code() {
        Some(ErrorCode::SessionNotFound) => {
            let request = SessionRequest { id: Some(id.clone()), ..SessionRequest::default() };
            match inside.create_session(&request).await {
                Ok(_) => Ok(None),
                // Another call was first.
                Err(error) if error.code() == Some(ErrorCode::SessionAlreadyExists) => Ok(None),
                Err(error) => Err(error.into()),
            }
        }
        Some(ErrorCode::SessionTerminated) => match inside.session_restart(id, RestartFrom::Snapshot).await {
            Ok(_) => {
                Ok(Some("the session's shell had ended; it was started again with what it held before".to_owned()))
            }
            Err(error) if error.code() == Some(ErrorCode::SessionAlive) => Ok(None),
            Err(error) => Err(error.into()),
        },
        _ => Err(error.into()),
    }
}

/// Why a command was not followed to its end.
enum Failed {
    There(atoll_client::Error),
    Cancelled,
}

impl From<Failed> for Trouble {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::There(error) => error.into(),
            Failed::Cancelled => Self::cancelled(),
        }
    }
}

/// Follows a command to its end. If the call is taken back, the command is ended with all that it started.
async fn follow(inside: &Client, mut stream: ExecStream, call: &mut Call) -> Result<ExecResult, Failed> {
    let mut newest = Newest::default();
    loop {
        let Some(event) = call.until(stream.next()).await else {
            end(inside, stream).await;
            return Err(Failed::Cancelled);
        };
        match event.map_err(Failed::There)? {
            Some(ExecEvent::End(result)) => return Ok(*result),
            Some(ExecEvent::Output(output)) => {
                newest.add(&output.bytes);
                call.news(|| newest.text());
            }
            Some(ExecEvent::Start(_) | ExecEvent::Gap(_)) => {}
            None => {
                let why = "a command without an end".to_owned();
                return Err(Failed::There(atoll_client::Error::Broken { why }));
            }
        }
    }
}

/// Ends a command. One that is just being started is waited for: else it would go on with nobody who knows of it.
async fn end(inside: &Client, mut stream: ExecStream) {
    let id = stream.id().clone();
    let kill = async || inside.kill(&id, &KillRequest::default()).await;
    if let Err(error) = kill().await
        && error.code() == Some(ErrorCode::ProcessNotFound)
        && let Ok(Ok(Some(_))) = tokio::time::timeout(BEGUN_WITHIN, stream.next()).await
    {
        drop(kill().await);
    }
}

/// A command that has ended.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Ran {
    /// Its exit code, if it exited by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// Why it is over: exited, signaled, killed, timeout, idle_timeout, oom, output_limit, shell_exited, sandbox_stopped or
    /// host_lost.
    reason: String,
    /// The signal that ended it, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    /// Standard output.
    stdout: Printed,
    /// Standard error.
    stderr: Printed,
    /// How long it took.
    duration_ms: u64,
    /// Its id: for read_output, and to end with kill_process what it left running.
    process: String,
    /// Processes that it started and that still run.
    left_running: u64,
    /// Connections that it was refused, because the sandbox may not make them.
    refused_connections: Vec<String>,
    /// What else is to be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Ran {
    async fn new(
        inside: &Client,
        result: ExecResult,
        encoding: Encoding,
        mut note: Option<String>,
    ) -> Result<Self, Trouble> {
        let (stdout, stderr) = (Printed::new(&result.stdout, encoding)?, Printed::new(&result.stderr, encoding)?);
        let told_all = stdout.omitted_bytes == 0 && stderr.omitted_bytes == 0;
        if told_all && result.end.survivors == 0 {
            // There is nothing more to be asked of it, and a list of processes is for what one may want to see.
            drop(inside.remove_process(&result.id).await);
        }
        if result.session_reset {
            note = Some(
                "the session's shell could not be saved; it was replaced by one with its last snapshot".to_owned(),
            );
        }
        let ended = Ended::new(&result.end);
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

/// How a command ended, in few words.
pub(super) struct Ended {
    pub(super) exit_code: Option<i32>,
    pub(super) reason: String,
    pub(super) signal: Option<String>,
}

impl Ended {
    pub(super) fn new(end: &EndRecord) -> Self {
        let exits = matches!(end.reason, EndReason::Exited | EndReason::ShellExited);
        Self {
            exit_code: end.code.filter(|_| exits),
            reason: word(end.reason),
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

/// A value that is a word in JSON.
pub(super) fn word(value: impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

fn refused(end: &EndRecord) -> Vec<String> {
    let told = end.denials.iter().map(|denial| {
        let what = denial.host.as_deref().or(denial.address.as_deref()).unwrap_or("something");
        let port = denial.port.map(|port| format!(" port {port}")).unwrap_or_default();
        format!("{what}{port}: {}", word(denial.reason).replace('_', " "))
    });
    told.collect()
}

impl Told for Ran {
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
        let ended = Ended { exit_code: self.exit_code, reason: self.reason.clone(), signal: self.signal.clone() };
        text.push_str(&format!("[{} after {} ms]", ended.text(), self.duration_ms));
        if self.left_running > 0 {
            text.push_str(&format!(
                "\n[{} processes that it started still run; kill_process with process \"{}\" ends them]",
                self.left_running, self.process
            ));
        }
        for refused in &self.refused_connections {
            text.push_str(&format!("\n[connection refused by the sandbox's rules: {refused}]"));
        }
        if let Some(note) = &self.note {
            text.push_str(&format!("\n[{note}]"));
        }
        text
    }
}

/// For other tools that start commands.
pub(super) fn environment(env: BTreeMap<String, String>) -> BTreeMap<String, Option<String>> {
    env.into_iter().map(|(name, value)| (name, Some(value))).collect()
}

/// The id that was asked for, if one was.
pub(super) fn wanted_id(given: Option<String>) -> Result<Option<ProcessId>, Trouble> {
    given.map(super::process_id).transpose()
}
