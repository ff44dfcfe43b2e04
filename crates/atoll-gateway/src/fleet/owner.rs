//! The task that owns one sandbox's name: makes, starts, stops, pauses and deletes it, one thing after the other, and
//! puts it to sleep when nobody uses it.
//!
//! It holds nothing that lives: should the gateway be killed at any moment, the next one finds the agent by its socket
//! and the options on disk.

use std::sync::Arc;
use std::time::Duration;

use atoll_protocol::{CreateSandbox, PatchSandbox, SandboxName, SandboxState, StopReason};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::{Activity, Fleet, Ground, Phase, options};
use crate::placement::{Agent, StartError};
use crate::registry::{Kept, Row, Stored};
use crate::{Error, ask, clock};

/// How long an agent may take to say what it is doing, or to freeze what it has.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

type Tell<T> = oneshot::Sender<Result<T, Error>>;

/// What can be asked of a sandbox as a whole.
#[derive(Debug)]
pub(super) enum Ask {
    Create { asked: Box<CreateSandbox>, tell: Tell<(Row, bool)> },
    Reach { tell: Tell<Agent> },
    Doubt { doubted: Agent, tell: Tell<Agent> },
    Check { doubted: Agent, tell: Tell<()> },
    Change { change: PatchSandbox, tell: Tell<Row> },
    Start { tell: Tell<Row> },
    Stop { tell: Tell<Row> },
    Pause { tell: Tell<Row> },
    Resume { tell: Tell<Row> },
    Delete { tell: Tell<()> },
}

/// What there is under the name.
enum State {
    /// Nothing.
    Absent,
    /// Files, and perhaps an agent.
    Present { stored: Box<Stored>, life: Life },
}

/// Whether it lives.
enum Life {
    Stopped { reason: Option<StopReason> },
    Running { agent: Agent, gone: JoinSet<()> },
    Paused { agent: Agent, gone: JoinSet<()> },
}

/// What happened.
enum Event {
    Asked(Option<Ask>),
    AgentGone,
    Idle,
}

pub(super) struct Owner {
    fleet: Fleet,
    name: SandboxName,
    state: State,
    inbox: mpsc::Receiver<Ask>,
    phase: watch::Sender<Phase>,
    activity: Arc<Activity>,
}

impl Owner {
    pub(super) async fn new(
        fleet: Fleet,
        name: SandboxName,
        row: Option<Row>,
        inbox: mpsc::Receiver<Ask>,
    ) -> (Self, watch::Receiver<Phase>, Arc<Activity>) {
        let used_at = row.as_ref().map_or_else(clock::now, |row| row.kept.used_at);
        let activity = Arc::new(Activity::new(used_at));
        let (phase, watching) = watch::channel(Phase::Away);
        let mut owner = Self { fleet, name, state: State::Absent, inbox, phase, activity: Arc::clone(&activity) };
        if let Some(Row { stored, kept }) = row {
            let life = match kept.agent {
                Some(agent) => owner.found(agent).await,
                None => Life::Stopped { reason: kept.stop_reason },
            };
            owner.state = State::Present { stored: Box::new(stored), life };
        }
        owner.show();
        (owner, watching, activity)
    }

    fn ground(&self) -> &Ground {
        self.fleet.ground()
    }

    /// Ends when the agent does. Ended itself when it is dropped.
    fn watch(&self, agent: &Agent) -> JoinSet<()> {
        let mut watch = JoinSet::new();
        watch.spawn(self.ground().placement.gone(agent));
        watch
    }

    /// Whether it was paused is known to its agent alone.
    async fn found(&self, agent: Agent) -> Life {
        let gone = self.watch(&agent);
        let paused = match self.ground().placement.connect(&agent).await {
            Ok(wire) => timeout(ANSWERS_WITHIN, ask::is_paused(wire)).await.unwrap_or(false),
            Err(_) => false,
        };
        if paused { Life::Paused { agent, gone } } else { Life::Running { agent, gone } }
    }

    pub(super) async fn run(mut self) {
        loop {
            match self.next().await {
                Event::Asked(Some(ask)) => self.answer(ask).await,
                Event::Asked(None) => return,
                Event::AgentGone => self.lost().await,
                Event::Idle => self.fall_asleep().await,
            }
            if matches!(self.state, State::Absent) {
                return self.fleet.retire(&self.name);
            }
        }
    }

    async fn next(&mut self) -> Event {
        let idle_at = self.idle_at();
        let State::Present { life: Life::Running { gone, .. } | Life::Paused { gone, .. }, .. } = &mut self.state
        else {
            return Event::Asked(self.inbox.recv().await);
        };
        tokio::select! {
            biased;
            _ = gone.join_next() => Event::AgentGone,
            ask = self.inbox.recv() => Event::Asked(ask),
            () = sleep_until(idle_at.unwrap_or_else(Instant::now)), if idle_at.is_some() => Event::Idle,
        }
    }

    /// When to look whether it may sleep. While something is open, one `sleep_after` from now: nothing can be due
    /// earlier.
    fn idle_at(&self) -> Option<Instant> {
        let State::Present { stored, life: Life::Running { .. } } = &self.state else { return None };
        let after = Duration::from_millis(stored.sleep_after_ms.filter(|_| !stored.keep_alive)?);
        let from = if self.activity.is_open() { Instant::now() } else { self.activity.last().into() };
        from.checked_add(after)
    }

    async fn answer(&mut self, ask: Ask) {
        // Whoever asked may have gone away; what was done stays done.
        match ask {
            Ask::Create { asked, tell } => drop(tell.send(self.create(*asked).await)),
            Ask::Reach { tell } => drop(tell.send(self.running().await)),
            Ask::Doubt { doubted, tell } => drop(tell.send(self.doubt(&doubted).await)),
            Ask::Check { doubted, tell } => {
                self.check(&doubted).await;
                drop(tell.send(Ok(())));
            }
            Ask::Change { change, tell } => drop(tell.send(self.change(change).await)),
            Ask::Start { tell } => drop(tell.send(self.start().await)),
            Ask::Stop { tell } => drop(tell.send(self.stop(StopReason::Asked).await)),
            Ask::Pause { tell } => drop(tell.send(self.pause().await)),
            Ask::Resume { tell } => drop(tell.send(self.resume().await)),
            Ask::Delete { tell } => drop(tell.send(self.delete().await)),
        }
    }

    fn absent(&self) -> Error {
        Error::SandboxNotFound { name: self.name.clone() }
    }

    async fn create(&mut self, asked: CreateSandbox) -> Result<(Row, bool), Error> {
        if let State::Present { stored, .. } = &self.state {
            let differences = options::differences(stored, &asked);
            if !differences.is_empty() {
                return Err(Error::SandboxDiffers { name: self.name.clone(), differences });
            }
            if !matches!(self.state, State::Present { life: Life::Paused { .. }, .. }) {
                self.running().await?;
            }
            return Ok((self.row()?, false));
        }
        let stored = options::stored(self.name.clone(), asked, self.ground().default_sleep_ms, clock::now());
        self.ground().disk.write(&stored).map_err(|error| Error::internal("write the sandbox's options", error))?;
        self.state = State::Present { stored: Box::new(stored), life: Life::Stopped { reason: None } };
        self.note(Some(SandboxState::Creating)).await?;
        match self.running().await {
            Ok(_) => Ok((self.row()?, true)),
            Err(error) => {
                // It was never there: nothing of it stays.
                self.delete().await?;
                Err(error)
            }
        }
    }

    /// Its agent; started if there is none.
    async fn running(&mut self) -> Result<Agent, Error> {
        let stored = match &self.state {
            State::Absent => return Err(self.absent()),
            State::Present { life: Life::Running { agent, .. }, .. } => return Ok(agent.clone()),
            State::Present { life: Life::Paused { .. }, .. } => {
                return Err(Error::SandboxPaused { name: self.name.clone() });
            }
            State::Present { stored, life: Life::Stopped { .. } } => stored,
        };
        let spec = stored.spec();
        let started = self.ground().placement.start(&self.name, &spec).await;
        self.ground().metrics.agent_started(started.is_ok());
        let agent = started.map_err(|error| self.not_started(error))?;
        tracing::info!(sandbox = %self.name, pid = agent.pid, "an agent was started");
        let gone = self.watch(&agent);
        self.activity.touch();
        self.live(Life::Running { agent: agent.clone(), gone }).await?;
        Ok(agent)
    }

    fn not_started(&self, error: StartError) -> Error {
        match error {
            StartError::Refused(body) => Error::Agent { body },
            StartError::Failed(why) => {
                tracing::warn!(sandbox = %self.name, why, "an agent did not start");
                Error::AgentUnavailable { name: self.name.clone(), why }
            }
        }
    }

    /// Its agent did not answer somebody. If it is gone, the next one is started.
    async fn doubt(&mut self, doubted: &Agent) -> Result<Agent, Error> {
        self.check(doubted).await;
        match &self.state {
            State::Present { life: Life::Paused { agent, .. }, .. } => Ok(agent.clone()),
            State::Present { life: Life::Running { .. } | Life::Stopped { .. }, .. } | State::Absent => {
                self.running().await
            }
        }
    }

    /// Whether the agent that somebody doubts is still of use; if not, it is ended.
    async fn check(&mut self, doubted: &Agent) {
        let State::Present { life: Life::Running { agent, .. } | Life::Paused { agent, .. }, .. } = &self.state else {
            return;
        };
        if agent != doubted || self.ground().placement.find(&self.name).await.as_ref() == Some(doubted) {
            return;
        }
        // One that lives without answering would hold the storage.
        self.ground().placement.stop(doubted).await.ok();
        self.lost().await;
    }

    async fn change(&mut self, change: PatchSandbox) -> Result<Row, Error> {
        let State::Present { stored, .. } = &mut self.state else { return Err(self.absent()) };
        let changed = options::patched(Stored::clone(stored), change)?;
        **stored = changed.clone();
        self.ground().disk.write(&changed).map_err(|error| Error::internal("write the sandbox's options", error))?;
        self.note(None).await?;
        self.row()
    }

    async fn start(&mut self) -> Result<Row, Error> {
        if let State::Present { life: Life::Paused { .. }, .. } = self.state {
            return self.resume().await;
        }
        self.running().await?;
        self.row()
    }

    async fn stop(&mut self, reason: StopReason) -> Result<Row, Error> {
        let agent = match &self.state {
            State::Absent => return Err(self.absent()),
            State::Present { life: Life::Stopped { .. }, .. } => return self.row(),
            State::Present { life: Life::Running { agent, .. } | Life::Paused { agent, .. }, .. } => agent.clone(),
        };
        // Nobody gets to it from here on.
        self.phase.send_replace(Phase::Away);
        let stopped = self.ground().placement.stop(&agent).await;
        if let Err(error) = stopped {
            self.show();
            return Err(Error::AgentUnavailable { name: self.name.clone(), why: format!("did not end: {error}") });
        }
        tracing::info!(sandbox = %self.name, ?reason, "stopped");
        self.live(Life::Stopped { reason: Some(reason) }).await?;
        self.row()
    }

    async fn pause(&mut self) -> Result<Row, Error> {
        let agent = match &self.state {
            State::Absent => return Err(self.absent()),
            State::Present { life: Life::Paused { .. }, .. } => return self.row(),
            State::Present { life: Life::Running { agent, .. }, .. } => agent.clone(),
            State::Present { life: Life::Stopped { .. }, .. } => {
                return Err(Error::invalid(format!("sandbox {} is stopped: there is nothing to pause", self.name)));
            }
        };
        self.tell(&agent, "/v1/sandbox/pause").await?;
        let gone = self.watch(&agent);
        self.live(Life::Paused { agent, gone }).await?;
        self.row()
    }

    async fn resume(&mut self) -> Result<Row, Error> {
        let agent = match &self.state {
            State::Absent => return Err(self.absent()),
            State::Present { life: Life::Running { .. } | Life::Stopped { .. }, .. } => {
                self.running().await?;
                return self.row();
            }
            State::Present { life: Life::Paused { agent, .. }, .. } => agent.clone(),
        };
        self.tell(&agent, "/v1/sandbox/resume").await?;
        let gone = self.watch(&agent);
        self.activity.touch();
        self.live(Life::Running { agent, gone }).await?;
        self.row()
    }

    async fn tell(&self, agent: &Agent, path: &str) -> Result<(), Error> {
        let unavailable = |why: String| Error::AgentUnavailable { name: self.name.clone(), why };
        let told = async { ask::tell(self.ground().placement.connect(agent).await?, path).await };
        let told = timeout(ANSWERS_WITHIN, told).await.map_err(|_| unavailable("did not answer".to_owned()))?;
        let told = told.map_err(|error| unavailable(format!("did not answer: {error}")))?;
        told.map_err(|answer| Error::Agent { body: answer.error })
    }

    async fn delete(&mut self) -> Result<(), Error> {
        if !matches!(self.state, State::Present { life: Life::Stopped { .. }, .. }) {
            self.stop(StopReason::Asked).await?;
        }
        let removed = self.ground().placement.remove(&self.name).await;
        removed.map_err(|error| Error::internal("remove the sandbox's files", error))?;
        self.state = State::Absent;
        self.show();
        tracing::info!(sandbox = %self.name, "deleted");
        self.ground().registry.forget(self.name.clone()).await
    }

    /// Its agent is gone, and nobody here asked for that.
    async fn lost(&mut self) {
        tracing::warn!(sandbox = %self.name, "the agent is gone");
        self.ground().metrics.agent_lost();
        if let Err(error) = self.live(Life::Stopped { reason: Some(StopReason::HostLost) }).await {
            tracing::warn!(sandbox = %self.name, %error, "what happened could not be noted");
        }
    }

    /// Stops it, unless somebody came in at the last moment or something is going on inside.
    async fn fall_asleep(&mut self) {
        if self.idle_at().is_some_and(|at| at > Instant::now()) {
            return;
        }
        self.phase.send_replace(Phase::Away);
        if self.activity.is_open() || self.is_busy().await {
            self.activity.touch();
            self.show();
            return;
        }
        if let Err(error) = self.stop(StopReason::Idle).await {
            tracing::warn!(sandbox = %self.name, %error, "it could not be put to sleep");
            self.activity.touch();
        }
    }

    /// Whether a process or a terminal lives inside. An agent that does not say is not disturbed.
    async fn is_busy(&self) -> bool {
        let State::Present { life: Life::Running { agent, .. }, .. } = &self.state else { return false };
        let asked = async { ask::info(self.ground().placement.connect(agent).await?).await };
        match timeout(ANSWERS_WITHIN, asked).await {
            Ok(Ok(info)) => info.processes > 0 || info.terminals > 0,
            Ok(Err(_)) | Err(_) => true,
        }
    }

    /// Enters another life, tells those who look, and notes it.
    async fn live(&mut self, next: Life) -> Result<(), Error> {
        if let State::Present { life, .. } = &mut self.state {
            *life = next;
        }
        self.show();
        self.note(None).await
    }

    /// Tells those who look.
    fn show(&self) {
        let phase = match &self.state {
            State::Present { life: Life::Running { agent, .. }, .. } => Phase::Running(agent.clone()),
            State::Present { life: Life::Paused { agent, .. }, .. } => Phase::Paused(agent.clone()),
            State::Present { life: Life::Stopped { .. }, .. } | State::Absent => Phase::Away,
        };
        self.phase.send_replace(phase);
    }

    /// Notes it in the registry, as being in `state` if that is not what it looks like.
    async fn note(&self, state: Option<SandboxState>) -> Result<(), Error> {
        let mut row = self.row()?;
        row.kept.state = state.unwrap_or(row.kept.state);
        self.ground().registry.put(row).await
    }

    fn row(&self) -> Result<Row, Error> {
        let State::Present { stored, life } = &self.state else { return Err(self.absent()) };
        let (state, stop_reason, agent) = match life {
            Life::Stopped { reason } => (SandboxState::Stopped, *reason, None),
            Life::Running { agent, .. } => (SandboxState::Running, None, Some(agent.clone())),
            Life::Paused { agent, .. } => (SandboxState::Paused, None, Some(agent.clone())),
        };
        let kept = Kept { state, stop_reason, used_at: self.activity.last_used_at(), agent };
        Ok(Row { stored: Stored::clone(stored), kept })
    }
}
