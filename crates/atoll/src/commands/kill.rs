//! `atoll kill`: the end of processes, with all that they started.

use std::process::ExitCode;
use std::time::Duration;

use atoll_protocol::{KillReceipt, KillRequest, ProcessId, SandboxName};
use clap::Args;

use crate::asking::millis;
use crate::failure::Failure;
use crate::settings::ServerArguments;
use crate::{exit, parse, printer};

/// End processes and everything they started: TERM, then KILL, until none is left.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll kill box build server
  atoll kill box server --grace 10s --json")]
pub(crate) struct Arguments {
    /// The sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// The processes.
    #[arg(required = true, value_name = "ID", value_parser = |text: &str| ProcessId::new(text))]
    ids: Vec<ProcessId>,

    /// How long they may take before they are killed [default: as they were started with].
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    grace: Option<Duration>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::after(kill(arguments), as_json)
}

async fn kill(arguments: Arguments) -> Result<u8, Failure> {
    let client = arguments.server.inside(&arguments.name)?;
    let request = KillRequest { grace_ms: arguments.grace.map(millis) };
    let mut total = KillReceipt { signalled: 0, survivors: 0 };
    for id in &arguments.ids {
        let receipt = client.kill(id, &request).await?;
        total.signalled += receipt.signalled;
        total.survivors += receipt.survivors;
    }
    tell(total, arguments.server.json)
}

/// One receipt for all. Survivors are a failure.
pub(crate) fn tell(total: KillReceipt, as_json: bool) -> Result<u8, Failure> {
    if as_json {
        printer::json(&total)?;
    } else {
        let KillReceipt { signalled, survivors } = total;
        printer::out(format!("{signalled} signalled, {survivors} survive\n").as_bytes())?;
    }
    Ok(if total.survivors == 0 { 0 } else { exit::FAILED })
}
