//! `atoll shell`: an interactive terminal in a throw-away sandbox; with a name, in one of a server's (`shell_named`).

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

use super::shell_named::{self, Wanted};
use crate::interrupts::Interrupts;
use crate::local::{self, Display, Raw};
use crate::options::{Place, SandboxArguments, invocation};
use crate::parse::{self, DetachKey};
use crate::settings::ServerArguments;
use crate::{exit, printer};

/// Work by hand: in a sandbox that is made for it and destroyed afterwards, or in one of a server's.
///
/// Without a name the sandbox is a throw-away one: nothing of it is left afterwards, however this ends. With a name you
/// attach to a terminal of that sandbox, which goes on when you leave; a sandbox, terminal or server that is not there
/// is made. Without a command you get a shell: bash, or sh where there is no bash. One word after `--` is a shell string, several
/// are a program and its arguments. Your terminal is passed through, with its size.
#[derive(Debug, Args)]
#[command(after_help = format!("Examples:
  atoll shell
  atoll shell --memory 1g -e EDITOR=vim -- vim notes.txt
  atoll shell --record session.cast
  atoll shell box
  atoll shell box --terminal build -- make watch

{}", exit::HELP))]
pub(crate) struct Arguments {
    /// A sandbox of a server [default: a throw-away one].
    #[arg(value_name = "NAME", value_parser = |text: &str| SandboxName::new(text), conflicts_with_all =
        ["memory", "pids", "cpus", "open_files", "name", "isolation", "storage", "without_cgroups", "record"])]
    named: Option<SandboxName>,

    /// With NAME: which of its terminals.
    #[arg(long, value_name = "ID", default_value = "main", requires = "named",
        value_parser = |text: &str| TerminalId::new(text))]
    terminal: TerminalId,

    #[command(flatten)]
    server: ServerArguments,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    sandbox: SandboxArguments,

    /// The key that leaves from outside (a throw-away sandbox ends with it): ctrl- and a letter or one of [ ] \ ^ _, or none.
    #[arg(long, value_name = "KEY", default_value = "ctrl-]", value_parser = parse::detach_key)]
    detach_key: DetachKey,

    /// Write a recording of the session to a file (asciicast v2, for asciinema and its kin).
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// A shell string, or a program and its arguments [default: an interactive shell].
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// How long what is told to end may take before it is killed.
const GRACE: Duration = Duration::from_secs(1);

/// How long the last output may take to be written.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Pieces of input that wait for a program which takes none. More stay in our own terminal, the detach key with them.
const TYPED_AHEAD: usize = 256;

/// Who resizes the window, for others who look at the terminal.
const WHO: &str = "atoll shell";

/// How the session came to its end.
#[derive(Debug)]
enum Outcome {
    /// The program is over.
    Ended(Box<EndRecord>),
    /// Somebody pressed the key.
    Detached,
    /// A signal to us.
    Interrupted(u8),
    /// Our own terminal is gone.
    HungUp,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    // What is shown is the terminal; a failure is told as is asked for.
    let json = arguments.server.json;
    let Some(name) = arguments.named else { return exit::after(in_sandbox(arguments), json) };
    let Arguments { terminal, server, place, detach_key, command, .. } = arguments;
    exit::after(shell_named::attach(Wanted { name, terminal, server, place, detach_key, command }), json)
}

async fn in_sandbox(arguments: Arguments) -> Result<u8, Error> {
    if arguments.server.server.is_some() || arguments.server.token_file.is_some() {
        let what = "a throw-away sandbox is not a server's: --server and --token-file go with a NAME".to_owned();
        return Err(Error::Invalid { what });
    }
    if !local::is_terminal() {
        drop(printer::err(
            b"error: standard input is no terminal\nhint: atoll run runs a command without one; --stdin passes input on\n",
        ));
        return Ok(exit::FAILED);
    }
    // Before anything is made: from here on a signal ends the session, not us.
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
    let resizes = signal(SignalKind::window_change()).map_err(|error| failed("watch the window", &error))?;
    let terminal = sandbox.open_terminal(spec(arguments)).await?;
    let raw = Raw::enter().map_err(|error| failed("take over the terminal", &error))?;
    let seat = Seat { viewer: terminal.attach(from_start()), resizes, keys: local::keys(), detach_key };
    let display = Display::start();
    let outcome = seat.sit(&display, interrupts).await;
    if !matches!(outcome, Outcome::Ended(_)) {
        // What the program would have put back had it ended by itself.
        drop(timeout(LAST_WORDS, display.show(terminal.screen().await.reset.into())).await);
        drop(terminal.kill(GRACE).await);
    }
    drop(timeout(LAST_WORDS, display.finish()).await);
    drop(raw);
    if let Some(file) = record {
        write_recording(&terminal, file).await?;
    }
    Ok(tell(&outcome))
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
    spec.env = arguments.place.env.into_iter().collect();
    spec.cwd = arguments.place.cwd;
    spec.user = arguments.place.user;
    spec.size = local::size();
    if let Some(term) = std::env::var_os("TERM").filter(|term| !term.is_empty()) {
        spec.term = term;
    }
    spec
}

/// Who sits at the terminal: sees, types, drags the window.
struct Seat {
    viewer: Viewer,
    resizes: Signal,
    keys: mpsc::Receiver<Bytes>,
    detach_key: DetachKey,
}

/// What woke us.
enum Happening {
    Interrupt(u8),
    Resize,
    Keys(mpsc::OwnedPermit<Bytes>, Option<Bytes>),
    Event(Option<TerminalEvent>),
}

impl Seat {
    async fn sit(mut self, display: &Display, interrupts: &mut Interrupts) -> Outcome {
        let typist = typist(self.viewer.terminal().clone());
        loop {
            let happening = tokio::select! {
                biased;
                number = interrupts.next() => Happening::Interrupt(number),
                Some(()) = self.resizes.recv() => Happening::Resize,
                (permit, keys) = next_keys(&typist, &mut self.keys) => Happening::Keys(permit, keys),
                event = self.viewer.next() => Happening::Event(event),
            };
            let outcome = match happening {
                Happening::Interrupt(number) => Some(Outcome::Interrupted(number)),
                Happening::Resize => self.resize().await,
                Happening::Keys(permit, keys) => self.typed(permit, keys),
                Happening::Event(event) => show(event, display, interrupts).await,
            };
            if let Some(outcome) = outcome {
                return outcome;
            }
        }
    }

    async fn resize(&self) -> Option<Outcome> {
        // Its program may just have ended; that is told next.
        drop(self.viewer.resize(local::size(), WHO).await);
        None
    }

    /// The detach key is looked for here, in front of what the program has not taken yet.
    fn typed(&mut self, permit: mpsc::OwnedPermit<Bytes>, keys: Option<Bytes>) -> Option<Outcome> {
        let Some(keys) = keys else {
            return Some(Outcome::HungUp);
        };
        let (keys, detached) = self.detach_key.split(keys);
        permit.send(keys);
        detached.then_some(Outcome::Detached)
    }
}

/// Types in order, in a task of its own: a program that takes no keys must not hold up its output.
fn typist(terminal: Terminal) -> mpsc::Sender<Bytes> {
    let (sender, mut receiver) = mpsc::channel(TYPED_AHEAD);
    tokio::spawn(async move {
        while let Some(keys) = receiver.recv().await {
            if terminal.write(keys).await.is_err() {
                break;
            }
        }
    });
    sender
}

/// The next keys, once there is room for them.
async fn next_keys(
    typist: &mpsc::Sender<Bytes>,
    keys: &mut mpsc::Receiver<Bytes>,
) -> (mpsc::OwnedPermit<Bytes>, Option<Bytes>) {
    match typist.clone().reserve_owned().await {
        Ok(permit) => (permit, keys.recv().await),
        // The program is over; its end is told by another way.
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

/// Says what the exit code alone does not, and gives the code.
fn tell(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Ended(end) => {
            exit::explain(end);
            exit::of_end(end)
        }
        Outcome::Detached => {
            drop(printer::err(b"\natoll: detached; the sandbox was a throw-away one and is gone\n"));
            0
        }
        Outcome::Interrupted(number) => 128 + number,
        Outcome::HungUp => 128 + 1,
    }
}

fn failed(what: &str, error: &std::io::Error) -> Error {
    Error::Internal { what: format!("failed to {what}: {error}") }
}
