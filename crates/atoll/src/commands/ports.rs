//! `atoll ports`: lists the listening and exposed ports of a sandbox.

use std::process::ExitCode;

use atoll_client::{Client, PortEvent};
use atoll_protocol::{ErrorCode, PortInfo, Preview, SandboxName};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use crate::error::CliError;
use crate::settings::ServerArguments;
use crate::table::{cell, table};
use crate::{exit, printer};

/// List the listening ports of a sandbox, and the URLs of exposed ports.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll ports box
  atoll ports box --follow
  atoll ports box --json | jq -r '.previews[].url'")]
pub(crate) struct Arguments {
    /// Name of the sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// Keep running and print each port that opens or closes.
    #[arg(short, long)]
    follow: bool,

    #[command(flatten)]
    server: ServerArguments,
}

#[derive(Debug, Serialize)]
struct Ports {
    ports: Vec<PortInfo>,
    previews: Vec<Preview>,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(list(arguments), as_json)
}

async fn list(arguments: Arguments) -> Result<u8, CliError> {
    let client = arguments.server.client()?;
    let inside = client.inside(&arguments.name);
    if arguments.follow {
        return follow(&inside, arguments.server.json).await;
    }
    let ports = inside.ports().await?.ports;
    let previews = match client.previews(&arguments.name).await {
        Ok(list) => list.previews,
        // A token may read ports without being allowed to read URLs, which grant access.
        Err(error) if error.code() == Some(ErrorCode::Forbidden) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    if arguments.server.json {
        printer::json(&Ports { ports, previews })?;
    } else {
        printer::out(format_ports(&ports, &previews).as_bytes())?;
    }
    Ok(0)
}

/// Formats one line for each port that is open or exposed.
fn format_ports(ports: &[PortInfo], previews: &[Preview]) -> String {
    let mut numbers: Vec<u16> = ports.iter().map(|info| info.port).collect();
    numbers.extend(previews.iter().map(|preview| preview.port));
    numbers.sort_unstable();
    numbers.dedup();
    let none = || "-".to_owned();
    let row = |port: &u16| {
        let info = ports.iter().find(|info| info.port == *port);
        let preview = previews.iter().find(|preview| preview.port == *port);
        vec![
            port.to_string(),
            info.map_or_else(none, |info| info.addresses.join(",")),
            info.and_then(|info| info.pid).map_or_else(none, |pid| pid.to_string()),
            info.and_then(|info| info.command.clone()).unwrap_or_else(none),
            preview.and_then(|preview| preview.url.clone()).unwrap_or_else(none),
        ]
    };
    let rows: Vec<_> = numbers.iter().map(row).collect();
    // URLs are for copying: they are not shortened.
    let urls: Vec<String> = rows.iter().map(|row| row[4].clone()).collect();
    let short: Vec<Vec<String>> = rows.into_iter().map(|row| row[..4].to_vec()).collect();
    let mut lines = table(&["PORT", "ADDRESS", "PID", "COMMAND"], &short);
    if !previews.is_empty() {
        lines.push('\n');
        for url in urls.iter().filter(|url| *url != "-") {
            lines.push_str(url);
            lines.push('\n');
        }
    }
    lines
}

async fn follow(inside: &Client, as_json: bool) -> Result<u8, CliError> {
    let mut follow = inside.follow_ports();
    loop {
        let event = follow.next().await?;
        if as_json {
            printer::json(&match event {
                PortEvent::Ports(ports) => json!({ "event": "ports", "ports": ports }),
                PortEvent::Opened(info) => json!({ "event": "opened", "port": info }),
                PortEvent::Closed(port) => json!({ "event": "closed", "port": { "port": port } }),
            })?;
            continue;
        }
        let opened =
            |info: &PortInfo| format!("{} opened {}\n", info.port, cell(info.command.as_deref().unwrap_or("-")));
        let text = match event {
            PortEvent::Ports(ports) => ports.iter().map(opened).collect(),
            PortEvent::Opened(info) => opened(&info),
            PortEvent::Closed(port) => format!("{port} closed\n"),
        };
        printer::out(text.as_bytes())?;
    }
}
