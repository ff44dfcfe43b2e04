//! `atoll shell`: an interactive terminal in a throw-away sandbox, or with a name in a server's sandbox
//! (`shell_attach`).

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use atoll_protocol::{EndRecord, SandboxName, TerminalId};
use atoll_runtime::{
    Attach, Error, Home, Host, Invocation, Sandbox, Terminal, TerminalEvent, TerminalSpec, Viewer, ViewerOptions,
};
use bytes::Bytes;
use clap::Args;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::shell_attach::{self, AttachOptions};
use crate::interrupts::Interrupts;
use crate::options::{ExecContext, SandboxArguments, invocation};
use crate::parse::{self, DetachKey};
use crate::settings::ServerArguments;
use crate::tty::{self, Display, Raw};
use crate::{exit, printer};

/// Open an interactive terminal in a throw-away sandbox, or in a sandbox of a server.
///
/// Without NAME, creates a sandbox and destroys it when you leave. With NAME, attaches to a terminal of that sandbox,
/// which keeps running when you detach; creates the sandbox, the terminal and your own server if they do not exist.
/// Runs bash, or sh if there is no bash. Pass one word after `--` for a shell string, or several for a program and its
/// arguments.
#[derive(Debug, Args)]
#[command(after_help = format!("Examples:
  atoll shell
  atoll shell --memory 1g -e EDITOR=vim -- vim notes.txt
  atoll shell --record session.cast
  atoll shell box
  atoll shell box --terminal build -- make watch

{}", exit::HELP))]
pub(crate) struct Arguments {
    /// Attach to this sandbox of a server [default: a throw-away sandbox].
    #[arg(value_name = "NAME", value_parser = |text: &str| SandboxName::new(text), conflicts_with_all =
        ["memory", "pids", "cpus", "open_files", "name", "isolation", "storage", "without_cgroups", "record"])]
    named: Option<SandboxName>,

    /// With NAME: the id of the terminal.
    #[arg(long, value_name = "ID", default_value = "main", requires = "named",
        value_parser = |text: &str| TerminalId::new(text))]
    terminal: TerminalId,

    #[command(flatten)]
    server: ServerArguments,

    #[command(flatten)]
    context: ExecContext,

    #[command(flatten)]
    sandbox: SandboxArguments,

    /// Detach with this key: ctrl- and a letter or one of [ ] \ ^ _ (ctrl-q), or none. Detaching destroys a throw-away
    /// sandbox.
    #[arg(long, value_name = "KEY", default_value = "ctrl-]", value_parser = parse::detach_key)]
    detach_key: DetachKey,

    /// Record the terminal to this file (asciicast v2, for asciinema).
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Shell string (one word), or program and arguments (several words) [default: an interactive shell].
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(1);

/// How long to wait for the remaining output.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Chunks of input buffered for a program that does not read. Further input, and the detach key in it, stays in this
/// program's terminal.
const INPUT_BUFFER: usize = 256;

/// The origin of a resize, as other viewers of the terminal see it.
const RESIZE_ORIGIN: &str = "atoll shell";

/// How the session ended.
#[derive(Debug)]
enum Outcome {
    /// The program ended.
    Ended(Box<EndRecord>),
    /// The user pressed the detach key.
    Detached,
    /// This program received a signal.
    Interrupted(u8),
    /// The terminal of this program hung up.
    HungUp,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    // The output is the terminal's; --json concerns errors only.
    let json = arguments.server.json;
    let Some(name) = arguments.named else { return exit::run(in_sandbox(arguments), json) };
    let Arguments { terminal, server, context, detach_key, command, .. } = arguments;
    exit::run(shell_attach::attach(AttachOptions { name, terminal, server, context, detach_key, command }), json)
}

async fn in_sandbox(arguments: Arguments) -> Result<u8, Error> {
    if arguments.server.server.is_some() || arguments.server.token_file.is_some() {
        let what = "--server and --token-file require a sandbox NAME".to_owned();
        return Err(Error::Invalid { what });
    }
    if !tty::is_terminal() {
        drop(printer::err(
            b"error: standard input is not a terminal\n\
              hint: use `atoll run` to run a command without a terminal; --stdin passes input to it\n",
        ));
        return Ok(exit::FAILED);
    }
    // Installed before the sandbox exists: from here on a signal ends the session and cleans up.
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()];
    let mut interrupts = Interrupts::new(&kinds)?;
    let record = arguments.record.as_deref().map(create).transpose()?;
    let host = Host::new(Home::discover()?)?;
    let sandbox = tokio::select! {
        sandbox = host.create(arguments.sandbox.options()?) => sandbox?,
        number = interrupts.next() => return Ok(128 + number),
    };
    let outcome = session(&sandbox, arguments, record, &mut interrupts).await;
    sandbox.destroy().await?;
    outcome
}

fn create(path: &std::path::Path) -> Result<File, Error> {
    File::create(path)
        .map_err(|error| Error::Invalid { what: format!("cannot write the recording {}: {error}", path.display()) })
}

async fn session(
    sandbox: &Sandbox,
    arguments: Arguments,
    record: Option<File>,
    interrupts: &mut Interrupts,
) -> Result<u8, Error> {
    let detach_key = arguments.detach_key;
    let resizes = signal(SignalKind::window_change()).map_err(|error| failed("watch the window size", &error))?;
    let terminal = sandbox.open_terminal(spec(arguments)).await?;
    let raw = Raw::enter().map_err(|error| failed("set the terminal to raw mode", &error))?;
    let attached = AttachLoop { viewer: terminal.attach(from_start()), resizes, keys: tty::keys(), detach_key };
    let display = Display::start();
    let outcome = attached.run(&display, interrupts).await;
    if !matches!(outcome, Outcome::Ended(_)) {
        // Resets the terminal modes that the program set and had no chance to restore.
        drop(timeout(DRAIN_TIMEOUT, display.show(terminal.screen().await.reset.into())).await);
        drop(terminal.kill(GRACE).await);
    }
    drop(timeout(DRAIN_TIMEOUT, display.finish()).await);
    drop(raw);
    if let Some(file) = record {
        write_recording(&terminal, file).await?;
    }
    Ok(report(&outcome))
}

fn from_start() -> ViewerOptions {
    ViewerOptions { from: Attach::Cursor(0), ..ViewerOptions::default() }
}

fn spec(arguments: Arguments) -> TerminalSpec {
    let invocation = match arguments.command.is_empty() {
        true => Invocation::Interactive,
        false => invocation(arguments.command),
    };
    let mut spec = TerminalSpec::new(invocation);
    spec.env = arguments.context.env.into_iter().collect();
    spec.cwd = arguments.context.cwd;
    spec.user = arguments.context.user;
    spec.size = tty::size();
    if let Some(term) = std::env::var_os("TERM").filter(|term| !term.is_empty()) {
        spec.term = term;
    }
    spec
}

/// Connects this program's terminal to the one in the sandbox: output, input, resizes.
struct AttachLoop {
    viewer: Viewer,
    resizes: Signal,
    keys: mpsc::Receiver<Bytes>,
    detach_key: DetachKey,
}

/// What the loop handles next.
enum Wakeup {
    Interrupt(u8),
    Resize,
    Keys(mpsc::OwnedPermit<Bytes>, Option<Bytes>),
    Event(Option<TerminalEvent>),
}

impl AttachLoop {
    async fn run(mut self, display: &Display, interrupts: &mut Interrupts) -> Outcome {
        let input = start_input_task(self.viewer.terminal().clone());
        loop {
            let wakeup = tokio::select! {
                biased;
                number = interrupts.next() => Wakeup::Interrupt(number),
                Some(()) = self.resizes.recv() => Wakeup::Resize,
                (permit, keys) = next_keys(&input, &mut self.keys) => Wakeup::Keys(permit, keys),
                event = self.viewer.next() => Wakeup::Event(event),
            };
            let outcome = match wakeup {
                Wakeup::Interrupt(number) => Some(Outcome::Interrupted(number)),
                Wakeup::Resize => self.resize().await,
                Wakeup::Keys(permit, keys) => self.typed(permit, keys),
                Wakeup::Event(event) => show(event, display, interrupts).await,
            };
            if let Some(outcome) = outcome {
                return outcome;
            }
        }
    }

    async fn resize(&self) -> Option<Outcome> {
        // The program may have ended; the next event reports that.
        drop(self.viewer.resize(tty::size(), RESIZE_ORIGIN).await);
        None
    }

    /// Queues input for the program. Looks for the detach key first, so it works when the program does not read.
    fn typed(&mut self, permit: mpsc::OwnedPermit<Bytes>, keys: Option<Bytes>) -> Option<Outcome> {
        let Some(keys) = keys else {
            return Some(Outcome::HungUp);
        };
        let (keys, detached) = self.detach_key.split(keys);
        permit.send(keys);
        detached.then_some(Outcome::Detached)
    }
}

/// Starts the task that writes input in order: a program that does not read its input must not block its output.
fn start_input_task(terminal: Terminal) -> mpsc::Sender<Bytes> {
    let (sender, mut receiver) = mpsc::channel(INPUT_BUFFER);
    tokio::spawn(async move {
        while let Some(keys) = receiver.recv().await {
            if terminal.write(keys).await.is_err() {
                break;
            }
        }
    });
    sender
}

/// Waits for room in the input buffer, then for input.
async fn next_keys(
    input: &mpsc::Sender<Bytes>,
    keys: &mut mpsc::Receiver<Bytes>,
) -> (mpsc::OwnedPermit<Bytes>, Option<Bytes>) {
    match input.clone().reserve_owned().await {
        Ok(permit) => (permit, keys.recv().await),
        // The program ended; the viewer reports its end.
        Err(_) => std::future::pending().await,
    }
}

async fn show(event: Option<TerminalEvent>, display: &Display, interrupts: &mut Interrupts) -> Option<Outcome> {
    let bytes = match event {
        None => return Some(Outcome::HungUp),
        Some(TerminalEvent::Exit(end)) => return Some(Outcome::Ended(end)),
        Some(TerminalEvent::Resized(_)) => return None,
        Some(TerminalEvent::Output { bytes, .. }) => bytes,
        Some(TerminalEvent::Truncated { from, to }) => {
            format!("\r\natoll: {} bytes of output were dropped here\r\n", to - from).into()
        }
    };
    tokio::select! {
        shown = display.show(bytes) => (!shown).then_some(Outcome::HungUp),
        number = interrupts.next() => Some(Outcome::Interrupted(number)),
    }
}

async fn write_recording(terminal: &Terminal, mut file: File) -> Result<(), Error> {
    let mut recording = terminal.recording(0);
    while let Some(line) = recording.next().await? {
        file.write_all(&line).map_err(|error| failed("write the recording", &error))?;
    }
    Ok(())
}

/// Prints what the exit code alone does not say, and returns the code.
fn report(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Ended(end) => {
            exit::explain(end);
            exit::of_end(end)
        }
        Outcome::Detached => {
            drop(printer::err(b"\natoll: detached; the throw-away sandbox was destroyed\n"));
            0
        }
        Outcome::Interrupted(number) => 128 + number,
        Outcome::HungUp => 128 + 1,
    }
}

fn failed(what: &str, error: &std::io::Error) -> Error {
    Error::Internal { what: format!("failed to {what}: {error}") }
}
