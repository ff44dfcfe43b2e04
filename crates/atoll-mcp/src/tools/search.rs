//! The `search_files` tool.

use atoll_protocol::{SearchCase, SearchMatch, SearchRequest, SearchRole, SearchSummary, SearchSyntax};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HOME;
use super::command::json_name;
use crate::call::Call;
use crate::error::ToolError;
use crate::tool::{Effect, Tool, ToolOutput};

/// Default and maximum number of matches in a result.
const MATCHES: u64 = 200;
const MATCHES_MAX: u64 = 5000;

/// Maximum number of bytes of lines in a result.
const BYTES: u64 = 128 * 1024;

/// Maximum number of context lines.
const CONTEXT_MAX: u32 = 20;

pub(crate) struct SearchFiles;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    /// Regular expression (Rust syntax), matched within lines.
    pattern: String,
    /// Directory or file to search (default /workspace).
    path: Option<String>,
    /// Treat the pattern as plain text (default false).
    #[serde(default)]
    literal: bool,
    /// Ignore case (default false).
    #[serde(default)]
    ignore_case: bool,
    /// Globs of files to search, such as *.rs or src/**; all files if empty.
    #[serde(default)]
    include: Vec<String>,
    /// Globs of files to leave out.
    #[serde(default)]
    exclude: Vec<String>,
    /// Include hidden files and those in .gitignore (default false).
    #[serde(default)]
    everything: bool,
    /// Number of context lines before and after each match (default 0, at most 20).
    #[serde(default)]
    context: u32,
    /// Maximum number of matches (default 200, at most 5000).
    max_matches: Option<u64>,
}

impl Tool for SearchFiles {
    const NAME: &'static str = "search_files";
    const TITLE: &'static str = "Search files";
    const ABOUT: &'static str = "Search the content of files by regular expression, like ripgrep: hidden files, \
        binary files and those in .gitignore are excluded. To find files by name, use list_directory with a pattern.";
    const EFFECT: Effect = Effect::ReadOnly;
    type Input = Search;
    type Output = Found;

    async fn run(input: Search, call: &mut Call) -> Result<Found, ToolError> {
        let most = input.max_matches.unwrap_or(MATCHES);
        if !(1..=MATCHES_MAX).contains(&most) {
            return Err(ToolError::invalid(format!("max_matches: must be 1 to {MATCHES_MAX}")));
        }
        if input.context > CONTEXT_MAX {
            return Err(ToolError::invalid(format!("context: at most {CONTEXT_MAX}")));
        }
        let request = SearchRequest {
            path: Some(input.path.unwrap_or_else(|| HOME.to_owned())),
            pattern: input.pattern,
            syntax: if input.literal { SearchSyntax::Fixed } else { SearchSyntax::Regex },
            case: if input.ignore_case { SearchCase::Insensitive } else { SearchCase::Sensitive },
            include: input.include,
            exclude: input.exclude,
            hidden: input.everything,
            ignored: input.everything,
            before: input.context,
            after: input.context,
            sorted: true,
            max_matches: Some(most),
            max_bytes: Some(BYTES),
            ..SearchRequest::default()
        };
        let sandbox = call.sandbox().await?;
        let searching = async { sandbox.search_files(&request).await };
        let answer = call.wait(searching).await.ok_or_else(ToolError::cancelled)??;
        Ok(Found::new(answer.matches, answer.summary))
    }
}

/// Result of a search.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Found {
    /// Matching lines and their context.
    lines: Vec<Line>,
    /// Number of matching lines.
    matches: u64,
    /// Number of files that match.
    files: u64,
    /// The limit that was reached, if there may be more matches: matches, bytes or time.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<String>,
    /// Number of files and directories that could not be searched.
    unreadable: u64,
}

/// A line of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Line {
    /// Path of the file.
    path: String,
    /// Line number, from 1.
    line: u64,
    /// The line without its line end; only the part around the match if it is very long.
    text: String,
    /// Whether the line matches, or is context.
    matches: bool,
}

impl Found {
    fn new(found: Vec<SearchMatch>, summary: SearchSummary) -> Self {
        let line = |found: SearchMatch| Line {
            path: found.path,
            line: found.line,
            text: found.text.trim_end_matches(['\n', '\r']).to_owned(),
            matches: found.role == SearchRole::Match,
        };
        Self {
            lines: found.into_iter().map(line).collect(),
            matches: summary.matches,
            files: summary.files_matched,
            truncated: summary.truncated.map(json_name),
            unreadable: summary.troubles,
        }
    }
}

impl ToolOutput for Found {
    fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            let mark = if line.matches { ':' } else { '-' };
            text.push_str(&format!("{}{mark}{}{mark}{}\n", line.path, line.line, line.text));
        }
        text.push_str(&format!("[{} matches in {} files]", self.matches, self.files));
        if let Some(limit) = &self.truncated {
            text.push_str(&format!("\n[there may be more matches: the limit of {limit} was reached]"));
        }
        if self.unreadable > 0 {
            text.push_str(&format!("\n[{} files or directories could not be read]", self.unreadable));
        }
        text
    }
}
