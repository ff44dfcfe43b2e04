//! Sandboxes of a server: creating, listing and changing them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Isolation, NetworkPolicy, SandboxInfo, SandboxLimits, SandboxName, SandboxState, Timestamp};

/// Why a sandbox is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// A client stopped it.
    Asked,
    /// It was not used for the time in `sleep_after_ms`.
    Idle,
    /// The host or the agent died.
    HostLost,
}

/// Gets or creates a sandbox. Omitted options take their defaults in a new sandbox, and match any value of an existing
/// one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct CreateSandbox {
    /// Name of the sandbox; generated if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<SandboxName>,
    /// Isolation of the sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// Resource limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<SandboxLimits>,
    /// Environment variables of every command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// Labels to find it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
    /// Initial egress policy; no network access if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkPolicy>,
    /// Stop the sandbox after this time without use. 0 means never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep_after_ms: Option<u64>,
    /// Never stop the sandbox for lack of use, regardless of `sleep_after_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_alive: Option<bool>,
}

/// Changes options of an existing sandbox. Omitted options stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PatchSandbox {
    /// Labels to set; `null` removes one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, Option<String>>,
    /// Stop the sandbox after this time without use. 0 means never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep_after_ms: Option<u64>,
    /// Never stop the sandbox for lack of use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_alive: Option<bool>,
}

/// One sandbox of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SandboxRecord {
    /// Name of the sandbox.
    pub name: SandboxName,
    /// Current state.
    pub state: SandboxState,
    /// Why it is stopped, if it is stopped and the reason is known.
    pub stop_reason: Option<StopReason>,
    /// Isolation of the sandbox.
    pub isolation: Isolation,
    /// Resource limits.
    pub limits: SandboxLimits,
    /// Labels to find it by.
    pub labels: BTreeMap<String, String>,
    /// The sandbox is stopped after this time without use.
    pub sleep_after_ms: Option<u64>,
    /// Whether the sandbox is never stopped for lack of use.
    pub keep_alive: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last used.
    pub last_used_at: Timestamp,
    /// State reported by its agent, if the request included it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub live: Option<SandboxInfo>,
}

/// A page of sandboxes, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SandboxList {
    /// The sandboxes.
    pub sandboxes: Vec<SandboxRecord>,
    /// Value of `after` for the next page; `null` on the last page.
    pub next: Option<SandboxName>,
}
