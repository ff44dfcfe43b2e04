//! `atoll create`: a sandbox of a server, by name.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use atoll_protocol::{CreateSandbox, Isolation, SandboxName};
use clap::Args;

use crate::asking::{millis, text};
use crate::failure::Failure;
use crate::options::{IsolationChoice, LimitArguments, NetworkArguments};
use crate::settings::ServerArguments;
use crate::{exit, parse, printer};

/// Get or create a sandbox of a server.
///
/// A sandbox that exists is left as it is; options that you name and that differ from its own are refused. It lives until
/// it is removed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll create box
  atoll create box --allow pypi --allow example.com:443
  atoll create box --memory 1g --pids 256 --label team=a --sleep-after 10m")]
pub(crate) struct Arguments {
    /// Its name, which is also its host name.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// Set a variable of every command (NAME=VALUE), or take it from here (NAME).
    #[arg(short, long = "env", value_name = "VARIABLE", value_parser = parse::variable)]
    env: Vec<(std::ffi::OsString, Option<std::ffi::OsString>)>,

    /// A label, for finding it again; more than once if need be.
    #[arg(short, long = "label", value_name = "NAME=VALUE", value_parser = parse::label)]
    labels: Vec<(String, String)>,

    #[command(flatten)]
    limits: LimitArguments,

    #[command(flatten)]
    network: NetworkArguments,

    /// How the sandbox is walled off [default: namespaces].
    #[arg(long, value_enum)]
    isolation: Option<IsolationChoice>,

    /// Stop it when nobody used it for so long; its files stay, and the next use starts it.
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    sleep_after: Option<Duration>,

    /// Never stop it for want of use.
    #[arg(long)]
    keep_alive: bool,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::after(create(arguments), as_json)
}

async fn create(arguments: Arguments) -> Result<u8, Failure> {
    let client = arguments.server.client()?;
    let as_json = arguments.server.json;
    let record = client.create_sandbox(&asked(arguments)?).await?;
    if as_json {
        printer::json(&record)?
    } else {
        printer::out(format!("{}\n", record.name).as_bytes())?
    }
    Ok(0)
}

/// What is not named may be anything.
fn asked(arguments: Arguments) -> Result<CreateSandbox, Failure> {
    let set = arguments.env.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let env = set.map(|(name, value)| Ok((text(name)?, text(value)?))).collect::<Result<BTreeMap<_, _>, Failure>>()?;
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
