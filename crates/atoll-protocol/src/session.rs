//! Sessions as the API shows them, and asking for them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{EndRecord, ProcessId, SessionId, Timestamp};

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum SessionState {
    /// Its shell waits for a command.
    Ready,
    /// Its shell runs a command.
    Busy,
    /// Its shell has ended.
    Dead,
}

/// One session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// What it is doing.
    pub state: SessionState,
    /// Where its shell is, as of its last command.
    pub cwd: String,
    /// The command that runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub running: Option<ProcessId>,
    /// Commands that wait.
    pub queued: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When a command last began or ended.
    pub used_at: Timestamp,
    /// How its shell ended, if it has.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end: Option<EndRecord>,
    /// How often its shell had to be replaced.
    pub resets: u32,
    /// What the session has lost: what the shell said when it was brought to a snapshot, or that it is no longer where it
    /// was before a command with a directory of its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_restored: Option<String>,
}

/// Sessions, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SessionList {
    /// All that there are.
    pub sessions: Vec<SessionInfo>,
}

/// Asks for a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SessionRequest {
    /// Its id; made up if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<SessionId>,
    /// Where its shell starts; relative ones are below the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Changes to the default environment; `null` unsets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, Option<String>>,
    /// User inside, for the whole session: a name, a number, or either with `:group`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Ends each of its commands after so long, unless the command says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// `set -o` options that are on from the beginning, such as `pipefail`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

/// Asks for a new session that holds what another one does.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ForkRequest {
    /// The id of the new one; made up if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<SessionId>,
}

/// What a dead session is started from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum RestartFrom {
    /// Its last snapshot.
    #[default]
    Snapshot,
    /// Nothing: as it was first made.
    Nothing,
}

/// Asks for a dead session to be brought back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RestartRequest {
    /// From what.
    pub from: RestartFrom,
}

/// What an interrupt did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct InterruptReceipt {
    /// Whether something ran that could be interrupted.
    pub interrupted: bool,
}

/// What a cancellation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CancelReceipt {
    /// Whether it was taken out of the queue; if not, it has begun already.
    pub cancelled: bool,
}
