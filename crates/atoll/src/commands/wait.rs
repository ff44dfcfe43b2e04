//! `atoll wait`: waits until a process ends, prints a line, or listens on a port.

use std::process::ExitCode;
use std::time::Duration;

use atoll_protocol::{LogCondition, PortCondition, ProcessId, SandboxName, WaitAnswer, WaitFor, WaitRequest};
use clap::Args;

use crate::error::CliError;
use crate::exec_request::millis;
use crate::settings::ServerArguments;
use crate::{exit, parse, printer};

/// Wait until a process ends, prints a line, or listens on a port.
///
/// If the process ends, exits with its exit code. With --log and --regex, prints the matching line. If --timeout
/// expires, exits with 124 and leaves the process running.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll wait box build
  atoll wait box server --log 'ready' --timeout 30s
  atoll wait box server --regex 'listening on .*:[0-9]+'
  atoll wait box server --port 8080")]
pub(crate) struct Arguments {
    /// Name of the sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// Id of the process, as `atoll ps` lists it.
    #[arg(value_parser = |text: &str| ProcessId::new(text))]
    id: ProcessId,

    /// Wait until the process has printed this text, before or after this call (ready).
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["regex", "port"])]
    log: Option<String>,

    /// Wait until the process has printed a line that matches this regular expression ('listening on .*').
    #[arg(long, value_name = "REGEX", conflicts_with = "port")]
    regex: Option<String>,

    /// Wait until this port of the sandbox accepts connections (8080).
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,

    /// Stop waiting after this time (30s) [default: wait forever].
    #[arg(short, long, value_name = "TIME", value_parser = parse::duration)]
    timeout: Option<Duration>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(wait(arguments), as_json)
}

async fn wait(arguments: Arguments) -> Result<u8, CliError> {
    let client = arguments.server.sandbox_client(&arguments.name)?;
    let as_json = arguments.server.json;
    let (id, timeout_ms) = (arguments.id.clone(), arguments.timeout.map(millis));
    let answer = client.wait(&id, &WaitRequest { r#for: condition(arguments), timeout_ms }).await?;
    if as_json {
        printer::json(&answer)?;
    } else if let Some(found) = &answer.found {
        printer::out(format!("{}\n", found.line).as_bytes())?;
    }
    Ok(code(&answer))
}

fn condition(arguments: Arguments) -> WaitFor {
    match (arguments.log, arguments.regex, arguments.port) {
        (None, None, None) => WaitFor::Exit,
        (None, None, Some(port)) => WaitFor::Port(PortCondition { port, http: None }),
        (text, regex, _) => WaitFor::Log(LogCondition { text, regex, since: None }),
    }
}

fn code(answer: &WaitAnswer) -> u8 {
    answer.end.as_ref().map_or(0, |end| {
        exit::explain(end);
        exit::of_end(end)
    })
}
