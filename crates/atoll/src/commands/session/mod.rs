//! `atoll session`: shells that remember, in a sandbox of a server. What each action does is one call.

mod act;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use atoll_protocol::{SandboxName, SessionId};
use clap::{Args, Subcommand, ValueEnum};

use crate::options::CommandArguments;
use crate::settings::ServerArguments;
use crate::{exit, parse};

/// Use shells that remember: the directory, variables, functions and jobs of one command are there for the next.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll session create box work
  atoll session exec box work -- 'cd /tmp && export MODE=fast'
  atoll session exec box work -- 'echo $MODE in $PWD'
  atoll session snapshot box work --json | jq .env
  atoll session fork box work copy
  atoll session rm box work copy")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

/// One session of a sandbox.
#[derive(Debug, Args)]
struct Which {
    /// The sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// The session.
    #[arg(value_parser = |text: &str| SessionId::new(text))]
    id: SessionId,

    #[command(flatten)]
    server: ServerArguments,
}

/// What a dead session is started from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum From {
    /// Its last snapshot.
    Snapshot,
    /// Nothing: as it was first made.
    Nothing,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a session, and print its id.
    Create(Box<Create>),
    /// List the sessions of a sandbox.
    Ls {
        /// The sandbox.
        #[arg(value_parser = |text: &str| SandboxName::new(text))]
        name: SandboxName,

        #[command(flatten)]
        server: ServerArguments,
    },
    /// Run a command in a session, after those that came before; Ctrl-C ends it, and the session lives on.
    #[command(after_help = exit::HELP)]
    Exec(Box<Exec>),
    /// Interrupt the command that runs, as Ctrl-C would.
    Interrupt(Which),
    /// End the command that runs, and all that it started.
    Kill {
        #[command(flatten)]
        which: Which,

        /// How long it may take before it is killed.
        #[arg(long, value_name = "TIME", value_parser = parse::duration)]
        grace: Option<Duration>,
    },
    /// Show what a session holds.
    Snapshot(Which),
    /// Make a new session that holds the same, and print its id.
    Fork {
        #[command(flatten)]
        which: Which,

        /// The new session [default: made up].
        #[arg(value_name = "NEW", value_parser = |text: &str| SessionId::new(text))]
        copy: Option<SessionId>,
    },
    /// Bring a session back whose shell has ended.
    Restart {
        #[command(flatten)]
        which: Which,

        /// From what.
        #[arg(long, value_enum, default_value_t = From::Snapshot)]
        from: From,
    },
    /// End sessions, what runs in them and what was started from them.
    Rm {
        /// The sandbox.
        #[arg(value_parser = |text: &str| SandboxName::new(text))]
        name: SandboxName,

        /// The sessions.
        #[arg(required = true, value_name = "ID", value_parser = |text: &str| SessionId::new(text))]
        ids: Vec<SessionId>,

        #[command(flatten)]
        server: ServerArguments,
    },
}

#[derive(Debug, Args)]
struct Create {
    /// The sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// The session [default: made up].
    #[arg(value_parser = |text: &str| SessionId::new(text))]
    id: Option<SessionId>,

    /// Set a variable (NAME=VALUE), take it from here (NAME), or unset it (NAME-).
    #[arg(short, long = "env", value_name = "VARIABLE", value_parser = parse::variable)]
    env: Vec<(std::ffi::OsString, Option<std::ffi::OsString>)>,

    /// Where it starts; relative ones are below /workspace.
    #[arg(short = 'C', long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// User inside: a name, a number, or either with :GROUP [default: root].
    #[arg(short, long)]
    user: Option<String>,

    /// End each of its commands after so long, unless the command says otherwise.
    #[arg(short, long, value_name = "TIME", value_parser = parse::duration)]
    timeout: Option<Duration>,

    /// An option of `set -o` that is on, such as pipefail; more than once if need be.
    #[arg(short, long = "option", value_name = "OPTION")]
    options: Vec<String>,

    #[command(flatten)]
    server: ServerArguments,
}

#[derive(Debug, Args)]
struct Exec {
    #[command(flatten)]
    which: Which,

    #[command(flatten)]
    command: CommandArguments,
}

impl Action {
    fn server(&self) -> &ServerArguments {
        match self {
            Self::Create(create) => &create.server,
            Self::Exec(exec) => &exec.which.server,
            Self::Ls { server, .. } | Self::Rm { server, .. } => server,
            Self::Interrupt(which)
            | Self::Snapshot(which)
            | Self::Kill { which, .. }
            | Self::Fork { which, .. }
            | Self::Restart { which, .. } => &which.server,
        }
    }
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.action.server().json;
    exit::after(act::act(arguments.action), as_json)
}
