//! Agents that do not respond, or have exited.

use atoll_protocol::StopReason;

use super::{Actor, AgentState, State};
use crate::Error;
use crate::placement::Agent;

impl Actor {
    /// Checks an agent that did not respond to a caller. If it has exited, starts the next one.
    pub(super) async fn recheck(&mut self, suspect: &Agent) -> Result<Agent, Error> {
        self.check(suspect).await;
        match &self.state {
            State::Present { agent_state: AgentState::Paused { agent, .. }, .. } => Ok(agent.clone()),
            State::Present { agent_state: AgentState::Running { .. } | AgentState::Stopped { .. }, .. }
            | State::Absent => self.running().await,
        }
    }

    /// Checks whether the suspected agent is usable, and stops it if not.
    pub(super) async fn check(&mut self, suspect: &Agent) {
        let State::Present {
            agent_state: AgentState::Running { agent, .. } | AgentState::Paused { agent, .. }, ..
        } = &self.state
        else {
            return;
        };
        if agent != suspect || self.services().placement.find(&self.name).await.as_ref() == Some(suspect) {
            return;
        }
        // A process that lives without responding would keep the storage locked.
        self.services().placement.stop(suspect).await.ok();
        self.agent_lost().await;
    }

    /// Handles the unexpected exit of the agent.
    pub(super) async fn agent_lost(&mut self) {
        tracing::warn!(sandbox = %self.name, "the agent exited unexpectedly");
        self.services().metrics.agent_lost();
        if let Err(error) = self.transition(AgentState::Stopped { reason: Some(StopReason::HostLost) }).await {
            tracing::warn!(sandbox = %self.name, %error, "cannot record the loss of the agent");
        }
    }
}
