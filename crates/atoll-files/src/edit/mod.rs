//! Exact replacements in one file: each must fit, then the file is replaced in one step.

mod near;
mod replace;

use std::io::Read;

pub use near::{Difference, Near};
pub use replace::{Edit, Expected, Mismatch, replace};

use crate::ask::Condition;
use crate::error::{At, Failure, Kind, Result};
use crate::facts::Facts;
use crate::stage::{Original, Stage};
use crate::tree::Tree;
use crate::turn::{Key, Turn};

/// The largest file that is edited: it is held in memory.
pub const MAX_FILE: usize = 64 << 20;
/// How many replacements one request may hold.
pub const MAX_EDITS: usize = 1000;

/// How an edit went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The file as it is now.
    pub facts: Facts,
    /// For each replacement the lines, before it, where it was done.
    pub lines: Vec<Vec<u64>>,
}

/// Does all replacements, one after the other, or none.
///
/// A link is followed: the file it leads to is edited.
pub fn edit(tree: &Tree, path: &[u8], edits: &[Edit], condition: &Condition) -> Result<Edited> {
    check(path, edits)?;
    let (directory, name) = tree.place(path, None)?;
    // Of two edits at once the second sees what the first did.
    let _turn = Turn::take(vec![Key::of(&directory, &name).at(path)?]);
    let place = Tree::new(directory, crate::tree::Reach::NoLinks);
    let named = |failure: Failure| Failure { path: path.to_vec(), ..failure };
    let original = Original::open(&place, &name).map_err(named)?;
    if !condition.holds(Some(original.facts())) {
        return Err(crate::write::unexpected(condition, Some(original.facts()), path));
    }
    let mut text = read(&original, path)?;
    let mut lines = Vec::with_capacity(edits.len());
    for edit in edits {
        let (edited, at) = replace(&text, edit).map_err(|mismatch| mismatch.failure(path))?;
        if edited.len() > MAX_FILE {
            return Err(too_large(path));
        }
        text = edited;
        lines.push(at);
    }
    let mut stage = Stage::default();
    stage.replace(&place, &name, &text, None, &original).map_err(named)?;
    stage.commit().map_err(named)?;
    let facts = Facts::new(&place.stat(&name, false).map_err(named)?);
    Ok(Edited { facts, lines })
}

fn check(path: &[u8], edits: &[Edit]) -> Result<()> {
    let refuse = |why: String| Err(Failure::new(Kind::Invalid, path, why));
    if edits.is_empty() || edits.len() > MAX_EDITS {
        return refuse(format!("an edit has between 1 and {MAX_EDITS} replacements"));
    }
    for (number, edit) in edits.iter().enumerate() {
        if edit.old.is_empty() {
            return refuse(format!("the old text of replacement {} is empty", number + 1));
        }
        if edit.old == edit.new {
            return refuse(format!("old and new text of replacement {} are the same", number + 1));
        }
        if edit.expected == Expected::Times(0) {
            return refuse(format!("replacement {} is to be done no times", number + 1));
        }
    }
    Ok(())
}

fn read(original: &Original, path: &[u8]) -> Result<Vec<u8>> {
    let limit = u64::try_from(MAX_FILE).unwrap_or(u64::MAX);
    if original.facts().size > limit {
        return Err(too_large(path));
    }
    let mut text = Vec::new();
    original.file().take(limit + 1).read_to_end(&mut text).at(path)?;
    if text.len() > MAX_FILE { Err(too_large(path)) } else { Ok(text) }
}

fn too_large(path: &[u8]) -> Failure {
    Failure::new(Kind::TooLarge, path, format!("is larger than {MAX_FILE} bytes, which is the most that is edited"))
}

#[cfg(test)]
mod tests;
