//! Putting a sandbox to sleep that nobody uses.

use std::time::Duration;

use atoll_protocol::StopReason;
use tokio::time::{Instant, timeout};

use super::super::Phase;
use super::{ANSWERS_WITHIN, Life, Owner, State};
use crate::ask;

impl Owner {
    /// When to look whether it may sleep. While something is open, one `sleep_after` from now: nothing can be due
    /// earlier.
    pub(super) fn idle_at(&self) -> Option<Instant> {
        let State::Present { stored, life: Life::Running { .. } } = &self.state else { return None };
        let after = Duration::from_millis(stored.sleep_after_ms.filter(|_| !stored.keep_alive)?);
        let from = if self.activity.is_open() { Instant::now() } else { self.activity.last().into() };
        from.checked_add(after)
    }

    /// Stops it, unless somebody came in at the last moment or something is going on inside.
    pub(super) async fn fall_asleep(&mut self) {
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
    pub(super) async fn is_busy(&self) -> bool {
        let State::Present { life: Life::Running { agent, .. }, .. } = &self.state else { return false };
        let asked = async { ask::info(self.ground().placement.connect(agent).await?).await };
        match timeout(ANSWERS_WITHIN, asked).await {
            Ok(Ok(info)) => info.processes > 0 || info.terminals > 0,
            Ok(Err(_)) | Err(_) => true,
        }
    }
}
