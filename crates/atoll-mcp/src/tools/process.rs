//! Processes: commands with a life of their own.

use std::collections::BTreeMap;

use atoll_protocol::{KillRequest, ProcessInfo, ProcessState, StartRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::{Ended, environment, wanted_id, word};
use super::process_id;
use crate::call::Call;
use crate::tool::{Nature, Told, Tool};
use crate::trouble::Trouble;

pub(crate) struct StartProcess;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    /// A bash command line. It should stay in the foreground: no & at its end.
    command: String,
    /// An id to find it by; made up if not given. Asking again with the same id and command finds the one that runs.
    process: Option<String>,
    /// Directory to run it in; relative ones are below /workspace (/workspace).
    cwd: Option<String>,
    /// Variables for this process alone.
    #[serde(default)]
    env: BTreeMap<String, String>,
}

impl Tool for StartProcess {
    const NAME: &'static str = "start_process";
    const TITLE: &'static str = "Start a process";
    const ABOUT: &'static str = "Start a command that goes on by itself, such as a server or a long build, and return at \
        once. Then use wait_for (until it prints something, opens a port or ends), read_output and kill_process with its \
        id.";
    const NATURE: Nature = Nature::Runs;
    type Input = Start;
    type Output = Process;

    async fn run(input: Start, call: &mut Call) -> Result<Process, Trouble> {
        let request = StartRequest {
            id: wanted_id(input.process)?,
            cwd: input.cwd,
            env: environment(input.env),
            ..StartRequest::shell(input.command)
        };
        let started = call.inside().await?.start(&request).await?;
        Ok(Process::from(started))
    }
}

pub(crate) struct ListProcesses;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    /// Only the one with this id.
    process: Option<String>,
    /// Those that have ended, too (false).
    #[serde(default)]
    ended: bool,
}

impl Tool for ListProcesses {
    const NAME: &'static str = "list_processes";
    const TITLE: &'static str = "List processes";
    const ABOUT: &'static str = "Show the processes that run in the sandbox, or one of them: state, command, exit code, and \
        how much each has printed. Also lists commands of which something still runs in the background.";
    const NATURE: Nature = Nature::Looks;
    type Input = List;
    type Output = Processes;

    async fn run(input: List, call: &mut Call) -> Result<Processes, Trouble> {
        let inside = call.inside().await?;
        let found = match input.process {
            Some(id) => vec![inside.process(&process_id(id)?).await?],
            None => {
                let all = inside.processes(None, &BTreeMap::new()).await?;
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
    /// The id of the process, or of a command that left something running.
    process: String,
    /// Seconds between TERM and KILL (2, at most 60).
    grace_seconds: Option<u64>,
}

/// The longest grace: a call should not wait for longer.
const GRACE_MAX: u64 = 60;

impl Tool for KillProcess {
    const NAME: &'static str = "kill_process";
    const TITLE: &'static str = "Kill a process";
    const ABOUT: &'static str = "End a process and everything that it started: TERM, some time, then KILL, until nothing \
        is left. Its output can still be read.";
    const NATURE: Nature = Nature::Changes;
    type Input = Kill;
    type Output = Killed;

    async fn run(input: Kill, call: &mut Call) -> Result<Killed, Trouble> {
        if input.grace_seconds.is_some_and(|seconds| seconds > GRACE_MAX) {
            return Err(Trouble::invalid(format!("grace_seconds: at most {GRACE_MAX}")));
        }
        let request = KillRequest { grace_ms: input.grace_seconds.map(|seconds| seconds * 1000) };
        let (inside, id) = (call.inside().await?, process_id(input.process)?);
        let killing = async move { inside.kill(&id, &request).await };
        let receipt = call.until(killing).await.ok_or_else(Trouble::cancelled)??;
        Ok(Killed { signalled: receipt.signalled, survivors: receipt.survivors })
    }
}

/// A process.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Process {
    /// Its id, for the other tools.
    process: String,
    /// What runs.
    command: String,
    /// starting, running, lingering (it is over, but something that it started still runs) or ended.
    state: String,
    /// Its pid inside the sandbox, while there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// Its exit code, if it exited.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// Why it is over, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Bytes that it has printed.
    printed_bytes: u64,
    /// Position behind its last output: read_output from here gives only what comes next.
    cursor: u64,
}

impl From<ProcessInfo> for Process {
    fn from(info: ProcessInfo) -> Self {
        let ended = info.end.as_ref().map(Ended::new);
        Self {
            process: info.id.to_string(),
            command: info.command,
            state: word(info.state),
            pid: info.pid,
            exit_code: ended.as_ref().and_then(|ended| ended.exit_code),
            reason: ended.map(|ended| ended.reason),
            printed_bytes: info.stdout_bytes + info.stderr_bytes,
            cursor: info.cursor,
        }
    }
}

impl Told for Process {
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

/// Processes.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Processes {
    /// Oldest first.
    processes: Vec<Process>,
}

impl Told for Processes {
    fn text(&self) -> String {
        if self.processes.is_empty() {
            return "nothing runs".to_owned();
        }
        self.processes.iter().map(Told::text).collect::<Vec<_>>().join("\n")
    }
}

/// What a kill did.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Killed {
    /// Processes that were sent a signal.
    signalled: u64,
    /// Processes that are still alive.
    survivors: u64,
}

impl Told for Killed {
    fn text(&self) -> String {
        format!("{} processes were ended, {} are left", self.signalled, self.survivors)
    }
}
