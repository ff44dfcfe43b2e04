//! Places in a text that look like one that is not there: what whoever wrote the old text may have meant.

use std::fmt;

/// A place that looks like it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    /// Its first line, counted from one.
    pub line: u64,
    /// What is different.
    pub difference: Difference,
}

/// What is different about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// Only spaces and tabs.
    Blanks,
    /// Only capital letters.
    Case,
    /// Only how lines end: the file has carriage returns.
    LineEnds,
    /// Some of its lines.
    Lines {
        /// The first that differs.
        first: u64,
        /// How many are the same.
        same: usize,
        /// Of how many.
        of: usize,
    },
}

/// How many are told.
const MAX_NEAR: usize = 3;
/// A text with more lines is not looked for line by line: nobody mistypes one.
const MAX_LINES: usize = 500;
/// Of a larger file nothing near is looked for.
const MAX_TEXT: usize = 4 << 20;

/// The nearest places, best first.
pub(super) fn near(text: &[u8], old: &[u8]) -> Vec<Near> {
    if text.len() > MAX_TEXT {
        return Vec::new();
    }
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let mut wanted: Vec<&[u8]> = old.split(|&byte| byte == b'\n').collect();
    while wanted.len() > 1 && wanted.last().is_some_and(|line| line.trim_ascii().is_empty()) {
        wanted.pop();
    }
    if wanted.len() > MAX_LINES || wanted.len() > lines.len() || wanted.iter().all(|line| line.trim_ascii().is_empty())
    {
        return Vec::new();
    }
    let mut found: Vec<(usize, Near)> = Vec::new();
    for start in 0..=lines.len() - wanted.len() {
        let window = &lines[start..start + wanted.len()];
        if let Some((distance, difference)) = compare(window, &wanted, start) {
            found.push((distance, Near { line: number(start), difference }));
        }
    }
    found.sort_by_key(|(distance, near)| (*distance, near.line));
    found.truncate(MAX_NEAR);
    found.into_iter().map(|(_, near)| near).collect()
}

/// How far apart, and in what; none where they have little in common.
fn compare(window: &[&[u8]], wanted: &[&[u8]], start: usize) -> Option<(usize, Difference)> {
    // The old text may begin or end within a line; a single line is compared as a part of one.
    let holds = |line: &[u8], part: &[u8]| memchr::memmem::find(line, part).is_some();
    let all = |same: &dyn Fn(&[u8], &[u8]) -> bool| window.iter().zip(wanted).all(|(a, b)| same(a, b));
    let ends_differ = window.iter().any(|line| line.ends_with(b"\r"));
    if ends_differ && all(&|a, b| holds(a, b)) {
        return Some((0, Difference::LineEnds));
    }
    if all(&|a, b| holds(&squeeze(a), &squeeze(b))) {
        return Some((1, Difference::Blanks));
    }
    if all(&|a, b| holds(&squeeze(&a.to_ascii_lowercase()), &squeeze(&b.to_ascii_lowercase()))) {
        return Some((2, Difference::Case));
    }
    let same = |(a, b): (&&[u8], &&[u8])| squeeze(a) == squeeze(b);
    let count = window.iter().zip(wanted).filter(|pair| same(*pair)).count();
    if wanted.len() < 2 || count * 2 < wanted.len() {
        return None;
    }
    let first = window.iter().zip(wanted).position(|pair| !same(pair))?;
    let lines = Difference::Lines { first: number(start + first), same: count, of: wanted.len() };
    Some((3 + wanted.len() - count, lines))
}

/// Without blanks at either end, and with one where there are several.
fn squeeze(line: &[u8]) -> Vec<u8> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(&b' ')
}

fn number(index: usize) -> u64 {
    u64::try_from(index).unwrap_or(u64::MAX - 1) + 1
}

impl fmt::Display for Near {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line;
        match self.difference {
            Difference::Blanks => write!(f, "line {line} differs only in blanks"),
            Difference::Case => write!(f, "line {line} differs only in capital letters"),
            Difference::LineEnds => write!(f, "line {line} differs only in its line ends: they are CRLF"),
            Difference::Lines { first, same, of } => {
                write!(
                    f,
                    "at line {line}, {same} of {of} lines are the same, and line {first} is the first that differs"
                )
            }
        }
    }
}
