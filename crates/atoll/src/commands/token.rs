//! `atoll token`: manages the tokens of a server.

use std::process::ExitCode;
use std::time::Duration;

use atoll_protocol::{CreateToken, Scope, TokenInfo, Verb};
use clap::{Args, Subcommand};

use crate::error::CliError;
use crate::settings::ServerArguments;
use crate::{exit, parse, printer};

/// Create, list and revoke tokens of a server. Requires a token with the scope *:admin.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll token create --name ci --scope 'ci-*:read,exec,admin'
  atoll token create --scope 'box:read' --expires 24h
  atoll token list
  atoll token revoke 0r3k9a7cmx1p")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Create a token and print it. It cannot be shown again.
    Create {
        /// Purpose of the token (ci).
        #[arg(long, default_value = "")]
        name: String,

        /// Allow VERBS on SANDBOXES: a name pattern with *, and some of read, exec, admin ('ci-*:read,exec').
        /// Repeatable.
        #[arg(long = "scope", value_name = "SCOPE", required = true, value_parser = scope)]
        scopes: Vec<Scope>,

        /// Expire after this time (24h) [default: never].
        #[arg(long, value_name = "TIME", value_parser = parse::duration)]
        expires: Option<Duration>,

        #[command(flatten)]
        server: ServerArguments,
    },
    /// List tokens, without their secrets.
    List {
        #[command(flatten)]
        server: ServerArguments,
    },
    /// Revoke a token.
    Revoke {
        /// Id of the token, as `atoll token list` prints it.
        id: String,

        #[command(flatten)]
        server: ServerArguments,
    },
}

impl Action {
    fn server(&self) -> &ServerArguments {
        match self {
            Self::Create { server, .. } | Self::List { server } | Self::Revoke { server, .. } => server,
        }
    }
}

/// Parses a scope, such as `ci-*:read,exec`.
fn scope(text: &str) -> Result<Scope, String> {
    let invalid = || "expected SANDBOXES:VERBS, such as 'ci-*:read,exec'".to_owned();
    let (sandboxes, verbs) = text.split_once(':').ok_or_else(invalid)?;
    let verb = |text: &str| match text.trim() {
        "read" => Ok(Verb::Read),
        "exec" => Ok(Verb::Exec),
        "admin" => Ok(Verb::Admin),
        other => Err(format!("unknown verb `{other}` (expected read, exec or admin)")),
    };
    Ok(Scope { sandboxes: sandboxes.to_owned(), verbs: verbs.split(',').map(verb).collect::<Result<_, _>>()? })
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.action.server().json;
    exit::run(act(arguments.action), as_json)
}

async fn act(action: Action) -> Result<u8, CliError> {
    let client = action.server().client()?;
    match action {
        Action::Create { name, scopes, expires, server } => {
            let expires_in_ms = expires.and_then(|time| u64::try_from(time.as_millis()).ok());
            let created = client.create_token(&CreateToken { name, scopes, expires_in_ms }).await?;
            if server.json {
                printer::json(&created)
            } else {
                printer::out(format!("{}\n", created.token).as_bytes())
            }?;
        }
        Action::List { server } => {
            let list = client.tokens().await?;
            if server.json { printer::json(&list) } else { printer::out(table(&list.tokens).as_bytes()) }?;
        }
        Action::Revoke { id, .. } => client.revoke_token(&id).await?,
    }
    Ok(0)
}

fn table(tokens: &[TokenInfo]) -> String {
    let line = |token: &TokenInfo| {
        let scopes: Vec<String> = token.scopes.iter().map(format_scope).collect();
        let expires = token.expires_at.map_or_else(|| "never".to_owned(), |time| time.to_string());
        format!("{}\t{}\t{}\texpires {expires}\n", token.id, scopes.join(" "), token.name)
    };
    tokens.iter().map(line).collect()
}

fn format_scope(scope: &Scope) -> String {
    let verb = |verb: &Verb| match verb {
        Verb::Read => "read",
        Verb::Exec => "exec",
        Verb::Admin => "admin",
    };
    format!("{}:{}", scope.sandboxes, scope.verbs.iter().map(verb).collect::<Vec<_>>().join(","))
}
