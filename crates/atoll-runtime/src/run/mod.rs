//! The task that owns one running command: its pipes, its clocks, its tree.
//!
//! It turns what happens into events for [`Life`], does what the effects say, and tells everybody by a watched
//! [`Status`]. It never waits for a reader of the output, and never holds anything up for another command.

mod asked;
mod clocks;
mod end;
mod exit;
mod output;
mod words;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use atoll_protocol::{EndReason, KillReceipt, Signal, Stream};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use crate::Error;
use crate::exec::Captures;
use crate::life::{Effect, Event, Life};
use crate::link::{News, NewsReceiver};
use crate::log::Log;
use crate::network::Registered;
use crate::pipes::Reader;
use crate::process::Process;
use crate::pty::Pty;
use crate::shared::{Shared, YOUNG};
use crate::terminal::Window;
use crate::tree::Tree;
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
    pub(crate) news: NewsReceiver,
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

    /// Makes room for the next that wants to start.
    fn grow_up(&mut self) {
        self.clocks.grown = None;
        self.young = None;
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
