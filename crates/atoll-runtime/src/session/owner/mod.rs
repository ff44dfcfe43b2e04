//! The task that owns one session: its shell, its queue, its end.
//!
//! It turns what happens into events for the [`Machine`], and does what the effects say. It never waits for a command:
//! each runs in a task of its own, and is told from here how it ended.

mod act;
mod dump;
mod fall;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use atoll_isolation::sys::process::Usage;
use atoll_isolation::wire::Members;
use atoll_protocol::ProcessId;
use atoll_shell::message::{self, Kind as Told, Report};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use dump::Dump;

use super::budget::Share;
use super::handle::{Session, Status};
use super::machine::{Event, Kind, Machine};
use super::shell::Shell;
use super::snapshot::Snapshot;
use super::spec::{SessionSpec, StartFrom};
use super::turn::Turn;
use super::wire;
use crate::Error;
use crate::exec::Captures;
use crate::journal::SessionNote;
use crate::link::{News, NewsReceiver};
use crate::pipes::Reader;
use crate::process::Process;
use crate::run::{Control, Status as ProcessStatus};
use crate::shared::Shared;
use crate::tree::Tree;

/// Requests that may wait for the task at once. It answers each within moments; a client that sends more waits.
pub(crate) const ASKS_MAX: usize = 32;

/// After so long without a command the shell is asked what it holds, so that little is lost if it must be replaced.
const REST: Duration = Duration::from_millis(25);

/// A session that is never idle is asked all the same, between two commands, when its last snapshot is so old.
const OLD: Duration = Duration::from_secs(1);

/// What others ask of a session.
#[derive(Debug)]
pub(crate) enum Ask {
    Job(Job),
    Cancel {
        id: ProcessId,
        done: oneshot::Sender<bool>,
    },
    /// Everything that was asked before was seen.
    Heard {
        done: oneshot::Sender<()>,
    },
    Restart {
        from: StartFrom,
        done: oneshot::Sender<Result<(), Error>>,
    },
    Delete {
        done: oneshot::Sender<()>,
    },
}

/// What waits for the shell.
#[derive(Debug)]
pub(crate) enum Job {
    Run(Box<Command>),
    Dump { done: oneshot::Sender<Result<Arc<Snapshot>, Error>> },
}

/// A command that waits, with everything that is needed to run it.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) process: Process,
    pub(crate) status: watch::Sender<ProcessStatus>,
    pub(crate) controls: mpsc::Receiver<Control>,
    pub(crate) captures: Option<Captures>,
}

/// What woke the task.
enum Happening {
    Ask(Option<Ask>),
    Told(std::io::Result<wire::Reported>),
    News(Option<News>),
    Dump,
    DumpDue,
    Settled,
    Rested,
    Due,
}

/// A session.
pub(crate) struct Owner {
    shared: Arc<Shared>,
    session: Session,
    spec: SessionSpec,
    asks: mpsc::Receiver<Ask>,
    status: watch::Sender<Status>,
    machine: Machine,
    jobs: HashMap<u64, Job>,
    next_job: u64,
    shell: Option<Shell>,
    /// Trees of shells that have ended; something may live in them.
    old: Vec<(Tree, NewsReceiver, u64)>,
    turn: Option<Turn>,
    /// What earlier commands have left below the shell.
    background: Vec<u32>,
    dump: Option<Dump>,
    snapshot: Option<Arc<Snapshot>>,
    /// What the snapshot takes of the sandbox's budget.
    share: Option<Share>,
    /// The shell holds more than a snapshot can have: the one that there is is an older one.
    is_too_large: bool,
    /// Why the shell was ended, if that was our doing.
    distrusted: Option<&'static str>,
    settling: Option<Process>,
    /// The shell is about to end, and writes down what it holds; with jobs or without.
    leaving: Option<bool>,
    rest_at: Option<Instant>,
    due_at: Option<Instant>,
    restart_from: StartFrom,
    failed: Option<Error>,
    lost: Option<(i32, Usage)>,
    /// Its place in the journal, if the sandbox has one.
    note: Option<SessionNote>,
}

impl Owner {
    /// Without a shell it is dead, and can be restarted.
    #[expect(clippy::too_many_arguments, reason = "what a session is made of, each of its own type")]
    pub(crate) fn new(
        shared: Arc<Shared>,
        session: Session,
        spec: SessionSpec,
        shell: Option<Shell>,
        asks: mpsc::Receiver<Ask>,
        status: watch::Sender<Status>,
        snapshot: Option<Arc<Snapshot>>,
        note: Option<SessionNote>,
    ) -> Self {
        Self {
            shared,
            session,
            spec,
            asks,
            status,
            note,
            machine: if shell.is_some() { Machine::new() } else { Machine::dead() },
            jobs: HashMap::new(),
            next_job: 1,
            shell,
            old: Vec::new(),
            turn: None,
            background: Vec::new(),
            dump: None,
            snapshot,
            share: None,
            is_too_large: false,
            distrusted: None,
            settling: None,
            leaving: None,
            rest_at: Some(Instant::now() + REST),
            due_at: None,
            restart_from: StartFrom::Snapshot,
            failed: None,
            lost: None,
        }
    }

    /// Lives until the session is deleted or the sandbox is gone.
    pub(crate) async fn live(mut self) {
        loop {
            match self.next().await {
                Happening::Ask(Some(Ask::Delete { done })) => {
                    self.delete().await;
                    done.send(()).ok();
                    return;
                }
                Happening::Ask(Some(ask)) => self.asked(ask).await,
                Happening::Ask(None) => return,
                Happening::Told(Ok(told)) => self.told(told).await,
                Happening::Told(Err(_)) => self.distrust("its report made no sense"),
                Happening::News(Some(news)) => self.heard(news).await,
                Happening::News(None) => return self.sandbox_gone(),
                Happening::Dump => self.read_dump(),
                Happening::DumpDue => self.look_at_dump(),
                Happening::Settled => {
                    self.settling = None;
                    self.on(Event::Settled).await;
                }
                Happening::Rested => {
                    self.rest_at = None;
                    self.on(Event::Rested).await;
                }
                Happening::Due => {
                    self.due_at = None;
                    self.on(Event::Due).await;
                }
            }
        }
    }

    async fn next(&mut self) -> Happening {
        let rest_at = self.rest_at.filter(|_| self.machine.wants_rest());
        let (due_at, dump_until) = (self.due_at, self.dump_until());
        let alive = !self.machine.is_dead();
        let Self { shared, asks, shell, dump, settling, .. } = self;
        let Some(Shell { wire, news, .. }) = shell else {
            return tokio::select! {
                biased;
                ask = asks.recv() => Happening::Ask(ask),
                () = shared.link.gone() => Happening::News(None),
            };
        };
        let reader = dump.as_ref().and_then(|dump| dump.reader.as_ref());
        tokio::select! {
            biased;
            ask = asks.recv() => Happening::Ask(ask),
            told = wire.next_report(), if alive => Happening::Told(told),
            news = news.recv() => Happening::News(news),
            () = readable(reader), if reader.is_some() => Happening::Dump,
            () = sleep_until(dump_until.unwrap_or_else(Instant::now)), if dump_until.is_some() => Happening::DumpDue,
            () = settled(settling.as_ref()), if settling.is_some() => Happening::Settled,
            () = sleep_until(rest_at.unwrap_or_else(Instant::now)), if rest_at.is_some() => Happening::Rested,
            () = sleep_until(due_at.unwrap_or_else(Instant::now)), if due_at.is_some() => Happening::Due,
        }
    }

    async fn asked(&mut self, ask: Ask) {
        match ask {
            Ask::Job(job) => {
                let kind = match &job {
                    Job::Run(_) => Kind::Run,
                    Job::Dump { .. } => Kind::Dump,
                };
                let number = self.next_job;
                self.next_job += 1;
                self.jobs.insert(number, job);
                self.on(Event::Asked { job: number, kind }).await;
            }
            Ask::Cancel { id, done } => {
                let is = |job: &Job| matches!(job, Job::Run(command) if *command.process.id() == id);
                let found = self.jobs.iter().find(|(_, job)| is(job)).map(|(number, _)| *number);
                if let Some(job) = found {
                    self.on(Event::Cancelled { job }).await;
                }
                done.send(found.is_some()).ok();
            }
            Ask::Heard { done } => drop(done.send(())),
            Ask::Restart { from, done } => {
                let result = self.restart(from).await;
                done.send(result).ok();
            }
            // Handled by whoever called.
            Ask::Delete { done } => drop(done),
        }
    }

    async fn restart(&mut self, from: StartFrom) -> Result<(), Error> {
        if !self.machine.is_dead() {
            return Err(Error::SessionAlive { id: self.session.id().to_string() });
        }
        self.restart_from = from;
        self.on(Event::RestartAsked).await;
        self.failed.take().map_or(Ok(()), Err)
    }

    async fn told(&mut self, told: wire::Reported) {
        if self.status.borrow().cwd != told.cwd {
            self.status.send_modify(|status| status.cwd.clone_from(&told.cwd));
        }
        if told.report.flags & message::CWD_LOST != 0 {
            let lost = "the directory that the session was in could not be entered again";
            self.status.send_modify(|status| lost.clone_into(&mut status.not_restored));
        }
        match told.report.kind {
            Told::Done | Told::NotRun => self.command_over(told.report).await,
            Told::Dumped => {
                let is_whole = told.report.flags & message::TOO_LARGE == 0;
                self.dumped(told.report.flags & message::ALONE == 0, is_whole).await;
            }
            Told::Leaving => self.leaving(told.report.flags & message::ALONE == 0),
            Told::Ready => {}
        }
    }

    async fn command_over(&mut self, report: Report) {
        let ending = self.shell.as_ref().is_some_and(|shell| shell.process.end());
        if ending && let Some(shell) = &mut self.shell {
            shell.wire.forget_interrupts();
        }
        let left = self.left(report.flags & message::ALONE != 0).await;
        if let Some(turn) = &mut self.turn {
            turn.reported(&report, ending, left);
            if ending {
                self.settling = Some(turn.process.clone());
            }
        }
        self.on(Event::Reported { settled: !ending }).await;
    }

    /// What the command has left, and with it what the next one must not take for its own.
    async fn left(&mut self, alone: bool) -> Vec<u32> {
        if alone {
            self.background.clear();
            return Vec::new();
        }
        let Some(shell) = &self.shell else { return Vec::new() };
        let below = Members::Below { top: shell.process.pid, spared: Vec::new() };
        let all = self.shared.link.members(below).await.unwrap_or_default();
        let own = all.iter().filter(|pid| !self.background.contains(pid)).copied().collect();
        self.background = all;
        own
    }

    async fn heard(&mut self, news: News) {
        match news {
            News::Exited { status, usage, .. } => self.shell_ended(Some((status, usage))).await,
            News::WardenLost => self.shell_ended(None).await,
            // Only shells that have ended are told that nothing is left of them.
            News::TreeEmpty | News::Reported { .. } | News::NotRun { .. } | News::ShellLost { .. } => {}
        }
    }

    /// What others see.
    fn note(&mut self) {
        let running = self.turn.as_ref().map(|turn| turn.process.clone()).filter(|_| self.machine.running().is_some());
        let queued = self.machine.queued();
        if self.machine.wants_rest() {
            self.rest_at.get_or_insert_with(|| Instant::now() + REST);
        }
        if self.machine.is_stale() {
            self.due_at.get_or_insert_with(|| Instant::now() + OLD);
        } else {
            self.due_at = None;
        }
        self.status.send_modify(|status| {
            status.running = running;
            status.queued = queued;
            status.used_at = SystemTime::now();
        });
    }
}

async fn readable(reader: Option<&Reader>) {
    match reader {
        Some(reader) => reader.readable().await,
        None => std::future::pending().await,
    }
}

async fn settled(process: Option<&Process>) {
    match process {
        Some(process) => drop(process.over().await),
        None => std::future::pending().await,
    }
}
