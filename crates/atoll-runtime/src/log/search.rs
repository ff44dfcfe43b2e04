//! Waiting for a text or a regular expression in the output of a command.
//!
//! Owns the pairing of a pattern with two streams, which are two texts: a match never spans both.
//! Must not read a log except through a [`Reader`], and must not join what a gap has parted.

use atoll_protocol::Stream;
use regex::bytes::Regex;

use super::event::Event;
use super::line_scan::{LINE_BYTES, LineScan};
use super::reader::Reader;
use super::text_scan::{Needle, TextScan};

/// What to look for.
#[derive(Debug, Clone)]
pub(crate) enum Pattern {
    /// These bytes, anywhere, newlines included.
    Text(Vec<u8>),
    /// This expression, in each line without its end, and in the last line before it has one.
    Regex(Regex),
}

/// Where the pattern was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The stream it was found in.
    pub stream: Stream,
    /// Where in the combined log to read on: just after the match, or, if the match became one
    /// only by what followed it, at the first of the bytes that showed it.
    pub cursor: u64,
    /// The line the match ends in, as far as it is known and at most 64 KiB of it.
    pub line: Vec<u8>,
}

/// The search for one pattern in the output of one command.
#[derive(Debug, Clone)]
pub(crate) struct Matcher {
    stdout: Scan,
    stderr: Scan,
}

/// The search in one stream.
#[derive(Debug, Clone)]
enum Scan {
    Text { scan: TextScan, line: LastLine },
    Regex(LineScan),
}

impl Matcher {
    /// A search that has seen nothing yet.
    #[must_use]
    pub(crate) fn new(pattern: Pattern) -> Self {
        let scan = match pattern {
            Pattern::Text(text) => Scan::Text { scan: TextScan::new(Needle::new(text)), line: LastLine::default() },
            Pattern::Regex(regex) => Scan::Regex(LineScan::new(regex)),
        };
        Self { stdout: scan.clone(), stderr: scan }
    }

    /// Reads the next bytes of `stream`, which lie at `cursor`; returns the first match in them.
    ///
    /// A search ends with its first match: what follows it in `bytes` is not looked at.
    pub(crate) fn feed(&mut self, stream: Stream, cursor: u64, bytes: &[u8]) -> Option<Match> {
        let scan = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let (end, line) = scan.feed(bytes)?;
        Some(Match { stream, cursor: cursor + end as u64, line })
    }

    /// Says that bytes are missing here: what came before and what comes after do not join.
    pub(crate) fn gap(&mut self) {
        self.stdout.reset();
        self.stderr.reset();
    }

    /// Reads a log until the pattern is found; `None` if the log ends first.
    ///
    /// Dropping the future loses nothing: the search can be taken up again.
    pub(crate) async fn search(&mut self, reader: &mut Reader) -> Option<Match> {
        while let Some(event) = reader.next().await {
            match event {
                Event::Gap { .. } => self.gap(),
                Event::Output(chunk) => {
                    let found = self.feed(chunk.stream, chunk.cursor, &chunk.bytes);
                    if found.is_some() {
                        return found;
                    }
                }
            }
        }
        None
    }
}

impl Scan {
    /// Where in `bytes` the first match ends, and its line.
    fn feed(&mut self, bytes: &[u8]) -> Option<(usize, Vec<u8>)> {
        match self {
            Self::Text { scan, line } => {
                let Some(end) = scan.feed(bytes) else {
                    line.push(bytes);
                    return None;
                };
                Some((end, line.around(bytes, end)))
            }
            Self::Regex(scan) => scan.feed(bytes).map(|found| (found.end, found.line)),
        }
    }

    fn reset(&mut self) {
        match self {
            Self::Text { scan, line } => {
                scan.reset();
                line.bytes.clear();
            }
            Self::Regex(scan) => scan.reset(),
        }
    }
}

/// The end of the last line of a stream, to show the line a text was found in.
#[derive(Debug, Clone, Default)]
struct LastLine {
    bytes: Vec<u8>,
}

impl LastLine {
    fn push(&mut self, bytes: &[u8]) {
        let rest = match memchr::memrchr(b'\n', bytes) {
            Some(newline) => {
                self.bytes.clear();
                &bytes[newline + 1..]
            }
            None => bytes,
        };
        self.bytes.extend_from_slice(rest);
        // Cut at twice the cap, so that the cost of the cut is spread over as many bytes.
        if self.bytes.len() > 2 * LINE_BYTES {
            self.bytes.drain(..self.bytes.len() - LINE_BYTES);
        }
    }

    /// The line that holds the byte before `end` in `bytes`, the next piece of the stream.
    fn around(&self, bytes: &[u8], end: usize) -> Vec<u8> {
        let last = end.saturating_sub(1);
        let to = memchr::memchr(b'\n', &bytes[last..]).map_or(bytes.len(), |found| last + found);
        let mut line = match memchr::memrchr(b'\n', &bytes[..last]) {
            Some(newline) => bytes[newline + 1..to].to_vec(),
            None => [&self.bytes, &bytes[..to]].concat(),
        };
        if line.ends_with(b"\r") {
            line.pop();
        }
        line.drain(..line.len().saturating_sub(LINE_BYTES));
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Matcher {
        Matcher::new(Pattern::Text(text.into()))
    }

    #[test]
    fn a_text_is_found_across_pieces_and_shown_with_its_line() {
        let mut matcher = text("ready");
        assert_eq!(matcher.feed(Stream::Stdout, 0, b"one\nserver re"), None);
        let found = matcher.feed(Stream::Stdout, 20, b"ady on 80\r\nmore").unwrap();
        let expected = Match { stream: Stream::Stdout, cursor: 23, line: b"server ready on 80".to_vec() };
        assert_eq!(found, expected);
    }

    #[test]
    fn streams_are_separate_texts() {
        let mut matcher = text("ready");
        assert_eq!(matcher.feed(Stream::Stdout, 0, b"rea"), None);
        assert_eq!(matcher.feed(Stream::Stderr, 3, b"dy"), None);
        assert!(matcher.feed(Stream::Stdout, 5, b"dy").is_some());
    }

    #[test]
    fn a_gap_parts_what_it_lies_between() {
        let mut matcher = text("ready");
        assert_eq!(matcher.feed(Stream::Stdout, 0, b"rea"), None);
        matcher.gap();
        assert_eq!(matcher.feed(Stream::Stdout, 9, b"dy"), None);
    }

    #[test]
    fn a_text_may_hold_a_newline_and_a_line_may_be_huge() {
        let mut matcher = text("a\nb");
        assert_eq!(matcher.feed(Stream::Stderr, 0, &vec![b'x'; 9 * LINE_BYTES]), None);
        assert_eq!(matcher.feed(Stream::Stderr, 0, b"a"), None);
        assert_eq!(matcher.feed(Stream::Stderr, 0, b"\nb").unwrap().line, b"b");
        assert_eq!(text("").feed(Stream::Stdout, 7, b"any").unwrap().cursor, 7);
    }

    #[test]
    fn a_regex_match_says_where_to_read_on() {
        let regex = Regex::new(r"port (\d+)").unwrap();
        let mut matcher = Matcher::new(Pattern::Regex(regex));
        assert_eq!(matcher.feed(Stream::Stdout, 100, b"x\nport"), None);
        let found = matcher.feed(Stream::Stdout, 106, b" 8080 open\n").unwrap();
        assert_eq!((found.cursor, &found.line[..]), (111, &b"port 8080 open"[..]));
    }
}
