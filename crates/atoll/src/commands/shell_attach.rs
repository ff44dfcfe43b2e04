//! `atoll shell NAME`: attaches to a terminal of a server's sandbox. Detaching does not affect the program.

use std::ffi::OsString;
use std::time::Duration;

use atoll_client::{Attach, Attachment, Client, TerminalEvent, View};
use atoll_protocol::{EndRecord, ErrorCode, ProcessState, SandboxName, TerminalId, TerminalRequest};
use bytes::Bytes;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::error::CliError;
use crate::exec_request::{CommandLine, command_line, text, variables};
use crate::interrupts::Interrupts;
use crate::options::ExecContext;
use crate::parse::DetachKey;
use crate::settings::ServerArguments;
use crate::tty::{self, Display, Raw};
use crate::{exit, printer};

/// How long to wait for the remaining output.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// The options of `atoll shell NAME`.
pub(super) struct AttachOptions {
    pub(super) name: SandboxName,
    pub(super) terminal: TerminalId,
    pub(super) server: ServerArguments,
    pub(super) context: ExecContext,
    pub(super) detach_key: DetachKey,
    pub(super) command: Vec<OsString>,
}

/// How the attachment ended.
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

/// Attaches until the program ends or the user detaches.
pub(super) async fn attach(options: AttachOptions) -> Result<u8, CliError> {
    if !tty::is_terminal() {
        return Err(CliError::invalid(
            "standard input is not a terminal (use `atoll exec` to run a command without one)",
        ));
    }
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()];
    let mut interrupts = Interrupts::new(&kinds)?;
    let resizes = signal(SignalKind::window_change())
        .map_err(|error| CliError::internal(format!("failed to watch the window size: {error}")))?;
    let (name, id, detach_key) = (options.name.clone(), options.terminal.clone(), options.detach_key);
    let client = options.server.sandbox_client_or_create(&name).await?;
    open_if_absent(&client, options).await?;
    let raw =
        Raw::enter().map_err(|error| CliError::internal(format!("failed to set the terminal to raw mode: {error}")))?;
    let display = Display::start();
    let view = View { from: Attach::Tail, read_only: false, size: Some(tty::size()) };
    let attached = AttachLoop { attachment: client.attach_terminal(&id, view), resizes, keys: tty::keys(), detach_key };
    let outcome = attached.run(&display, &mut interrupts).await;
    if !matches!(outcome, Ok(Outcome::Ended(_))) {
        reset_terminal(&client, &id, &display).await;
    }
    drop(timeout(DRAIN_TIMEOUT, display.finish()).await);
    drop(raw);
    Ok(report(&outcome?, &name, &id))
}

/// Opens the terminal unless its program is running. With a command the request is always sent: the server rejects a
/// command that differs from the running one.
async fn open_if_absent(client: &Client, options: AttachOptions) -> Result<(), CliError> {
    if options.command.is_empty() {
        match client.terminal(&options.terminal).await {
            Ok(info) if info.state != ProcessState::Ended => return Ok(()),
            Err(error) if error.code() != Some(ErrorCode::TerminalNotFound) => return Err(error.into()),
            Ok(_) | Err(_) => {}
        }
    }
    client.open_terminal(&request(options)?).await?;
    Ok(())
}

fn request(options: AttachOptions) -> Result<TerminalRequest, CliError> {
    let size = tty::size();
    let mut request = TerminalRequest {
        id: Some(options.terminal),
        cwd: options.context.cwd.map(|cwd| text(cwd.into_os_string())).transpose()?,
        env: variables(options.context.env)?,
        user: options.context.user,
        cols: Some(size.cols()),
        rows: Some(size.rows()),
        term: std::env::var("TERM").ok().filter(|term| !term.is_empty()),
        ..TerminalRequest::default()
    };
    if !options.command.is_empty() {
        match command_line(options.command)? {
            CommandLine::Shell(text) => request.command = Some(text),
            CommandLine::Argv(argv) => request.argv = Some(argv),
        }
    }
    Ok(request)
}

/// Resets the terminal modes that the program set.
async fn reset_terminal(client: &Client, id: &TerminalId, display: &Display) {
    let reset = async {
        if let Ok(screen) = client.screen(id).await {
            display.show(screen.reset.into()).await;
        }
    };
    drop(timeout(DRAIN_TIMEOUT, reset).await);
}

/// Connects this program's terminal to the one in the sandbox: output, input, resizes.
struct AttachLoop {
    attachment: Attachment,
    resizes: Signal,
    keys: mpsc::Receiver<Bytes>,
    detach_key: DetachKey,
}

/// What the loop handles next.
enum Wakeup {
    Interrupt(u8),
    Resize,
    Keys(Option<Bytes>),
    Event(Result<Option<TerminalEvent>, atoll_client::Error>),
}

impl AttachLoop {
    async fn run(mut self, display: &Display, interrupts: &mut Interrupts) -> Result<Outcome, CliError> {
        let mut ended = None;
        loop {
            let wakeup = tokio::select! {
                biased;
                number = interrupts.next() => Wakeup::Interrupt(number),
                Some(()) = self.resizes.recv() => Wakeup::Resize,
                keys = self.keys.recv() => Wakeup::Keys(keys),
                event = self.attachment.next() => Wakeup::Event(event),
            };
            let outcome = match wakeup {
                Wakeup::Interrupt(number) => Some(Outcome::Interrupted(number)),
                Wakeup::Resize => {
                    // The program may have ended; the next event reports that.
                    drop(self.attachment.resize(tty::size()).await);
                    None
                }
                Wakeup::Keys(keys) => self.typed(keys, interrupts).await,
                // The last output may arrive after the exit event.
                Wakeup::Event(Ok(None)) => Some(ended.take().map_or(Outcome::HungUp, Outcome::Ended)),
                Wakeup::Event(Ok(Some(TerminalEvent::Exit(exit)))) => {
                    ended = Some(Box::new(exit.end));
                    None
                }
                Wakeup::Event(event) => show(event?, display, interrupts).await,
            };
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
        }
    }

    /// Sends input up to the detach key, if it was pressed.
    async fn typed(&mut self, keys: Option<Bytes>, interrupts: &mut Interrupts) -> Option<Outcome> {
        let Some(keys) = keys else { return Some(Outcome::HungUp) };
        let (keys, detached) = self.detach_key.split(keys);
        if !keys.is_empty() {
            tokio::select! {
                // The reader notices a broken connection. Lost input is not sent again.
                sent = self.attachment.write(keys) => drop(sent),
                number = interrupts.next() => return Some(Outcome::Interrupted(number)),
            }
        }
        detached.then_some(Outcome::Detached)
    }
}

async fn show(event: Option<TerminalEvent>, display: &Display, interrupts: &mut Interrupts) -> Option<Outcome> {
    let bytes = match event? {
        TerminalEvent::Output { bytes, .. } => bytes,
        TerminalEvent::Truncated(gap) => {
            format!("\r\natoll: {} bytes of output were dropped here\r\n", gap.to - gap.from).into()
        }
        TerminalEvent::Ready(_) | TerminalEvent::Resized(_) | TerminalEvent::Refused(_) | TerminalEvent::Exit(_) => {
            return None;
        }
    };
    tokio::select! {
        shown = display.show(bytes) => (!shown).then_some(Outcome::HungUp),
        number = interrupts.next() => Some(Outcome::Interrupted(number)),
    }
}

/// Prints what the exit code alone does not say, and returns the code.
fn report(outcome: &Outcome, name: &SandboxName, id: &TerminalId) -> u8 {
    match outcome {
        Outcome::Ended(end) => {
            exit::explain(end);
            exit::of_end(end)
        }
        Outcome::Detached => {
            drop(printer::err(b"\n"));
            printer::note(&format!("detached; attach again with `atoll shell {name} --terminal {id}`"));
            0
        }
        Outcome::Interrupted(number) => 128 + number,
        Outcome::HungUp => 128 + 1,
    }
}
