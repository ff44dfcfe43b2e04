//! `atoll inspect`: shows the record of a sandbox.

use std::process::ExitCode;

use atoll_protocol::{SandboxInfo, SandboxName, SandboxRecord};
use clap::Args;

use super::ls::state;
use crate::error::CliError;
use crate::settings::ServerArguments;
use crate::table::pairs;
use crate::{exit, printer};

/// Show the state, limits, labels and resource usage of a sandbox, without starting it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll inspect box
  atoll inspect box --json | jq .live.usage")]
pub(crate) struct Arguments {
    /// Name of the sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(inspect(arguments), as_json)
}

async fn inspect(arguments: Arguments) -> Result<u8, CliError> {
    let record = arguments.server.client()?.find_sandbox(&arguments.name).await?;
    if arguments.server.json {
        printer::json(&record)?
    } else {
        printer::out(format_record(&record).as_bytes())?
    }
    Ok(0)
}

fn format_record(record: &SandboxRecord) -> String {
    let labels: Vec<_> = record.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let bytes = record.limits.memory_bytes.map(|bytes| format!("{bytes} bytes"));
    let mut lines = vec![
        ("name", record.name.to_string()),
        ("state", state(record.state).to_owned()),
        ("created", record.created_at.to_string()),
        ("last used", record.last_used_at.to_string()),
        ("labels", or_none(labels.join(" "))),
        ("memory limit", bytes.unwrap_or_else(|| "none".to_owned())),
        ("process limit", number(record.limits.pids)),
        ("sleeps after", record.sleep_after_ms.map_or_else(|| "never".to_owned(), |millis| format!("{millis} ms"))),
    ];
    lines.extend(record.live.as_ref().map(live).unwrap_or_default());
    pairs(&lines)
}

fn live(info: &SandboxInfo) -> Vec<(&'static str, String)> {
    let used = info.usage.memory_bytes.map_or_else(|| "not measured".to_owned(), |bytes| format!("{bytes} bytes"));
    vec![
        ("processes", info.processes.to_string()),
        ("terminals", info.terminals.to_string()),
        ("memory in use", used),
        ("version", info.version.clone()),
    ]
}

fn number(limit: Option<u64>) -> String {
    limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string())
}

fn or_none(text: String) -> String {
    if text.is_empty() { "none".to_owned() } else { text }
}
