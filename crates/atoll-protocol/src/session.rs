//! Sessions: persistent shells.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{EndRecord, ProcessId, SessionId, Timestamp};

/// State of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum SessionState {
    /// The shell waits for a command.
    Ready,
    /// The shell runs a command.
    Busy,
    /// The shell has ended.
    Dead,
}

/// One session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SessionInfo {
    /// Id of the session.
    pub id: SessionId,
    /// Current state.
    pub state: SessionState,
    /// Working directory of the shell, as of its last command.
    pub cwd: String,
    /// Id of the running command.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub running: Option<ProcessId>,
    /// Number of queued commands.
    pub queued: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When a command last started or ended.
    pub used_at: Timestamp,
    /// How the shell ended, if it has.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end: Option<EndRecord>,
    /// How often the shell had to be replaced.
    pub resets: u32,
    /// State that the session has lost: errors of the shell while it was restored from a snapshot, or that it did not
    /// return to its directory after a command with its own `cwd`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_restored: Option<String>,
}

/// A list of sessions, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SessionList {
    /// The sessions.
    pub sessions: Vec<SessionInfo>,
}

/// Creates a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SessionRequest {
    /// Id of the session; generated if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<SessionId>,
    /// Initial working directory of the shell; relative paths are below the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Changes to the default environment; `null` unsets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, Option<String>>,
    /// User inside the sandbox, for the whole session: a name or an id, optionally with `:group`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Default time limit of its commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// `set -o` options to enable at the start, such as `pipefail`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

/// Creates a copy of a session, with the state of its shell.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ForkRequest {
    /// Id of the new session; generated if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<SessionId>,
}

/// What a dead session is restarted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum RestartFrom {
    /// Its last snapshot.
    #[default]
    Snapshot,
    /// Nothing: the session starts as it was first created.
    Nothing,
}

/// Restarts a dead session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RestartRequest {
    /// What to restart it from.
    pub from: RestartFrom,
}

/// Result of an interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct InterruptReceipt {
    /// Whether a command was running and was interrupted.
    pub interrupted: bool,
}

/// Result of a cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CancelReceipt {
    /// Whether the command was removed from the queue. If not, it had already started.
    pub cancelled: bool,
}
