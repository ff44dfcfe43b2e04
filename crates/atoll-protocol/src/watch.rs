//! Watches: what happens in a tree, numbered, so that readers can come back.

use serde::{Deserialize, Serialize};

use crate::file::{exact, told};
use crate::{ErrorBody, Timestamp, WatchId};

/// A watch that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct WatchRequest {
    /// Its id; one is made if none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<WatchId>,
    /// The directory; relative to `/workspace`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The same in base64, for one that is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_base64: Option<String>,
    /// Globs that a file must match to be told of, if there is any. As in `.gitignore`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Globs of what is not told of; a directory that matches is not watched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// All below the directory, too.
    pub recursive: bool,
    /// Begin with what is there, as created.
    pub existing: bool,
    /// How many directories may be watched (65536).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directories: Option<u64>,
    /// The user to look as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

impl Default for WatchRequest {
    fn default() -> Self {
        Self {
            id: None,
            path: None,
            path_base64: None,
            include: Vec::new(),
            exclude: Vec::new(),
            recursive: true,
            existing: false,
            directories: None,
            user: None,
        }
    }
}

/// A watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WatchInfo {
    /// Its id.
    pub id: WatchId,
    /// The directory.
    pub path: String,
    /// The same exactly, if it is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// When it began.
    pub created_at: Timestamp,
    /// The cursor of the next event.
    pub cursor: u64,
    /// Nothing follows: the directory is gone, or the watch failed.
    pub ended: bool,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<ErrorBody>,
}

impl WatchInfo {
    /// Sets the path.
    #[must_use]
    pub fn at(mut self, path: &[u8]) -> Self {
        (self.path, self.path_base64) = told(path);
        self
    }
}

/// Watches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WatchList {
    /// Oldest first.
    pub watches: Vec<WatchInfo>,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum WatchChange {
    /// It is there.
    Created,
    /// Its content has changed.
    Modified,
    /// Its mode, owner, times or attributes have changed.
    Attributes,
    /// It is gone, with all that was in it.
    Removed,
    /// It has another name now, with all that is in it.
    Renamed,
    /// More happened than could be told. All that was told before is void; what is there follows as created.
    Overflow,
    /// What was there when the watch began (if it was asked for), or after an overflow, has been told.
    Settled,
    /// The directory itself is gone. Nothing follows.
    Gone,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WatchEvent {
    /// Its number.
    pub cursor: u64,
    /// What.
    pub change: WatchChange,
    /// To what, below the directory; empty for the directory itself.
    pub path: String,
    /// The same exactly, if it is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Its path before, if it was renamed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// The same exactly, if it is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from_base64: Option<String>,
    /// Whether it is a directory.
    pub directory: bool,
}

impl WatchEvent {
    /// Of these bytes.
    pub fn new(cursor: u64, change: WatchChange, path: &[u8], from: Option<&[u8]>, directory: bool) -> Self {
        let (path, path_base64) = told(path);
        let (from, from_base64) = match from.map(told) {
            Some((text, base64)) => (Some(text), base64),
            None => (None, None),
        };
        Self { cursor, change, path, path_base64, from, from_base64, directory }
    }

    /// Its path, exactly.
    pub fn path_bytes(&self) -> Vec<u8> {
        exact(&self.path, self.path_base64.as_deref())
    }

    /// Its path before, exactly.
    pub fn from_bytes(&self) -> Option<Vec<u8>> {
        Some(exact(self.from.as_deref()?, self.from_base64.as_deref()))
    }
}

/// What happened since a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WatchPage {
    /// In order.
    pub events: Vec<WatchEvent>,
    /// Where to go on.
    pub next_cursor: u64,
    /// Nothing follows.
    pub ended: bool,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<ErrorBody>,
}

/// The last event of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WatchEnd {
    /// The cursor behind the last event.
    pub cursor: u64,
}

/// What a watch's client is told over a WebSocket, a text frame each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum WatchFrame {
    /// Something happened.
    Change(WatchEvent),
    /// Nothing follows: the directory is gone.
    End(WatchEnd),
    /// Nothing follows: it failed.
    Error(ErrorBody),
}
