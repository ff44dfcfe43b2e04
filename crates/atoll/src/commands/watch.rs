//! `atoll watch`: what happens in a directory of a sandbox, as it happens.

use std::process::ExitCode;

use atoll_protocol::{SandboxName, WatchChange, WatchEvent, WatchRequest};
use clap::Args;
use tokio::signal::unix::SignalKind;

use crate::failure::Failure;
use crate::interrupts::Interrupts;
use crate::settings::ServerArguments;
use crate::{exit, printer};

/// Print what happens in a directory, a line each, until interrupted or the directory is gone.
///
/// `overflow` means that more happened than could be told: what is there follows as created.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll watch box
  atoll watch box src --include '*.rs' --exclude target
  atoll watch box . --existing --count 10 --json")]
pub(crate) struct Arguments {
    /// The sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// The directory.
    #[arg(default_value = ".")]
    path: String,

    /// Only files that match this glob. May be given several times.
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,

    /// Nothing that matches this glob. May be given several times.
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,

    /// The directory alone, nothing below the directories in it.
    #[arg(long)]
    flat: bool,

    /// Begin with what is there.
    #[arg(long)]
    existing: bool,

    /// End after so many.
    #[arg(long, value_name = "N")]
    count: Option<u64>,

    /// The user to look as.
    #[arg(long)]
    user: Option<String>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::after(watch(arguments), as_json)
}

async fn watch(arguments: Arguments) -> Result<u8, Failure> {
    let Arguments { name, path, include, exclude, flat, existing, count, user, server } = arguments;
    let client = server.inside(&name)?;
    let mut interrupts = Interrupts::new(&[SignalKind::interrupt(), SignalKind::terminate()])?;
    let path = Some(path);
    let request = WatchRequest { path, include, exclude, recursive: !flat, existing, user, ..WatchRequest::default() };
    let watch = client.watch(&request).await?;
    if !server.json {
        printer::note(&format!("watching {}", watch.path));
    }
    let mut watching = client.watching(&watch.id, 0);
    let mut left = count.unwrap_or(u64::MAX);
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
                left -= 1;
            }
        }
        if left == 0 {
            break Ok(0);
        }
    };
    // Nobody else knows it; the server would end it by itself after a while.
    drop(client.delete_watch(&watch.id).await);
    code
}

fn print(event: &WatchEvent, as_json: bool) -> std::io::Result<()> {
    if as_json {
        return printer::json(event);
    }
    let word = match event.change {
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
    printer::out(format!("{word:<10} {from}{}{slash}\n", event.path.escape_debug()).as_bytes())
}
