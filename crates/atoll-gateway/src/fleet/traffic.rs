//! What has gone out of all sandboxes together. Agents count, and are asked when somebody looks; of those that are gone,
//! what they said last is kept, so that no count ever falls.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use atoll_protocol::EgressTotals;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{Fleet, Ground, LOOKED_FOR_AT_ONCE, Phase};
use crate::ask;
use crate::placement::Agent;

/// How long an agent may take to say. One that does not is counted as it last said.
const SAYS_WITHIN: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    said: Mutex<Said>,
}

#[derive(Debug, Default)]
struct Said {
    /// By agents that are gone.
    over: EgressTotals,
    /// By each that lives: pid, and when it was started.
    last: HashMap<(u32, u64), EgressTotals>,
}

fn key(agent: &Agent) -> (u32, u64) {
    (agent.pid, agent.start)
}

fn add(to: &mut EgressTotals, more: &EgressTotals) {
    let EgressTotals { connections, open, denied, names, names_denied, bytes_out, bytes_in } = more;
    to.connections += connections;
    to.open += open;
    to.denied += denied;
    to.names += names;
    to.names_denied += names_denied;
    to.bytes_out += bytes_out;
    to.bytes_in += bytes_in;
}

impl Traffic {
    fn note(&self, agent: &Agent, totals: EgressTotals) {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).last.insert(key(agent), totals);
    }

    /// All together, where these live.
    fn total(&self, living: &[Agent]) -> EgressTotals {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let Said { over, last } = &mut *said;
        last.retain(|gone, totals| {
            let lives = living.iter().any(|agent| key(agent) == *gone);
            if !lives {
                // What stood is over with its agent.
                add(over, &EgressTotals { open: 0, ..*totals });
            }
            lives
        });
        let mut all = *over;
        last.values().for_each(|totals| add(&mut all, totals));
        all
    }
}

impl Ground {
    /// Asks an agent what has gone out of its sandbox.
    pub(crate) async fn count(&self, agent: &Agent) {
        let asked = async { ask::info(self.placement.connect(agent).await?).await };
        if let Ok(Ok(info)) = timeout(SAYS_WITHIN, asked).await
            && let Some(totals) = info.egress
        {
            self.traffic.note(agent, totals);
        }
    }
}

impl Fleet {
    /// What has gone out of all sandboxes.
    pub(crate) async fn traffic(&self) -> EgressTotals {
        let agent = |phase: &Phase| match phase {
            Phase::Running(agent) | Phase::Paused(agent) => Some(agent.clone()),
            Phase::Away => None,
        };
        let living: Vec<Agent> = self.owners().values().filter_map(|handle| agent(&handle.phase.borrow())).collect();
        let mut asking = JoinSet::new();
        for agent in living.clone() {
            if asking.len() >= LOOKED_FOR_AT_ONCE {
                drop(asking.join_next().await);
            }
            let ground = std::sync::Arc::clone(&self.inner.ground);
            asking.spawn(async move { ground.count(&agent).await });
        }
        asking.join_all().await;
        self.inner.ground.traffic.total(&living)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_still_counts_and_no_longer_stands() {
        let agent = |start| Agent { pid: 7, start, address: "somewhere".into() };
        let totals = EgressTotals { connections: 3, open: 1, bytes_out: 100, ..EgressTotals::default() };
        let traffic = Traffic::default();
        traffic.note(&agent(1), totals);
        traffic.note(&agent(2), totals);
        traffic.note(&agent(2), EgressTotals { bytes_out: 150, ..totals });
        let all = traffic.total(&[agent(1), agent(2)]);
        assert_eq!((all.connections, all.open, all.bytes_out), (6, 2, 250));
        // The same pid again is another agent.
        for _ in 0..2 {
            let left = traffic.total(&[agent(2), agent(3)]);
            assert_eq!((left.connections, left.open, left.bytes_out), (6, 1, 250));
        }
    }
}
