//! `atoll shell NAME`: a seat at a terminal of a server's sandbox. Leaving it changes nothing for the program.

use std::ffi::OsString;
use std::time::Duration;

use atoll_client::{Attach, Attachment, Client, TerminalEvent, View};
use atoll_protocol::{EndRecord, ErrorCode, ProcessState, SandboxName, TerminalId, TerminalRequest};
use bytes::Bytes;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::asking::{Words, text, variables, words};
use crate::failure::Failure;
use crate::interrupts::Interrupts;
use crate::local::{self, Display, Raw};
use crate::options::Place;
use crate::parse::DetachKey;
use crate::settings::ServerArguments;
use crate::{exit, printer};

/// How long the last output may take to be written.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What was asked for.
pub(super) struct Wanted {
    pub(super) name: SandboxName,
    pub(super) terminal: TerminalId,
    pub(super) server: ServerArguments,
    pub(super) place: Place,
    pub(super) detach_key: DetachKey,
    pub(super) command: Vec<OsString>,
}

/// How the seat was left.
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

/// Attaches until the program ends or somebody leaves.
pub(super) async fn attach(wanted: Wanted) -> Result<u8, Failure> {
    if !local::is_terminal() {
        return Err(Failure::invalid("standard input is no terminal; atoll exec runs a command without one"));
    }
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()];
    let mut interrupts = Interrupts::new(&kinds)?;
    let resizes = signal(SignalKind::window_change())
        .map_err(|error| Failure::internal(format!("failed to watch the window: {error}")))?;
    let (name, id, detach_key) = (wanted.name.clone(), wanted.terminal.clone(), wanted.detach_key);
    let client = wanted.server.inside_or_made(&name).await?;
    open_if_absent(&client, wanted).await?;
    let raw = Raw::enter().map_err(|error| Failure::internal(format!("failed to take over the terminal: {error}")))?;
    let display = Display::start();
    let view = View { from: Attach::Tail, read_only: false, size: Some(local::size()) };
    let seat = Seat { attachment: client.attach_terminal(&id, view), resizes, keys: local::keys(), detach_key };
    let outcome = seat.sit(&display, &mut interrupts).await;
    if !matches!(outcome, Ok(Outcome::Ended(_))) {
        put_back(&client, &id, &display).await;
    }
    drop(timeout(LAST_WORDS, display.finish()).await);
    drop(raw);
    Ok(tell(&outcome?, &name, &id))
}

/// A terminal whose program lives is taken as it is, unless a command was named, which must then be its own.
async fn open_if_absent(client: &Client, wanted: Wanted) -> Result<(), Failure> {
    if wanted.command.is_empty() {
        match client.terminal(&wanted.terminal).await {
            Ok(info) if info.state != ProcessState::Ended => return Ok(()),
            Err(error) if error.code() != Some(ErrorCode::TerminalNotFound) => return Err(error.into()),
            Ok(_) | Err(_) => {}
        }
    }
    client.open_terminal(&request(wanted)?).await?;
    Ok(())
}

fn request(wanted: Wanted) -> Result<TerminalRequest, Failure> {
    let size = local::size();
    let mut request = TerminalRequest {
        id: Some(wanted.terminal),
        cwd: wanted.place.cwd.map(|cwd| text(cwd.into_os_string())).transpose()?,
        env: variables(wanted.place.env)?,
        user: wanted.place.user,
        cols: Some(size.cols()),
        rows: Some(size.rows()),
        term: std::env::var("TERM").ok().filter(|term| !term.is_empty()),
        ..TerminalRequest::default()
    };
    if !wanted.command.is_empty() {
        match words(wanted.command)? {
            Words::Shell(text) => request.command = Some(text),
            Words::Argv(argv) => request.argv = Some(argv),
        }
    }
    Ok(request)
}

/// What the program would have put back had it ended by itself.
async fn put_back(client: &Client, id: &TerminalId, display: &Display) {
    let reset = async {
        if let Ok(screen) = client.screen(id).await {
            display.show(screen.reset.into()).await;
        }
    };
    drop(timeout(LAST_WORDS, reset).await);
}

/// Who sits at the terminal: sees, types, drags the window.
struct Seat {
    attachment: Attachment,
    resizes: Signal,
    keys: mpsc::Receiver<Bytes>,
    detach_key: DetachKey,
}

/// What woke us.
enum Happening {
    Interrupt(u8),
    Resize,
    Keys(Option<Bytes>),
    Event(Result<Option<TerminalEvent>, atoll_client::Error>),
}

impl Seat {
    async fn sit(mut self, display: &Display, interrupts: &mut Interrupts) -> Result<Outcome, Failure> {
        let mut ended = None;
        loop {
            let happening = tokio::select! {
                biased;
                number = interrupts.next() => Happening::Interrupt(number),
                Some(()) = self.resizes.recv() => Happening::Resize,
                keys = self.keys.recv() => Happening::Keys(keys),
                event = self.attachment.next() => Happening::Event(event),
            };
            let outcome = match happening {
                Happening::Interrupt(number) => Some(Outcome::Interrupted(number)),
                Happening::Resize => {
                    // Its program may just have ended; that is told next.
                    drop(self.attachment.resize(local::size()).await);
                    None
                }
                Happening::Keys(keys) => self.typed(keys, interrupts).await,
                // What it printed last may come after its end.
                Happening::Event(Ok(None)) => Some(ended.take().map_or(Outcome::HungUp, Outcome::Ended)),
                Happening::Event(Ok(Some(TerminalEvent::Exit(exit)))) => {
                    ended = Some(Box::new(exit.end));
                    None
                }
                Happening::Event(event) => show(event?, display, interrupts).await,
            };
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
        }
    }

    /// Looks for the detach key before anything is sent.
    async fn typed(&mut self, keys: Option<Bytes>, interrupts: &mut Interrupts) -> Option<Outcome> {
        let Some(keys) = keys else { return Some(Outcome::HungUp) };
        let (keys, detached) = self.detach_key.split(keys);
        if !keys.is_empty() {
            tokio::select! {
                // A line that broke is noticed by whoever listens, and what was typed is not typed again.
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

/// Says what the exit code alone does not, and gives the code.
fn tell(outcome: &Outcome, name: &SandboxName, id: &TerminalId) -> u8 {
    match outcome {
        Outcome::Ended(end) => {
            exit::explain(end);
            exit::of_end(end)
        }
        Outcome::Detached => {
            drop(printer::err(b"\n"));
            printer::note(&format!("detached; `atoll shell {name} --terminal {id}` comes back"));
            0
        }
        Outcome::Interrupted(number) => 128 + number,
        Outcome::HungUp => 128 + 1,
    }
}
