//! Text in the files of a tree, with ripgrep's engine.
//!
//! [`Search::run`] walks ([`crate::walk`]), opens plain files only, and hands over what it finds as it finds it. Memory
//! is bounded: a line longer than [`MAX_LINE`] is told as trouble, not held. Files are read, never mapped: a mapped file
//! that somebody truncates kills its reader.

mod budget;
mod find;
mod glob;
mod hit;
mod pattern;
mod sink;

pub use budget::{Limits, Truncated};
pub use glob::{Glob, Named};
pub use hit::{Cut, Hit, Role, Span};
pub use pattern::{Case, Pattern, Syntax, Words};

use crate::walk::{Hidden, Ignored, Order};

/// The longest line that is searched, and in multi-line search the largest file.
pub const MAX_LINE: usize = 32 << 20;

/// What to do with files that hold a NUL byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Binary {
    /// A file is searched up to its first NUL.
    #[default]
    Skip,
    /// It is told that such a file matches, without its bytes.
    Report,
    /// They are searched like text.
    Text,
}

/// How much is told of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Every line that matches, and its neighbours.
    #[default]
    Lines,
    /// Only that it matches.
    Files,
    /// How many lines of it match.
    Counts,
}

/// A search that is asked for.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// What to look for.
    pub pattern: Pattern,
    /// Globs that a file must match, if there is any.
    pub include: Vec<String>,
    /// Globs that it must not match.
    pub exclude: Vec<String>,
    /// Names that begin with a dot.
    pub hidden: Hidden,
    /// What `.gitignore` and `.ignore` name.
    pub ignored: Ignored,
    /// Files that are not text.
    pub binary: Binary,
    /// How much is told.
    pub detail: Detail,
    /// Lines told before each match.
    pub before: usize,
    /// Lines told after each match.
    pub after: usize,
    /// How many levels are searched; none for all.
    pub depth: Option<usize>,
    /// In which order.
    pub order: Order,
    /// When it is enough.
    pub limits: Limits,
}

/// What a search came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// Files that were searched.
    pub files: u64,
    /// Files in which something was found.
    pub files_matched: u64,
    /// Matches that were told: lines, or files if only these were asked for.
    pub matches: u64,
    /// Bytes of files that were read.
    pub bytes_read: u64,
    /// Why there may be more to find.
    pub truncated: Option<Truncated>,
    /// How many files and directories could not be searched.
    pub troubles: u64,
    /// The first hundred of them.
    pub first_troubles: Vec<crate::Failure>,
}

#[cfg(test)]
mod tests;
