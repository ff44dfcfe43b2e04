//! `atoll pause`, `resume`, `stop` and `start`: the states of a sandbox. Four words for four calls of one shape.

use std::process::ExitCode;

use atoll_protocol::SandboxName;
use clap::Args;

use super::ls::state;
use crate::failure::Failure;
use crate::settings::ServerArguments;
use crate::{exit, printer};

/// What is to become of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Pause,
    Resume,
    Stop,
    Start,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll pause box     everything stands still, nothing is lost
  atoll resume box
  atoll stop box      processes end, files stay
  atoll start box     as any use of it would")]
pub(crate) struct Arguments {
    /// The sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(change: Change, arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::after(act(change, arguments), as_json)
}

async fn act(change: Change, arguments: Arguments) -> Result<u8, Failure> {
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
