//! The actor of one sandbox: a task that creates, starts, stops, pauses and deletes it, one command after the other,
//! and stops it when it is idle.
//!
//! It holds no state that could be lost: if the gateway is killed at any moment, the next one finds the agent by its
//! socket and the options on disk. The commands are implemented in the files of this directory, by subject.

mod health;
mod idle;
mod lifecycle;
mod pause;
mod ports;

use std::sync::Arc;
use std::time::Duration;

use atoll_protocol::{CreateSandbox, ExposePort, PatchSandbox, SandboxName, SandboxState, StopReason};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::{Activity, Found, Phase, Sandboxes, Services, ignore_disk_error, options};
use crate::placement::Agent;
use crate::preview::{Exposure, Exposures};
use crate::registry::{Listed, Row, SandboxStatus, Stored};
use crate::{Error, agent_client, clock};

/// How long an agent may take to respond, or to freeze its sandbox.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);

type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// A command to the actor.
#[derive(Debug)]
pub(super) enum Command {
    Create { requested: Box<CreateSandbox>, reply: Reply<(Row, bool)> },
    Reach { reply: Reply<Agent> },
    Recheck { suspect: Agent, reply: Reply<Agent> },
    Check { suspect: Agent, reply: Reply<()> },
    Change { change: PatchSandbox, reply: Reply<Row> },
    Start { reply: Reply<Row> },
    Stop { reply: Reply<Row> },
    Pause { reply: Reply<Row> },
    Resume { reply: Reply<Row> },
    Delete { reply: Reply<()> },
    Expose { port: u16, requested: ExposePort, reply: Reply<(Exposure, bool)> },
    Rotate { port: u16, reply: Reply<Exposure> },
    Unexpose { port: u16, reply: Reply<()> },
}

/// What exists under the name.
enum State {
    /// Nothing.
    Absent,
    /// Files, and an agent unless it is stopped.
    Present { stored: Box<Stored>, agent_state: AgentState },
}

/// The state of the agent.
enum AgentState {
    Stopped { reason: Option<StopReason> },
    Running { agent: Agent, gone: JoinSet<()> },
    Paused { agent: Agent, gone: JoinSet<()> },
}

/// What the actor waits for.
enum Event {
    Command(Option<Command>),
    AgentGone,
    Idle,
}

pub(super) struct Actor {
    sandboxes: Sandboxes,
    name: SandboxName,
    state: State,
    inbox: mpsc::Receiver<Command>,
    phase: watch::Sender<Phase>,
    exposed: watch::Sender<Arc<Exposures>>,
    activity: Arc<Activity>,
}

/// The state that others read without a command.
pub(super) struct SharedState {
    pub(super) phase: watch::Receiver<Phase>,
    pub(super) exposed: watch::Receiver<Arc<Exposures>>,
    pub(super) activity: Arc<Activity>,
}

impl Actor {
    pub(super) async fn new(
        sandboxes: Sandboxes,
        name: SandboxName,
        found: Option<Found>,
        inbox: mpsc::Receiver<Command>,
    ) -> (Self, SharedState) {
        let used_at = found.as_ref().map_or_else(clock::now, |found| found.status.used_at);
        let activity = Arc::new(Activity::new(used_at));
        let (phase, watching) = watch::channel(Phase::Unreachable);
        let (exposed, ports) = watch::channel(Arc::default());
        let shared = SharedState { phase: watching, exposed: ports, activity: Arc::clone(&activity) };
        let mut actor = Self { sandboxes, name, state: State::Absent, inbox, phase, exposed, activity };
        if let Some(Found { stored, status }) = found {
            let agent_state = match status.agent {
                Some(agent) => actor.found(agent).await,
                None => AgentState::Stopped { reason: status.stop_reason },
            };
            actor.state = State::Present { stored: Box::new(stored), agent_state };
        }
        actor.publish();
        (actor, shared)
    }

    fn services(&self) -> &Services {
        self.sandboxes.services()
    }

    /// Returns a task that ends when the agent exits. Dropping the set cancels it.
    fn watch(&self, agent: &Agent) -> JoinSet<()> {
        let mut watch = JoinSet::new();
        watch.spawn(self.services().placement.gone(agent));
        watch
    }

    /// Adopts a running agent. Only the agent knows whether its sandbox is paused.
    async fn found(&self, agent: Agent) -> AgentState {
        let gone = self.watch(&agent);
        let paused = match self.services().placement.connect(&agent).await {
            Ok(stream) => timeout(REPLY_TIMEOUT, agent_client::is_paused(stream)).await.unwrap_or(false),
            Err(_) => false,
        };
        if paused { AgentState::Paused { agent, gone } } else { AgentState::Running { agent, gone } }
    }

    pub(super) async fn run(mut self) {
        loop {
            match self.next().await {
                Event::Command(Some(command)) => self.execute(command).await,
                Event::Command(None) => return,
                Event::AgentGone => self.agent_lost().await,
                Event::Idle => self.stop_if_idle().await,
            }
            if matches!(self.state, State::Absent) {
                return self.sandboxes.retire(&self.name);
            }
        }
    }

    async fn next(&mut self) -> Event {
        let idle_at = self.idle_at();
        let State::Present { agent_state: AgentState::Running { gone, .. } | AgentState::Paused { gone, .. }, .. } =
            &mut self.state
        else {
            return Event::Command(self.inbox.recv().await);
        };
        tokio::select! {
            biased;
            _ = gone.join_next() => Event::AgentGone,
            command = self.inbox.recv() => Event::Command(command),
            () = sleep_until(idle_at.unwrap_or_else(Instant::now)), if idle_at.is_some() => Event::Idle,
        }
    }

    async fn execute(&mut self, command: Command) {
        // The caller may have gone; the command is executed in any case.
        match command {
            Command::Create { requested, reply } => drop(reply.send(self.create(*requested).await)),
            Command::Reach { reply } => drop(reply.send(self.running().await)),
            Command::Recheck { suspect, reply } => drop(reply.send(self.recheck(&suspect).await)),
            Command::Check { suspect, reply } => {
                self.check(&suspect).await;
                drop(reply.send(Ok(())));
            }
            Command::Change { change, reply } => drop(reply.send(self.change(change).await)),
            Command::Start { reply } => drop(reply.send(self.start().await)),
            Command::Stop { reply } => drop(reply.send(self.stop(StopReason::Asked).await)),
            Command::Pause { reply } => drop(reply.send(self.pause().await)),
            Command::Resume { reply } => drop(reply.send(self.resume().await)),
            Command::Delete { reply } => drop(reply.send(self.delete().await)),
            Command::Expose { port, requested, reply } => drop(reply.send(self.expose(port, requested).await)),
            Command::Rotate { port, reply } => drop(reply.send(self.rotate(port).await)),
            Command::Unexpose { port, reply } => drop(reply.send(self.unexpose(port).await)),
        }
    }

    fn absent(&self) -> Error {
        Error::SandboxNotFound { name: self.name.clone() }
    }

    async fn change(&mut self, change: PatchSandbox) -> Result<Row, Error> {
        let State::Present { stored, .. } = &self.state else { return Err(self.absent()) };
        let changed = options::patched(Stored::clone(stored), change)?;
        self.services().disk.write(&changed).map_err(|error| Error::io("write the sandbox's options", &error))?;
        if let State::Present { stored, .. } = &mut self.state {
            **stored = changed;
        }
        self.save_row().await?;
        self.row()
    }

    /// Changes the agent's state, publishes it and records it.
    async fn transition(&mut self, next: AgentState) -> Result<(), Error> {
        if let State::Present { agent_state, .. } = &mut self.state {
            *agent_state = next;
        }
        self.publish();
        ignore_disk_error(self.save_row().await)
    }

    /// Publishes the state to the handles.
    fn publish(&self) {
        let phase = match &self.state {
            State::Present { agent_state: AgentState::Running { agent, .. }, .. } => Phase::Running(agent.clone()),
            State::Present { agent_state: AgentState::Paused { agent, .. }, .. } => Phase::Paused(agent.clone()),
            State::Present { agent_state: AgentState::Stopped { .. }, .. } | State::Absent => Phase::Unreachable,
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

    /// Writes the sandbox's row to the registry.
    async fn save_row(&self) -> Result<(), Error> {
        self.services().registry.put(self.row()?).await
    }

    fn row(&self) -> Result<Row, Error> {
        let State::Present { stored, agent_state } = &self.state else { return Err(self.absent()) };
        let (state, stop_reason, agent) = match agent_state {
            AgentState::Stopped { reason } => (SandboxState::Stopped, *reason, None),
            AgentState::Running { agent, .. } => (SandboxState::Running, None, Some(agent.clone())),
            AgentState::Paused { agent, .. } => (SandboxState::Paused, None, Some(agent.clone())),
        };
        let status = SandboxStatus { state, stop_reason, used_at: self.activity.last_used_at(), agent };
        Ok(Row { listed: Listed::from(&**stored), status })
    }
}
