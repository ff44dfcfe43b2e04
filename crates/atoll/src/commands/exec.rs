//! `atoll exec`: one command in a sandbox of a server.

use std::process::ExitCode;

use atoll_protocol::{ProcessId, SandboxName};
use clap::Args;

use crate::asking::{self, Telling};
use crate::exit;
use crate::failure::Failure;
use crate::options::CommandArguments;
use crate::settings::ServerArguments;

/// Run a command in a sandbox of a server.
///
/// One word after `--` is a shell string, run by bash; several are a program and its arguments. Output is passed on as it
/// comes; Ctrl-C ends the command. A sandbox that is not there is made. If no server was named and this user's own does
/// not run, it is started in the background.
#[derive(Debug, Args)]
#[command(after_help = format!("Examples:
  atoll exec box -- 'echo $((6 * 7))'
  atoll exec box --timeout 10s -C /tmp -- python3 -c 'print(6 * 7)'
  tar c src | atoll exec box --stdin -- 'tar x && make test'
  atoll exec box --json -- 'uname -a' | jq -r .stdout.data
  atoll exec box --detach --id web -- python3 -m http.server && atoll logs box web -f

{}", exit::HELP))]
pub(crate) struct Arguments {
    /// The sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    #[command(flatten)]
    command: CommandArguments,

    /// Start it and let it go on by itself; its id is printed, for ps, logs, wait and kill.
    #[arg(short, long, conflicts_with = "stdin")]
    detach: bool,

    /// With --detach: its id. A command that was started under it before is not started again [default: made up].
    #[arg(long, value_name = "ID", requires = "detach", value_parser = |text: &str| ProcessId::new(text))]
    id: Option<ProcessId>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::after(exec(arguments), as_json)
}

async fn exec(arguments: Arguments) -> Result<u8, Failure> {
    let Arguments { name, command, detach, id, server } = arguments;
    let client = server.inside_or_made(&name).await?;
    if detach {
        return asking::start(&client, id, command, Telling::new(server.json)).await;
    }
    asking::run(client, None, command, Telling::new(server.json)).await
}
