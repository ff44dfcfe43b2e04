//! Agents that do not answer, or are gone.

use atoll_protocol::StopReason;

use super::{Life, Owner, State};
use crate::Error;
use crate::placement::Agent;

impl Owner {
    /// Its agent did not answer somebody. If it is gone, the next one is started.
    pub(super) async fn doubt(&mut self, doubted: &Agent) -> Result<Agent, Error> {
        self.check(doubted).await;
        match &self.state {
            State::Present { life: Life::Paused { agent, .. }, .. } => Ok(agent.clone()),
            State::Present { life: Life::Running { .. } | Life::Stopped { .. }, .. } | State::Absent => {
                self.running().await
            }
        }
    }

    /// Whether the agent that somebody doubts is still of use; if not, it is ended.
    pub(super) async fn check(&mut self, doubted: &Agent) {
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

    /// Its agent is gone, and nobody here asked for that.
    pub(super) async fn lost(&mut self) {
        tracing::warn!(sandbox = %self.name, "the agent is gone");
        self.ground().metrics.agent_lost();
        if let Err(error) = self.live(Life::Stopped { reason: Some(StopReason::HostLost) }).await {
            tracing::warn!(sandbox = %self.name, %error, "what happened could not be noted");
        }
    }
}
