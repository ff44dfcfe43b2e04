//! Matching a regular expression against the lines of a stream that comes in pieces.
//!
//! Owns the unfinished line and the decision how much of it is worth another look. Must not look
//! at all of it after every piece: a line that comes byte by byte would cost its square.
//!
//! Every finished line is matched whole. The unfinished one is matched after every piece, since a
//! prompt has no newline: whole while it is short; once it is long, only for matches that begin in
//! its last [`EAGER_BYTES`], and whole each time it has doubled. So each byte is looked at a
//! bounded number of times, and at worst a match longer than that comes when its line ends.

use regex::bytes::Regex;

/// Longest line matched in one piece. A longer one is matched in windows of this size, each of
/// which overlaps the one before by half: a match that spans more than half may go unseen.
pub(super) const LINE_BYTES: usize = 64 * 1024;

/// How far back a match in an unfinished line is searched after each piece.
const EAGER_BYTES: usize = 1024;

/// The lines of one stream.
#[derive(Debug, Clone)]
pub(super) struct LineScan {
    regex: Regex,
    line: Vec<u8>,
    /// The length at which the unfinished line was last matched whole.
    looked: usize,
    /// Where matches may begin: 1 if the start of the line is gone, for the byte before keeps `^`
    /// and `\b` honest.
    from: usize,
}

/// A line that matched.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LineMatch {
    /// The line, or as much as there is of it.
    pub(super) line: Vec<u8>,
    /// Where in the bytes fed the match ends; 0 if before them.
    pub(super) end: usize,
}

impl LineScan {
    pub(super) fn new(regex: Regex) -> Self {
        Self { regex, line: Vec::new(), looked: 0, from: 0 }
    }

    /// Forgets the unfinished line.
    pub(super) fn reset(&mut self) {
        self.line.clear();
        self.looked = 0;
        self.from = 0;
    }

    /// Reads on; returns the first line that matches.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Option<LineMatch> {
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', bytes) {
            let found = self.finish(&bytes[start..newline], start);
            self.reset();
            if found.is_some() {
                return found;
            }
            start = newline + 1;
        }
        let rest = &bytes[start..];
        if rest.is_empty() {
            return None;
        }
        self.extend(rest, start).or_else(|| self.look_early(rest.len(), bytes.len()))
    }

    /// Matches a line that ends with `rest`, found `at` bytes into the feed.
    fn finish(&mut self, rest: &[u8], at: usize) -> Option<LineMatch> {
        if self.line.is_empty() && rest.len() <= LINE_BYTES {
            // The common line lies whole in the piece: no copy.
            let line = without_return(rest);
            let end = self.regex.find(line)?.end();
            return Some(LineMatch { line: line.to_vec(), end: at + end });
        }
        let found = self.extend(rest, at);
        found.or_else(|| self.look(self.from, without_return(&self.line).len(), at + rest.len()))
    }

    /// Adds to the unfinished line, matching and halving it whenever it is full.
    fn extend(&mut self, mut rest: &[u8], mut at: usize) -> Option<LineMatch> {
        while self.line.len() + rest.len() > LINE_BYTES {
            let (piece, later) = rest.split_at(LINE_BYTES - self.line.len());
            self.line.extend_from_slice(piece);
            at += piece.len();
            let found = self.look(self.from, self.line.len(), at);
            if found.is_some() {
                return found;
            }
            self.slide();
            rest = later;
        }
        self.line.extend_from_slice(rest);
        None
    }

    fn slide(&mut self) {
        self.line.drain(..LINE_BYTES / 2 - 1);
        self.looked = self.line.len();
        self.from = 1;
    }

    /// Matches the unfinished line as far as the rule above pays for. It has just got `added`
    /// bytes, the last of a feed of `fed`.
    fn look_early(&mut self, added: usize, fed: usize) -> Option<LineMatch> {
        let len = self.line.len();
        if len > EAGER_BYTES && len < 2 * self.looked {
            let recent = len.saturating_sub(EAGER_BYTES + added);
            return self.look(self.from.max(recent), len, fed);
        }
        self.looked = len;
        self.look(self.from, len, fed)
    }

    /// Matches `line[..to]` for matches from `from` on; the line's end is `at` bytes into the feed.
    fn look(&self, from: usize, to: usize, at: usize) -> Option<LineMatch> {
        let line = &self.line[..to];
        let end = self.regex.find_at(line, from.min(to))?.end();
        let after = self.line.len() - end;
        Some(LineMatch { line: line.to_vec(), end: at.saturating_sub(after) })
    }
}

/// A terminal ends its lines with a carriage return too; `$` should not have to know.
fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scan(pattern: &str) -> LineScan {
        LineScan::new(Regex::new(pattern).unwrap())
    }

    fn feed_by(scan: &mut LineScan, bytes: &[u8], size: usize) -> Option<Vec<u8>> {
        let found = bytes.chunks(size).find_map(|piece| scan.feed(piece));
        found.map(|found| found.line)
    }

    #[test]
    fn a_prompt_matches_before_its_newline() {
        let mut scan = scan(r"^\$ $");
        assert_eq!(scan.feed(b"hello\n$"), None);
        let found = scan.feed(b" ").unwrap();
        assert_eq!((found.line, found.end), (b"$ ".to_vec(), 1));
    }

    #[test]
    fn anchors_see_the_line_and_not_the_piece() {
        assert_eq!(feed_by(&mut scan("^b"), b"ab\nab", 1), None);
        assert_eq!(feed_by(&mut scan("a$"), b"xa\r\n", 9), Some(b"xa".to_vec()));
    }

    #[test]
    fn a_line_longer_than_the_buffer_is_matched_in_windows() {
        let mut line = vec![b'x'; 5 * LINE_BYTES];
        line[0] = b'y';
        line.extend_from_slice(b"needle");
        assert_eq!(feed_by(&mut scan("^x"), &line, 4096), None);
        assert_eq!(feed_by(&mut scan("^y.*needle"), &line, 4096), None);
        assert_eq!(feed_by(&mut scan("^needle"), &line, 4096), None);
        let found = feed_by(&mut scan("x{9}needle"), &line, 4096).unwrap();
        assert!(found.ends_with(b"needle") && found.len() <= LINE_BYTES);
    }

    #[test]
    fn a_long_match_in_a_long_line_comes_at_the_latest_with_its_end() {
        let mut line = b"start".to_vec();
        line.resize(3 * EAGER_BYTES, b'.');
        line.extend_from_slice(b"end\n");
        assert!(feed_by(&mut scan("start.*end"), &line, 1).is_some());
    }

    #[test]
    fn byte_by_byte_costs_no_square() {
        // Whole rescans would look at 2^32 bytes here and seem to hang.
        let line = vec![b'x'; 3 * LINE_BYTES];
        assert_eq!(feed_by(&mut scan("never"), &line, 1), None);
    }

    proptest! {
        #[test]
        fn finds_what_a_search_line_by_line_finds(
            text in "[ab\n]{0,80}",
            pattern in prop::sample::select(vec!["ab+a", "^ba", "bb$", "a.b", "^$"]),
            cut in 1_usize..9,
        ) {
            let regex = Regex::new(pattern).unwrap();
            let finished = text.rfind('\n').map_or(0, |end| end + 1);
            let expected = text[..finished].lines().any(|line| regex.is_match(line.as_bytes()));
            let found = feed_by(&mut scan(pattern), text.as_bytes(), cut).is_some();
            // An unfinished line may match where the finished one does not, never the reverse.
            prop_assert!(found || !expected);
            if found && !pattern.contains('$') {
                let anywhere = text.lines().any(|line| regex.is_match(line.as_bytes()));
                prop_assert!(anywhere);
            }
        }
    }
}
