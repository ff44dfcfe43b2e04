//! Atoll: a self-hosted computer for agents. The one binary; one file per subcommand in `commands/`.

mod commands;
mod detach;
mod exit;
mod interrupts;
mod local;
mod options;
mod output;
mod parse;
mod printer;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A self-hosted computer for agents: isolated Linux sandboxes from one binary, no Docker needed.
#[derive(Debug, Parser)]
#[command(name = "atoll", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<commands::run::Arguments>),
    Shell(Box<commands::shell::Arguments>),
    Agent(commands::agent::Arguments),
    Serve(Box<commands::serve::Arguments>),
    Token(commands::token::Arguments),
    Doctor(commands::doctor::Arguments),
    Bench(commands::bench::Arguments),
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return exit::usage(&error),
    };
    match arguments.command {
        Command::Run(arguments) => commands::run::run(*arguments),
        Command::Shell(arguments) => commands::shell::run(*arguments),
        Command::Agent(arguments) => commands::agent::run(arguments),
        Command::Serve(arguments) => commands::serve::run(*arguments),
        Command::Token(arguments) => commands::token::run(arguments),
        Command::Doctor(arguments) => commands::doctor::run(&arguments),
        Command::Bench(arguments) => commands::bench::run(&arguments),
    }
}
