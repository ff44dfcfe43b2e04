//! Searching file contents and file names.

use serde::{Deserialize, Serialize};

use crate::ErrorBody;

/// How a pattern is interpreted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchSyntax {
    /// Regular expression, matched within lines.
    #[default]
    Regex,
    /// Regular expression that can match across lines.
    Multiline,
    /// Like `multiline`, and `.` matches line ends, too.
    MultilineDotAll,
    /// Plain text.
    Fixed,
}

/// Whether case matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchCase {
    /// Case matters.
    #[default]
    Sensitive,
    /// Case does not matter.
    Insensitive,
    /// Case matters only if the pattern has an upper-case letter.
    Smart,
}

/// How to search files that contain NUL bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchBinary {
    /// Search each file up to its first NUL.
    #[default]
    Skip,
    /// Report that a binary file matches, without its content.
    Report,
    /// Search them like text.
    Text,
}

/// How much detail to return for each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchDetail {
    /// Matching lines and their context.
    #[default]
    Lines,
    /// Only the names of matching files.
    Files,
    /// The number of matching lines of each file.
    Counts,
}

/// Searches the files below a directory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SearchRequest {
    /// Directory or file to search.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// Exact path in base64.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Pattern to search for.
    pub pattern: String,
    /// How the pattern is interpreted.
    #[serde(default)]
    pub syntax: SearchSyntax,
    /// Whether case matters.
    #[serde(default)]
    pub case: SearchCase,
    /// Match only whole words.
    #[serde(default)]
    pub words: bool,
    /// Globs of files to search; all files if empty. A glob without a slash matches names at any depth.
    #[serde(default)]
    pub include: Vec<String>,
    /// Globs of files to leave out.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Search hidden files, too: names that begin with a dot.
    #[serde(default)]
    pub hidden: bool,
    /// Search files that `.gitignore` and `.ignore` exclude, too.
    #[serde(default)]
    pub ignored: bool,
    /// How to search binary files.
    #[serde(default)]
    pub binary: SearchBinary,
    /// How much detail to return.
    #[serde(default)]
    pub detail: SearchDetail,
    /// Number of context lines before each match.
    #[serde(default)]
    pub before: u32,
    /// Number of context lines after each match.
    #[serde(default)]
    pub after: u32,
    /// Maximum depth; unlimited if not given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depth: Option<u32>,
    /// Sort results by path, which makes them reproducible and the search slower.
    #[serde(default)]
    pub sorted: bool,
    /// Maximum number of matches (default 10000).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_matches: Option<u64>,
    /// Maximum number of matches per file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_matches_per_file: Option<u64>,
    /// Maximum number of bytes to return (default 16 MiB).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_bytes: Option<u64>,
    /// Time limit (default 60 s).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_ms: Option<u64>,
    /// User to search as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// Role of a returned line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchRole {
    /// The line matches.
    Match,
    /// Context before a match.
    Before,
    /// Context after a match.
    After,
}

/// A range of bytes within a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SearchSpan {
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
}

/// A line that matches, or its context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SearchMatch {
    /// Path of the file.
    pub path: String,
    /// Exact path in base64, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Line number, from 1.
    pub line: u64,
    /// Offset of the line's first byte in the file.
    pub offset: u64,
    /// The line with its line end; for a match across lines, all of its lines.
    pub text: String,
    /// Exact text in base64, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text_base64: Option<String>,
    /// Byte ranges of the matches within the line.
    pub spans: Vec<SearchSpan>,
    /// Whether the line matches or is context.
    pub role: SearchRole,
    /// Number of bytes cut from the start of a long line.
    #[serde(default)]
    pub cut_before: u64,
    /// Number of bytes cut from the end of a long line.
    #[serde(default)]
    pub cut_after: u64,
}

/// A file that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SearchFile {
    /// Path of the file.
    pub path: String,
    /// Exact path in base64, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Number of matching lines; absent for a binary file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub matches: Option<u64>,
}

/// Why the results may be incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchTruncated {
    /// The limit of matches was reached.
    Matches,
    /// The limit of bytes was reached.
    Bytes,
    /// The time limit was reached.
    Time,
    /// The search was cancelled.
    Cancelled,
}

/// Summary of a search.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SearchSummary {
    /// Number of files searched.
    pub files: u64,
    /// Number of files that match.
    pub files_matched: u64,
    /// Number of matches returned.
    pub matches: u64,
    /// Number of bytes read.
    pub bytes_read: u64,
    /// Why the results may be incomplete.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub truncated: Option<SearchTruncated>,
    /// Number of files and directories that could not be searched.
    pub troubles: u64,
    /// The first errors, as messages for people.
    pub first_troubles: Vec<String>,
}

/// One line of a streamed search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchLine {
    /// A matching line, or its context.
    Match(SearchMatch),
    /// A matching file, if `detail` is `files` or `counts`.
    File(SearchFile),
    /// A binary file that matches.
    Binary(SearchFile),
    /// The last line.
    End(SearchSummary),
    /// The last line, if the search failed midway.
    Error(ErrorBody),
}

/// Result of a search.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SearchAnswer {
    /// Matching lines and their context.
    pub matches: Vec<SearchMatch>,
    /// Matching files, if `detail` is `files` or `counts`, and binary files that match.
    pub files: Vec<SearchFile>,
    /// Summary of the search.
    pub summary: SearchSummary,
}

/// Finds files below a directory by name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GlobRequest {
    /// Directory to search.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// Exact path in base64.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Globs for the path below the directory: `*` and `?` match within a name, `**` across directories.
    pub patterns: Vec<String>,
    /// Globs of files to leave out.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Include hidden files: names that begin with a dot.
    #[serde(default)]
    pub hidden: bool,
    /// Include files that `.gitignore` and `.ignore` exclude.
    #[serde(default)]
    pub ignored: bool,
    /// Maximum depth; unlimited if not given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depth: Option<u32>,
    /// Maximum number of results (default 10000).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_matches: Option<u64>,
    /// Time limit (default 60 s).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_ms: Option<u64>,
    /// User to search as.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
}

/// Type of a file that was found.
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

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GlobEntry {
    /// Path of the file.
    pub path: String,
    /// Exact path in base64, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path_base64: Option<String>,
    /// Type of the file.
    pub kind: GlobKind,
}

/// The files that were found, sorted by path.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GlobAnswer {
    /// The files.
    pub entries: Vec<GlobEntry>,
    /// Why the results may be incomplete.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub truncated: Option<SearchTruncated>,
    /// Number of directories that could not be read.
    pub troubles: u64,
}
