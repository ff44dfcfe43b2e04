//! `atoll watch`: prints file system events of a sandbox.

use std::process::ExitCode;

use atoll_protocol::{SandboxName, WatchChange, WatchEvent, WatchRequest};
use clap::Args;
use tokio::signal::unix::SignalKind;

use crate::error::CliError;
use crate::interrupts::Interrupts;
use crate::settings::ServerArguments;
use crate::{exit, printer};

/// Print the changes in a directory, one per line, until Ctrl-C or until the directory is removed.
///
/// `overflow` means that events were lost; the existing files follow as `created`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll watch box
  atoll watch box src --include '*.rs' --exclude target
  atoll watch box . --existing --count 10 --json")]
pub(crate) struct Arguments {
    /// Name of the sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// Directory to watch; a relative path is below /workspace.
    #[arg(default_value = ".")]
    path: String,

    /// Report only files that match this glob ('*.rs'). Repeatable.
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,

    /// Ignore paths that match this glob (target). Repeatable.
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,

    /// Do not watch subdirectories.
    #[arg(long)]
    flat: bool,

    /// Report existing files first.
    #[arg(long)]
    existing: bool,

    /// Exit after this many events (10).
    #[arg(long, value_name = "N")]
    count: Option<u64>,

    /// Watch as this user of the sandbox.
    #[arg(long)]
    user: Option<String>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(watch(arguments), as_json)
}

async fn watch(arguments: Arguments) -> Result<u8, CliError> {
    let Arguments { name, path, include, exclude, flat, existing, count, user, server } = arguments;
    let client = server.sandbox_client(&name)?;
    let mut interrupts = Interrupts::new(&[SignalKind::interrupt(), SignalKind::terminate()])?;
    let path = Some(path);
    let request = WatchRequest { path, include, exclude, recursive: !flat, existing, user, ..WatchRequest::default() };
    let watch = client.watch(&request).await?;
    if !server.json {
        printer::note(&format!("watching {}", watch.path));
    }
    let mut watching = client.watching(&watch.id, 0);
    let mut remaining = count.unwrap_or(u64::MAX);
    let code = loop {
        let next = tokio::select! {
            biased;
            number = interrupts.next() => break Ok(128 + number),
            next = watching.next() => next,
        };
        match next {
            Err(error) => break Err(error.into()),
            Ok(None) => break Ok(0),
            Ok(Some(event)) if event.change == WatchChange::Settled && !server.json => {}
            Ok(Some(event)) => {
                if let Err(error) = print(&event, server.json) {
                    break Err(error.into());
                }
                remaining -= 1;
            }
        }
        if remaining == 0 {
            break Ok(0);
        }
    };
    // The watch has no other client; without this the server removes it later.
    drop(client.delete_watch(&watch.id).await);
    code
}

fn print(event: &WatchEvent, as_json: bool) -> std::io::Result<()> {
    if as_json {
        return printer::json(event);
    }
    let change = match event.change {
        WatchChange::Created => "created",
        WatchChange::Modified => "modified",
        WatchChange::Attributes => "attributes",
        WatchChange::Removed => "removed",
        WatchChange::Renamed => "renamed",
        WatchChange::Overflow => "overflow",
        WatchChange::Settled => "settled",
        WatchChange::Gone => "gone",
    };
    let slash = if event.directory && !event.path.is_empty() { "/" } else { "" };
    let from = event.from.as_ref().map(|from| format!("{}{slash} -> ", from.escape_debug())).unwrap_or_default();
    printer::out(format!("{change:<10} {from}{}{slash}\n", event.path.escape_debug()).as_bytes())
}
