//! `atoll completions`: prints shell completions.

use std::process::ExitCode;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::error::CliError;
use crate::{exit, printer};

/// Print the completion script for a shell.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll completions bash > /etc/bash_completion.d/atoll
  atoll completions zsh > ~/.zfunc/_atoll
  atoll completions fish > ~/.config/fish/completions/atoll.fish")]
pub(crate) struct Arguments {
    /// Shell to complete in.
    shell: Shell,
}

/// Runs the subcommand; `cli` describes the whole command line.
pub(crate) fn run(arguments: &Arguments, mut cli: Command) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut cli, "atoll", &mut text);
    exit::report(printer::out(&text).map(|()| 0).map_err(CliError::from), false)
}
