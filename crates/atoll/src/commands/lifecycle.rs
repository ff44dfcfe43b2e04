//! `atoll pause`, `resume`, `stop` and `start`: change the state of a sandbox.

use std::process::ExitCode;

use atoll_protocol::SandboxName;
use clap::Args;

use super::ls::state;
use crate::error::CliError;
use crate::settings::ServerArguments;
use crate::{exit, printer};

/// The change to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Pause,
    Resume,
    Stop,
    Start,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll pause box     # freeze all processes
  atoll resume box
  atoll stop box      # end all processes, keep the files
  atoll start box     # any request starts it, too")]
pub(crate) struct Arguments {
    /// Name of the sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(change: Change, arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(act(change, arguments), as_json)
}

async fn act(change: Change, arguments: Arguments) -> Result<u8, CliError> {
    let (client, name) = (arguments.server.client()?, &arguments.name);
    let record = match change {
        Change::Pause => client.pause_sandbox(name).await?,
        Change::Resume => client.resume_sandbox(name).await?,
        Change::Stop => client.stop_sandbox(name).await?,
        Change::Start => client.start_sandbox(name).await?,
    };
    if arguments.server.json {
        printer::json(&record)?;
    } else {
        printer::out(format!("{name} {}\n", state(record.state)).as_bytes())?;
    }
    Ok(0)
}
