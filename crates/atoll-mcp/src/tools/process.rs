//! Tools for processes: `start_process`, `list_processes` and `kill_process`.

use std::collections::BTreeMap;

use atoll_protocol::{KillRequest, ProcessInfo, ProcessState, StartRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::{EndSummary, environment, json_name, optional_process_id};
use super::process_id;
use crate::call::Call;
use crate::error::ToolError;
use crate::tool::{Effect, Tool, ToolOutput};

pub(crate) struct StartProcess;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    /// Bash command line. Keep the program in the foreground: no & at the end.
    command: String,
    /// Id of the process; generated if not given. Starting the same command with the same id again returns the running
    /// process.
    process: Option<String>,
    /// Working directory; relative paths are below /workspace (default /workspace).
    cwd: Option<String>,
    /// Environment variables for this process.
    #[serde(default)]
    env: BTreeMap<String, String>,
}

impl Tool for StartProcess {
    const NAME: &'static str = "start_process";
    const TITLE: &'static str = "Start a process";
    const ABOUT: &'static str = "Start a long-running command, such as a server or a build, and return at once. Then \
        use wait_for (until it prints something, opens a port or ends), read_output and kill_process with its id.";
    const EFFECT: Effect = Effect::Executes;
    type Input = Start;
    type Output = Process;

    async fn run(input: Start, call: &mut Call) -> Result<Process, ToolError> {
        let request = StartRequest {
            id: optional_process_id(input.process)?,
            cwd: input.cwd,
            env: environment(input.env),
            ..StartRequest::shell(input.command)
        };
        let started = call.sandbox().await?.start(&request).await?;
        Ok(Process::from(started))
    }
}

pub(crate) struct ListProcesses;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    /// List only the process with this id.
    process: Option<String>,
    /// Include ended processes (default false).
    #[serde(default)]
    ended: bool,
}

impl Tool for ListProcesses {
    const NAME: &'static str = "list_processes";
    const TITLE: &'static str = "List processes";
    const ABOUT: &'static str = "List the running processes of the sandbox, or one of them: state, command, exit \
        code, and the size of its output. Includes commands whose background processes are still running.";
    const EFFECT: Effect = Effect::ReadOnly;
    type Input = List;
    type Output = Processes;

    async fn run(input: List, call: &mut Call) -> Result<Processes, ToolError> {
        let sandbox = call.sandbox().await?;
        let found = match input.process {
            Some(id) => vec![sandbox.process(&process_id(id)?).await?],
            None => {
                let all = sandbox.processes(None, &BTreeMap::new()).await?;
                all.into_iter().filter(|process| input.ended || process.state != ProcessState::Ended).collect()
            }
        };
        Ok(Processes { processes: found.into_iter().map(Process::from).collect() })
    }
}

pub(crate) struct KillProcess;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kill {
    /// Id of the process, or of a command that has background processes.
    process: String,
    /// Seconds between SIGTERM and SIGKILL (default 2, at most 60).
    grace_seconds: Option<u64>,
}

/// Maximum grace period, which a call has to wait for.
const GRACE_MAX: u64 = 60;

impl Tool for KillProcess {
    const NAME: &'static str = "kill_process";
    const TITLE: &'static str = "Kill a process";
    const ABOUT: &'static str = "Kill a process and all processes that it started: SIGTERM, a grace period, then \
        SIGKILL, until none is left. Its output can still be read.";
    const EFFECT: Effect = Effect::Destructive;
    type Input = Kill;
    type Output = Killed;

    async fn run(input: Kill, call: &mut Call) -> Result<Killed, ToolError> {
        if input.grace_seconds.is_some_and(|seconds| seconds > GRACE_MAX) {
            return Err(ToolError::invalid(format!("grace_seconds: at most {GRACE_MAX}")));
        }
        let request = KillRequest { grace_ms: input.grace_seconds.map(|seconds| seconds * 1000) };
        let (sandbox, id) = (call.sandbox().await?, process_id(input.process)?);
        let killing = async move { sandbox.kill(&id, &request).await };
        let receipt = call.wait(killing).await.ok_or_else(ToolError::cancelled)??;
        Ok(Killed { signalled: receipt.signalled, survivors: receipt.survivors })
    }
}

/// A process.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Process {
    /// Id of the process, for the other tools.
    process: String,
    /// The command line.
    command: String,
    /// starting, running, lingering (it has ended, but its background processes are running) or ended.
    state: String,
    /// Pid inside the sandbox, while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// Exit code, if it exited by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// Why it ended, if it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Number of bytes printed.
    printed_bytes: u64,
    /// Position after its last output: read_output from here returns only new output.
    cursor: u64,
}

impl From<ProcessInfo> for Process {
    fn from(info: ProcessInfo) -> Self {
        let ended = info.end.as_ref().map(EndSummary::new);
        Self {
            process: info.id.to_string(),
            command: info.command,
            state: json_name(info.state),
            pid: info.pid,
            exit_code: ended.as_ref().and_then(|ended| ended.exit_code),
            reason: ended.map(|ended| ended.reason),
            printed_bytes: info.stdout_bytes + info.stderr_bytes,
            cursor: info.cursor,
        }
    }
}

impl ToolOutput for Process {
    fn text(&self) -> String {
        let mut text = format!("{} ({}", self.process, self.state);
        if let Some(pid) = self.pid {
            text.push_str(&format!(", pid {pid}"));
        }
        if let Some(reason) = &self.reason {
            text.push_str(&format!(", {reason}"));
        }
        if let Some(code) = self.exit_code {
            text.push_str(&format!(", exit code {code}"));
        }
        text.push_str(&format!(", {} bytes printed): {}", self.printed_bytes, self.command));
        text
    }
}

/// A list of processes.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Processes {
    /// Processes, oldest first.
    processes: Vec<Process>,
}

impl ToolOutput for Processes {
    fn text(&self) -> String {
        if self.processes.is_empty() {
            return "no processes are running".to_owned();
        }
        self.processes.iter().map(ToolOutput::text).collect::<Vec<_>>().join("\n")
    }
}

/// Result of a kill.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Killed {
    /// Number of processes that received a signal.
    signalled: u64,
    /// Number of processes that are still alive.
    survivors: u64,
}

impl ToolOutput for Killed {
    fn text(&self) -> String {
        format!("{} processes were killed, {} are still alive", self.signalled, self.survivors)
    }
}
