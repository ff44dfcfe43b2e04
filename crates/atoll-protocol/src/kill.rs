//! Asking for an end, or for a signal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Signal;

/// Whom a signal is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum SignalScope {
    /// The main process alone.
    #[default]
    Main,
    /// Every process of the command.
    Tree,
}

/// Asks to send a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SignalRequest {
    /// By name or number, as text: `TERM`, `SIGINT`, `9`.
    pub signal: Signal,
    /// To whom.
    #[serde(default)]
    pub scope: SignalScope,
}

/// What a signal did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SignalReceipt {
    /// Processes that it was sent to.
    pub signalled: u64,
}

/// Asks to end a whole tree: TERM, then KILL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct KillRequest {
    /// How long it may take before it is killed; without it as the command was started with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_ms: Option<u64>,
}

/// Asks to end every process, or all that have these labels.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct KillAllRequest {
    /// Only those that have all of these.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// How long they may take before they are killed (2000).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_ms: Option<u64>,
}
