//! A handle on one process. Cheap to clone; dropping it changes nothing.

use std::sync::{Arc, Weak};
use std::time::Duration;

use atoll_protocol::{EndRecord, KillReceipt, ProcessId, ProcessInfo, ProcessState, Signal};
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot, watch};

use super::spec::{ProcessSpec, Restart};
use crate::Error;
use crate::command::Command;
use crate::journal::{CommandItem, Fingerprint, Journal, Note, RestoredCommand};
use crate::log::Log;
use crate::pipes::Position;
use crate::run::{Control, Ended, Status};
use crate::shared::Shared;
use crate::tree::SignalScope;

/// One command of a sandbox, running or ended.
#[derive(Debug, Clone)]
pub struct Process {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    id: ProcessId,
    spec: ProcessSpec,
    log: Log,
    status: watch::Receiver<Status>,
    control: mpsc::Sender<Control>,
    /// Weak: the sandbox holds its processes, not the other way round.
    shared: Weak<Shared>,
    /// Its place in the journal, if the sandbox has one.
    note: Option<Note>,
    /// What was asked for, if that was in an earlier life of the sandbox.
    fingerprint: Option<Fingerprint>,
}

impl Process {
    pub(crate) fn new(
        id: ProcessId,
        spec: ProcessSpec,
        (log, note): (Log, Option<Note>),
        status: watch::Receiver<Status>,
        control: mpsc::Sender<Control>,
        shared: Weak<Shared>,
    ) -> Self {
        Self { inner: Arc::new(Inner { id, spec, log, status, control, shared, note, fingerprint: None }) }
    }

    /// One that ended in an earlier life of the sandbox. Nobody listens to what is asked of it.
    pub(crate) fn restored(restored: RestoredCommand, journal: &Arc<Journal>, shared: Weak<Shared>) -> Self {
        let RestoredCommand { number, item, ended, log } = restored;
        let started_at = ended.end.started_at;
        let CommandItem { began, restarted, .. } = item;
        let end = Ended { record: ended.end, cursor: ended.cursor, session_reset: ended.session_reset };
        let (_, status) = watch::channel(Status {
            state: ProcessState::Ended,
            pid: None,
            started_at,
            end: Some(end),
            failed: None,
            restarts: restarted.map_or(0, |(restarts, _)| restarts),
            begun: true,
            ready: None,
        });
        let (control, _) = mpsc::channel(1);
        let shown = ProcessSpec::new(Command::shell(began.command));
        let spec = ProcessSpec { labels: began.labels, session: began.session, ..shown };
        let (note, fingerprint) = (Some(Note::of(journal, number)), Some(began.fingerprint));
        let inner = Inner { id: began.id, spec, log, status, control, shared, note, fingerprint };
        Self { inner: Arc::new(inner) }
    }

    /// Its id.
    pub fn id(&self) -> &ProcessId {
        &self.inner.id
    }

    /// Its output.
    pub fn log(&self) -> &Log {
        &self.inner.log
    }

    /// What was asked for; if that was in an earlier life of the sandbox, only what is shown of it.
    pub fn spec(&self) -> &ProcessSpec {
        &self.inner.spec
    }

    /// Whether this is what was asked for.
    pub(crate) fn is_what(&self, spec: &ProcessSpec) -> bool {
        match &self.inner.fingerprint {
            Some(fingerprint) => *fingerprint == Fingerprint::of(spec),
            None => self.inner.spec.same_as(spec),
        }
    }

    /// Where in its life it is.
    pub fn state(&self) -> ProcessState {
        self.inner.status.borrow().state
    }

    /// How its main process ended, if it has.
    pub fn end(&self) -> Option<EndRecord> {
        self.inner.status.borrow().end.as_ref().map(|end| end.record.clone())
    }

    /// Everything there is to know.
    pub fn info(&self) -> ProcessInfo {
        let status = self.inner.status.borrow().clone();
        let totals = self.inner.log.totals();
        ProcessInfo {
            id: self.inner.id.clone(),
            state: status.state,
            pid: status.pid,
            command: self.inner.spec.command.describe(),
            labels: self.inner.spec.labels.clone(),
            session: self.inner.spec.session.clone(),
            started_at: status.started_at,
            end: status.end.map(|end| end.record),
            restarts: status.restarts,
            ready: status.ready,
            stdout_bytes: totals.stdout,
            stderr_bytes: totals.stderr,
            cursor: self.inner.log.end(),
        }
    }

    /// Returns when the program runs, or with the reason why it does not.
    pub(crate) async fn started(&self) -> Result<(), Error> {
        let mut status = self.inner.status.clone();
        let seen = status
            .wait_for(|status| status.failed.is_some() || status.begun || status.state == ProcessState::Ended)
            .await;
        match seen.map(|status| status.failed.clone()) {
            Ok(None) => Ok(()),
            Ok(Some(error)) => Err(error),
            Err(_) => Err(Error::SandboxGone),
        }
    }

    /// Why it will never run, if that is so.
    pub(crate) fn refused(&self) -> Option<Error> {
        self.inner.status.borrow().failed.clone()
    }

    /// Waits until its main process is over for good (a restart policy has given up).
    pub async fn ended(&self) -> Result<EndRecord, Error> {
        self.over().await.map(|ended| ended.record)
    }

    /// As [`Self::ended`], with the place in the log.
    pub(crate) async fn over(&self) -> Result<Ended, Error> {
        let mut status = self.inner.status.clone();
        let restarts = self.inner.spec.restart != Restart::Never;
        let over = |status: &Status| match status.state {
            ProcessState::Ended => true,
            ProcessState::Lingering => status.end.is_some() && !restarts,
            ProcessState::Starting | ProcessState::Running => false,
        };
        let seen = status.wait_for(over).await;
        let seen = seen.map_err(|_| Error::SandboxGone)?.clone();
        match seen.failed {
            Some(error) => Err(error),
            None => seen.end.ok_or(Error::SandboxGone),
        }
    }

    /// How it ended and where the log stood then, if it has.
    pub(crate) fn ended_at(&self) -> Option<Ended> {
        self.inner.status.borrow().end.clone()
    }

    /// Waits until nothing of it is left.
    pub async fn gone(&self) -> Result<(), Error> {
        let mut status = self.inner.status.clone();
        status.wait_for(|status| status.state == ProcessState::Ended).await.map(drop).map_err(|_| Error::SandboxGone)
    }

    pub(crate) fn note(&self) -> Option<&Note> {
        self.inner.note.as_ref()
    }

    pub(crate) fn shared(&self) -> Result<Arc<Shared>, Error> {
        self.inner.shared.upgrade().ok_or(Error::SandboxGone)
    }

    pub(crate) fn status(&self) -> watch::Receiver<Status> {
        self.inner.status.clone()
    }

    /// Sends a signal. Returns how many processes got it.
    pub async fn signal(&self, signal: Signal, scope: SignalScope) -> Result<u64, Error> {
        self.ask(|done| Control::Signal { signal, scope, done }).await?
    }

    /// Ends the whole tree: TERM, then KILL after `grace`. Done already is fine: nothing was signalled, nothing survives.
    /// What waits in a session's queue never begins.
    pub async fn kill(&self, grace: Duration) -> Result<KillReceipt, Error> {
        if self.state() == ProcessState::Starting && self.leaves_queue().await {
            return Ok(KillReceipt { signalled: 0, survivors: 0 });
        }
        match self.ask(|done| Control::Kill { grace, done }).await {
            Err(Error::ProcessEnded { .. }) => Ok(KillReceipt { signalled: 0, survivors: 0 }),
            other => other,
        }
    }

    /// `false` if it waits in no queue (any more).
    async fn leaves_queue(&self) -> bool {
        let (Some(session), Ok(shared)) = (&self.inner.spec.session, self.shared()) else { return false };
        let Ok(session) = shared.sessions.get(session) else { return false };
        session.cancel(&self.inner.id).await.unwrap_or(false)
    }

    /// Writes to its standard input. `offset` is the position of the first byte in all that was ever written: a
    /// repeated write is skipped, a gap refused. Returns, when the pipe has taken it, the position to go on from.
    pub async fn write_stdin(&self, offset: u64, bytes: Bytes) -> Result<u64, Error> {
        self.ask(|done| Control::Write { at: Position::At(offset), bytes, done }).await?
    }

    /// Closes its standard input.
    pub async fn close_stdin(&self) -> Result<(), Error> {
        self.ask(|done| Control::CloseStdin { done }).await?
    }

    pub(crate) async fn wants_input(&self) -> Result<bool, Error> {
        self.ask(|done| Control::WantsInput { done }).await
    }

    pub(crate) async fn ask<T>(&self, control: impl FnOnce(oneshot::Sender<T>) -> Control) -> Result<T, Error> {
        let ended = || Error::ProcessEnded { id: self.inner.id.to_string() };
        let (done, answer) = oneshot::channel();
        self.inner.control.send(control(done)).await.map_err(|_| ended())?;
        answer.await.map_err(|_| ended())
    }
}
