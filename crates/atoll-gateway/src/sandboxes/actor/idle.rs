//! Stops idle sandboxes.

use std::time::Duration;

use atoll_protocol::StopReason;
use tokio::time::{Instant, timeout};

use super::super::Phase;
use super::{Actor, AgentState, REPLY_TIMEOUT, State};
use crate::agent_client;

impl Actor {
    /// Returns when to check for idleness. While a use is open, that is one `sleep_after` from now, since it cannot be
    /// due earlier.
    pub(super) fn idle_at(&self) -> Option<Instant> {
        let State::Present { stored, agent_state: AgentState::Running { .. } } = &self.state else { return None };
        let after = Duration::from_millis(stored.sleep_after_ms.filter(|_| !stored.keep_alive)?);
        let from = if self.activity.is_open() { Instant::now() } else { self.activity.last().into() };
        from.checked_add(after)
    }

    /// Stops the sandbox, unless a use has begun in the meantime or something is running inside.
    pub(super) async fn stop_if_idle(&mut self) {
        if self.idle_at().is_some_and(|at| at > Instant::now()) {
            return;
        }
        self.phase.send_replace(Phase::Unreachable);
        if self.activity.is_open() || self.is_busy().await {
            self.activity.touch();
            self.publish();
            return;
        }
        if let Err(error) = self.stop(StopReason::Idle).await {
            tracing::warn!(sandbox = %self.name, %error, "cannot stop the idle sandbox");
            self.activity.touch();
        }
    }

    /// Whether a process or a terminal is running inside. An agent that does not respond counts as busy.
    pub(super) async fn is_busy(&self) -> bool {
        let State::Present { agent_state: AgentState::Running { agent, .. }, .. } = &self.state else { return false };
        let exchange = async { agent_client::info(self.services().placement.connect(agent).await?).await };
        match timeout(REPLY_TIMEOUT, exchange).await {
            Ok(Ok(info)) => info.processes > 0 || info.terminals > 0,
            Ok(Err(_)) | Err(_) => true,
        }
    }
}
