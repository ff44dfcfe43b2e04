//! Directories, and files by name.

use atoll_client::{Client, ListFiles};
use atoll_protocol::GlobRequest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HOME;
use super::command::word;
use crate::call::Call;
use crate::tool::{Nature, Told, Tool};
use crate::trouble::Trouble;

/// Entries of one answer.
const ENTRIES: u64 = 500;

/// The most levels of one list: deeper ones are for a pattern.
const DEPTH_MAX: u32 = 16;

pub(crate) struct ListDirectory;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    /// The directory (/workspace).
    path: Option<String>,
    /// Only names below it that match this glob, such as **/*.py or src/*.rs; what .gitignore names and hidden files are
    /// left out then.
    pattern: Option<String>,
    /// How many levels, without pattern (1, at most 16).
    depth: Option<u32>,
    /// The next of the answer before, to go on.
    after: Option<String>,
}

impl Tool for ListDirectory {
    const NAME: &'static str = "list_directory";
    const TITLE: &'static str = "List a directory";
    const ABOUT: &'static str = "List what is in a directory, with kind and size, or find files below it by a pattern for \
        their names.";
    const NATURE: Nature = Nature::Looks;
    type Input = List;
    type Output = Listed;

    async fn run(input: List, call: &mut Call) -> Result<Listed, Trouble> {
        let path = input.path.unwrap_or_else(|| HOME.to_owned());
        let inside = call.inside().await?;
        match input.pattern {
            Some(_) if input.depth.is_some() || input.after.is_some() => {
                Err(Trouble::invalid("pattern goes without depth and after"))
            }
            Some(pattern) => {
                let finding = by_name(&inside, path, pattern);
                call.until(finding).await.ok_or_else(Trouble::cancelled)?
            }
            None => {
                let depth = input.depth.unwrap_or(1);
                if !(1..=DEPTH_MAX).contains(&depth) {
                    return Err(Trouble::invalid(format!("depth: give 1 to {DEPTH_MAX}")));
                }
                let what = ListFiles { depth, after: input.after, limit: Some(ENTRIES), ..ListFiles::default() };
                let listing = of_directory(&inside, path, what);
                call.until(listing).await.ok_or_else(Trouble::cancelled)?
            }
        }
    }
}

async fn of_directory(inside: &Client, path: String, what: ListFiles) -> Result<Listed, Trouble> {
    let list = inside.list_files(&path, &what).await?;
    let entry = |info: atoll_protocol::FileInfo| Entry {
        path: info.path,
        kind: word(info.kind),
        size: Some(info.size),
        target: info.target,
    };
    let entries = list.entries.into_iter().map(entry).collect();
    Ok(Listed { path, entries, truncated: list.next.is_some(), next: list.next, unreadable: list.unreadable })
}

async fn by_name(inside: &Client, path: String, pattern: String) -> Result<Listed, Trouble> {
    let request = GlobRequest {
        path: Some(path.clone()),
        patterns: vec![pattern],
        max_matches: Some(ENTRIES),
        ..GlobRequest::default()
    };
    let found = inside.glob_files(&request).await?;
    let entry =
        |one: atoll_protocol::GlobEntry| Entry { path: one.path, kind: word(one.kind), size: None, target: None };
    let entries = found.entries.into_iter().map(entry).collect();
    Ok(Listed { path, entries, truncated: found.truncated.is_some(), next: None, unreadable: found.troubles })
}

/// A directory.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Listed {
    /// The directory.
    path: String,
    /// What is in it, by name.
    entries: Vec<Entry>,
    /// There is more than was told.
    truncated: bool,
    /// Give this as after to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// Directories below that could not be read.
    unreadable: u64,
}

/// One name.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Entry {
    /// Its path.
    path: String,
    /// file, directory, symlink, fifo, socket, character_device, block_device or other.
    kind: String,
    /// Its length in bytes, if that was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// Where it leads, if it is a symlink.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

impl Told for Listed {
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
            (Some(next), _) => text.push_str(&format!("[there is more: go on with after \"{next}\"]")),
            (None, true) => text.push_str("[there may be more: use a narrower pattern]"),
            (None, false) => text.truncate(text.trim_end().len()),
        }
        text
    }
}
