//! What is looked for: one pattern, and how it is read.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::error::{Failure, Kind, Result};

/// No honest pattern is longer.
const MAX_PATTERN: usize = 64 << 10;
/// How large a compiled pattern may be, and the memory in which it runs. Ripgrep allows ten times that.
const MAX_COMPILED: usize = 16 << 20;

/// How the text of a pattern is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Syntax {
    /// As a regular expression, within a line.
    #[default]
    Regex,
    /// As a regular expression that may match across lines; `.` matches the end of a line too if `dot_all`.
    Multiline {
        /// Whether `.` matches the end of a line.
        dot_all: bool,
    },
    /// As it is.
    Fixed,
}

/// Whether capital letters matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Case {
    /// They do.
    #[default]
    Sensitive,
    /// They do not.
    Insensitive,
    /// Only if the pattern has one.
    Smart,
}

/// Whether matches must be whole words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Words {
    /// They may be anywhere.
    #[default]
    Any,
    /// They begin and end where words do.
    Whole,
}

/// A pattern.
#[derive(Debug, Clone, Default)]
pub struct Pattern {
    /// Its text.
    pub text: String,
    /// How it is read.
    pub syntax: Syntax,
    /// Whether capital letters matter.
    pub case: Case,
    /// Whether matches must be whole words.
    pub words: Words,
}

impl Pattern {
    /// Whether a match may be more than one line.
    #[must_use]
    pub fn is_multiline(&self) -> bool {
        matches!(self.syntax, Syntax::Multiline { .. }) || (self.syntax == Syntax::Fixed && self.text.contains('\n'))
    }

    pub(super) fn matcher(&self) -> Result<RegexMatcher> {
        let refuse = |why: String| Failure::new(Kind::Invalid, b"", why);
        if self.text.is_empty() {
            return Err(refuse("the pattern is empty".into()));
        }
        if self.text.len() > MAX_PATTERN {
            return Err(refuse(format!("the pattern is longer than {MAX_PATTERN} bytes")));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder
            .multi_line(true)
            .unicode(true)
            .size_limit(MAX_COMPILED)
            .dfa_size_limit(MAX_COMPILED)
            .word(self.words == Words::Whole)
            .fixed_strings(self.syntax == Syntax::Fixed);
        match self.case {
            Case::Sensitive => {}
            Case::Insensitive => drop(builder.case_insensitive(true)),
            Case::Smart => drop(builder.case_smart(true)),
        }
        if self.is_multiline() {
            builder.dot_matches_new_line(self.syntax == Syntax::Multiline { dot_all: true });
        } else {
            builder.line_terminator(Some(b'\n'));
        }
        builder.build(&self.text).map_err(|error| refuse(format!("the pattern cannot be read: {error}")))
    }
}
