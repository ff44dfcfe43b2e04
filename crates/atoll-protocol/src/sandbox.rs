//! Sandboxes: their options and their state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{EgressTotals, NetworkPolicy, SandboxName, Timestamp};

/// Isolation of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// Own processes, files, network and users. Creation fails if the host does not support it.
    #[default]
    Namespaces,
    /// None: commands run directly on the host.
    None,
}

/// Resource limits of a sandbox. Unset means unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SandboxLimits {
    /// Memory in bytes, including page cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Number of processes and threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pids: Option<u64>,
    /// CPU time, in thousandths of a core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_millis: Option<u64>,
    /// Number of open files of each process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
}

/// Options of a new sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SandboxSpec {
    /// Name of the sandbox; generated if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<SandboxName>,
    /// Isolation of the sandbox.
    pub isolation: Isolation,
    /// Resource limits.
    pub limits: SandboxLimits,
    /// Environment variables of every command.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Labels to find it by.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Egress policy; no network access if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkPolicy>,
}

/// Current resource usage of a sandbox. Unavailable counters are `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SandboxUsage {
    /// Memory in use in bytes, including page cache.
    pub memory_bytes: Option<u64>,
    /// Peak memory use in bytes.
    pub memory_peak_bytes: Option<u64>,
    /// Number of processes and threads.
    pub pids: Option<u64>,
    /// CPU time used so far, in microseconds.
    pub cpu_usec: Option<u64>,
}

/// State of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum SandboxState {
    /// Being created or started.
    Creating,
    /// Ready to run commands.
    Running,
    /// Frozen, with all processes alive.
    Paused,
    /// Its processes have ended and its files remain. The next use starts it again. Only a server reports this state.
    Stopped,
    /// Its init process was killed from outside. No commands can run; existing output can still be read.
    Lost,
}

/// One sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SandboxInfo {
    /// Name of the sandbox.
    pub name: SandboxName,
    /// Current state.
    pub state: SandboxState,
    /// Isolation of the sandbox.
    pub isolation: Isolation,
    /// Why commands are not isolated from the agent, if isolation was requested but unavailable. Only an agent that is
    /// the entrypoint of a container continues in this case, because the container isolates it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_isolated: Option<String>,
    /// Resource limits.
    pub limits: SandboxLimits,
    /// Labels to find it by.
    pub labels: BTreeMap<String, String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// Number of processes that have not ended.
    pub processes: u64,
    /// Number of terminals whose program has not ended.
    pub terminals: u64,
    /// Number of sessions whose shell is alive, including idle ones.
    #[serde(default)]
    pub sessions: u64,
    /// Current resource usage.
    pub usage: SandboxUsage,
    /// Egress totals; `null` if the sandbox has no network access.
    #[serde(default)]
    pub egress: Option<EgressTotals>,
    /// Version of the server.
    pub version: String,
}
