//! The end record: the one exact account of how a command ended.

use serde::{Deserialize, Serialize};

use crate::{Denial, Signal, Timestamp};

/// Why a command is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// It ended by itself, with a code.
    Exited,
    /// A signal ended it that nobody here sent.
    Signaled,
    /// It was killed through the API.
    Killed,
    /// Its time was up.
    Timeout,
    /// It printed nothing for too long.
    IdleTimeout,
    /// The kernel killed it for want of memory.
    Oom,
    /// It printed more than it may.
    OutputLimit,
    /// The session's shell itself ended.
    ShellExited,
    /// Its sandbox was stopped.
    SandboxStopped,
    /// The machine or the agent died: how it ended is not known.
    HostLost,
}

/// How a command ended. What is not known is `None`; a code is never invented.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EndRecord {
    /// Why it is over.
    pub reason: EndReason,
    /// The exit code, if it exited.
    pub code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<Signal>,
    /// Whether `reason` is a time limit.
    pub timed_out: bool,
    /// Whether the kernel killed one of its processes for want of memory.
    pub oom_killed: bool,
    /// From start to end of the main process.
    pub duration_ms: u64,
    /// User time of the main process and the children it waited for.
    pub cpu_user_ms: Option<u64>,
    /// System time of the same.
    pub cpu_system_ms: Option<u64>,
    /// Largest resident set of any of the same.
    pub max_rss_bytes: Option<u64>,
    /// When it was started.
    pub started_at: Timestamp,
    /// When its main process was over.
    pub ended_at: Timestamp,
    /// Processes it started that were still alive at that moment.
    pub survivors: u64,
    /// What its processes were refused on the way out: the first of each kind, up to 32.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub denials: Vec<Denial>,
    /// How often they were refused something, those in `denials` included.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub denials_count: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl EndRecord {
    /// Whether the command did what it was asked to: it exited by itself, with 0.
    pub fn success(&self) -> bool {
        self.reason == EndReason::Exited && self.code == Some(0)
    }
}
