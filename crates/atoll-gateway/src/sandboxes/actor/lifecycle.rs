//! Creates, starts, stops and deletes the sandbox.

use std::sync::Arc;

use atoll_protocol::{CreateSandbox, SandboxState, StopReason};

use super::super::{Phase, options};
use super::{Actor, AgentState, State};
use crate::placement::{Agent, StartError};
use crate::registry::Row;
use crate::{Error, clock};

impl Actor {
    pub(super) async fn create(&mut self, requested: CreateSandbox) -> Result<(Row, bool), Error> {
        if let State::Present { stored, .. } = &self.state {
            let differences = options::differences(stored, &requested);
            if !differences.is_empty() {
                return Err(Error::SandboxDiffers { name: self.name.clone(), differences });
            }
            if !matches!(self.state, State::Present { agent_state: AgentState::Paused { .. }, .. }) {
                self.running().await?;
            }
            return Ok((self.row()?, false));
        }
        let stored = options::stored(self.name.clone(), requested, self.services().default_sleep_ms, clock::now());
        let unwritten = |error: std::io::Error| Error::io("write the sandbox's options", &error);
        let written = self.services().disk.write_new(&stored).map_err(unwritten)?;
        // Syncing to disk takes about as long as starting the agent, so both run concurrently. The reply waits for
        // both.
        let synced = tokio::task::spawn_blocking(move || written.sync());
        self.state = State::Present { stored: Box::new(stored), agent_state: AgentState::Stopped { reason: None } };
        let mut row = self.row()?;
        row.status.state = SandboxState::Creating;
        let registry = self.services().registry.clone();
        // In this order, so that the registry's last entry says that it runs.
        let (noted, running) = tokio::join!(registry.put(row), self.running());
        let synced = synced.await.unwrap_or_else(|error| Err(std::io::Error::other(error))).map_err(unwritten);
        match noted.and(running).and(synced) {
            Ok(()) => Ok((self.row()?, true)),
            Err(error) => {
                // Creation failed: remove everything again.
                self.delete().await?;
                Err(error)
            }
        }
    }

    /// Returns the agent. Starts one if the sandbox is stopped.
    pub(super) async fn running(&mut self) -> Result<Agent, Error> {
        let stored = match &self.state {
            State::Absent => return Err(self.absent()),
            State::Present { agent_state: AgentState::Running { agent, .. }, .. } => return Ok(agent.clone()),
            State::Present { agent_state: AgentState::Paused { .. }, .. } => {
                return Err(Error::SandboxPaused { name: self.name.clone() });
            }
            State::Present { stored, agent_state: AgentState::Stopped { .. } } => stored,
        };
        let spec = stored.spec();
        let started = self.services().placement.start(&self.name, &spec).await;
        self.services().metrics.agent_started(started.is_ok());
        let agent = started.map_err(|error| self.not_started(error))?;
        tracing::info!(sandbox = %self.name, pid = agent.pid, "agent started");
        let gone = self.watch(&agent);
        self.activity.touch();
        self.transition(AgentState::Running { agent: agent.clone(), gone }).await?;
        Ok(agent)
    }

    pub(super) fn not_started(&self, error: StartError) -> Error {
        match error {
            StartError::Refused(body) => Error::Agent { body },
            StartError::Failed(why) => {
                tracing::warn!(sandbox = %self.name, why, "the agent did not start");
                Error::AgentUnavailable { name: self.name.clone(), why }
            }
        }
    }

    pub(super) async fn start(&mut self) -> Result<Row, Error> {
        if let State::Present { agent_state: AgentState::Paused { .. }, .. } = self.state {
            return self.resume().await;
        }
        self.running().await?;
        self.row()
    }

    pub(super) async fn stop(&mut self, reason: StopReason) -> Result<Row, Error> {
        let agent = match &self.state {
            State::Absent => return Err(self.absent()),
            State::Present { agent_state: AgentState::Stopped { .. }, .. } => return self.row(),
            State::Present {
                agent_state: AgentState::Running { agent, .. } | AgentState::Paused { agent, .. },
                ..
            } => agent.clone(),
        };
        // No new request reaches the agent from here on.
        self.phase.send_replace(Phase::Unreachable);
        self.services().count(&agent).await;
        let stopped = self.services().placement.stop(&agent).await;
        if let Err(error) = stopped {
            self.publish();
            return Err(Error::AgentUnavailable { name: self.name.clone(), why: format!("did not exit: {error}") });
        }
        tracing::info!(sandbox = %self.name, ?reason, "stopped");
        self.transition(AgentState::Stopped { reason: Some(reason) }).await?;
        self.row()
    }

    pub(super) async fn delete(&mut self) -> Result<(), Error> {
        // No port is exposed any more, even if the next steps fail.
        self.exposed.send_replace(Arc::default());
        if !matches!(self.state, State::Present { agent_state: AgentState::Stopped { .. }, .. }) {
            self.stop(StopReason::Asked).await?;
        }
        let removed = self.services().placement.remove(&self.name).await;
        removed.map_err(|error| Error::io("remove the sandbox's files", &error))?;
        self.state = State::Absent;
        self.publish();
        tracing::info!(sandbox = %self.name, "deleted");
        self.services().registry.forget(self.name.clone()).await
    }
}
