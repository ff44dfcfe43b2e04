//! `atoll run`: runs one command in a throw-away sandbox.

use std::io::{self, Read};
use std::process::ExitCode;
use std::time::Duration;

use atoll_protocol::{Encoding, ProcessId};
use atoll_runtime::{Background, Command, Error, Home, Host, Process, ProcessSpec, Sandbox, Stdin};
use clap::Args;
use tokio::signal::unix::SignalKind;
use tokio::time::timeout;

use crate::interrupts::Interrupts;
use crate::options::{CommandArguments, SandboxArguments, invocation};
use crate::output::Output;
use crate::{exit, parse, printer};

/// Run a command in a throw-away sandbox, which is destroyed afterwards.
///
/// Pass one word after `--` for a shell string, which bash runs, or several words for a program and its arguments,
/// which run without a shell. Output is streamed. Nothing of the sandbox remains, even if this command is killed.
#[derive(Debug, Args)]
#[command(after_help = format!("Examples:
  atoll run -- 'echo hello from $(hostname); id; ps aux'
  atoll run --timeout 10s --memory 512m -- python3 -c 'print(6 * 7)'
  atoll run --allow pypi -- 'python3 -m venv v && v/bin/pip install requests'
  tar c src | atoll run --stdin -- 'tar x && make test'
  atoll run --json -- 'uname -a' | jq -r .stdout.data

{}", exit::HELP))]
pub(crate) struct Arguments {
    #[command(flatten)]
    command: CommandArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,

    /// Print the result as one JSON document instead of streaming output.
    #[arg(long)]
    json: bool,

    /// With --json: truncate stdout and stderr to this size each (1m).
    #[arg(long, value_name = "SIZE", value_parser = parse::size, requires = "json")]
    answer_bytes: Option<u64>,
}

/// How long to wait for the remaining output after a signal.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Size of the chunks in which standard input is written.
const STDIN_CHUNK: usize = 64 * 1024;

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.json;
    exit::run(in_sandbox(arguments), as_json)
}

async fn in_sandbox(arguments: Arguments) -> Result<u8, Error> {
    // Installed before the sandbox exists: from here on a signal ends the command and cleans up.
    let mut interrupts = Interrupts::new(&[SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()])?;
    let host = Host::new(Home::discover()?)?;
    let options = arguments.sandbox.options()?;
    let sandbox = tokio::select! {
        sandbox = host.create(options) => sandbox?,
        number = interrupts.next() => return Ok(128 + number),
    };
    let outcome = command_in(&sandbox, arguments, &mut interrupts).await;
    sandbox.destroy().await?;
    outcome
}

async fn command_in(sandbox: &Sandbox, arguments: Arguments, interrupts: &mut Interrupts) -> Result<u8, Error> {
    let grace = arguments.command.grace;
    let (encoding, as_json) = (arguments.command.encoding.into(), arguments.json);
    let answer = arguments.answer_bytes.and_then(|bytes| usize::try_from(bytes).ok());
    let pass_stdin = arguments.command.stdin;
    let mut spec = ProcessSpec::new(command(arguments.command));
    if let Some(grace) = grace {
        spec.command.grace = grace;
    }
    let grace = spec.command.grace;
    if as_json {
        spec.id = Some(ProcessId::new("run").map_err(|error| Error::Invalid { what: error.to_string() })?);
        return result_as_json(sandbox, spec, encoding, answer, pass_stdin, grace, interrupts).await;
    }
    let process = sandbox.start(spec).await?;
    if pass_stdin {
        feed_stdin(process.clone());
    }
    follow(&process, grace, interrupts).await
}

/// Streams output until the command ends.
async fn follow(process: &Process, grace: Duration, interrupts: &mut Interrupts) -> Result<u8, Error> {
    let writing = Output::start().write_all(process);
    tokio::pin!(writing);
    let written = tokio::select! {
        biased;
        number = interrupts.next() => {
            kill(process, grace, interrupts).await?;
            drop(timeout(DRAIN_TIMEOUT, writing).await);
            return Ok(128 + number);
        }
        written = &mut writing => written,
    };
    if let Err(error) = written {
        // Standard output is closed: the command ends, as any program in a pipeline would.
        kill(process, grace, interrupts).await?;
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Ok(exit::BROKEN_PIPE);
        }
        return Err(Error::Internal { what: format!("failed to write the output: {error}") });
    }
    let end = process.ended().await?;
    exit::explain(&end);
    Ok(exit::of_end(&end))
}

/// Kills the process tree with its grace period; a second signal kills it at once.
async fn kill(process: &Process, grace: Duration, interrupts: &mut Interrupts) -> Result<(), Error> {
    tokio::select! {
        biased;
        _ = interrupts.next() => process.kill(Duration::ZERO).await.map(drop),
        receipt = process.kill(grace) => receipt.map(drop),
    }
}

async fn result_as_json(
    sandbox: &Sandbox,
    spec: ProcessSpec,
    encoding: Encoding,
    answer: Option<usize>,
    pass_stdin: bool,
    grace: Duration,
    interrupts: &mut Interrupts,
) -> Result<u8, Error> {
    let id = spec.id.clone();
    let exec = sandbox.exec_with(spec, answer.unwrap_or(16 * 1024 * 1024));
    tokio::pin!(exec);
    let mut fed = !pass_stdin;
    let mut interrupted = None;
    let mut killed = false;
    let output = loop {
        tokio::select! {
            output = &mut exec => break output?,
            number = interrupts.next(), if interrupted.is_none() => interrupted = Some(number),
            // The process is registered a moment after `exec_with` begins.
            () = tokio::task::yield_now(), if !fed || (interrupted.is_some() && !killed) => {
                let Some(process) = id.as_ref().and_then(|id| sandbox.process(id).ok()) else { continue };
                if !fed {
                    fed = true;
                    feed_stdin(process.clone());
                }
                if interrupted.is_some() {
                    killed = true;
                    tokio::spawn(async move { process.kill(grace).await });
                }
            }
        }
    };
    match printer::json(&output.result(encoding)) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(exit::BROKEN_PIPE),
        Err(error) => return Err(Error::Internal { what: format!("failed to print the result: {error}") }),
        Ok(()) => {}
    }
    Ok(interrupted.map_or_else(|| exit::of_end(&output.end), |number| 128 + number))
}

/// Reads standard input on its own thread, because a blocking read cannot be cancelled and must not delay the exit.
fn feed_stdin(process: Process) {
    let (sender, mut receiver) = tokio::sync::mpsc::channel::<Vec<u8>>(4);
    std::thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut buffer = vec![0; STDIN_CHUNK];
        while let Ok(count @ 1..) = stdin.read(&mut buffer) {
            if sender.blocking_send(buffer[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    tokio::spawn(async move {
        let mut offset = 0;
        while let Some(bytes) = receiver.recv().await {
            match process.write_stdin(offset, bytes.into()).await {
                Ok(next) => offset = next,
                Err(_) => return,
            }
        }
        // The process may have ended without reading all input.
        drop(process.close_stdin().await);
    });
}

fn command(arguments: CommandArguments) -> Command {
    let mut command = Command::new(invocation(arguments.command));
    command.env = arguments.context.env.into_iter().collect();
    command.cwd = arguments.context.cwd;
    command.user = arguments.context.user;
    command.timeout = arguments.timeout;
    command.idle_timeout = arguments.idle_timeout;
    command.network = parse::only_rules(arguments.only);
    command.max_output_bytes = arguments.max_output;
    command.background = Background::Keep;
    command.stdin = if arguments.stdin { Stdin::Pipe } else { Stdin::Closed };
    command
}
