//! The task that owns one session: its shell, its queue, its end.
//!
//! It turns what happens into events for the [`Machine`], and does what the effects say. It never waits for a command:
//! each runs in a task of its own, and is told from here how it ended.

use std::collections::HashMap;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use atoll_isolation::sys::process::Usage;
use atoll_isolation::wire::Members;
use atoll_protocol::{EndReason, ProcessId};
use atoll_shell::message::{self, Kind as Told, Report, Task};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::handle::{Session, Status};
use super::machine::{Effect, Event, Kind, Machine};
use super::order;
use super::part::Part;
use super::shell::{self, Shell};
use super::snapshot::Snapshot;
use super::spare::Spare;
use super::spec::{SessionSpec, StartFrom};
use super::turn::{self, Turn};
use crate::Error;
use crate::exec::Captures;
use crate::journal::SessionNote;
use crate::link::News;
use crate::network;
use crate::pipes::{self, Read, Reader};
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

/// A dump that is being read.
struct Dump {
    /// `None` at its end.
    reader: Option<Reader>,
    bytes: Vec<u8>,
}

/// What woke the task.
enum Happening {
    Ask(Option<Ask>),
    Told(std::io::Result<shell::Told>),
    News(Option<News>),
    Dump,
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
    old: Vec<(Tree, mpsc::Receiver<News>, u64)>,
    turn: Option<Turn>,
    /// What earlier commands have left below the shell.
    background: Vec<u32>,
    dump: Option<Dump>,
    snapshot: Option<Arc<Snapshot>>,
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
                // What cannot be understood is lost: the shell is ended, and with it the session.
                Happening::Told(Err(_)) => self.distrust(),
                Happening::News(Some(news)) => self.heard(news).await,
                Happening::News(None) => return self.sandbox_gone(),
                Happening::Dump => self.read_dump(),
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
        let due_at = self.due_at;
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
            told = wire.told(), if alive => Happening::Told(told),
            news = news.recv() => Happening::News(news),
            () = readable(reader), if reader.is_some() => Happening::Dump,
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

    async fn told(&mut self, told: shell::Told) {
        if self.status.borrow().cwd != told.cwd {
            self.status.send_modify(|status| status.cwd.clone_from(&told.cwd));
        }
        if told.report.flags & message::CWD_LOST != 0 {
            let lost = "the directory that the session was in could not be entered again";
            self.status.send_modify(|status| lost.clone_into(&mut status.not_restored));
        }
        match told.report.kind {
            Told::Done | Told::NotRun => self.command_over(told.report).await,
            Told::Dumped => self.dumped(told.report.flags & message::ALONE == 0).await,
            Told::Leaving => self.leaving(told.report.flags & message::ALONE == 0),
            Told::Ready => {}
        }
    }

    /// The shell ends by its own command. What it holds is worth having: a restart goes on from there.
    fn leaving(&mut self, jobs: bool) {
        self.begin_dump();
        if let Some(shell) = &mut self.shell {
            // Whatever came of that, it must not wait for us.
            shell.wire.dismiss();
        }
        self.leaving = Some(jobs);
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

    async fn dumped(&mut self, jobs: bool) {
        self.keep_dump(jobs);
        self.on(Event::Dumped).await;
    }

    fn keep_dump(&mut self, jobs: bool) {
        if let Some(mut dump) = self.dump.take() {
            // All was written before it was reported.
            dump.read();
            if let Some(snapshot) = Snapshot::parse(&dump.bytes, jobs) {
                let snapshot = Arc::new(snapshot);
                if let Some(note) = &mut self.note {
                    note.save(&snapshot);
                }
                self.snapshot = Some(snapshot);
            }
        }
    }

    fn read_dump(&mut self) {
        if let Some(dump) = &mut self.dump {
            dump.read();
        }
    }

    async fn heard(&mut self, news: News) {
        match news {
            News::Exited { status, usage, .. } => self.shell_ended(Some((status, usage))).await,
            News::WardenLost => self.shell_ended(None).await,
            // Only shells that have ended are told that nothing is left of them.
            News::TreeEmpty | News::Reported { .. } | News::NotRun { .. } | News::ShellLost { .. } => {}
        }
    }

    async fn shell_ended(&mut self, how: Option<(i32, Usage)>) {
        let replace = self.shell.as_ref().is_some_and(|shell| shell.process.was_given_up());
        self.lost = how;
        if let Some(jobs) = self.leaving.take() {
            self.keep_dump(jobs);
        }
        self.on(Event::ShellEnded { replace }).await;
    }

    /// Ends a shell whose reports make no sense; its end is then told like any other.
    fn distrust(&mut self) {
        if let Some(shell) = &self.shell {
            drop(atoll_isolation::sys::process::signal_pidfd(shell.process.pidfd.as_fd(), 9));
        }
    }

    async fn on(&mut self, event: Event) {
        let mut effects = self.machine.on(event);
        while !effects.is_empty() {
            for effect in std::mem::take(&mut effects) {
                effects.extend(self.act(effect).await);
            }
        }
        self.note();
    }

    /// Does what an effect says. What follows from that at once is more effects.
    async fn act(&mut self, effect: Effect) -> Vec<Effect> {
        match effect {
            Effect::Begin { job } => return self.begin(job),
            Effect::Dump { .. } => self.begin_dump(),
            Effect::Conclude { .. } => self.turn = None,
            Effect::ConcludeReset { job } => self.shell_lost(job, true).await,
            Effect::ConcludeLost { job } => self.shell_lost(job, false).await,
            Effect::Snapshot { job } => self.give_snapshot(job),
            Effect::Cancel { job } => self.refuse(job, |id| Error::CommandCancelled { id }),
            Effect::RefuseFull { job } => {
                let session = self.session.id().to_string();
                self.refuse(job, move |_| Error::SessionBusy { id: session });
            }
            Effect::RefuseDead { job } => {
                let error = self.terminated();
                self.refuse(job, move |_| error);
            }
            Effect::Replace => return self.replace().await,
            Effect::Die => self.die(),
        }
        Vec::new()
    }

    fn begin(&mut self, number: u64) -> Vec<Effect> {
        let (Some(Job::Run(command)), Some(shell)) = (self.jobs.remove(&number), &mut self.shell) else {
            return Vec::new();
        };
        let spec = command.process.spec().clone();
        let text = order::text_of(&spec.command.invocation).unwrap_or_default();
        let made = turn::remember(&command).and_then(|()| {
            let rules = spec.command.network.as_deref().map(network::rules).transpose()?;
            let made = pipes::make(&spec.command.stdin, self.shared.null.as_fd(), shell.owner);
            let (theirs, ours) = made.map_err(|error| Error::io("make the command's standard descriptors", &error))?;
            Ok((theirs, ours, shell.process.owns(command.process.id(), rules)?))
        });
        let (theirs, ours, narrowed) = match made {
            Ok(ends) => ends,
            Err(error) => {
                turn::refuse(&self.shared, &command, error);
                // Nothing was run: as if it had been, and were over.
                return self.machine.on(Event::Reported { settled: true });
            }
        };
        shell.process.begin(number);
        let standard = [theirs.stdin.as_fd(), theirs.stdout.as_fd(), theirs.stderr.as_fd()];
        // A shell that cannot be told has ended; its end is told next.
        shell.wire.order(Task::Run, &order::payload(&spec.command, &text), &standard).ok();
        let part = Part::new(Arc::clone(&shell.process), number, self.background.clone());
        let turn = self.turn.insert(Turn::begin(&self.shared, *command, part, ours, order::is_blank(&text)));
        turn.narrowed = narrowed;
        self.rest_at = None;
        Vec::new()
    }

    fn begin_dump(&mut self) {
        let Some(shell) = &mut self.shell else { return };
        let Ok((reader, writer)) = pipes::one_way() else { return };
        shell.wire.order(Task::Dump, &[], &[writer.as_fd()]).ok();
        self.dump = Some(Dump { reader: Some(reader), bytes: Vec::new() });
    }

    fn give_snapshot(&mut self, job: u64) {
        if let Some(Job::Dump { done }) = self.jobs.remove(&job) {
            let unreadable = || Error::Internal { what: "the shell's state could not be read".to_owned() };
            done.send(self.snapshot.clone().ok_or_else(unreadable)).ok();
        }
    }

    fn refuse(&mut self, job: u64, why: impl FnOnce(String) -> Error) {
        match self.jobs.remove(&job) {
            Some(Job::Run(command)) => {
                let error = why(command.process.id().to_string());
                turn::refuse(&self.shared, &command, error);
            }
            Some(Job::Dump { done }) => drop(done.send(Err(why(String::new())))),
            None => {}
        }
    }

    /// The command that ran when its shell ended.
    async fn shell_lost(&mut self, job: u64, reset: bool) {
        if let Some(turn) = self.turn.take() {
            let left = self.left_in_old_tree().await;
            turn.shell_lost(self.lost, None, reset, left);
        }
        self.dump = None;
        let error = self.terminated();
        self.refuse(job, move |_| error);
    }

    /// What lives in the tree of the shell that has just ended, but for what earlier commands had left.
    async fn left_in_old_tree(&self) -> Vec<u32> {
        let Some((tree, _, _)) = self.old.last() else { return Vec::new() };
        let all = tree.inside_pids(&self.shared.link).await;
        all.into_iter().filter(|pid| !self.background.contains(pid)).collect()
    }

    /// Puts the shell that has ended aside.
    fn retire(&mut self) {
        let link = &self.shared.link;
        self.old.retain_mut(|(tree, news, number)| {
            let over = tree.is_empty() || is_told_empty(news);
            if over {
                link.forget(*number);
            }
            !over
        });
        if let Some(Shell { tree, news, number, .. }) = self.shell.take() {
            self.old.push((tree, news, number));
        }
    }

    async fn replace(&mut self) -> Vec<Effect> {
        self.retire();
        let from = match self.restart_from {
            StartFrom::Snapshot => self.snapshot.clone(),
            StartFrom::Nothing => None,
        };
        self.restart_from = StartFrom::Snapshot;
        match super::create::born(&self.shared, self.session.id(), &self.spec, from.as_deref()).await {
            Ok(born) => {
                self.shell = Some(born.shell);
                if let (Some(note), true) = (&self.note, self.status.borrow().end.is_some()) {
                    note.revived();
                }
                self.status.send_modify(|status| {
                    status.cwd = born.cwd;
                    status.not_restored = born.complaints;
                    status.resets += u32::from(status.end.is_none());
                    status.end = None;
                });
                let effects = self.machine.on(Event::Restored);
                self.background.clear();
                effects
            }
            Err(error) => {
                self.failed = Some(error);
                self.machine.on(Event::NotRestored)
            }
        }
    }

    fn die(&mut self) {
        self.retire();
        let end = turn::shell_end(self.lost, self.status.borrow().used_at);
        if let Some(note) = &self.note {
            note.died(end.clone());
        }
        self.status.send_modify(|status| status.end = Some(end));
    }

    fn terminated(&self) -> Error {
        let end = self.status.borrow().end.clone();
        Error::SessionTerminated { id: self.session.id().to_string(), end: end.map(Box::new) }
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

    async fn delete(&mut self) {
        if let Some(note) = &mut self.note {
            note.forget();
        }
        self.shared.sessions.forget(self.session.id());
        Spare::discard_if_unused(&self.shared).await;
        self.retire();
        for (mut tree, mut news, number) in std::mem::take(&mut self.old) {
            shell::end_tree(&self.shared, &mut tree, &mut news).await;
            self.shared.link.forget(number);
        }
        if let Some(turn) = self.turn.take() {
            turn.shell_lost(None, Some(EndReason::Killed), false, Vec::new());
        }
        let id = self.session.id().to_string();
        for job in self.jobs.keys().copied().collect::<Vec<_>>() {
            let id = id.clone();
            self.refuse(job, move |_| Error::SessionNotFound { id });
        }
    }

    /// Commands are told by losing their news.
    fn sandbox_gone(mut self) {
        for job in self.jobs.keys().copied().collect::<Vec<_>>() {
            self.refuse(job, |_| Error::SandboxGone);
        }
    }
}

/// Whether a warden has said that nothing is left.
fn is_told_empty(news: &mut mpsc::Receiver<News>) -> bool {
    std::iter::from_fn(|| news.try_recv().ok()).any(|news| matches!(news, News::TreeEmpty | News::WardenLost))
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

impl Dump {
    /// Takes what is there.
    fn read(&mut self) {
        while let Some(reader) = &mut self.reader {
            match reader.read() {
                Read::Bytes(bytes) => self.bytes.extend_from_slice(&bytes),
                Read::Empty => return,
                Read::End => self.reader = None,
            }
        }
    }
}
