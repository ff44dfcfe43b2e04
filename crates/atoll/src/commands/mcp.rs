//! `atoll mcp`: a sandbox as tools for a model, over standard input and output.

use std::process::ExitCode;

use atoll_mcp::SandboxTarget;
use atoll_protocol::{CreateSandbox, SandboxName};
use bytes::Bytes;
use clap::Args;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc;

use crate::exit;
use crate::failure::Failure;
use crate::interrupts::Interrupts;
use crate::local::{self, Display};
use crate::options::{LimitArguments, NetworkArguments};
use crate::settings::ServerArguments;

/// What is read and written at once.
const PIECE: usize = 64 * 1024;

/// Speak the Model Context Protocol on standard input and output: a sandbox as tools for a model.
///
/// Programs such as Claude Code, Codex, Cursor and VS Code start it by themselves once they are told to. The sandbox is made
/// by the first tool that is called, and removed with everything in it when the program that started us ends, unless it
/// has a name (--sandbox). If no server was named and this user's own does not run, it is started in the background. A
/// server speaks the same at /mcp.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  claude mcp add atoll -- atoll mcp
  codex mcp add atoll -- atoll mcp --sandbox box
  atoll mcp --allow pypi --memory 2g
  atoll mcp --server https://atoll.example.com --token-file token")]
pub(crate) struct Arguments {
    /// Work in this sandbox, which stays; it is made if it is not there [default: one of its own].
    #[arg(long, value_name = "NAME", value_parser = |text: &str| SandboxName::new(text))]
    sandbox: Option<SandboxName>,

    #[command(flatten)]
    limits: LimitArguments,

    #[command(flatten)]
    network: NetworkArguments,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::after(serve(arguments), as_json)
}

async fn serve(arguments: Arguments) -> Result<u8, Failure> {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut interrupts = Interrupts::new(&kinds)?;
    let limits = arguments.limits.limits();
    let options = CreateSandbox {
        limits: (limits != Default::default()).then_some(limits),
        network: arguments.network.policy()?,
        ..CreateSandbox::default()
    };
    let target = arguments.sandbox.map_or(SandboxTarget::Own, SandboxTarget::Named);
    let client = arguments.server.client_or_started()?;
    let (input, feeding) = tokio::io::duplex(PIECE);
    let (output, showing) = tokio::io::duplex(PIECE);
    tokio::spawn(feed(local::input(PIECE), feeding));
    let shown = tokio::spawn(show(showing));
    let end = async { _ = interrupts.next().await };
    let served = atoll_mcp::serve(client, target, options, (input, output), end).await;
    drop(shown.await);
    served.map_err(|error| Failure::invalid(format!("the client does not speak MCP: {error}")))?;
    Ok(0)
}

/// Standard input, as far as there is any.
async fn feed(mut from: mpsc::Receiver<Bytes>, mut to: DuplexStream) {
    while let Some(bytes) = from.recv().await {
        if to.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// Standard output, as long as somebody takes it.
async fn show(mut from: DuplexStream) {
    let display = Display::start();
    let mut buffer = vec![0; PIECE];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        if !display.show(Bytes::copy_from_slice(&buffer[..count])).await {
            return;
        }
    }
    // Who does not take it any more has no use for it.
    drop(display.finish().await);
}
