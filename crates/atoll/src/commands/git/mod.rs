//! `atoll git`: runs common git operations in a sandbox. Arguments are here, `actions` carries them out.

mod actions;

use std::process::ExitCode;
use std::time::Duration;

use atoll_protocol::SandboxName;
use clap::{Args, Subcommand};

use crate::exit;
use crate::parse;
use crate::settings::ServerArguments;

/// Run git in a sandbox: clone, status, diff, commit, checkout, branches, log, pull, push.
///
/// Hooks, helpers and drivers of the repository do not run. Set credentials in the variables ATOLL_GIT_USERNAME and
/// ATOLL_GIT_PASSWORD. They reach git in the sandbox through a pipe and appear in no argument, variable, file or log
/// there.
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

/// The sandbox.
#[derive(Debug, Args)]
pub(super) struct SandboxArgument {
    /// Name of the sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,
}

/// The user, and the server.
#[derive(Debug, Args)]
pub(super) struct CommonArguments {
    /// Run git as this user of the sandbox.
    #[arg(long)]
    user: Option<String>,

    #[command(flatten)]
    server: ServerArguments,
}

/// Options of operations that use the network.
#[derive(Debug, Args)]
pub(super) struct RemoteArguments {
    /// Stop after this time (90s, 5m).
    #[arg(long, value_parser = parse::duration)]
    timeout: Option<Duration>,

    /// Send the credentials only to this server (https://github.com) [default for clone: the server of the URL].
    #[arg(long, value_name = "URL")]
    server_of_credentials: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Clone a repository.
    Clone {
        #[command(flatten)]
        sandbox: SandboxArgument,
        /// URL of the repository.
        url: String,
        /// Directory to clone into [default: the repository's name].
        path: Option<String>,
        /// Check out this branch or tag.
        #[arg(short, long)]
        branch: Option<String>,
        /// Fetch only this many commits (1).
        #[arg(long)]
        depth: Option<u32>,
        #[command(flatten)]
        remote: RemoteArguments,
        #[command(flatten)]
        common: CommonArguments,
    },
    /// Show the status of a repository.
    Status {
        #[command(flatten)]
        sandbox: SandboxArgument,
        /// Directory of the repository.
        #[arg(default_value = ".")]
        path: String,
        #[command(flatten)]
        common: CommonArguments,
    },
    /// Show differences as a patch.
    Diff {
        #[command(flatten)]
        sandbox: SandboxArgument,
        /// Directory of the repository.
        #[arg(default_value = ".")]
        path: String,
        /// Compare the index with the last commit.
        #[arg(long)]
        staged: bool,
        /// Compare this commit with the working tree, or with --to (HEAD~1).
        #[arg(long)]
        from: Option<String>,
        /// Compare --from with this commit.
        #[arg(long)]
        to: Option<String>,
        #[command(flatten)]
        common: CommonArguments,
    },
    /// Create a commit.
    Commit {
        #[command(flatten)]
        sandbox: SandboxArgument,
        /// Directory of the repository.
        #[arg(default_value = ".")]
        path: String,
        /// Message of the commit.
        #[arg(short, long)]
        message: String,
        /// Author of the commit: `Name <address>`.
        #[arg(long)]
        author: Option<String>,
        /// Include all changes and new files.
        #[arg(short, long)]
        all: bool,
        #[command(flatten)]
        common: CommonArguments,
    },
    /// Check out a branch, a tag or a commit.
    Checkout {
        #[command(flatten)]
        sandbox: SandboxArgument,
        /// Directory of the repository.
        path: String,
        /// Branch, tag or commit.
        target: String,
        /// Create the branch.
        #[arg(short = 'b', long)]
        create: bool,
        #[command(flatten)]
        common: CommonArguments,
    },
    /// List branches.
    Branches {
        #[command(flatten)]
        sandbox: SandboxArgument,
        /// Directory of the repository.
        #[arg(default_value = ".")]
        path: String,
        /// List remote branches too.
        #[arg(short, long)]
        remotes: bool,
        #[command(flatten)]
        common: CommonArguments,
    },
    /// List commits, newest first.
    Log {
        #[command(flatten)]
        sandbox: SandboxArgument,
        /// Directory of the repository.
        #[arg(default_value = ".")]
        path: String,
        /// List at most this many commits.
        #[arg(short = 'n', long, default_value_t = 20)]
        limit: u32,
        #[command(flatten)]
        common: CommonArguments,
    },
    /// Fetch new commits and fast-forward.
    Pull {
        #[command(flatten)]
        sandbox: SandboxArgument,
        /// Directory of the repository.
        #[arg(default_value = ".")]
        path: String,
        #[command(flatten)]
        remote: RemoteArguments,
        #[command(flatten)]
        common: CommonArguments,
    },
    /// Push commits.
    Push {
        #[command(flatten)]
        sandbox: SandboxArgument,
        /// Directory of the repository.
        #[arg(default_value = ".")]
        path: String,
        /// Branch to push [default: the current branch].
        #[arg(short, long)]
        branch: Option<String>,
        /// Set the remote branch as upstream.
        #[arg(short = 'u', long)]
        set_upstream: bool,
        #[command(flatten)]
        remote: RemoteArguments,
        #[command(flatten)]
        common: CommonArguments,
    },
}

impl Verb {
    fn common(&self) -> &CommonArguments {
        match self {
            Self::Clone { common, .. }
            | Self::Status { common, .. }
            | Self::Diff { common, .. }
            | Self::Commit { common, .. }
            | Self::Checkout { common, .. }
            | Self::Branches { common, .. }
            | Self::Log { common, .. }
            | Self::Pull { common, .. }
            | Self::Push { common, .. } => common,
        }
    }
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.verb.common().server.json;
    exit::run(actions::act(arguments.verb), as_json)
}
