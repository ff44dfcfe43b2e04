//! Sandboxes: what one should be, and what one is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{EgressTotals, NetworkPolicy, SandboxName, Timestamp};

/// How strongly commands are walled off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// Own processes, files, network and users. If the host cannot do it, creation fails.
    #[default]
    Namespaces,
    /// None at all: commands run on the host as it is.
    None,
}

/// What a sandbox may use. What is not set is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SandboxLimits {
    /// Bytes of memory, page cache included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Processes and threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pids: Option<u64>,
    /// Thousandths of a core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_millis: Option<u64>,
    /// Open files of each process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
}

/// How a sandbox should be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SandboxSpec {
    /// Its name; made up if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<SandboxName>,
    /// How strongly it is walled off.
    pub isolation: Isolation,
    /// What it may use.
    pub limits: SandboxLimits,
    /// Variables of every command.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// For finding it again.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// What it may reach; nothing if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkPolicy>,
}

/// What a sandbox uses now. What is not counted here is `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SandboxUsage {
    /// Bytes of memory in use, page cache included.
    pub memory_bytes: Option<u64>,
    /// The most there ever was.
    pub memory_peak_bytes: Option<u64>,
    /// Processes and threads.
    pub pids: Option<u64>,
    /// Processor time used so far, in microseconds.
    pub cpu_usec: Option<u64>,
}

/// How a sandbox is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum SandboxState {
    /// Being made or started.
    Creating,
    /// Commands can be run.
    Running,
    /// Frozen, with everything alive.
    Paused,
    /// Its processes are gone, its files are kept. The next use starts it again. Only a server of many has such.
    Stopped,
    /// Its first process was killed from outside. Nothing runs any more; what was printed can still be read.
    Lost,
}

/// One sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SandboxInfo {
    /// Its name.
    pub name: SandboxName,
    /// How it is.
    pub state: SandboxState,
    /// How strongly it is walled off.
    pub isolation: Isolation,
    /// Why commands are not walled off from the agent, where that was wished for and could not be had. Only an agent that is
    /// the entrypoint of a container goes on then: the container is the wall.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_isolated: Option<String>,
    /// What it may use.
    pub limits: SandboxLimits,
    /// For finding it again.
    pub labels: BTreeMap<String, String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Processes that are not over.
    pub processes: u64,
    /// Terminals whose program is not over.
    pub terminals: u64,
    /// Sessions whose shell is alive, idle ones too.
    #[serde(default)]
    pub sessions: u64,
    /// What it uses now.
    pub usage: SandboxUsage,
    /// What has gone out of it; `null` if there is no way out.
    #[serde(default)]
    pub egress: Option<EgressTotals>,
    /// Of the server that answers.
    pub version: String,
}
