//! `atoll completions`: what shells need to complete our words.

use std::process::ExitCode;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::failure::Failure;
use crate::{exit, printer};

/// Print completions for a shell.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll completions bash > /etc/bash_completion.d/atoll
  atoll completions zsh > ~/.zfunc/_atoll
  atoll completions fish > ~/.config/fish/completions/atoll.fish")]
pub(crate) struct Arguments {
    /// The shell.
    shell: Shell,
}

/// Runs the subcommand; `whole` is the description of all of them.
pub(crate) fn run(arguments: &Arguments, mut whole: Command) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut whole, "atoll", &mut text);
    exit::told(printer::out(&text).map(|()| 0).map_err(Failure::from), false)
}
