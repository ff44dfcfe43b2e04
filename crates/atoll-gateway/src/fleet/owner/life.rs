//! Making, starting, stopping and deleting: what an owner does to its sandbox as a whole.

use std::sync::Arc;

use atoll_protocol::{CreateSandbox, SandboxState, StopReason};

use super::super::{Phase, options};
use super::{Life, Owner, State};
use crate::placement::{Agent, StartError};
use crate::registry::Row;
use crate::{Error, clock};

impl Owner {
    pub(super) async fn create(&mut self, asked: CreateSandbox) -> Result<(Row, bool), Error> {
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
        let unwritten = |error: std::io::Error| Error::io("write the sandbox's options", &error);
        let written = self.ground().disk.write_new(&stored).map_err(unwritten)?;
        // The disk takes about as long as the agent: nobody is told before both are done.
        let settled = tokio::task::spawn_blocking(move || written.settle());
        self.state = State::Present { stored: Box::new(stored), life: Life::Stopped { reason: None } };
        let mut row = self.row()?;
        row.kept.state = SandboxState::Creating;
        let registry = self.ground().registry.clone();
        // In this order: what is noted last is that it runs.
        let (noted, running) = tokio::join!(registry.put(row), self.running());
        let settled = settled.await.unwrap_or_else(|error| Err(std::io::Error::other(error))).map_err(unwritten);
        match noted.and(running).and(settled) {
            Ok(()) => Ok((self.row()?, true)),
            Err(error) => {
                // It was never there: nothing of it stays.
                self.delete().await?;
                Err(error)
            }
        }
    }

    /// Its agent; started if there is none.
    pub(super) async fn running(&mut self) -> Result<Agent, Error> {
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

    pub(super) fn not_started(&self, error: StartError) -> Error {
        match error {
            StartError::Refused(body) => Error::Agent { body },
            StartError::Failed(why) => {
                tracing::warn!(sandbox = %self.name, why, "an agent did not start");
                Error::AgentUnavailable { name: self.name.clone(), why }
            }
        }
    }

    pub(super) async fn start(&mut self) -> Result<Row, Error> {
        if let State::Present { life: Life::Paused { .. }, .. } = self.state {
            return self.resume().await;
        }
        self.running().await?;
        self.row()
    }

    pub(super) async fn stop(&mut self, reason: StopReason) -> Result<Row, Error> {
        let agent = match &self.state {
            State::Absent => return Err(self.absent()),
            State::Present { life: Life::Stopped { .. }, .. } => return self.row(),
            State::Present { life: Life::Running { agent, .. } | Life::Paused { agent, .. }, .. } => agent.clone(),
        };
        // Nobody gets to it from here on.
        self.phase.send_replace(Phase::Away);
        self.ground().count(&agent).await;
        let stopped = self.ground().placement.stop(&agent).await;
        if let Err(error) = stopped {
            self.show();
            return Err(Error::AgentUnavailable { name: self.name.clone(), why: format!("did not end: {error}") });
        }
        tracing::info!(sandbox = %self.name, ?reason, "stopped");
        self.live(Life::Stopped { reason: Some(reason) }).await?;
        self.row()
    }

    pub(super) async fn delete(&mut self) -> Result<(), Error> {
        // Nobody sees it any more, whatever becomes of the rest.
        self.exposed.send_replace(Arc::default());
        if !matches!(self.state, State::Present { life: Life::Stopped { .. }, .. }) {
            self.stop(StopReason::Asked).await?;
        }
        let removed = self.ground().placement.remove(&self.name).await;
        removed.map_err(|error| Error::io("remove the sandbox's files", &error))?;
        self.state = State::Absent;
        self.show();
        tracing::info!(sandbox = %self.name, "deleted");
        self.ground().registry.forget(self.name.clone()).await
    }
}
