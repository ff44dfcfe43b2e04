//! `atoll session`: persistent shells in a sandbox. Arguments are here, `actions` carries them out.

mod actions;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use atoll_protocol::{SandboxName, SessionId};
use clap::{Args, Subcommand, ValueEnum};

use crate::options::CommandArguments;
use crate::settings::ServerArguments;
use crate::{exit, parse};

/// Run commands in persistent shells, which keep directory, variables, functions and jobs between commands.
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
struct SessionArguments {
    /// Name of the sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// Id of the session.
    #[arg(value_parser = |text: &str| SessionId::new(text))]
    id: SessionId,

    #[command(flatten)]
    server: ServerArguments,
}

/// The state that a dead session restarts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum From {
    /// The last snapshot.
    Snapshot,
    /// The state at creation.
    Nothing,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Create a session and print its id.
    Create(Box<Create>),
    /// List the sessions of a sandbox.
    Ls {
        /// Name of the sandbox.
        #[arg(value_parser = |text: &str| SandboxName::new(text))]
        name: SandboxName,

        #[command(flatten)]
        server: ServerArguments,
    },
    /// Run a command in a session, after all queued ones. Ctrl-C kills the command, not the session.
    #[command(after_help = exit::HELP)]
    Exec(Box<Exec>),
    /// Send SIGINT to the running command.
    Interrupt(SessionArguments),
    /// Kill the running command and its descendants.
    Kill {
        #[command(flatten)]
        session: SessionArguments,

        /// Time between SIGTERM and SIGKILL (5s).
        #[arg(long, value_name = "TIME", value_parser = parse::duration)]
        grace: Option<Duration>,
    },
    /// Show the state of a session: directory, variables, functions, aliases, options.
    Snapshot(SessionArguments),
    /// Copy the state of a session to a new one and print its id.
    Fork {
        #[command(flatten)]
        session: SessionArguments,

        /// Id of the new session [default: generated].
        #[arg(value_name = "NEW", value_parser = |text: &str| SessionId::new(text))]
        copy: Option<SessionId>,
    },
    /// Restart a session whose shell has ended.
    Restart {
        #[command(flatten)]
        session: SessionArguments,

        /// State to restart from.
        #[arg(long, value_enum, default_value_t = From::Snapshot)]
        from: From,
    },
    /// Remove sessions and kill all processes started in them.
    Rm {
        /// Name of the sandbox.
        #[arg(value_parser = |text: &str| SandboxName::new(text))]
        name: SandboxName,

        /// Ids of the sessions.
        #[arg(required = true, value_name = "ID", value_parser = |text: &str| SessionId::new(text))]
        ids: Vec<SessionId>,

        #[command(flatten)]
        server: ServerArguments,
    },
}

#[derive(Debug, Args)]
struct Create {
    /// Name of the sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    /// Id of the session [default: generated].
    #[arg(value_parser = |text: &str| SessionId::new(text))]
    id: Option<SessionId>,

    /// Set an environment variable (MODE=fast), pass on your own (HOME), or unset one (LANG-). Repeatable.
    #[arg(short, long = "env", value_name = "VARIABLE", value_parser = parse::variable)]
    env: Vec<(std::ffi::OsString, Option<std::ffi::OsString>)>,

    /// Start in this directory; a relative path is below /workspace.
    #[arg(short = 'C', long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Run as this user of the sandbox: build, 1000, or build:staff [default: root].
    #[arg(short, long)]
    user: Option<String>,

    /// Kill each command after this time (10s), unless the command has its own --timeout.
    #[arg(short, long, value_name = "TIME", value_parser = parse::duration)]
    timeout: Option<Duration>,

    /// Enable this option of `set -o` (pipefail). Repeatable.
    #[arg(short, long = "option", value_name = "OPTION")]
    options: Vec<String>,

    #[command(flatten)]
    server: ServerArguments,
}

#[derive(Debug, Args)]
struct Exec {
    #[command(flatten)]
    session: SessionArguments,

    #[command(flatten)]
    command: CommandArguments,
}

impl Action {
    fn server(&self) -> &ServerArguments {
        match self {
            Self::Create(create) => &create.server,
            Self::Exec(exec) => &exec.session.server,
            Self::Ls { server, .. } | Self::Rm { server, .. } => server,
            Self::Interrupt(session)
            | Self::Snapshot(session)
            | Self::Kill { session, .. }
            | Self::Fork { session, .. }
            | Self::Restart { session, .. } => &session.server,
        }
    }
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.action.server().json;
    exit::run(actions::act(arguments.action), as_json)
}
