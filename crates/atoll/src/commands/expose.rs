//! `atoll expose` and `atoll unexpose`: preview URLs for ports of a sandbox.

use std::process::ExitCode;
use std::time::Duration;

use atoll_protocol::{ExposePort, LinkRequest, SandboxName, Visibility};
use clap::Args;
use serde_json::json;

use crate::error::CliError;
use crate::exec_request::millis;
use crate::settings::ServerArguments;
use crate::{exit, parse, printer};

/// Expose a port of a sandbox at a preview URL and print the URL.
///
/// The port need not be open yet, and the sandbox is not started. On an exposed port, changes only the options that you
/// pass.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll expose box 3000
  atoll expose box 3000 --private && atoll expose box 3000 --link 2h
  atoll expose box 3000 --rotate")]
pub(crate) struct Arguments {
    /// Name of the sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// Port in the sandbox.
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,

    /// Require a token of the server, or a signed link.
    #[arg(long)]
    private: bool,

    /// Allow every client that knows the URL [default for a new port].
    #[arg(long, conflicts_with = "private")]
    public: bool,

    /// Start a stopped sandbox when a request arrives.
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    wake: Option<bool>,

    /// Set a display name (docs).
    #[arg(long = "name", value_name = "TEXT")]
    title: Option<String>,

    /// Set the secret part of the URL (a-z, 0-9 and _) [default: generated].
    #[arg(long)]
    token: Option<String>,

    /// Keep the /preview/… prefix in requests by path, for programs that expect it.
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    keep_prefix: Option<bool>,

    /// Generate a new secret part. The old URLs stop working.
    #[arg(long, conflicts_with = "token")]
    rotate: bool,

    /// Print a signed link that is valid for this time (2h) [default: 1h].
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "1h", value_parser = parse::duration)]
    link: Option<Duration>,

    /// Print the URL by path, for clients that cannot resolve the host name.
    #[arg(long)]
    path: bool,

    #[command(flatten)]
    server: ServerArguments,
}

/// Stop exposing a port. Its URLs stop working.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll unexpose box 3000")]
pub(crate) struct UnexposeArguments {
    /// Name of the sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// Port in the sandbox.
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs `atoll expose`.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(expose(arguments), as_json)
}

/// Runs `atoll unexpose`.
pub(crate) fn run_unexpose(arguments: UnexposeArguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(unexpose(arguments), as_json)
}

async fn expose(arguments: Arguments) -> Result<u8, CliError> {
    let Arguments { name, port, server, .. } = &arguments;
    let client = server.client()?;
    let request = ExposePort {
        name: arguments.title.clone(),
        token: arguments.token.clone(),
        visibility: match (arguments.private, arguments.public) {
            (true, _) => Some(Visibility::Private),
            (_, true) => Some(Visibility::Public),
            (false, false) => None,
        },
        wake: arguments.wake,
        keep_prefix: arguments.keep_prefix,
    };
    let mut preview = client.expose(name, *port, &request).await?;
    if arguments.rotate {
        preview = client.rotate_preview(name, *port).await?;
    }
    if let Some(valid_for) = arguments.link {
        let link = client.preview_link(name, *port, &LinkRequest { expires_in_ms: Some(millis(valid_for)) }).await?;
        if server.json {
            printer::json(&link)?;
        } else {
            printer::out(format!("{}\n", if arguments.path { link.path_url } else { link.url }).as_bytes())?;
        }
        return Ok(0);
    }
    if server.json {
        printer::json(&preview)?;
        return Ok(0);
    }
    let url = if arguments.path { preview.path_url } else { preview.url };
    match url {
        Some(url) => printer::out(format!("{url}\n").as_bytes())?,
        None => {
            printer::note("the port is exposed, but this server has no preview listener (restart it with --listen)")
        }
    }
    Ok(0)
}

async fn unexpose(arguments: UnexposeArguments) -> Result<u8, CliError> {
    let UnexposeArguments { name, port, server } = &arguments;
    server.client()?.unexpose(name, *port).await?;
    if server.json {
        printer::json(&json!({ "unexposed": port }))?;
    }
    Ok(0)
}
