//! Editing files: by replacement and by patch.

use serde::{Deserialize, Serialize};

use crate::{Encoding, FileInfo};

/// One text replacement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct EditText {
    /// Text to replace, matched exactly.
    pub old: String,
    /// Replacement text.
    pub new: String,
    /// Number of occurrences that must be in the file (default 1). All of them are replaced.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub count: Option<u64>,
    /// Replace every occurrence; at least one must be in the file.
    #[serde(default)]
    pub all: bool,
}

/// Replaces exact texts in a file: all of them, in order, or none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct EditRequest {
    /// Path of the file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// Exact path in base64.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// The replacements, applied in order.
    pub edits: Vec<EditText>,
    /// Encoding of the texts.
    #[serde(default)]
    pub encoding: Encoding,
    /// Edit only if the file has this etag.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub if_match: Option<String>,
    /// User to edit as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// Result of an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EditReceipt {
    /// The file after the edit.
    pub file: FileInfo,
    /// For each replacement, the lines where it applied, numbered as before it.
    pub lines: Vec<Vec<u64>>,
}

/// What a patch did to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PatchOutcome {
    /// The file was created.
    Created,
    /// The file's content was changed.
    Changed,
    /// The file was deleted.
    Deleted,
    /// The file was renamed.
    Renamed,
    /// The file was copied.
    Copied,
}

/// Where a hunk was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PatchHunk {
    /// Line in the old file, starting at 1.
    pub line: u64,
    /// Distance in lines from the position that the patch names.
    pub offset: i64,
    /// Number of context lines ignored at each end.
    pub fuzz: u64,
    /// Whether the lines match exactly. Otherwise they differ in white space or in typographic characters.
    pub exact: bool,
}

/// One file of a patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PatchedFile {
    /// Path of the file, after the patch if it still exists.
    pub path: String,
    /// Exact path in base64, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// What happened to it.
    pub outcome: PatchOutcome,
    /// Previous path of a renamed file, or the source of a copy.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// Number of lines added.
    pub added: u64,
    /// Number of lines removed.
    pub removed: u64,
    /// Where its hunks were applied.
    pub hunks: Vec<PatchHunk>,
}

/// Result of applying a patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PatchReceipt {
    /// The patched files.
    pub files: Vec<PatchedFile>,
    /// Whether this was a dry run, which changes nothing.
    pub dry_run: bool,
}
