//! What a search finds, as it is told.

/// The longest piece of a line that is told. Of a longer line the part around its first match is.
pub(super) const MAX_TOLD: usize = 16 << 10;
/// How much of such a line is told before its first match.
const LEAD: usize = 1 << 10;

/// What a told line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It matches.
    Match,
    /// It stands before a match.
    Before,
    /// It stands after a match.
    After,
}

/// A part of the told bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its first byte.
    pub start: usize,
    /// The byte behind it.
    pub end: usize,
}

/// How much of a long line is not told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cut {
    /// Bytes before those that are told.
    pub before: u64,
    /// Bytes behind them.
    pub after: u64,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hit {
    /// A line, or for a match across lines all its lines.
    Line {
        /// The file.
        path: Vec<u8>,
        /// Counted from one.
        line: u64,
        /// Where in the file its first byte is.
        offset: u64,
        /// Its bytes, with the end of the line if it has one.
        bytes: Vec<u8>,
        /// Where in these bytes the matches are.
        spans: Vec<Span>,
        /// Whether it matches.
        role: Role,
        /// What is not told of it.
        cut: Cut,
    },
    /// A file that matches.
    File {
        /// The file.
        path: Vec<u8>,
        /// How many lines of it match; one if only files were asked for.
        matches: u64,
    },
    /// A file that matches and is not text, or whose text ends where its other bytes begin.
    Binary {
        /// The file.
        path: Vec<u8>,
        /// Where its first NUL was seen.
        offset: u64,
    },
}

impl Hit {
    /// The file.
    #[must_use]
    pub fn path(&self) -> &[u8] {
        match self {
            Self::Line { path, .. } | Self::File { path, .. } | Self::Binary { path, .. } => path,
        }
    }

    /// What it counts for in a limit on bytes.
    pub(super) fn bytes(&self) -> u64 {
        let more = match self {
            Self::Line { bytes, .. } => bytes.len(),
            Self::File { .. } | Self::Binary { .. } => 0,
        };
        u64::try_from(self.path().len() + more).unwrap_or(u64::MAX)
    }
}

/// The part of a line that is told, its matches in it, and what is left out.
pub(super) fn cut(line: &[u8], spans: Vec<Span>) -> (Vec<u8>, Vec<Span>, Cut) {
    if line.len() <= MAX_TOLD {
        return (line.to_vec(), spans, Cut::default());
    }
    let first = spans.first().map_or(0, |span| span.start);
    let start = first.saturating_sub(LEAD).min(line.len() - MAX_TOLD);
    let end = start + MAX_TOLD;
    let spans = spans
        .into_iter()
        .filter(|span| span.start < end)
        .map(|span| Span { start: span.start - start, end: span.end.min(end) - start })
        .collect();
    let count = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
    let cut = Cut { before: count(start), after: count(line.len() - end) };
    (line[start..end].to_vec(), spans, cut)
}
