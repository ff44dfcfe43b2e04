//! Changing text in files: by replacement, and by patch.

use serde::{Deserialize, Serialize};

use crate::{Encoding, FileInfo};

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct EditText {
    /// The text that is there.
    pub old: String,
    /// What takes its place.
    pub new: String,
    /// How often it must be there: once, if not given. Each is replaced.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub count: Option<u64>,
    /// It may be there any number of times, at least once. Each is replaced.
    #[serde(default)]
    pub all: bool,
}

/// Replace exact texts in a file: all of them, one after the other, or none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct EditRequest {
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// The same exactly.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// The replacements.
    pub edits: Vec<EditText>,
    /// How the texts are put into JSON.
    #[serde(default)]
    pub encoding: Encoding,
    /// Only if the file is in the state with this tag.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub if_match: Option<String>,
    /// The user to edit as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// A file was edited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EditReceipt {
    /// As it is now.
    pub file: FileInfo,
    /// For each replacement the lines, as they were before it, where it was done.
    pub lines: Vec<Vec<u64>>,
}

/// What a patch did to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PatchOutcome {
    /// It is new.
    Created,
    /// It has changed.
    Changed,
    /// It has gone.
    Deleted,
    /// It has another name.
    Renamed,
    /// It is a copy.
    Copied,
}

/// Where a hunk went in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PatchHunk {
    /// The line of the old file, counted from one.
    pub line: u64,
    /// How many lines from where it should be.
    pub offset: i64,
    /// How many lines of context at each end were not looked at.
    pub fuzz: u64,
    /// Its lines fit letter by letter; else blanks or typographic signs differ.
    pub exact: bool,
}

/// One file of a patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PatchedFile {
    /// Its path, after the patch if it is still there.
    pub path: String,
    /// The same exactly, if it is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// What happened to it.
    pub outcome: PatchOutcome,
    /// The name that it had, or the file that it is a copy of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// Lines that are new.
    pub added: u64,
    /// Lines that went.
    pub removed: u64,
    /// Where its hunks went in.
    pub hunks: Vec<PatchHunk>,
}

/// A patch was applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PatchReceipt {
    /// Its files.
    pub files: Vec<PatchedFile>,
    /// Nothing was changed: it was only looked whether it fits.
    pub dry_run: bool,
}
