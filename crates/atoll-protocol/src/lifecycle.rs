//! Sandboxes as a server of many keeps them: asked for, listed, changed, and what became of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Isolation, NetworkPolicy, SandboxInfo, SandboxLimits, SandboxName, SandboxState, Timestamp};

/// Why a sandbox is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Somebody asked for it.
    Asked,
    /// Nobody used it for as long as its `sleep_after` says.
    Idle,
    /// The machine or the agent died.
    HostLost,
}

/// Get or create a sandbox. What is left out takes its default if the sandbox is made, and may be anything if it exists.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct CreateSandbox {
    /// Its name; made up if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<SandboxName>,
    /// How strongly it is walled off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// What it may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<SandboxLimits>,
    /// Variables of every command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// For finding it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
    /// What it may reach at first; nothing if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkPolicy>,
    /// Stop it when nobody used it for so long. 0: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep_after_ms: Option<u64>,
    /// Never stop it for want of use, whatever `sleep_after_ms` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_alive: Option<bool>,
}

/// Change what can be changed while it lives. What is left out stays.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PatchSandbox {
    /// Labels to set; `null` removes one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, Option<String>>,
    /// Stop it when nobody used it for so long. 0: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep_after_ms: Option<u64>,
    /// Never stop it for want of use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_alive: Option<bool>,
}

/// One sandbox of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SandboxRecord {
    /// Its name.
    pub name: SandboxName,
    /// Where in its life it is.
    pub state: SandboxState,
    /// Why it is stopped, if it is and that is known.
    pub stop_reason: Option<StopReason>,
    /// How strongly it is walled off.
    pub isolation: Isolation,
    /// What it may use.
    pub limits: SandboxLimits,
    /// For finding it again.
    pub labels: BTreeMap<String, String>,
    /// It is stopped when nobody used it for so long.
    pub sleep_after_ms: Option<u64>,
    /// It is never stopped for want of use.
    pub keep_alive: bool,
    /// When it was first made.
    pub created_at: Timestamp,
    /// When it was last used.
    pub last_used_at: Timestamp,
    /// What its agent says, if it was asked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub live: Option<SandboxInfo>,
}

/// Some sandboxes, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SandboxList {
    /// These.
    pub sandboxes: Vec<SandboxRecord>,
    /// Give this as `after` for those behind them; `null` if there are none.
    pub next: Option<SandboxName>,
}
