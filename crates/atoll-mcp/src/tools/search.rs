//! Searching files.

use atoll_protocol::{SearchCase, SearchMatch, SearchRequest, SearchRole, SearchSummary, SearchSyntax};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HOME;
use super::command::word;
use crate::call::Call;
use crate::tool::{Nature, Told, Tool};
use crate::trouble::Trouble;

/// Matches that are told if nothing is said, and at most.
const MATCHES: u64 = 200;
const MATCHES_MAX: u64 = 5000;

/// Bytes of lines that are told.
const BYTES: u64 = 128 * 1024;

/// The most lines around a match.
const CONTEXT_MAX: u32 = 20;

pub(crate) struct SearchFiles;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    /// A regular expression (Rust's syntax), matched within lines.
    pattern: String,
    /// The directory or file to search (/workspace).
    path: Option<String>,
    /// Take the pattern as plain text (false).
    #[serde(default)]
    literal: bool,
    /// Capital letters do not matter (false).
    #[serde(default)]
    ignore_case: bool,
    /// Only files that match one of these globs, such as *.rs or src/**.
    #[serde(default)]
    include: Vec<String>,
    /// Leave out what matches one of these globs.
    #[serde(default)]
    exclude: Vec<String>,
    /// Search hidden files and what .gitignore names, too (false).
    #[serde(default)]
    everything: bool,
    /// Lines to show before and after each match (0, at most 20).
    #[serde(default)]
    context: u32,
    /// At most so many matches (200, at most 5000).
    max_matches: Option<u64>,
}

impl Tool for SearchFiles {
    const NAME: &'static str = "search_files";
    const TITLE: &'static str = "Search files";
    const ABOUT: &'static str = "Search the text of files by regular expression, as ripgrep does: what .gitignore names, \
        hidden and binary files are left out. To find files by name use list_directory with a pattern.";
    const NATURE: Nature = Nature::Looks;
    type Input = Search;
    type Output = Found;

    async fn run(input: Search, call: &mut Call) -> Result<Found, Trouble> {
        let most = input.max_matches.unwrap_or(MATCHES);
        if !(1..=MATCHES_MAX).contains(&most) {
            return Err(Trouble::invalid(format!("max_matches: give 1 to {MATCHES_MAX}")));
        }
        if input.context > CONTEXT_MAX {
            return Err(Trouble::invalid(format!("context: at most {CONTEXT_MAX}")));
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
        let inside = call.inside().await?;
        let searching = async { inside.search_files(&request).await };
        let answer = call.until(searching).await.ok_or_else(Trouble::cancelled)??;
        Ok(Found::new(answer.matches, answer.summary))
    }
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Found {
    /// Lines that match, and those around them.
    lines: Vec<Line>,
    /// How many lines match.
    matches: u64,
    /// In how many files.
    files: u64,
    /// If there may be more: matches, bytes or time, of which there were as many as there may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<String>,
    /// Files and directories that could not be searched.
    unreadable: u64,
}

/// A line of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Line {
    /// The file.
    path: String,
    /// Counted from 1.
    line: u64,
    /// The line, without its end; the part around the match if it is very long.
    text: String,
    /// Whether it matches, or is only near a match.
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
            truncated: summary.truncated.map(word),
            unreadable: summary.troubles,
        }
    }
}

impl Told for Found {
    fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            let mark = if line.matches { ':' } else { '-' };
            text.push_str(&format!("{}{mark}{}{mark}{}\n", line.path, line.line, line.text));
        }
        text.push_str(&format!("[{} matches in {} files]", self.matches, self.files));
        if let Some(limit) = &self.truncated {
            text.push_str(&format!("\n[there may be more: as many {limit} as one answer holds]"));
        }
        if self.unreadable > 0 {
            text.push_str(&format!("\n[{} files or directories could not be read]", self.unreadable));
        }
        text
    }
}
