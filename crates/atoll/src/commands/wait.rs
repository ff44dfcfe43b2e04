//! `atoll wait`: until a process ends, prints something, or listens.

use std::process::ExitCode;
use std::time::Duration;

use atoll_protocol::{LogCondition, PortCondition, ProcessId, SandboxName, WaitAnswer, WaitFor, WaitRequest};
use clap::Args;

use crate::asking::millis;
use crate::failure::Failure;
use crate::settings::ServerArguments;
use crate::{exit, parse, printer};

/// Wait until a process ends; or until it has printed something, or listens on a port.
///
/// After an end the exit code is the process's own. The line that was waited for is printed. A wait that takes too long
/// ends with 124 and leaves the process alone.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll wait box build
  atoll wait box server --log 'ready' --timeout 30s
  atoll wait box server --regex 'listening on .*:[0-9]+'
  atoll wait box server --port 8080")]
pub(crate) struct Arguments {
    /// The sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// The process.
    #[arg(value_parser = |text: &str| ProcessId::new(text))]
    id: ProcessId,

    /// Until it has printed this text, before or from now on.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["regex", "port"])]
    log: Option<String>,

    /// Until it has printed a line that this regular expression matches.
    #[arg(long, value_name = "REGEX", conflicts_with = "port")]
    regex: Option<String>,

    /// Until something listens on this port inside.
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,

    /// How long to wait [default: as long as it takes].
    #[arg(short, long, value_name = "TIME", value_parser = parse::duration)]
    timeout: Option<Duration>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::after(wait(arguments), as_json)
}

async fn wait(arguments: Arguments) -> Result<u8, Failure> {
    let client = arguments.server.inside(&arguments.name)?;
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
