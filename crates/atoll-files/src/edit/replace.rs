//! Exact replacement in a text, and what to say when the text is not there as often as it was meant to be.

use std::ops::Range;

use super::near::{self, Near};
use crate::error::{Failure, Kind};

/// How often the old text must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// So often, not more and not less; each is replaced.
    Times(u64),
    /// At least once; all are replaced.
    All,
}

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The text that is there.
    pub old: Vec<u8>,
    /// What takes its place.
    pub new: Vec<u8>,
    /// How often it must be there.
    pub expected: Expected,
}

/// How many line numbers an error names.
const MAX_LINES_TOLD: usize = 10;

/// Why a replacement was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// How often it should have been there.
    pub expected: Expected,
    /// The lines, counted from one, where it is.
    pub found: Vec<u64>,
    /// Places that look like it.
    pub near: Vec<Near>,
}

/// Replaces. Gives the new text and the lines, in the old one, where something was replaced.
pub fn replace(text: &[u8], edit: &Edit) -> Result<(Vec<u8>, Vec<u64>), Mismatch> {
    let places = occurrences(text, &edit.old);
    let found = u64::try_from(places.len()).unwrap_or(u64::MAX);
    let as_expected = match edit.expected {
        Expected::Times(times) => times == found,
        Expected::All => found > 0,
    };
    let lines = line_numbers(text, &places);
    if !as_expected {
        let near = if places.is_empty() { near::near(text, &edit.old) } else { Vec::new() };
        return Err(Mismatch { expected: edit.expected, found: lines, near });
    }
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for place in places {
        out.extend_from_slice(&text[at..place.start]);
        out.extend_from_slice(&edit.new);
        at = place.end;
    }
    out.extend_from_slice(&text[at..]);
    Ok((out, lines))
}

/// Where it is, from left to right, without overlaps.
fn occurrences(text: &[u8], old: &[u8]) -> Vec<Range<usize>> {
    let finder = memchr::memmem::Finder::new(old);
    finder.find_iter(text).map(|start| start..start + old.len()).collect()
}

fn line_numbers(text: &[u8], places: &[Range<usize>]) -> Vec<u64> {
    let (mut line, mut at) = (1, 0);
    let mut numbers = Vec::with_capacity(places.len());
    for place in places {
        line += u64::try_from(memchr::memchr_iter(b'\n', &text[at..place.start]).count()).unwrap_or(0);
        at = place.start;
        numbers.push(line);
    }
    numbers
}

impl Mismatch {
    /// As a failure that names the file.
    #[must_use]
    pub fn failure(&self, path: &[u8]) -> Failure {
        let expected = match self.expected {
            Expected::Times(1) => "once".to_owned(),
            Expected::Times(times) => format!("{times} times"),
            Expected::All => "at least once".to_owned(),
        };
        let found = match self.found.as_slice() {
            [] => "it was not found".to_owned(),
            [line] => format!("it was found once, on line {line}"),
            lines => {
                let told: Vec<String> = lines.iter().take(MAX_LINES_TOLD).map(u64::to_string).collect();
                let more = if lines.len() > MAX_LINES_TOLD { ", …" } else { "" };
                format!("it was found {} times, on lines {}{more}", lines.len(), told.join(", "))
            }
        };
        let near: String = self.near.iter().map(|near| format!("; {near}")).collect();
        Failure::new(Kind::Content, path, format!("the old text should be there {expected}, but {found}{near}"))
    }
}
