//! Sessions as the API shows them.

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
    /// What the shell said when it was brought to a snapshot and something could not be carried over.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_restored: Option<String>,
}
