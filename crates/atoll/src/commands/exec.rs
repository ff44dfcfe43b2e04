//! `atoll exec`: runs a command in a sandbox of a server.

use std::process::ExitCode;

use atoll_protocol::{ProcessId, SandboxName};
use clap::Args;

use crate::error::CliError;
use crate::exec_request::{self, OutputMode};
use crate::exit;
use crate::options::CommandArguments;
use crate::settings::ServerArguments;

/// Run a command in a sandbox of a server.
///
/// Pass one word after `--` for a shell string, which bash runs, or several words for a program and its arguments.
/// Output is streamed; Ctrl-C kills the command. Creates the sandbox if it does not exist. Starts your own server in
/// the background if it is not running and no other server is configured.
#[derive(Debug, Args)]
#[command(after_help = format!("Examples:
  atoll exec box -- 'echo $((6 * 7))'
  atoll exec box --timeout 10s -C /tmp -- python3 -c 'print(6 * 7)'
  tar c src | atoll exec box --stdin -- 'tar x && make test'
  atoll exec box --json -- 'uname -a' | jq -r .stdout.data
  atoll exec box --detach --id web -- python3 -m http.server && atoll logs box web -f

{}", exit::HELP))]
pub(crate) struct Arguments {
    /// Name of the sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    #[command(flatten)]
    command: CommandArguments,

    /// Run the command in the background and print its id, for `atoll ps`, `logs`, `wait` and `kill`.
    #[arg(short, long, conflicts_with = "stdin")]
    detach: bool,

    /// With --detach: the id of the command (web). If it was already used, the command is not started again [default:
    /// generated].
    #[arg(long, value_name = "ID", requires = "detach", value_parser = |text: &str| ProcessId::new(text))]
    id: Option<ProcessId>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(exec(arguments), as_json)
}

async fn exec(arguments: Arguments) -> Result<u8, CliError> {
    let Arguments { name, command, detach, id, server } = arguments;
    let client = server.sandbox_client_or_create(&name).await?;
    if detach {
        return exec_request::start(&client, id, command, OutputMode::new(server.json)).await;
    }
    exec_request::run(client, None, command, OutputMode::new(server.json)).await
}
