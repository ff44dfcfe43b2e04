//! Signals and kills.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Signal;

/// Which processes receive a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum SignalScope {
    /// The main process only.
    #[default]
    Main,
    /// Every process of the command.
    Tree,
}

/// Sends a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SignalRequest {
    /// Signal by name or number, as text: `TERM`, `SIGINT`, `9`.
    pub signal: Signal,
    /// Which processes receive it.
    #[serde(default)]
    pub scope: SignalScope,
}

/// Result of sending a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SignalReceipt {
    /// Number of processes that received it.
    pub signalled: u64,
}

/// Kills a whole process tree: SIGTERM, then SIGKILL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct KillRequest {
    /// Time between SIGTERM and SIGKILL; the command's own `grace_ms` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_ms: Option<u64>,
}

/// Kills every process, or those with matching labels.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct KillAllRequest {
    /// Kill only processes that have all of these labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Time between SIGTERM and SIGKILL (default 2000).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_ms: Option<u64>,
}
