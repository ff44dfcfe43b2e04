//! The `atoll` binary: parses the command line and dispatches to one module per subcommand in `commands/`.

mod api;
mod commands;
mod connect;
mod daemonize;
mod error;
mod exec_request;
mod exit;
mod interrupts;
mod log;
mod mcp;
mod options;
mod output;
mod parse;
mod path_arg;
mod pid1;
mod printer;
mod settings;
mod stream_output;
mod table;
mod tty;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use commands::lifecycle::Change;

/// Run and manage isolated Linux sandboxes for agents. One binary, no Docker needed.
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
    Create(Box<commands::create::Arguments>),
    Ls(commands::ls::Arguments),
    Inspect(commands::inspect::Arguments),
    Rm(commands::rm::Arguments),
    /// Freeze every process of a sandbox, without losing state.
    Pause(commands::lifecycle::Arguments),
    /// Continue a paused sandbox.
    Resume(commands::lifecycle::Arguments),
    /// Stop a sandbox: end its processes, keep its files.
    Stop(commands::lifecycle::Arguments),
    /// Start a stopped sandbox.
    Start(commands::lifecycle::Arguments),
    Exec(Box<commands::exec::Arguments>),
    Ps(commands::ps::Arguments),
    Logs(commands::logs::Arguments),
    Kill(commands::kill::Arguments),
    Wait(commands::wait::Arguments),
    Session(commands::session::Arguments),
    Cp(commands::cp::Arguments),
    Cat(commands::cat::Arguments),
    LsFiles(commands::ls_files::Arguments),
    Grep(Box<commands::grep::Arguments>),
    Edit(Box<commands::edit::Arguments>),
    Egress(Box<commands::egress::Arguments>),
    Secret(commands::secret::Arguments),
    Ports(commands::ports::Arguments),
    Expose(commands::expose::Arguments),
    Unexpose(commands::expose::UnexposeArguments),
    Forward(commands::forward::Arguments),
    Watch(commands::watch::Arguments),
    Git(Box<commands::git::Arguments>),
    Serve(Box<commands::serve::Arguments>),
    Mcp(Box<commands::mcp::Arguments>),
    Token(commands::token::Arguments),
    Agent(commands::agent::Arguments),
    Config(commands::config::Arguments),
    Completions(commands::completions::Arguments),
    Doctor(commands::doctor::Arguments),
}

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|role| role == commands::spare_agent::NAME) {
        return commands::spare_agent::run();
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return exit::usage(&error),
    };
    match arguments.command {
        Command::Run(arguments) => commands::run::run(*arguments),
        Command::Shell(arguments) => commands::shell::run(*arguments),
        Command::Create(arguments) => commands::create::run(*arguments),
        Command::Ls(arguments) => commands::ls::run(arguments),
        Command::Inspect(arguments) => commands::inspect::run(arguments),
        Command::Rm(arguments) => commands::rm::run(arguments),
        Command::Pause(arguments) => commands::lifecycle::run(Change::Pause, arguments),
        Command::Resume(arguments) => commands::lifecycle::run(Change::Resume, arguments),
        Command::Stop(arguments) => commands::lifecycle::run(Change::Stop, arguments),
        Command::Start(arguments) => commands::lifecycle::run(Change::Start, arguments),
        Command::Exec(arguments) => commands::exec::run(*arguments),
        Command::Ps(arguments) => commands::ps::run(arguments),
        Command::Logs(arguments) => commands::logs::run(arguments),
        Command::Kill(arguments) => commands::kill::run(arguments),
        Command::Wait(arguments) => commands::wait::run(arguments),
        Command::Egress(arguments) => commands::egress::run(*arguments),
        Command::Secret(arguments) => commands::secret::run(arguments),
        Command::Session(arguments) => commands::session::run(arguments),
        Command::Cp(arguments) => commands::cp::run(arguments),
        Command::Cat(arguments) => commands::cat::run(arguments),
        Command::LsFiles(arguments) => commands::ls_files::run(arguments),
        Command::Grep(arguments) => commands::grep::run(*arguments),
        Command::Edit(arguments) => commands::edit::run(*arguments),
        Command::Ports(arguments) => commands::ports::run(arguments),
        Command::Expose(arguments) => commands::expose::run(arguments),
        Command::Unexpose(arguments) => commands::expose::run_unexpose(arguments),
        Command::Forward(arguments) => commands::forward::run(arguments),
        Command::Watch(arguments) => commands::watch::run(arguments),
        Command::Git(arguments) => commands::git::run(*arguments),
        Command::Config(arguments) => commands::config::run(&arguments),
        Command::Completions(arguments) => commands::completions::run(&arguments, self::Arguments::command()),
        Command::Agent(arguments) => commands::agent::run(arguments),
        Command::Serve(arguments) => commands::serve::run(*arguments),
        Command::Mcp(arguments) => commands::mcp::run(*arguments),
        Command::Token(arguments) => commands::token::run(arguments),
        Command::Doctor(arguments) => commands::doctor::run(&arguments),
    }
}
