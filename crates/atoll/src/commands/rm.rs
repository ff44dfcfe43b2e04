//! `atoll rm`: the end of sandboxes.

use std::process::ExitCode;

use atoll_protocol::SandboxName;
use clap::Args;
use serde::Serialize;

use crate::failure::Failure;
use crate::settings::ServerArguments;
use crate::{exit, printer};

/// End sandboxes and remove everything of them.
///
/// If one cannot be removed, the others still are.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll rm box
  atoll rm $(atoll ls --label team=a --json | jq -r '.sandboxes[].name')")]
pub(crate) struct Arguments {
    /// The sandboxes.
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
    exit::after(remove(arguments), as_json)
}

async fn remove(arguments: Arguments) -> Result<u8, Failure> {
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
        // One document only: the failure is told then.
        (Some(_), true) => {}
        (None, true) => printer::json(&removed)?,
        (_, false) => printer::out(lines.as_bytes())?,
    }
    failed.map_or(Ok(0), |error| Err(error.into()))
}
