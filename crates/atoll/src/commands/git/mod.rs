//! `atoll git`: the sandbox's own git, for what people do with it most. Its words and options; the deeds are below.

mod act;

use std::process::ExitCode;
use std::time::Duration;

use atoll_protocol::SandboxName;
use clap::{Args, Subcommand};

use crate::exit;
use crate::parse;
use crate::settings::ServerArguments;

/// Use git in a sandbox: clone, status, diff, commit, checkout, branches, log, pull, push.
///
/// Hooks, helpers and drivers of a repository are not run. Credentials are read from the variables ATOLL_GIT_USERNAME
/// and ATOLL_GIT_PASSWORD of this program, and reach git in the sandbox through a pipe: no argument, variable, file or
/// log there holds them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll git clone box https://github.com/rust-lang/log --depth 1
  atoll git status box log
  atoll git commit box log --all -m 'a change' --author 'Me <me@example.org>'
  atoll git push box log --server-of-credentials https://github.com")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

/// The sandbox, and the server that has it.
#[derive(Debug, Args)]
pub(super) struct Where {
    /// The sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,
}

/// Who runs it, and the server.
#[derive(Debug, Args)]
pub(super) struct How {
    /// The user to be in the sandbox.
    #[arg(long)]
    user: Option<String>,

    #[command(flatten)]
    server: ServerArguments,
}

/// What goes over the network.
#[derive(Debug, Args)]
pub(super) struct Remote {
    /// End it after so long: 90s, 5m.
    #[arg(long, value_parser = parse::duration)]
    timeout: Option<Duration>,

    /// The only server that may have the credentials: https://host. For a clone, its own.
    #[arg(long, value_name = "URL")]
    server_of_credentials: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Fetch a repository.
    Clone {
        #[command(flatten)]
        place: Where,
        /// Where it is.
        url: String,
        /// The directory that it becomes.
        path: Option<String>,
        /// The branch or tag to check out.
        #[arg(short, long)]
        branch: Option<String>,
        /// Only so many commits back.
        #[arg(long)]
        depth: Option<u32>,
        #[command(flatten)]
        remote: Remote,
        #[command(flatten)]
        how: How,
    },
    /// Show how a repository is.
    Status {
        #[command(flatten)]
        place: Where,
        /// The repository.
        #[arg(default_value = ".")]
        path: String,
        #[command(flatten)]
        how: How,
    },
    /// Show what is different, as a patch.
    Diff {
        #[command(flatten)]
        place: Where,
        /// The repository.
        #[arg(default_value = ".")]
        path: String,
        /// The next commit with the last.
        #[arg(long)]
        staged: bool,
        /// This commit with the files, or with --to.
        #[arg(long)]
        from: Option<String>,
        /// The other commit.
        #[arg(long)]
        to: Option<String>,
        #[command(flatten)]
        how: How,
    },
    /// Make a commit.
    Commit {
        #[command(flatten)]
        place: Where,
        /// The repository.
        #[arg(default_value = ".")]
        path: String,
        /// What it does.
        #[arg(short, long)]
        message: String,
        /// Who made it: `Name <address>`.
        #[arg(long)]
        author: Option<String>,
        /// With every change, new files included.
        #[arg(short, long)]
        all: bool,
        #[command(flatten)]
        how: How,
    },
    /// Check out a branch, a tag or a commit.
    Checkout {
        #[command(flatten)]
        place: Where,
        /// The repository.
        path: String,
        /// What.
        target: String,
        /// Make the branch.
        #[arg(short = 'b', long)]
        create: bool,
        #[command(flatten)]
        how: How,
    },
    /// List branches.
    Branches {
        #[command(flatten)]
        place: Where,
        /// The repository.
        #[arg(default_value = ".")]
        path: String,
        /// Those of remotes, too.
        #[arg(short, long)]
        remotes: bool,
        #[command(flatten)]
        how: How,
    },
    /// List commits, newest first.
    Log {
        #[command(flatten)]
        place: Where,
        /// The repository.
        #[arg(default_value = ".")]
        path: String,
        /// So many at most.
        #[arg(short = 'n', long, default_value_t = 20)]
        limit: u32,
        #[command(flatten)]
        how: How,
    },
    /// Fetch what is new, and go on to it if nothing is in the way.
    Pull {
        #[command(flatten)]
        place: Where,
        /// The repository.
        #[arg(default_value = ".")]
        path: String,
        #[command(flatten)]
        remote: Remote,
        #[command(flatten)]
        how: How,
    },
    /// Send commits.
    Push {
        #[command(flatten)]
        place: Where,
        /// The repository.
        #[arg(default_value = ".")]
        path: String,
        /// Which branch; else the one that is checked out.
        #[arg(short, long)]
        branch: Option<String>,
        /// Follow it from now on.
        #[arg(short = 'u', long)]
        set_upstream: bool,
        #[command(flatten)]
        remote: Remote,
        #[command(flatten)]
        how: How,
    },
}

impl Verb {
    fn how(&self) -> &How {
        match self {
            Self::Clone { how, .. }
            | Self::Status { how, .. }
            | Self::Diff { how, .. }
            | Self::Commit { how, .. }
            | Self::Checkout { how, .. }
            | Self::Branches { how, .. }
            | Self::Log { how, .. }
            | Self::Pull { how, .. }
            | Self::Push { how, .. } => how,
        }
    }
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.verb.how().server.json;
    exit::after(act::act(arguments.verb), as_json)
}
