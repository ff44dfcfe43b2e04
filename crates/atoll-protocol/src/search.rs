//! Searching in files, and finding them by name.

use serde::{Deserialize, Serialize};

use crate::ErrorBody;

/// How the text of a pattern is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchSyntax {
    /// As a regular expression, within a line.
    #[default]
    Regex,
    /// As a regular expression that may match across lines.
    Multiline,
    /// The same, and `.` matches the end of a line, too.
    MultilineDotAll,
    /// As it is.
    Fixed,
}

/// Whether capital letters matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchCase {
    /// They do.
    #[default]
    Sensitive,
    /// They do not.
    Insensitive,
    /// Only if the pattern has one.
    Smart,
}

/// What to do with files that hold a NUL byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchBinary {
    /// A file is searched up to its first NUL.
    #[default]
    Skip,
    /// It is told that such a file matches, without its bytes.
    Report,
    /// They are searched like text.
    Text,
}

/// How much is told of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchDetail {
    /// Every line that matches, and its neighbours.
    #[default]
    Lines,
    /// Only that it matches.
    Files,
    /// How many lines of it match.
    Counts,
}

/// Search the files below a directory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SearchRequest {
    /// The directory, or a file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// The same exactly.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// What to look for.
    pub pattern: String,
    /// How it is read.
    #[serde(default)]
    pub syntax: SearchSyntax,
    /// Whether capital letters matter.
    #[serde(default)]
    pub case: SearchCase,
    /// Only whole words.
    #[serde(default)]
    pub words: bool,
    /// Globs that a file must match, if there is any. Without a slash: names at any depth.
    #[serde(default)]
    pub include: Vec<String>,
    /// Globs of what is left out.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Names that begin with a dot, too.
    #[serde(default)]
    pub hidden: bool,
    /// What `.gitignore` and `.ignore` name, too.
    #[serde(default)]
    pub ignored: bool,
    /// Files that are not text.
    #[serde(default)]
    pub binary: SearchBinary,
    /// How much is told.
    #[serde(default)]
    pub detail: SearchDetail,
    /// Lines told before each match.
    #[serde(default)]
    pub before: u32,
    /// Lines told after each match.
    #[serde(default)]
    pub after: u32,
    /// How many levels; all if not given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depth: Option<u32>,
    /// In the order of names: the same each time, and slower.
    #[serde(default)]
    pub sorted: bool,
    /// Matches in all (10000).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_matches: Option<u64>,
    /// Matches in one file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_matches_per_file: Option<u64>,
    /// Bytes that are told (16 MiB).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_bytes: Option<u64>,
    /// How long it may take (60 s).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_ms: Option<u64>,
    /// The user to search as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// What a told line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchRole {
    /// It matches.
    Match,
    /// It stands before a match.
    Before,
    /// It stands after a match.
    After,
}

/// A part of a line, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SearchSpan {
    /// Its first byte.
    pub start: u64,
    /// The byte behind it.
    pub end: u64,
}

/// A line that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SearchMatch {
    /// The file.
    pub path: String,
    /// The same exactly, if it is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Counted from one.
    pub line: u64,
    /// Where in the file its first byte is.
    pub offset: u64,
    /// The line, with its end; for a match across lines all of them.
    pub text: String,
    /// The same exactly, if it is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text_base64: Option<String>,
    /// Where in its bytes the matches are.
    pub spans: Vec<SearchSpan>,
    /// Whether it matches.
    pub role: SearchRole,
    /// Bytes of a long line that are not told, before and behind.
    #[serde(default)]
    pub cut_before: u64,
    /// The same behind.
    #[serde(default)]
    pub cut_after: u64,
}

/// A file in which something was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SearchFile {
    /// The file.
    pub path: String,
    /// The same exactly, if it is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// How many lines of it match; not known of a file that is not text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub matches: Option<u64>,
}

/// Why there may be more than was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchTruncated {
    /// So many matches were asked for.
    Matches,
    /// So many bytes.
    Bytes,
    /// It took as long as it may.
    Time,
    /// It was called off.
    Cancelled,
}

/// What a search came to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SearchSummary {
    /// Files that were searched.
    pub files: u64,
    /// Files in which something was found.
    pub files_matched: u64,
    /// Matches that were told.
    pub matches: u64,
    /// Bytes of files that were read.
    pub bytes_read: u64,
    /// Why there may be more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub truncated: Option<SearchTruncated>,
    /// Files and directories that could not be searched.
    pub troubles: u64,
    /// The first of them, for people.
    pub first_troubles: Vec<String>,
}

/// One line of a search that is streamed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchLine {
    /// A line of a file.
    Match(SearchMatch),
    /// A file, if only files or counts were asked for.
    File(SearchFile),
    /// A file that matches and is not text.
    Binary(SearchFile),
    /// The last line.
    End(SearchSummary),
    /// The last line, if it went wrong in the middle.
    Error(ErrorBody),
}

/// A whole search.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SearchAnswer {
    /// Lines of files.
    pub matches: Vec<SearchMatch>,
    /// Files, if only files or counts were asked for; and those that match and are not text.
    pub files: Vec<SearchFile>,
    /// What it came to.
    pub summary: SearchSummary,
}

/// Find names below a directory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GlobRequest {
    /// The directory.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// The same exactly.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Patterns over the path below the directory: `*` and `?` stay within a name, `**` does not.
    pub patterns: Vec<String>,
    /// Globs of what is left out.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Names that begin with a dot, too.
    #[serde(default)]
    pub hidden: bool,
    /// What `.gitignore` and `.ignore` name, too.
    #[serde(default)]
    pub ignored: bool,
    /// How many levels; all if not given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depth: Option<u32>,
    /// Names in all (10000).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_matches: Option<u64>,
    /// How long it may take (60 s).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_ms: Option<u64>,
    /// The user to look as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// What a name that was found stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum GlobKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A fifo, a socket or a device.
    Other,
}

/// A name that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GlobEntry {
    /// Its path.
    pub path: String,
    /// The same exactly, if it is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// What it is.
    pub kind: GlobKind,
}

/// Names that were found, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GlobAnswer {
    /// The names.
    pub entries: Vec<GlobEntry>,
    /// Why there may be more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub truncated: Option<SearchTruncated>,
    /// Directories that could not be read.
    pub troubles: u64,
}
