//! `atoll rm`: removes sandboxes.

use std::process::ExitCode;

use atoll_protocol::SandboxName;
use clap::Args;
use serde::Serialize;

use crate::error::CliError;
use crate::settings::ServerArguments;
use crate::{exit, printer};

/// Remove sandboxes with their processes and files.
///
/// If one sandbox cannot be removed, the others still are.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll rm box
  atoll rm $(atoll ls --label team=a --json | jq -r '.sandboxes[].name')")]
pub(crate) struct Arguments {
    /// Names of the sandboxes.
    #[arg(required = true, value_name = "NAME", value_parser = |text: &str| SandboxName::new(text))]
    names: Vec<SandboxName>,

    #[command(flatten)]
    server: ServerArguments,
}

#[derive(Debug, Default, Serialize)]
struct Removed {
    removed: Vec<SandboxName>,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(remove(arguments), as_json)
}

async fn remove(arguments: Arguments) -> Result<u8, CliError> {
    let client = arguments.server.client()?;
    let mut removed = Removed::default();
    let mut failed = None;
    for name in arguments.names {
        match client.remove_sandbox(&name).await {
            Ok(()) => removed.removed.push(name),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    let lines: String = removed.removed.iter().map(|name| format!("{name}\n")).collect();
    match (&failed, arguments.server.json) {
        // Prints one document only: the error.
        (Some(_), true) => {}
        (None, true) => printer::json(&removed)?,
        (_, false) => printer::out(lines.as_bytes())?,
    }
    failed.map_or(Ok(0), |error| Err(error.into()))
}
