//! `atoll expose` and `atoll unexpose`: URLs for what listens inside.

use std::process::ExitCode;
use std::time::Duration;

use atoll_protocol::{ExposePort, LinkRequest, SandboxName, Visibility};
use clap::Args;
use serde_json::json;

use crate::asking::millis;
use crate::failure::Failure;
use crate::settings::ServerArguments;
use crate::{exit, parse, printer};

/// Give a port of a sandbox a URL, or change how it is exposed; prints the URL.
///
/// Nothing needs to listen yet, and the sandbox is not started. What is not said stays as it is.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll expose box 3000
  atoll expose box 3000 --private && atoll expose box 3000 --link 2h
  atoll expose box 3000 --rotate")]
pub(crate) struct Arguments {
    /// The sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// The port inside.
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,

    /// Let in only who has a token of the server, or a signed link.
    #[arg(long)]
    private: bool,

    /// Let in whoever knows the URL, again.
    #[arg(long, conflicts_with = "private")]
    public: bool,

    /// A request starts the sandbox if it sleeps.
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    wake: Option<bool>,

    /// What it is, for people.
    #[arg(long = "name", value_name = "TEXT")]
    title: Option<String>,

    /// The secret part of the URL [default: made up].
    #[arg(long)]
    token: Option<String>,

    /// The program inside knows that its paths begin with /preview/… where it has no host name of its own.
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    keep_prefix: Option<bool>,

    /// Give it another token: its URLs so far lead nowhere from now on.
    #[arg(long, conflicts_with = "token")]
    rotate: bool,

    /// Print a signed link that lets in whoever has it, for so long.
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "1h", value_parser = parse::duration)]
    link: Option<Duration>,

    /// Print the URL below a path, for clients that cannot resolve the name.
    #[arg(long)]
    path: bool,

    #[command(flatten)]
    server: ServerArguments,
}

/// End the exposure of a port: its URLs lead nowhere from now on.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll unexpose box 3000")]
pub(crate) struct Ending {
    /// The sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// The port inside.
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,

    #[command(flatten)]
    server: ServerArguments,
}

/// Runs `atoll expose`.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::after(expose(arguments), as_json)
}

/// Runs `atoll unexpose`.
pub(crate) fn end(arguments: Ending) -> ExitCode {
    let as_json = arguments.server.json;
    exit::after(unexpose(arguments), as_json)
}

async fn expose(arguments: Arguments) -> Result<u8, Failure> {
    let Arguments { name, port, server, .. } = &arguments;
    let client = server.client()?;
    let asked = ExposePort {
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
    let mut preview = client.expose(name, *port, &asked).await?;
    if arguments.rotate {
        preview = client.rotate_preview(name, *port).await?;
    }
    if let Some(lasts) = arguments.link {
        let link = client.preview_link(name, *port, &LinkRequest { expires_in_ms: Some(millis(lasts)) }).await?;
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
            printer::note("the port is exposed, but this server listens nowhere for previews: start it with --listen")
        }
    }
    Ok(0)
}

async fn unexpose(arguments: Ending) -> Result<u8, Failure> {
    let Ending { name, port, server } = &arguments;
    server.client()?.unexpose(name, *port).await?;
    if server.json {
        printer::json(&json!({ "unexposed": port }))?;
    }
    Ok(0)
}
