//! Metrics in the Prometheus text format. Labels have few values: none is a sandbox's name, a path or a token.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use atoll_protocol::{EgressTotals, SandboxState};

/// Upper bounds of the buckets of request durations, in milliseconds.
const BOUNDS_MS: [u64; 10] = [1, 5, 10, 25, 50, 100, 250, 1000, 5000, 30_000];

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// To the gateway itself: sandboxes, tokens, the server.
    Gateway,
    /// Forwarded to an agent.
    Agent,
    /// Forwarded to a port inside a sandbox.
    Preview,
}

const KINDS: [(Kind, &str); 3] = [(Kind::Gateway, "gateway"), (Kind::Agent, "agent"), (Kind::Preview, "preview")];
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// All counters. Lock-free.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    requests: [[AtomicU64; CLASSES.len()]; KINDS.len()],
    durations: [[AtomicU64; BOUNDS_MS.len() + 1]; KINDS.len()],
    duration_ms: [AtomicU64; KINDS.len()],
    agents_started: AtomicU64,
    agents_failed: AtomicU64,
    agents_lost: AtomicU64,
    /// Open connections.
    pub(crate) connections: AtomicU64,
    /// Open tunnels.
    pub(crate) tunnels: AtomicU64,
}

fn add(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}

/// Increments a gauge until it is dropped.
#[derive(Debug)]
pub(crate) struct While<'a>(&'a AtomicU64);

impl<'a> While<'a> {
    pub(crate) fn new(count: &'a AtomicU64) -> Self {
        add(count);
        Self(count)
    }
}

impl Drop for While<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    /// Counts a response, when its head is sent.
    pub(crate) fn answered(&self, kind: Kind, status: u16, took: Duration) {
        let row = KINDS.iter().position(|(known, _)| *known == kind).unwrap_or_default();
        let class = usize::from(status / 100).clamp(1, CLASSES.len()) - 1;
        add(&self.requests[row][class]);
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_MS.iter().position(|bound| millis <= *bound).unwrap_or(BOUNDS_MS.len());
        add(&self.durations[row][bucket]);
        self.duration_ms[row].fetch_add(millis, Ordering::Relaxed);
    }

    pub(crate) fn agent_started(&self, well: bool) {
        add(if well { &self.agents_started } else { &self.agents_failed });
    }

    pub(crate) fn agent_lost(&self) {
        add(&self.agents_lost);
    }

    /// Renders all metrics, given the number of sandboxes by state and their egress counts.
    pub(crate) fn text(&self, sandboxes: &[(SandboxState, usize)], traffic: &EgressTotals) -> String {
        let mut text = String::new();
        self.write_requests(&mut text);
        let singles = [
            ("atoll_agents_started_total", "counter", "Agents that were started.", &self.agents_started),
            ("atoll_agents_failed_total", "counter", "Agents that did not start.", &self.agents_failed),
            ("atoll_agents_lost_total", "counter", "Agents that exited unexpectedly.", &self.agents_lost),
            ("atoll_connections", "gauge", "Open connections.", &self.connections),
            ("atoll_tunnels", "gauge", "Open WebSockets and raw connections.", &self.tunnels),
        ];
        for (name, kind, help, count) in singles {
            head(&mut text, name, kind, help);
            line(&mut text, name, "", count.load(Ordering::Relaxed));
        }
        head(&mut text, "atoll_sandboxes", "gauge", "Sandboxes by state.");
        for (state, count) in sandboxes {
            let state = serde_json::to_value(state).unwrap_or_default();
            line(&mut text, "atoll_sandboxes", &format!("{{state={state}}}"), *count as u64);
        }
        write_traffic(&mut text, traffic);
        text
    }

    fn write_requests(&self, text: &mut String) {
        head(text, "atoll_requests_total", "counter", "Requests by kind and status class.");
        for (row, (_, kind)) in KINDS.iter().enumerate() {
            for (class, count) in CLASSES.iter().zip(&self.requests[row]) {
                let labels = format!("{{kind=\"{kind}\",status=\"{class}\"}}");
                line(text, "atoll_requests_total", &labels, count.load(Ordering::Relaxed));
            }
        }
        head(text, "atoll_request_duration_ms", "histogram", "Time to the response head, in milliseconds.");
        for (row, (_, kind)) in KINDS.iter().enumerate() {
            let mut sum = 0;
            for (index, count) in self.durations[row].iter().enumerate() {
                sum += count.load(Ordering::Relaxed);
                let bound = BOUNDS_MS.get(index).map_or_else(|| "+Inf".to_owned(), u64::to_string);
                let labels = format!("{{kind=\"{kind}\",le=\"{bound}\"}}");
                line(text, "atoll_request_duration_ms_bucket", &labels, sum);
            }
            let labels = format!("{{kind=\"{kind}\"}}");
            line(text, "atoll_request_duration_ms_sum", &labels, self.duration_ms[row].load(Ordering::Relaxed));
            line(text, "atoll_request_duration_ms_count", &labels, sum);
        }
    }
}

/// Renders the egress counters of all sandboxes together. The sandbox of each connection is in the egress events.
fn write_traffic(text: &mut String, traffic: &EgressTotals) {
    let EgressTotals { connections, open, denied, names, names_denied, bytes_out, bytes_in } = *traffic;
    let pairs = [
        (
            "atoll_egress_connections_total",
            "Egress connections by decision.",
            "decision",
            [("allowed", connections), ("denied", denied)],
        ),
        (
            "atoll_egress_names_total",
            "DNS queries by decision.",
            "decision",
            [("allowed", names), ("denied", names_denied)],
        ),
        (
            "atoll_egress_bytes_total",
            "Bytes of egress connections by direction.",
            "direction",
            [("out", bytes_out), ("in", bytes_in)],
        ),
    ];
    for (name, help, label, values) in pairs {
        head(text, name, "counter", help);
        for (value, count) in values {
            line(text, name, &format!("{{{label}=\"{value}\"}}"), count);
        }
    }
    head(text, "atoll_egress_connections", "gauge", "Open egress connections.");
    line(text, "atoll_egress_connections", "", open);
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a string cannot fail.
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}").ok();
}

fn line(text: &mut String, name: &str, labels: &str, value: u64) {
    writeln!(text, "{name}{labels} {value}").ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_rendered_as_text() {
        let metrics = Metrics::default();
        metrics.answered(Kind::Agent, 200, Duration::from_millis(7));
        metrics.answered(Kind::Agent, 502, Duration::from_secs(60));
        let traffic = EgressTotals { denied: 5, bytes_in: 9, open: 2, ..EgressTotals::default() };
        let text = metrics.text(&[(SandboxState::Running, 3)], &traffic);
        for line in [
            "atoll_requests_total{kind=\"agent\",status=\"2xx\"} 1",
            "atoll_request_duration_ms_bucket{kind=\"agent\",le=\"10\"} 1",
            "atoll_request_duration_ms_bucket{kind=\"agent\",le=\"+Inf\"} 2",
            "atoll_sandboxes{state=\"running\"} 3",
            "atoll_egress_connections_total{decision=\"denied\"} 5",
            "atoll_egress_bytes_total{direction=\"in\"} 9",
            "atoll_egress_connections 2",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
