//! Processes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{EndRecord, ProcessId, SessionId, Timestamp};

/// State of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ProcessState {
    /// Starting, or waiting to be restarted.
    Starting,
    /// The main process runs.
    Running,
    /// The main process has ended, but background processes that it started are alive.
    Lingering,
    /// All of its processes have ended.
    Ended,
}

/// One process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ProcessInfo {
    /// Id of the process.
    pub id: ProcessId,
    /// Current state.
    pub state: ProcessState,
    /// Pid of its main process inside the sandbox, while it runs.
    pub pid: Option<u32>,
    /// The command line, or the arguments joined for display.
    pub command: String,
    /// Labels given at start.
    pub labels: BTreeMap<String, String>,
    /// Session that it runs in or was started from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<SessionId>,
    /// When it was last started.
    pub started_at: Timestamp,
    /// How its main process ended, if it has.
    pub end: Option<EndRecord>,
    /// Number of restarts by its restart policy.
    pub restarts: u32,
    /// Whether it is ready, if it has a readiness condition.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ready: Option<bool>,
    /// Number of bytes on standard output so far.
    pub stdout_bytes: u64,
    /// Number of bytes on standard error so far.
    pub stderr_bytes: u64,
    /// Position after the last byte of its log.
    pub cursor: u64,
}

/// Result of a kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct KillReceipt {
    /// Number of processes that received a signal.
    pub signalled: u64,
    /// Number of processes of the tree that are still alive.
    pub survivors: u64,
}

/// A list of processes, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ProcessList {
    /// The processes.
    pub processes: Vec<ProcessInfo>,
}

/// Result of a write to standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StdinReceipt {
    /// Offset for the next write.
    pub next_offset: u64,
}
