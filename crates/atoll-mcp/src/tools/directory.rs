//! The `list_directory` tool, which also finds files by name.

use atoll_client::{Client, ListFiles};
use atoll_protocol::GlobRequest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HOME;
use super::command::json_name;
use crate::call::Call;
use crate::error::ToolError;
use crate::tool::{Effect, Tool, ToolOutput};

/// Maximum number of entries in a result.
const ENTRIES: u64 = 500;

/// Maximum depth of a list; deeper trees need a pattern.
const DEPTH_MAX: u32 = 16;

pub(crate) struct ListDirectory;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    /// Directory to list (default /workspace).
    path: Option<String>,
    /// Glob for the paths below the directory, such as **/*.py or src/*.rs; excludes hidden files and those in
    /// .gitignore.
    pattern: Option<String>,
    /// Number of levels to list, without pattern (default 1, at most 16).
    depth: Option<u32>,
    /// Value of next from the previous result, to continue.
    after: Option<String>,
}

impl Tool for ListDirectory {
    const NAME: &'static str = "list_directory";
    const TITLE: &'static str = "List a directory";
    const ABOUT: &'static str = "List the files in a directory, with type and size, or find files below it by a glob \
        pattern.";
    const EFFECT: Effect = Effect::ReadOnly;
    type Input = List;
    type Output = Listed;

    async fn run(input: List, call: &mut Call) -> Result<Listed, ToolError> {
        let path = input.path.unwrap_or_else(|| HOME.to_owned());
        let sandbox = call.sandbox().await?;
        match input.pattern {
            Some(_) if input.depth.is_some() || input.after.is_some() => {
                Err(ToolError::invalid("pattern cannot be combined with depth or after"))
            }
            Some(pattern) => {
                let finding = glob(&sandbox, path, pattern);
                call.wait(finding).await.ok_or_else(ToolError::cancelled)?
            }
            None => {
                let depth = input.depth.unwrap_or(1);
                if !(1..=DEPTH_MAX).contains(&depth) {
                    return Err(ToolError::invalid(format!("depth: must be 1 to {DEPTH_MAX}")));
                }
                let what = ListFiles { depth, after: input.after, limit: Some(ENTRIES), ..ListFiles::default() };
                let listing = list(&sandbox, path, what);
                call.wait(listing).await.ok_or_else(ToolError::cancelled)?
            }
        }
    }
}

async fn list(sandbox: &Client, path: String, what: ListFiles) -> Result<Listed, ToolError> {
    let list = sandbox.list_files(&path, &what).await?;
    let entry = |info: atoll_protocol::FileInfo| Entry {
        path: info.path,
        kind: json_name(info.kind),
        size: Some(info.size),
        target: info.target,
    };
    let entries = list.entries.into_iter().map(entry).collect();
    Ok(Listed { path, entries, truncated: list.next.is_some(), next: list.next, unreadable: list.unreadable })
}

async fn glob(sandbox: &Client, path: String, pattern: String) -> Result<Listed, ToolError> {
    let request = GlobRequest {
        path: Some(path.clone()),
        patterns: vec![pattern],
        max_matches: Some(ENTRIES),
        ..GlobRequest::default()
    };
    let found = sandbox.glob_files(&request).await?;
    let entry =
        |one: atoll_protocol::GlobEntry| Entry { path: one.path, kind: json_name(one.kind), size: None, target: None };
    let entries = found.entries.into_iter().map(entry).collect();
    Ok(Listed { path, entries, truncated: found.truncated.is_some(), next: None, unreadable: found.troubles })
}

/// A directory listing.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Listed {
    /// The directory.
    path: String,
    /// Entries, sorted by name.
    entries: Vec<Entry>,
    /// Whether there are more entries.
    truncated: bool,
    /// Pass this as after to continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// Number of subdirectories that could not be read.
    unreadable: u64,
}

/// One entry.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Entry {
    /// Path of the entry.
    path: String,
    /// file, directory, symlink, fifo, socket, character_device, block_device or other.
    kind: String,
    /// Length in bytes, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// Target of a symlink.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

impl ToolOutput for Listed {
    fn text(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            let mark = if entry.kind == "directory" { "/" } else { "" };
            text.push_str(&format!("{}{mark}", entry.path));
            match (entry.kind.as_str(), entry.size, &entry.target) {
                ("file", Some(size), _) => text.push_str(&format!(" ({size} bytes)")),
                ("symlink", _, Some(target)) => text.push_str(&format!(" -> {target}")),
                ("file" | "directory" | "symlink", ..) => {}
                (kind, ..) => text.push_str(&format!(" ({kind})")),
            }
            text.push('\n');
        }
        if self.entries.is_empty() {
            text.push_str("[nothing]\n");
        }
        match (&self.next, self.truncated) {
            (Some(next), _) => text.push_str(&format!("[more entries: continue with after \"{next}\"]")),
            (None, true) => text.push_str("[there may be more entries: use a narrower pattern]"),
            (None, false) => text.truncate(text.trim_end().len()),
        }
        text
    }
}
