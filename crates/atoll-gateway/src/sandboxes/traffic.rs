//! Egress counters, summed over all sandboxes. Agents count, and the gateway queries them on demand. It retains the
//! last counts of agents that have exited, so that no counter ever decreases.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use atoll_protocol::EgressTotals;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{PROBES_MAX, Phase, Sandboxes, Services};
use crate::agent_client;
use crate::placement::Agent;

/// How long an agent may take to respond. If it does not, its last counts are used.
const REPLY_TIMEOUT: Duration = Duration::from_secs(1);

/// The egress counts of all agents, past and present.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    /// The sum of agents that have exited.
    over: EgressTotals,
    /// The last counts of each running agent, by pid and start time.
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
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).last.insert(key(agent), totals);
    }

    /// Returns the sum over all agents, given those that are running.
    fn total(&self, living: &[Agent]) -> EgressTotals {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let Counts { over, last } = &mut *counts;
        last.retain(|gone, totals| {
            let lives = living.iter().any(|agent| key(agent) == *gone);
            if !lives {
                // The open connections have closed with the agent.
                add(over, &EgressTotals { open: 0, ..*totals });
            }
            lives
        });
        let mut all = *over;
        last.values().for_each(|totals| add(&mut all, totals));
        all
    }
}

impl Services {
    /// Queries an agent for its sandbox's egress counts.
    pub(crate) async fn count(&self, agent: &Agent) {
        let exchange = async { agent_client::info(self.placement.connect(agent).await?).await };
        if let Ok(Ok(info)) = timeout(REPLY_TIMEOUT, exchange).await
            && let Some(totals) = info.egress
        {
            self.traffic.note(agent, totals);
        }
    }
}

impl Sandboxes {
    /// Returns the egress counts of all sandboxes.
    pub(crate) async fn traffic(&self) -> EgressTotals {
        let agent = |phase: &Phase| match phase {
            Phase::Running(agent) | Phase::Paused(agent) => Some(agent.clone()),
            Phase::Unreachable => None,
        };
        let living: Vec<Agent> = self.actors().values().filter_map(|handle| agent(&handle.phase.borrow())).collect();
        let mut asking = JoinSet::new();
        for agent in living.clone() {
            if asking.len() >= PROBES_MAX {
                drop(asking.join_next().await);
            }
            let services = std::sync::Arc::clone(&self.inner.services);
            asking.spawn(async move { services.count(&agent).await });
        }
        asking.join_all().await;
        self.inner.services.traffic.total(&living)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exited_agents_still_count_but_have_no_open_connections() {
        let agent = |start| Agent { pid: 7, start, address: "somewhere".into() };
        let totals = EgressTotals { connections: 3, open: 1, bytes_out: 100, ..EgressTotals::default() };
        let traffic = Traffic::default();
        traffic.note(&agent(1), totals);
        traffic.note(&agent(2), totals);
        traffic.note(&agent(2), EgressTotals { bytes_out: 150, ..totals });
        let all = traffic.total(&[agent(1), agent(2)]);
        assert_eq!((all.connections, all.open, all.bytes_out), (6, 2, 250));
        // The same pid with another start time is another agent.
        for _ in 0..2 {
            let left = traffic.total(&[agent(2), agent(3)]);
            assert_eq!((left.connections, left.open, left.bytes_out), (6, 1, 250));
        }
    }
}
