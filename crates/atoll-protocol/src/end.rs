//! The end record: how a command ended.

use serde::{Deserialize, Serialize};

use crate::{Denial, Signal, Timestamp};

/// Why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// It exited with a code.
    Exited,
    /// It was killed by a signal that Atoll did not send.
    Signaled,
    /// It was killed through the API.
    Killed,
    /// It reached its time limit.
    Timeout,
    /// It reached its limit of time without output.
    IdleTimeout,
    /// The kernel killed it because memory ran out.
    Oom,
    /// It exceeded its output limit.
    OutputLimit,
    /// The session's shell exited.
    ShellExited,
    /// Its sandbox was stopped.
    SandboxStopped,
    /// The host or the agent died, so how it ended is unknown.
    HostLost,
}

/// How a command ended. Unknown values are `null`; an exit code is never guessed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EndRecord {
    /// Why it ended.
    pub reason: EndReason,
    /// The exit code, if it exited.
    pub code: Option<i32>,
    /// The signal that killed it, if one did.
    pub signal: Option<Signal>,
    /// Whether `reason` is a time limit.
    pub timed_out: bool,
    /// Whether the kernel killed one of its processes because memory ran out.
    pub oom_killed: bool,
    /// Run time of the main process.
    pub duration_ms: u64,
    /// User CPU time of the main process and the children that it waited for.
    pub cpu_user_ms: Option<u64>,
    /// System CPU time of the same processes.
    pub cpu_system_ms: Option<u64>,
    /// Largest resident set of any of the same processes.
    pub max_rss_bytes: Option<u64>,
    /// When the main process started.
    pub started_at: Timestamp,
    /// When the main process ended.
    pub ended_at: Timestamp,
    /// Number of its processes that were still alive at that moment.
    pub survivors: u64,
    /// Network access that its processes were denied: the first of each kind, up to 32.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub denials: Vec<Denial>,
    /// How often its processes were denied network access, including those in `denials`.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub denials_count: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl EndRecord {
    /// Returns whether the command exited by itself with code 0.
    pub fn success(&self) -> bool {
        self.reason == EndReason::Exited && self.code == Some(0)
    }
}
