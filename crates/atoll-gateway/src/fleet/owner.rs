//! The task that owns one sandbox's name: makes, starts, stops, pauses and deletes it, one thing after the other, and
//! puts it to sleep when nobody uses it.
//!
//! It holds nothing that lives: should the gateway be killed at any moment, the next one finds the agent by its socket
//! and the options on disk. What it does is in the files below `owner/`, by subject.

mod doubt;
mod idle;
mod life;
mod pause;
mod ports;

use std::sync::Arc;
use std::time::Duration;

use atoll_protocol::{CreateSandbox, ExposePort, PatchSandbox, SandboxName, SandboxState, StopReason};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::{Activity, Fleet, Found, Ground, Phase, options, remembered};
use crate::placement::Agent;
use crate::preview::{Exposure, Exposures};
use crate::registry::{Kept, Listed, Row, Stored};
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
    Expose { port: u16, asked: ExposePort, tell: Tell<(Exposure, bool)> },
    Rotate { port: u16, tell: Tell<Exposure> },
    Unexpose { port: u16, tell: Tell<()> },
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
    exposed: watch::Sender<Arc<Exposures>>,
    activity: Arc<Activity>,
}

/// What others see of a sandbox without asking its owner.
pub(super) struct Sight {
    pub(super) phase: watch::Receiver<Phase>,
    pub(super) exposed: watch::Receiver<Arc<Exposures>>,
    pub(super) activity: Arc<Activity>,
}

impl Owner {
    pub(super) async fn new(
        fleet: Fleet,
        name: SandboxName,
        found: Option<Found>,
        inbox: mpsc::Receiver<Ask>,
    ) -> (Self, Sight) {
        let used_at = found.as_ref().map_or_else(clock::now, |found| found.kept.used_at);
        let activity = Arc::new(Activity::new(used_at));
        let (phase, watching) = watch::channel(Phase::Away);
        let (exposed, ports) = watch::channel(Arc::default());
        let sight = Sight { phase: watching, exposed: ports, activity: Arc::clone(&activity) };
        let mut owner = Self { fleet, name, state: State::Absent, inbox, phase, exposed, activity };
        if let Some(Found { stored, kept }) = found {
            let life = match kept.agent {
                Some(agent) => owner.found(agent).await,
                None => Life::Stopped { reason: kept.stop_reason },
            };
            owner.state = State::Present { stored: Box::new(stored), life };
        }
        owner.show();
        (owner, sight)
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
            Ask::Expose { port, asked, tell } => drop(tell.send(self.expose(port, asked).await)),
            Ask::Rotate { port, tell } => drop(tell.send(self.rotate(port).await)),
            Ask::Unexpose { port, tell } => drop(tell.send(self.unexpose(port).await)),
        }
    }

    fn absent(&self) -> Error {
        Error::SandboxNotFound { name: self.name.clone() }
    }

    async fn change(&mut self, change: PatchSandbox) -> Result<Row, Error> {
        let State::Present { stored, .. } = &self.state else { return Err(self.absent()) };
        let changed = options::patched(Stored::clone(stored), change)?;
        self.ground().disk.write(&changed).map_err(|error| Error::io("write the sandbox's options", &error))?;
        if let State::Present { stored, .. } = &mut self.state {
            **stored = changed;
        }
        self.note().await?;
        self.row()
    }

    /// Enters another life, tells those who look, and notes it.
    async fn live(&mut self, next: Life) -> Result<(), Error> {
        if let State::Present { life, .. } = &mut self.state {
            *life = next;
        }
        self.show();
        remembered(self.note().await)
    }

    /// Tells those who look.
    fn show(&self) {
        let phase = match &self.state {
            State::Present { life: Life::Running { agent, .. }, .. } => Phase::Running(agent.clone()),
            State::Present { life: Life::Paused { agent, .. }, .. } => Phase::Paused(agent.clone()),
            State::Present { life: Life::Stopped { .. }, .. } | State::Absent => Phase::Away,
        };
        self.phase.send_replace(phase);
        let exposed = match &self.state {
            State::Present { stored, .. } => stored.ports.clone(),
            State::Absent => Exposures::new(),
        };
        self.exposed.send_if_modified(|known| {
            let changed = **known != exposed;
            if changed {
                *known = Arc::new(exposed);
            }
            changed
        });
    }

    /// Notes it in the registry.
    async fn note(&self) -> Result<(), Error> {
        self.ground().registry.put(self.row()?).await
    }

    fn row(&self) -> Result<Row, Error> {
        let State::Present { stored, life } = &self.state else { return Err(self.absent()) };
        let (state, stop_reason, agent) = match life {
            Life::Stopped { reason } => (SandboxState::Stopped, *reason, None),
            Life::Running { agent, .. } => (SandboxState::Running, None, Some(agent.clone())),
            Life::Paused { agent, .. } => (SandboxState::Paused, None, Some(agent.clone())),
        };
        let kept = Kept { state, stop_reason, used_at: self.activity.last_used_at(), agent };
        Ok(Row { listed: Listed::from(&**stored), kept })
    }
}
