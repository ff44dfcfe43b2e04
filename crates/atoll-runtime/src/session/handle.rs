//! A handle on one session. Cheap to clone; dropping it changes nothing.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use atoll_protocol::{EndRecord, KillReceipt, ProcessId, SessionId, SessionInfo, SessionState, Signal, Timestamp};
use tokio::sync::{mpsc, oneshot, watch};

use super::owner::{Ask, Command as Turn, Job};
use super::snapshot::Snapshot;
use super::spec::{SessionSpec, StartFrom, check_command};
use super::{create, spec};
use crate::Error;
use crate::command::{Command, Invocation};
use crate::exec::{self, Captures, ExecOutput};
use crate::process::{
    self as processes, Begun, CONTROL_MAX, Filter, Process, ProcessSpec, Reserved, Restart, starting,
};
use crate::sandbox::ANSWER_BYTES;
use crate::shared::Shared;
use crate::tree::SignalScope;

/// What everybody may know of a session.
#[derive(Debug, Clone)]
pub(crate) struct Status {
    pub(crate) running: Option<Process>,
    pub(crate) queued: usize,
    pub(crate) cwd: Vec<u8>,
    pub(crate) used_at: SystemTime,
    pub(crate) end: Option<EndRecord>,
    pub(crate) resets: u32,
    pub(crate) not_restored: String,
}

impl Status {
    pub(crate) fn new(cwd: Vec<u8>, not_restored: String) -> Self {
        let used_at = SystemTime::now();
        Self { running: None, queued: 0, cwd, used_at, end: None, resets: 0, not_restored }
    }
}

/// One session of a sandbox.
#[derive(Debug, Clone)]
pub struct Session {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    id: SessionId,
    spec: SessionSpec,
    asks: mpsc::Sender<Ask>,
    status: watch::Receiver<Status>,
    /// Weak: the sandbox holds its sessions, not the other way round.
    shared: Weak<Shared>,
    created_at: SystemTime,
}

impl Session {
    pub(crate) fn new(
        id: SessionId,
        spec: SessionSpec,
        asks: mpsc::Sender<Ask>,
        status: watch::Receiver<Status>,
        shared: Weak<Shared>,
        created_at: SystemTime,
    ) -> Self {
        Self { inner: Arc::new(Inner { id, spec, asks, status, shared, created_at }) }
    }

    /// Its id.
    pub fn id(&self) -> &SessionId {
        &self.inner.id
    }

    /// Everything there is to know.
    pub fn info(&self) -> SessionInfo {
        let status = self.inner.status.borrow().clone();
        let state = match (&status.end, &status.running) {
            (Some(_), _) => SessionState::Dead,
            (None, Some(_)) => SessionState::Busy,
            (None, None) => SessionState::Ready,
        };
        SessionInfo {
            id: self.inner.id.clone(),
            state,
            cwd: String::from_utf8_lossy(&status.cwd).into_owned(),
            running: status.running.map(|process| process.id().clone()),
            queued: status.queued as u64,
            created_at: Timestamp::from(self.inner.created_at),
            used_at: status.used_at.into(),
            end: status.end,
            resets: status.resets,
            not_restored: (!status.not_restored.is_empty()).then_some(status.not_restored),
        }
    }

    /// Where its shell is.
    pub fn cwd(&self) -> PathBuf {
        OsString::from_vec(self.inner.status.borrow().cwd.clone()).into()
    }

    /// Runs a command in the session to its end, after those that came before it.
    pub async fn exec(&self, command: Command) -> Result<ExecOutput, Error> {
        self.exec_with(ProcessSpec::new(command), ANSWER_BYTES).await
    }

    /// As [`Self::exec`], with an id, labels, and so many bytes of each output in the answer.
    pub async fn exec_with(&self, spec: ProcessSpec, answer_bytes: usize) -> Result<ExecOutput, Error> {
        let shared = self.shared()?;
        let named = spec.id.is_some();
        let (captures, slot) = Captures::new(answer_bytes);
        match self.enqueue(&shared, spec, Some(captures)).await? {
            Begun::New(process) => exec::collect(&shared, &process, slot, named).await,
            Begun::Existing(process) => exec::from_log(&process, answer_bytes).await,
        }
    }

    /// Puts a command into the queue. Its output can be followed in its log, from before it begins. A session that is
    /// dead, or whose queue is full, refuses it at once.
    pub async fn begin(&self, spec: ProcessSpec) -> Result<Process, Error> {
        let shared = self.shared()?;
        match self.enqueue(&shared, spec, None).await? {
            Begun::Existing(process) => Ok(process),
            Begun::New(process) => {
                self.ask(|done| Ask::Heard { done }).await?;
                process.refused().map_or(Ok(process), Err)
            }
        }
    }

    async fn enqueue(
        &self,
        shared: &Arc<Shared>,
        mut spec: ProcessSpec,
        captures: Option<Captures>,
    ) -> Result<Begun, Error> {
        check_command(&spec.command, self.inner.spec.user.as_deref())?;
        if spec.restart != Restart::Never || spec.readiness.is_some() {
            return Err(Error::invalid("a command of a session is not restarted and has no readiness"));
        }
        spec.command.timeout = spec.command.timeout.or(self.inner.spec.timeout);
        spec.session = Some(self.inner.id.clone());
        let id = spec.id.clone().map_or_else(|| shared.next_id(), Ok)?;
        let (status, watched) = watch::channel(starting());
        let (control, controls) = mpsc::channel(CONTROL_MAX);
        let process = Process::new(id, spec.clone(), shared.new_output(), watched, control, Arc::downgrade(shared));
        if let Reserved::Existing(existing) = shared.registry.reserve(&process, &spec)? {
            return Ok(Begun::Existing(existing));
        }
        let turn = Turn { process: process.clone(), status, controls, captures };
        if self.inner.asks.send(Ask::Job(Job::Run(Box::new(turn)))).await.is_err() {
            shared.registry.discard(process.id());
            return Err(self.gone());
        }
        Ok(Begun::New(process))
    }

    /// As Ctrl-C would: ends what runs in the foreground, unless it minds. `false` if nothing ran.
    pub async fn interrupt(&self) -> Result<bool, Error> {
        match self.running() {
            None => Ok(false),
            Some(process) => match process.signal(Signal::INT, SignalScope::Tree).await {
                Ok(_) => Ok(true),
                Err(Error::ProcessEnded { .. }) => Ok(false),
                Err(error) => Err(error),
            },
        }
    }

    /// Ends the command that runs, and all that it started: TERM, then KILL after `grace`. The session lives on.
    pub async fn kill(&self, grace: Duration) -> Result<KillReceipt, Error> {
        match self.running() {
            None => Ok(KillReceipt { signalled: 0, survivors: 0 }),
            Some(process) => process.kill(grace).await,
        }
    }

    /// Takes a command out of the queue. `false` if it does not wait there (any more).
    pub async fn cancel(&self, id: &ProcessId) -> Result<bool, Error> {
        self.ask(|done| Ask::Cancel { id: id.clone(), done }).await
    }

    /// What the shell holds, after the commands that came before.
    pub async fn snapshot(&self) -> Result<Arc<Snapshot>, Error> {
        self.ask(|done| Ask::Job(Job::Dump { done })).await?
    }

    /// A new session that holds what this one does.
    pub async fn fork(&self, id: Option<SessionId>) -> Result<Self, Error> {
        let shared = self.shared()?;
        let snapshot = self.snapshot().await?;
        let spec = SessionSpec { id, cwd: None, env: std::collections::BTreeMap::new(), ..self.inner.spec.clone() };
        create::create(&shared, spec, Some(snapshot)).await
    }

    /// Starts a process that begins with what the session holds, and writes nothing back.
    pub async fn start(&self, mut process: ProcessSpec) -> Result<Process, Error> {
        let shared = self.shared()?;
        process.check()?;
        spec::check_names(process.command.env.keys())?;
        spec::check_user(&process.command, self.inner.spec.user.as_deref())?;
        let text = super::order::text_of(&process.command.invocation)
            .ok_or_else(|| Error::invalid("a session starts a command or a program"))?;
        let snapshot = self.snapshot().await?;
        process.command.user = process.command.user.or_else(|| self.inner.spec.user.clone());
        process.command.invocation =
            Invocation::Restored { snapshot: Arc::clone(&snapshot), text: OsString::from_vec(text) };
        process.session = Some(self.inner.id.clone());
        processes::begin(&shared, process).await
    }

    /// Brings a dead session back.
    pub async fn restart(&self, from: StartFrom) -> Result<(), Error> {
        self.ask(|done| Ask::Restart { from, done }).await?
    }

    /// Ends the session, at once: its shell, what runs in it, what its commands have left, and the processes that were
    /// started from it.
    pub async fn delete(&self) -> Result<(), Error> {
        let shared = self.shared()?;
        self.ask(|done| Ask::Delete { done }).await?;
        let filter = Filter { session: Some(self.inner.id.clone()), ..Filter::default() };
        processes::kill_all(&shared, &filter, Duration::ZERO).await.map(drop)
    }

    fn running(&self) -> Option<Process> {
        self.inner.status.borrow().running.clone()
    }

    fn shared(&self) -> Result<Arc<Shared>, Error> {
        self.inner.shared.upgrade().ok_or(Error::SandboxGone)
    }

    async fn ask<T>(&self, ask: impl FnOnce(oneshot::Sender<T>) -> Ask) -> Result<T, Error> {
        let (done, answer) = oneshot::channel();
        self.inner.asks.send(ask(done)).await.map_err(|_| self.gone())?;
        answer.await.map_err(|_| self.gone())
    }

    fn gone(&self) -> Error {
        Error::SessionNotFound { id: self.inner.id.to_string() }
    }
}
