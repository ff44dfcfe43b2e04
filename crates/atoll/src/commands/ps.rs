//! `atoll ps`: lists the processes of a sandbox.

use std::process::ExitCode;

use atoll_protocol::{EndRecord, ProcessInfo, ProcessList, ProcessState, SandboxName};
use clap::Args;

use crate::error::CliError;
use crate::settings::ServerArguments;
use crate::table::table;
use crate::{exit, printer};

/// List the running processes of a sandbox.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll ps box
  atoll ps box --all --json | jq '.processes[] | {id, state, command}'")]
pub(crate) struct Arguments {
    /// Name of the sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// List ended processes too, as long as their records exist.
    #[arg(short, long)]
    all: bool,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(list(arguments), as_json)
}

async fn list(arguments: Arguments) -> Result<u8, CliError> {
    let client = arguments.server.sandbox_client(&arguments.name)?;
    let mut processes = client.processes(None, &Default::default()).await?;
    processes.retain(|process| arguments.all || process.state != ProcessState::Ended);
    if arguments.server.json {
        printer::json(&ProcessList { processes })?;
    } else {
        let rows: Vec<_> = processes.iter().map(row).collect();
        let heading = ["ID", "STATE", "PID", "SESSION", "STARTED", "COMMAND"];
        printer::out(table(&heading, &rows).as_bytes())?;
    }
    Ok(0)
}

fn row(process: &ProcessInfo) -> Vec<String> {
    vec![
        process.id.to_string(),
        state(process),
        process.pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
        process.session.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
        process.started_at.to_string(),
        process.command.clone(),
    ]
}

fn state(process: &ProcessInfo) -> String {
    match (process.state, &process.end) {
        (ProcessState::Starting, _) => "starting".to_owned(),
        (ProcessState::Running, _) => "running".to_owned(),
        (ProcessState::Lingering, _) => "lingering".to_owned(),
        (ProcessState::Ended, Some(end)) => format!("ended {}", exit_status(end)),
        (ProcessState::Ended, None) => "ended".to_owned(),
    }
}

fn exit_status(end: &EndRecord) -> String {
    match (end.code, end.signal) {
        (Some(code), _) => code.to_string(),
        (None, Some(signal)) => signal.to_string(),
        (None, None) => "?".to_owned(),
    }
}
