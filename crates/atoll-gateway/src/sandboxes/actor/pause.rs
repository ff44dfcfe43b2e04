//! Freezes and thaws the sandbox.

use tokio::time::timeout;

use super::{Actor, AgentState, REPLY_TIMEOUT, State};
use crate::placement::Agent;
use crate::registry::Row;
use crate::{Error, agent_client};

impl Actor {
    pub(super) async fn pause(&mut self) -> Result<Row, Error> {
        let agent = match &self.state {
            State::Absent => return Err(self.absent()),
            State::Present { agent_state: AgentState::Paused { .. }, .. } => return self.row(),
            State::Present { agent_state: AgentState::Running { agent, .. }, .. } => agent.clone(),
            State::Present { agent_state: AgentState::Stopped { .. }, .. } => {
                return Err(Error::SandboxStopped { name: self.name.clone() });
            }
        };
        self.post(&agent, "/v1/sandbox/pause").await?;
        let gone = self.watch(&agent);
        self.transition(AgentState::Paused { agent, gone }).await?;
        self.row()
    }

    pub(super) async fn resume(&mut self) -> Result<Row, Error> {
        let agent = match &self.state {
            State::Absent => return Err(self.absent()),
            State::Present { agent_state: AgentState::Running { .. } | AgentState::Stopped { .. }, .. } => {
                self.running().await?;
                return self.row();
            }
            State::Present { agent_state: AgentState::Paused { agent, .. }, .. } => agent.clone(),
        };
        self.post(&agent, "/v1/sandbox/resume").await?;
        let gone = self.watch(&agent);
        self.activity.touch();
        self.transition(AgentState::Running { agent, gone }).await?;
        self.row()
    }

    pub(super) async fn post(&self, agent: &Agent, path: &str) -> Result<(), Error> {
        let unavailable = |why: String| Error::AgentUnavailable { name: self.name.clone(), why };
        let response = async { agent_client::post(self.services().placement.connect(agent).await?, path).await };
        let response = timeout(REPLY_TIMEOUT, response).await.map_err(|_| unavailable("did not respond".to_owned()))?;
        let response = response.map_err(|error| unavailable(format!("did not respond: {error}")))?;
        response.map_err(|answer| Error::Agent { body: answer.error })
    }
}
