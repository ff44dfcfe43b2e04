//! The task that owns one running command: its pipes, its clocks, its tree.
//!
//! It turns what happens into events for [`Life`], does what the effects say, and tells everybody by a watched
//! [`Status`]. It never waits for a reader of the output, and never holds anything up for another command.

mod clocks;
mod exit;
mod words;

use std::time::{Duration, SystemTime};

use atoll_isolation::sys::process;
use atoll_protocol::{EndReason, EndRecord, KillReceipt, ProcessState, Resized, Signal, Stream, WindowSize};
use bytes::Bytes;
use std::os::fd::AsFd;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use crate::Error;
use crate::exec::Captures;
use crate::life::{Effect, Event, Life};
use crate::link::News;
use crate::log::Log;
use crate::network::Registered;
use crate::pipes::{Read, Reader};
use crate::process::Process;
use crate::pty::Pty;
use crate::shared::{Shared, YOUNG};
use crate::terminal::Window;
use crate::tree::{SignalScope, Tree};
use clocks::{Clocks, rung};
use exit::Exit;

pub(crate) use exit::{Main, exit_code, exit_signal};
pub(crate) use words::{Control, Driven, Ended, Started, Status};

/// How soon a kill is tried again on what is still alive. Doubles up to the second.
const KILL_AGAIN: Duration = Duration::from_millis(5);
const KILL_AGAIN_MAX: Duration = Duration::from_millis(500);

/// How long a kill may be answered late. What survives that (a process stuck in the kernel) is in the receipt.
const RECEIPT_WITHIN: Duration = Duration::from_secs(10);

/// What woke the task.
enum Happening {
    Control(Control),
    News(Option<News>),
    Readable(Stream),
    Writable,
    Reaped,
    Deadline,
}

/// A command that runs.
pub(crate) struct Run {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: String,
    pub(crate) number: u64,
    pub(crate) tree: Tree,
    pub(crate) main: Main,
    pub(crate) news: mpsc::Receiver<News>,
    pub(crate) log: Log,
    pub(crate) captures: Option<Captures>,
    pub(crate) started: Instant,
    pub(crate) started_at: SystemTime,
    process: Process,
    stdin: Option<crate::pipes::Writer>,
    stdout: Option<Reader>,
    stderr: Option<Reader>,
    terminal: Option<(Arc<Pty>, Window)>,
    reaped: watch::Receiver<u64>,
    life: Life,
    exit: Option<Exit>,
    printed: u64,
    limit: Option<u64>,
    clocks: Clocks,
    killing: Option<Duration>,
    young: Option<OwnedSemaphorePermit>,
    /// Known as the owner of connections for as long as anything of it lives.
    _registered: Option<Registered>,
    receipts: Vec<oneshot::Sender<KillReceipt>>,
    asked: bool,
    signalled: u64,
    survivors: u64,
    session_reset: bool,
    failed: Option<Error>,
    end: Option<Ended>,
}

impl Run {
    pub(crate) fn new(parts: Started, process: Process, captures: Option<Captures>) -> Self {
        let is_followed = captures.is_none();
        let command = &process.spec().command;
        let Started { shared, id, number, tree, main, news, ends, window, started, started_at, young, registered } =
            parts;
        let clocks = Clocks {
            timeout: command.timeout.map(|limit| started + limit),
            grown: Some(started + YOUNG),
            idle_after: command.idle_timeout,
            idle: command.idle_timeout.map(|limit| started + limit),
            stood: shared.pauses.total(),
            ..Clocks::default()
        };
        let mut run = Self {
            reaped: shared.link.reaped(),
            life: Life::new(command.background, command.grace),
            limit: command.max_output_bytes,
            stdin: ends.stdin,
            stdout: Some(ends.stdout),
            stderr: ends.stderr,
            terminal: ends.terminal.zip(window),
            exit: None,
            printed: 0,
            killing: None,
            young,
            _registered: registered,
            receipts: Vec::new(),
            asked: false,
            signalled: 0,
            survivors: 0,
            session_reset: false,
            failed: None,
            end: None,
            shared,
            id,
            number,
            tree,
            main,
            news,
            log: process.log().clone(),
            process,
            captures,
            started,
            started_at,
            clocks,
        };
        if is_followed {
            run.listen();
        }
        run
    }

    /// Lives until nothing is left of the command. Returns how it ended.
    pub(crate) async fn drive(
        mut self,
        control: &mut mpsc::Receiver<Control>,
        status: &watch::Sender<Status>,
    ) -> Driven {
        while !self.life.is_over() {
            match self.next(control).await {
                Happening::Control(control) => self.control(control, status).await,
                Happening::News(news) => self.news(news, status).await,
                Happening::Readable(stream) => self.read(stream, status).await,
                Happening::Writable => self.write(),
                Happening::Reaped => self.look_at_tree(status).await,
                Happening::Deadline => self.deadline(status).await,
            }
        }
        let Self { end, failed, asked, receipts, signalled, .. } = self;
        Driven { end, failed, asked, receipts, signalled }
    }

    async fn next(&mut self, control: &mut mpsc::Receiver<Control>) -> Happening {
        let deadline = self.clocks.next();
        let watching = self.life.watches_tree();
        tokio::select! {
            biased;
            Some(control) = control.recv() => Happening::Control(control),
            news = self.news.recv() => Happening::News(news),
            Ok(()) = self.reaped.changed(), if watching => Happening::Reaped,
            () = readable(self.stdout.as_ref()), if self.stdout.is_some() => Happening::Readable(Stream::Stdout),
            () = readable(self.stderr.as_ref()), if self.stderr.is_some() => Happening::Readable(Stream::Stderr),
            () = writable(self.stdin.as_ref()), if self.stdin.as_ref().is_some_and(crate::pipes::Writer::has_pending) => {
                Happening::Writable
            }
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => Happening::Deadline,
        }
    }

    async fn control(&mut self, control: Control, status: &watch::Sender<Status>) {
        match control {
            Control::Signal { signal, scope, done } => {
                let result = self.signal(signal, scope).await;
                drop(done.send(result));
            }
            Control::Kill { grace, done } => {
                self.receipts.push(done);
                self.asked = true;
                self.clocks.receipt.get_or_insert(Instant::now() + grace + RECEIPT_WITHIN);
                self.on(Event::KillAsked { grace }, status).await;
            }
            Control::Write { at, bytes, done } => match &mut self.stdin {
                Some(stdin) => stdin.accept(at, bytes, done),
                None => drop(done.send(Err(Error::StdinNotOpen { id: self.id.clone() }))),
            },
            Control::CloseStdin { done } => drop(done.send(self.close_stdin())),
            Control::Resize { size, by, done } => drop(done.send(self.resize(size, by))),
            Control::WantsInput { done } => {
                let wants = crate::input::wants_input(&self.shared, &self.tree, self.stdin.as_ref()).await;
                if wants {
                    // What it asked for before it began to wait is then in the log.
                    self.drain();
                }
                done.send(wants).ok();
            }
        }
    }

    /// What was printed before is read first, so that the change is noted at its place in the output.
    fn resize(&mut self, size: WindowSize, by: String) -> Result<(), Error> {
        self.drain();
        let Some((pty, window)) = &self.terminal else {
            return Err(Error::invalid("only a terminal has a size"));
        };
        pty.resize(size).map_err(|error| Error::io("resize the terminal", &error))?;
        let change = Resized { cursor: self.log.end(), size, by: Some(by), time: SystemTime::now().into() };
        if let Some(note) = self.process.note() {
            note.resized(change.clone());
        }
        window.resized(change);
        Ok(())
    }

    /// Closed after what was accepted before has been written.
    fn close_stdin(&mut self) -> Result<(), Error> {
        match &mut self.stdin {
            None => return Err(Error::StdinNotOpen { id: self.id.clone() }),
            Some(writer) if writer.has_pending() => writer.close_when_written(),
            Some(_) => self.stdin = None,
        }
        Ok(())
    }

    async fn signal(&mut self, signal: Signal, scope: SignalScope) -> Result<u64, Error> {
        match scope {
            SignalScope::Tree => self.tree.signal(&self.shared.link, signal.number()).await,
            SignalScope::Main if self.exit.is_some() => Err(Error::ProcessEnded { id: self.id.clone() }),
            SignalScope::Main => match &self.main {
                Main::Process(pidfd) => process::signal_pidfd(pidfd.as_fd(), signal.number())
                    .map(|()| 1)
                    .map_err(|_| Error::ProcessEnded { id: self.id.clone() }),
                Main::Command => match self.shared.link.signal(self.number, signal.number()).await? {
                    true => Ok(1),
                    false => Err(Error::ProcessEnded { id: self.id.clone() }),
                },
                // What a session's shell runs is all that there is to signal.
                Main::Turn => self.tree.signal(&self.shared.link, signal.number()).await,
            },
        }
    }

    async fn news(&mut self, news: Option<News>, status: &watch::Sender<Status>) {
        match news {
            Some(News::Exited { status: code, usage, alone }) => {
                self.main_over(Exit::of_process(code, usage, None), status).await;
                self.survivors = if alone { 0 } else { self.tree.survivors(&self.shared.link).await };
                self.on(Event::Exited { survivors: self.survivors }, status).await;
            }
            Some(News::Reported { status: code, given_up, user_us, system_us, left }) => {
                let exit = match given_up {
                    Some(reason) => Exit::new(None, Some(Signal::INT), Some(reason)),
                    None => Exit::new(Some(code), None, None),
                };
                let exit = Exit { user_us: Some(user_us), system_us: Some(system_us), ..exit };
                self.turn_over(exit, left, status).await;
            }
            Some(News::ShellLost { how, reason, reset, left }) => {
                let reason = reason.unwrap_or(EndReason::ShellExited);
                let exit = match how {
                    Some((code, usage)) => Exit::of_process(code, usage, Some(reason)),
                    None => Exit::new(None, None, Some(reason)),
                };
                self.session_reset = reset;
                self.turn_over(exit, left, status).await;
            }
            Some(News::NotRun { error }) => {
                self.failed = Some(error);
                self.on(Event::Lost { reason: EndReason::HostLost }, status).await;
            }
            Some(News::TreeEmpty) => self.tree_is_empty(status).await,
            Some(News::WardenLost) => self.on(Event::Lost { reason: EndReason::HostLost }, status).await,
            None => {
                self.drain();
                let reason = self.shared.gone_reason();
                self.on(Event::Lost { reason }, status).await;
            }
        }
    }

    /// Its main process is over: its clocks stop, and what it has printed is read.
    async fn main_over(&mut self, exit: Exit, status: &watch::Sender<Status>) {
        self.exit = Some(exit);
        self.clocks.timeout = None;
        self.grow_up();
        self.clocks.idle = None;
        self.clocks.idle_after = None;
        self.drain();
        self.check_limit(status).await;
    }

    async fn turn_over(&mut self, exit: Exit, left: Vec<u32>, status: &watch::Sender<Status>) {
        self.main_over(exit, status).await;
        self.survivors = left.len() as u64;
        self.tree.over(left);
        self.on(Event::Exited { survivors: self.survivors }, status).await;
    }

    async fn read(&mut self, stream: Stream, status: &watch::Sender<Status>) {
        for _ in 0..Reader::TURN {
            let reader = match stream {
                Stream::Stdout => &mut self.stdout,
                Stream::Stderr => &mut self.stderr,
            };
            match reader.as_mut().map_or(Read::End, Reader::read) {
                Read::Bytes(bytes) => self.keep(stream, bytes),
                Read::Empty => break,
                Read::End => {
                    *reader = None;
                    break;
                }
            }
        }
        if let Some(after) = self.clocks.idle_after {
            self.set_back_clocks();
            self.clocks.idle = Some(Instant::now() + after);
        }
        self.check_limit(status).await;
    }

    async fn check_limit(&mut self, status: &watch::Sender<Status>) {
        if self.limit.is_some_and(|limit| self.printed > limit) {
            self.on(Event::TooMuchOutput, status).await;
        }
    }

    /// Into the log, and into the answer while the command is not over. What is over the limit is counted, not kept.
    fn keep(&mut self, stream: Stream, mut bytes: Bytes) {
        let room = self.limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.printed));
        self.printed += bytes.len() as u64;
        bytes.truncate(usize::try_from(room).unwrap_or(usize::MAX));
        if bytes.is_empty() {
            return;
        }
        let cursor = self.log.end();
        if let Some(captures) = &mut self.captures {
            captures.push(stream, cursor, &bytes);
        }
        // A full disk is noted by the log itself, as a gap with its reason; the command goes on.
        drop(self.log.append(stream, bytes, SystemTime::now()));
    }

    fn drain(&mut self) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let reader = match stream {
                Stream::Stdout => &mut self.stdout,
                Stream::Stderr => &mut self.stderr,
            };
            if let Some(bytes) = reader.as_mut().and_then(Reader::drain) {
                self.keep(stream, bytes);
            }
        }
    }

    fn write(&mut self) {
        if self.stdin.as_mut().is_some_and(|stdin| !stdin.flush()) {
            // Nobody reads any more; the waiting writes are told by being dropped.
            self.stdin = None;
        }
    }

    async fn look_at_tree(&mut self, status: &watch::Sender<Status>) {
        if self.life.watches_tree() && self.tree.is_empty() {
            self.tree_is_empty(status).await;
        }
    }

    async fn tree_is_empty(&mut self, status: &watch::Sender<Status>) {
        self.drain();
        self.survivors = 0;
        self.on(Event::TreeEmpty, status).await;
    }

    fn set_back_clocks(&mut self) {
        let pauses = &self.shared.pauses;
        self.clocks.set_back(pauses.total(), pauses.is_now());
    }

    async fn deadline(&mut self, status: &watch::Sender<Status>) {
        self.set_back_clocks();
        let now = Instant::now();
        if rung(&mut self.clocks.grown, now) {
            self.grow_up();
            self.listen();
        }
        if rung(&mut self.clocks.timeout, now) {
            self.on(Event::TimedOut, status).await;
        }
        if rung(&mut self.clocks.idle, now) {
            self.on(Event::Idle, status).await;
        }
        if rung(&mut self.clocks.grace, now) {
            self.on(Event::GraceOver, status).await;
        }
        if rung(&mut self.clocks.kill_again, now) {
            self.look_at_tree(status).await;
            self.kill_again().await;
        }
        if rung(&mut self.clocks.receipt, now) {
            let survivors = self.tree.count(&self.shared.link).await;
            self.answer_kills(survivors);
        }
    }

    async fn on(&mut self, event: Event, status: &watch::Sender<Status>) {
        for effect in self.life.on(event) {
            match effect {
                Effect::Terminate { grace } => self.terminate(grace).await,
                Effect::Kill => {
                    self.killing = Some(KILL_AGAIN);
                    self.kill_again().await;
                }
                Effect::Conclude { reason } => self.conclude(reason, status),
                Effect::Finish => self.finish().await,
            }
        }
        if self.end.is_some() && !self.life.is_over() {
            self.listen();
        }
    }

    /// Waits for output from here on. Registering a pipe, and the wake-up at its end, cost more than a short command's
    /// output; so what is answered as a whole is only listened to when it has been running for a while.
    fn listen(&mut self) {
        for reader in [&mut self.stdout, &mut self.stderr].into_iter().flatten() {
            if reader.listen().is_err() {
                // Out of descriptors for now, say. Nothing is lost: it waits in the pipe.
                self.clocks.grown = Some(Instant::now() + YOUNG);
            }
        }
    }

    /// Makes room for the next that wants to start.
    fn grow_up(&mut self) {
        self.clocks.grown = None;
        self.young = None;
    }

    /// TERM, and CONT so that what is stopped can act on it. A terminal goes with HUP first: interactive shells do not
    /// mind TERM.
    async fn terminate(&mut self, grace: Duration) {
        self.clocks.grace = Some(Instant::now() + grace);
        let hang_up = self.terminal.is_some().then_some(Signal::HUP);
        for signal in hang_up.into_iter().chain([Signal::TERM, Signal::CONT]) {
            let reached = self.tree.signal(&self.shared.link, signal.number()).await.unwrap_or(0);
            self.signalled = self.signalled.max(reached);
        }
    }

    async fn kill_again(&mut self) {
        let Some(pause) = self.killing else { return };
        if self.life.is_over() {
            return;
        }
        let reached = self.tree.kill(&self.shared.link).await;
        self.signalled = self.signalled.max(reached);
        self.clocks.kill_again = Some(Instant::now() + pause);
        self.killing = Some((pause * 2).min(KILL_AGAIN_MAX));
    }

    /// The command is over. If something of it lingers, that is said now; else whoever drives us says that it ended.
    fn conclude(&mut self, reason: Option<EndReason>, status: &watch::Sender<Status>) {
        let record = self.end_record(reason, self.survivors);
        let end = Ended { record, cursor: self.log.end(), session_reset: self.session_reset };
        // Limits are the command's; what lingers is free of them.
        self.limit = None;
        if let Some(captures) = self.captures.take() {
            captures.complete(&self.log);
        }
        self.end = Some(end.clone());
        if !self.life.is_over() {
            self.process.remember_lingering(&end);
            status.send_modify(|status| {
                status.state = ProcessState::Lingering;
                status.pid = None;
                status.end = Some(end);
            });
        }
    }

    fn end_record(&self, reason: Option<EndReason>, survivors: u64) -> EndRecord {
        let oom_killed = self.tree.oom_killed();
        let exit = self.exit.unwrap_or_else(|| Exit::new(None, None, None));
        let natural = exit.reason.unwrap_or(match exit.signal {
            Some(Signal::KILL) if oom_killed => EndReason::Oom,
            Some(_) => EndReason::Signaled,
            None => EndReason::Exited,
        });
        // The signal by which a shell was made to give up is ours; only an interrupt is told as one.
        let own = matches!(self.main, Main::Turn) && reason.is_some();
        let signal = exit.signal.filter(|_| !own);
        let reason = reason.unwrap_or(natural);
        let (denials, denials_count) = self.shared.network.denials(self.process.id());
        EndRecord {
            reason,
            code: exit.code,
            signal,
            timed_out: matches!(reason, EndReason::Timeout | EndReason::IdleTimeout),
            oom_killed,
            duration_ms: u64::try_from((exit.at - self.started).as_millis()).unwrap_or(u64::MAX),
            cpu_user_ms: exit.user_us.map(|time| time / 1000),
            cpu_system_ms: exit.system_us.map(|time| time / 1000),
            max_rss_bytes: exit.max_rss_bytes,
            started_at: self.started_at.into(),
            ended_at: exit.wall.into(),
            survivors,
            denials,
            denials_count,
        }
    }

    async fn finish(&mut self) {
        if let Tree::Part(part) = &self.tree {
            part.disown(self.process.id());
        }
        self.shared.network.forget(self.process.id());
        self.shared.link.forget(self.number);
        if !self.receipts.is_empty() {
            // Zombies are gone when init has answered: the receipt is true for whoever looks into /proc.
            drop(self.shared.link.ping().await);
        }
    }

    fn answer_kills(&mut self, survivors: u64) {
        for receipt in self.receipts.drain(..) {
            receipt.send(KillReceipt { signalled: self.signalled, survivors }).ok();
        }
    }
}

async fn readable(reader: Option<&Reader>) {
    match reader {
        Some(reader) => reader.readable().await,
        None => std::future::pending().await,
    }
}

async fn writable(writer: Option<&crate::pipes::Writer>) {
    match writer {
        Some(writer) => writer.writable().await,
        None => std::future::pending().await,
    }
}
