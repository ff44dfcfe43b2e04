//! `atoll ls`: lists the sandboxes of a server.

use std::process::ExitCode;

use atoll_protocol::{SandboxList, SandboxRecord, SandboxState};
use clap::Args;

use crate::error::CliError;
use crate::settings::ServerArguments;
use crate::table::table;
use crate::{exit, parse, printer};

/// List the sandboxes of a server, sorted by name.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll ls
  atoll ls --label team=a --json | jq -r '.sandboxes[].name'")]
pub(crate) struct Arguments {
    /// List only sandboxes with this label (team=a). Repeatable.
    #[arg(short, long = "label", value_name = "NAME=VALUE", value_parser = parse::label)]
    labels: Vec<(String, String)>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(list(arguments), as_json)
}

async fn list(arguments: Arguments) -> Result<u8, CliError> {
    let client = arguments.server.client()?;
    let labels = arguments.labels.into_iter().collect();
    let mut all = SandboxList { sandboxes: Vec::new(), next: None };
    loop {
        let page = client.list_sandboxes(&labels, all.next.as_ref()).await?;
        all.sandboxes.extend(page.sandboxes);
        all.next = page.next;
        if all.next.is_none() {
            break;
        }
    }
    if arguments.server.json {
        printer::json(&all)?;
    } else {
        let rows: Vec<_> = all.sandboxes.iter().map(row).collect();
        printer::out(table(&["NAME", "STATE", "LABELS", "LAST USED"], &rows).as_bytes())?;
    }
    Ok(0)
}

fn row(sandbox: &SandboxRecord) -> Vec<String> {
    let labels: Vec<_> = sandbox.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    vec![sandbox.name.to_string(), state(sandbox.state).to_owned(), labels.join(" "), sandbox.last_used_at.to_string()]
}

/// Returns the name of a state, as in the API.
pub(crate) fn state(state: SandboxState) -> &'static str {
    match state {
        SandboxState::Creating => "creating",
        SandboxState::Running => "running",
        SandboxState::Paused => "paused",
        SandboxState::Stopped => "stopped",
        SandboxState::Lost => "lost",
    }
}
