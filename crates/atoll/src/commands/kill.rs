//! `atoll kill`: kills processes and their descendants.

use std::process::ExitCode;
use std::time::Duration;

use atoll_protocol::{KillReceipt, KillRequest, ProcessId, SandboxName};
use clap::Args;

use crate::error::CliError;
use crate::exec_request::millis;
use crate::settings::ServerArguments;
use crate::{exit, parse, printer};

/// Kill processes and their descendants: SIGTERM, then SIGKILL after the grace period.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll kill box build server
  atoll kill box server --grace 10s --json")]
pub(crate) struct Arguments {
    /// Name of the sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// Ids of the processes, as `atoll ps` lists them.
    #[arg(required = true, value_name = "ID", value_parser = |text: &str| ProcessId::new(text))]
    ids: Vec<ProcessId>,

    /// Time between SIGTERM and SIGKILL (10s) [default: the process's own].
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    grace: Option<Duration>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(kill(arguments), as_json)
}

async fn kill(arguments: Arguments) -> Result<u8, CliError> {
    let client = arguments.server.sandbox_client(&arguments.name)?;
    let request = KillRequest { grace_ms: arguments.grace.map(millis) };
    let mut total = KillReceipt { signalled: 0, survivors: 0 };
    for id in &arguments.ids {
        let receipt = client.kill(id, &request).await?;
        total.signalled += receipt.signalled;
        total.survivors += receipt.survivors;
    }
    report(total, arguments.server.json)
}

/// Prints the receipt. Survivors are an error.
pub(crate) fn report(total: KillReceipt, as_json: bool) -> Result<u8, CliError> {
    if as_json {
        printer::json(&total)?;
    } else {
        let KillReceipt { signalled, survivors } = total;
        printer::out(format!("{signalled} signalled, {survivors} survive\n").as_bytes())?;
    }
    Ok(if total.survivors == 0 { 0 } else { exit::FAILED })
}
