//! Patches over many files, all or nothing: unified diffs, and the form that coding agents write.
//!
//! [`parse`] reads a text into data, `fit` finds where hunks belong, `plan` plays the whole patch over the files in
//! memory; only if all of it fits does [`crate::stage`] put the results in place, and take them back if one fails.

mod envelope;
mod fit;
mod hunk;
mod plan;
mod unified;

pub use fit::{Fitted, Looseness};
pub use hunk::{Action, FilePatch, Form, Hunk, Op, Patch, Place, Text};
pub use plan::{Outcome, Patched};
pub use unified::Strip;

use rustix::fs::{Mode, OFlags};

use crate::error::{Failure, Kind, Result};
use crate::stop::Stop;
use crate::tree::{Reach, Tree};
use crate::turn::Turn;

/// The longest patch that is read.
pub const MAX_PATCH: usize = 32 << 20;

/// How a patch is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// How many lines of context at each end of a hunk need not fit.
    pub fuzz: usize,
    /// How many leading names of paths are dropped; for unified diffs.
    pub strip: Strip,
    /// Only look whether it fits.
    pub dry_run: bool,
}

/// Reads a patch of either form.
pub fn parse(text: &[u8], strip: Strip) -> Result<Patch> {
    if text.len() > MAX_PATCH {
        return Err(Failure::new(Kind::TooLarge, b"", format!("the patch is longer than {MAX_PATCH} bytes")));
    }
    if envelope::is(text) { envelope::parse(text) } else { unified::parse(text, strip) }
}

/// Applies a patch to the files below `root`: all of it or nothing.
pub fn apply(tree: &Tree, root: &[u8], text: &[u8], options: Options, stop: &Stop) -> Result<Vec<Patched>> {
    let patch = parse(text, options.strip)?;
    let rules = fit::Rules { form: patch.form, fuzz: options.fuzz, stop };
    let directory = tree.open(root, OFlags::PATH | OFlags::DIRECTORY, Mode::empty())?;
    let base = Tree::new(directory, Reach::Beneath);
    let _turn = Turn::take(plan::keys(&base, root, &patch)?);
    let plan = plan::Plan::make(&base, root, &patch, rules)?;
    let stage = plan.stage(&base)?;
    stop.check()?;
    if !options.dry_run {
        stage.commit()?;
    }
    Ok(plan.told)
}

#[cfg(test)]
mod tests;
