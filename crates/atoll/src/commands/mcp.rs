//! `atoll mcp`: a Model Context Protocol server on standard input and output.

use std::process::ExitCode;

use atoll_mcp::SandboxTarget;
use atoll_protocol::{CreateSandbox, SandboxName};
use bytes::Bytes;
use clap::Args;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc;

use crate::error::CliError;
use crate::exit;
use crate::interrupts::Interrupts;
use crate::options::{LimitArguments, NetworkArguments};
use crate::settings::ServerArguments;
use crate::tty::{self, Display};

/// Size of the buffers.
const CHUNK: usize = 64 * 1024;

/// Serve the Model Context Protocol (MCP) on standard input and output: a sandbox as tools for a model.
///
/// Configure it in a client such as Claude Code, Codex, Cursor or VS Code, which starts it. The first tool call creates
/// the sandbox; it is removed when the client exits, unless you name it with --sandbox. Starts your own server in the
/// background if it is not running and no other server is configured. A server offers the same protocol at /mcp.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  claude mcp add atoll -- atoll mcp
  codex mcp add atoll -- atoll mcp --sandbox box
  atoll mcp --allow pypi --memory 2g
  atoll mcp --server https://atoll.example.com --token-file token")]
pub(crate) struct Arguments {
    /// Use this sandbox, create it if it does not exist, and keep it [default: a temporary sandbox].
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
    exit::run(serve(arguments), as_json)
}

async fn serve(arguments: Arguments) -> Result<u8, CliError> {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut interrupts = Interrupts::new(&kinds)?;
    let limits = arguments.limits.limits();
    let options = CreateSandbox {
        limits: (limits != Default::default()).then_some(limits),
        network: arguments.network.policy()?,
        ..CreateSandbox::default()
    };
    let target = arguments.sandbox.map_or(SandboxTarget::Own, SandboxTarget::Named);
    let client = arguments.server.client_or_start()?;
    let (input, input_writer) = tokio::io::duplex(CHUNK);
    let (output, output_reader) = tokio::io::duplex(CHUNK);
    tokio::spawn(feed(tty::input(CHUNK), input_writer));
    let shown = tokio::spawn(show(output_reader));
    let end = async { _ = interrupts.next().await };
    let served = atoll_mcp::serve(client, target, options, (input, output), end).await;
    drop(shown.await);
    served.map_err(|error| CliError::invalid(format!("the client does not speak MCP: {error}")))?;
    Ok(0)
}

/// Copies standard input until its end.
async fn feed(mut from: mpsc::Receiver<Bytes>, mut to: DuplexStream) {
    while let Some(bytes) = from.recv().await {
        if to.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// Copies to standard output until it is closed.
async fn show(mut from: DuplexStream) {
    let display = Display::start();
    let mut buffer = vec![0; CHUNK];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        if !display.show(Bytes::copy_from_slice(&buffer[..count])).await {
            return;
        }
    }
    // A closed standard output is not an error.
    drop(display.finish().await);
}
