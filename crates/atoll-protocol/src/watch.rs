//! Watches: numbered events of changes in a directory tree, so that clients can resume.

use serde::{Deserialize, Serialize};

use crate::file::{exact, text_and_base64};
use crate::{ErrorBody, Timestamp, WatchId};

/// Creates a watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct WatchRequest {
    /// Id of the watch; generated if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<WatchId>,
    /// Path of the directory; relative to `/workspace`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Exact path in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_base64: Option<String>,
    /// Globs of files to report, in `.gitignore` syntax; all files if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Globs of files to leave out; matching directories are not watched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Watch subdirectories, too.
    pub recursive: bool,
    /// Start with `created` events for existing files.
    pub existing: bool,
    /// Maximum number of directories to watch (default 65536).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directories: Option<u64>,
    /// User to watch as.
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
    /// Id of the watch.
    pub id: WatchId,
    /// Path of the directory.
    pub path: String,
    /// Exact path in base64, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// Cursor of the next event.
    pub cursor: u64,
    /// Whether the watch has ended: the directory was removed, or the watch failed.
    pub ended: bool,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<ErrorBody>,
}

impl WatchInfo {
    /// Sets the path.
    #[must_use]
    pub fn at(mut self, path: &[u8]) -> Self {
        (self.path, self.path_base64) = text_and_base64(path);
        self
    }
}

/// A list of watches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WatchList {
    /// Watches, oldest first.
    pub watches: Vec<WatchInfo>,
}

/// Kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum WatchChange {
    /// The file was created.
    Created,
    /// Its content changed.
    Modified,
    /// Its mode, owner, times or attributes changed.
    Attributes,
    /// It was removed, with its content.
    Removed,
    /// It was renamed, with its content.
    Renamed,
    /// Events were lost. Discard the state so far; `created` events for the current state follow.
    Overflow,
    /// The events for existing files are complete, at the start of the watch or after an overflow.
    Settled,
    /// The watched directory itself was removed. No events follow.
    Gone,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WatchEvent {
    /// Number of the event.
    pub cursor: u64,
    /// Kind of the change.
    pub change: WatchChange,
    /// Path relative to the directory; empty for the directory itself.
    pub path: String,
    /// Exact path in base64, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Previous path, if it was renamed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// Exact previous path in base64, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from_base64: Option<String>,
    /// Whether it is a directory.
    pub directory: bool,
}

impl WatchEvent {
    /// Creates an event from the bytes of its paths.
    pub fn new(cursor: u64, change: WatchChange, path: &[u8], from: Option<&[u8]>, directory: bool) -> Self {
        let (path, path_base64) = text_and_base64(path);
        let (from, from_base64) = match from.map(text_and_base64) {
            Some((text, base64)) => (Some(text), base64),
            None => (None, None),
        };
        Self { cursor, change, path, path_base64, from, from_base64, directory }
    }

    /// Returns the exact bytes of the path.
    pub fn path_bytes(&self) -> Vec<u8> {
        exact(&self.path, self.path_base64.as_deref())
    }

    /// Returns the exact bytes of the previous path.
    pub fn from_bytes(&self) -> Option<Vec<u8>> {
        Some(exact(self.from.as_deref()?, self.from_base64.as_deref()))
    }
}

/// A page of events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WatchPage {
    /// The events, in order.
    pub events: Vec<WatchEvent>,
    /// Cursor of the next page.
    pub next_cursor: u64,
    /// Whether the watch has ended: no events follow.
    pub ended: bool,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<ErrorBody>,
}

/// The last event of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WatchEnd {
    /// Cursor after the last event.
    pub cursor: u64,
}

/// A WebSocket text frame from a watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum WatchFrame {
    /// A change.
    Change(WatchEvent),
    /// The directory was removed. No events follow.
    End(WatchEnd),
    /// The watch failed. No events follow.
    Error(ErrorBody),
}
