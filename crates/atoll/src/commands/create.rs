//! `atoll create`: creates a sandbox on a server.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use atoll_protocol::{CreateSandbox, Isolation, SandboxName};
use clap::Args;

use crate::error::CliError;
use crate::exec_request::{millis, text};
use crate::options::{IsolationChoice, LimitArguments, NetworkArguments};
use crate::settings::ServerArguments;
use crate::{exit, parse, printer};

/// Create a sandbox on a server, or get an existing one.
///
/// An existing sandbox is not changed: options that differ from its own are an error. The sandbox exists until you
/// remove it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll create box
  atoll create box --allow pypi --allow example.com:443
  atoll create box --memory 1g --pids 256 --label team=a --sleep-after 10m")]
pub(crate) struct Arguments {
    /// Name of the sandbox, also its host name.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// Set an environment variable for every command (MODE=fast), or pass on your own (HOME). Repeatable.
    #[arg(short, long = "env", value_name = "VARIABLE", value_parser = parse::variable)]
    env: Vec<(std::ffi::OsString, Option<std::ffi::OsString>)>,

    /// Add a label (team=a), for `atoll ls --label`. Repeatable.
    #[arg(short, long = "label", value_name = "NAME=VALUE", value_parser = parse::label)]
    labels: Vec<(String, String)>,

    #[command(flatten)]
    limits: LimitArguments,

    #[command(flatten)]
    network: NetworkArguments,

    /// Isolation of the sandbox [default: namespaces].
    #[arg(long, value_enum)]
    isolation: Option<IsolationChoice>,

    /// Stop the sandbox after this time without use (10m). Its files stay, and the next request starts it.
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    sleep_after: Option<Duration>,

    /// Never stop the sandbox for lack of use.
    #[arg(long)]
    keep_alive: bool,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(create(arguments), as_json)
}

async fn create(arguments: Arguments) -> Result<u8, CliError> {
    let client = arguments.server.client()?;
    let as_json = arguments.server.json;
    let record = client.create_sandbox(&request(arguments)?).await?;
    if as_json {
        printer::json(&record)?
    } else {
        printer::out(format!("{}\n", record.name).as_bytes())?
    }
    Ok(0)
}

/// Builds the request. Options that were not given stay `None`, which matches any existing sandbox.
fn request(arguments: Arguments) -> Result<CreateSandbox, CliError> {
    let set = arguments.env.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let env = set.map(|(name, value)| Ok((text(name)?, text(value)?))).collect::<Result<BTreeMap<_, _>, CliError>>()?;
    let labels: BTreeMap<_, _> = arguments.labels.into_iter().collect();
    let limits = arguments.limits.limits();
    Ok(CreateSandbox {
        name: Some(arguments.name),
        isolation: arguments.isolation.map(|choice| match choice {
            IsolationChoice::Namespaces => Isolation::Namespaces,
            IsolationChoice::None => Isolation::None,
        }),
        limits: (limits != Default::default()).then_some(limits),
        env: (!env.is_empty()).then_some(env),
        labels: (!labels.is_empty()).then_some(labels),
        network: arguments.network.policy()?,
        sleep_after_ms: arguments.sleep_after.map(millis),
        keep_alive: arguments.keep_alive.then_some(true),
    })
}
