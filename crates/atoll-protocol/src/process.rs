//! Processes as the API shows them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{EndRecord, ProcessId, SessionId, Timestamp};

/// Where in its life a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ProcessState {
    /// Being started, or waiting to be started again.
    Starting,
    /// Its main process runs.
    Running,
    /// Its main process is over, but something it started is still alive.
    Lingering,
    /// Nothing of it is left.
    Ended,
}

/// One process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ProcessInfo {
    /// Its id.
    pub id: ProcessId,
    /// Where in its life it is.
    pub state: ProcessState,
    /// Pid of its main process inside the sandbox, while there is one.
    pub pid: Option<u32>,
    /// What was asked for: the shell string, or the arguments joined for reading.
    pub command: String,
    /// Labels given at start.
    pub labels: BTreeMap<String, String>,
    /// The session that it runs in or was started from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<SessionId>,
    /// When it was (last) started.
    pub started_at: Timestamp,
    /// How its main process ended, if it has.
    pub end: Option<EndRecord>,
    /// How often it was started again by its restart policy.
    pub restarts: u32,
    /// Whether it is ready, if it has a readiness condition.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ready: Option<bool>,
    /// Bytes on standard output so far.
    pub stdout_bytes: u64,
    /// Bytes on standard error so far.
    pub stderr_bytes: u64,
    /// Position behind the last byte of its log.
    pub cursor: u64,
}

/// What a kill did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct KillReceipt {
    /// Processes that were sent a signal.
    pub signalled: u64,
    /// Processes of the tree that are still alive.
    pub survivors: u64,
}

/// Processes, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ProcessList {
    /// All that were asked for.
    pub processes: Vec<ProcessInfo>,
}

/// What a write to standard input did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StdinReceipt {
    /// The offset to go on from.
    pub next_offset: u64,
}
