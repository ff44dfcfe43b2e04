//! Freezing a sandbox with everything in it, and letting it go on.

use tokio::time::timeout;

use super::{ANSWERS_WITHIN, Life, Owner, State};
use crate::placement::Agent;
use crate::registry::Row;
use crate::{Error, ask};

impl Owner {
    pub(super) async fn pause(&mut self) -> Result<Row, Error> {
        let agent = match &self.state {
            State::Absent => return Err(self.absent()),
            State::Present { life: Life::Paused { .. }, .. } => return self.row(),
            State::Present { life: Life::Running { agent, .. }, .. } => agent.clone(),
            State::Present { life: Life::Stopped { .. }, .. } => {
                return Err(Error::SandboxStopped { name: self.name.clone() });
            }
        };
        self.tell(&agent, "/v1/sandbox/pause").await?;
        let gone = self.watch(&agent);
        self.live(Life::Paused { agent, gone }).await?;
        self.row()
    }

    pub(super) async fn resume(&mut self) -> Result<Row, Error> {
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

    pub(super) async fn tell(&self, agent: &Agent, path: &str) -> Result<(), Error> {
        let unavailable = |why: String| Error::AgentUnavailable { name: self.name.clone(), why };
        let told = async { ask::tell(self.ground().placement.connect(agent).await?, path).await };
        let told = timeout(ANSWERS_WITHIN, told).await.map_err(|_| unavailable("did not answer".to_owned()))?;
        let told = told.map_err(|error| unavailable(format!("did not answer: {error}")))?;
        told.map_err(|answer| Error::Agent { body: answer.error })
    }
}
