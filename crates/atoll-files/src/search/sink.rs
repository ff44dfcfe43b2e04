//! Where ripgrep's engine puts what it finds in one file: into hits, handed over in portions.

use std::io::{self, Read};
use std::ops::ControlFlow;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};

use super::budget::{Budget, Truncated};
use super::hit::{Hit, Role, Span, cut};
use super::{Binary, Detail};
use crate::stop::Stop;

/// How many bytes of hits are handed over at once.
const PORTION: u64 = 64 << 10;
/// How many hits.
const PORTION_HITS: usize = 512;
/// How many matches in one told piece are pointed at.
const MAX_SPANS: usize = 1000;

/// Who takes what is found.
pub(super) type Deliver<'a> = &'a (dyn Fn(Vec<Hit>) -> ControlFlow<()> + Sync);

/// What is found in one file.
pub(super) struct FileSink<'a> {
    pub(super) matcher: &'a RegexMatcher,
    pub(super) budget: &'a Budget,
    pub(super) deliver: Deliver<'a>,
    pub(super) detail: Detail,
    pub(super) binary: Binary,
    pub(super) path: Vec<u8>,
    pub(super) found: u64,
    pub(super) per_file: Option<u64>,
    /// The search is over, not only this file.
    pub(super) over: bool,
    pub(super) hits: Vec<Hit>,
    pub(super) held: u64,
}

impl FileSink<'_> {
    /// What is told once per file.
    pub(super) fn close(&mut self) {
        if self.detail != Detail::Lines && self.found > 0 {
            let within = self.budget.take_match();
            if within {
                let path = self.path.clone();
                self.add(Hit::File { path, matches: self.found });
            }
            self.over |= !within;
        }
        self.flush();
    }

    fn add(&mut self, hit: Hit) -> bool {
        let bytes = hit.bytes();
        if !self.budget.take_bytes(bytes) {
            self.over = true;
            return false;
        }
        self.held += bytes;
        self.hits.push(hit);
        if self.held >= PORTION || self.hits.len() >= PORTION_HITS {
            self.flush();
        }
        !self.over
    }

    fn flush(&mut self) {
        self.held = 0;
        let hits = std::mem::take(&mut self.hits);
        if !hits.is_empty() && (self.deliver)(hits).is_break() {
            self.budget.end(Truncated::Cancelled);
            self.over = true;
        }
    }

    fn spans(&self, bytes: &[u8]) -> Vec<Span> {
        let mut spans = Vec::new();
        let looked = self.matcher.find_iter(bytes, |found| {
            spans.push(Span { start: found.start(), end: found.end() });
            spans.len() < MAX_SPANS
        });
        // The matcher's error is a type without values.
        match looked {
            Ok(()) => spans,
            Err(_) => Vec::new(),
        }
    }
}

impl Sink for FileSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        match self.detail {
            Detail::Files => {
                self.found = 1;
                return Ok(false);
            }
            Detail::Counts => {
                self.found += 1;
                return Ok(self.per_file.is_none_or(|limit| self.found < limit));
            }
            Detail::Lines => {}
        }
        if self.per_file.is_some_and(|limit| self.found >= limit) {
            return Ok(false);
        }
        if !self.budget.take_match() {
            self.over = true;
            return Ok(false);
        }
        self.found += 1;
        // Of a file that is not text nothing is told but that it matches; `binary_data` has told that it is none.
        if self.binary == Binary::Report
            && searcher.binary_detection().convert_byte().is_some()
            && has_nul(found.bytes())
        {
            let path = self.path.clone();
            self.add(Hit::Binary { path, offset: found.absolute_byte_offset() });
            return Ok(false);
        }
        let (bytes, spans, cut) = cut(found.bytes(), self.spans(found.bytes()));
        Ok(self.add(Hit::Line {
            path: self.path.clone(),
            line: found.line_number().unwrap_or(0),
            offset: found.absolute_byte_offset(),
            bytes,
            spans,
            role: Role::Match,
            cut,
        }))
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> io::Result<bool> {
        if self.detail != Detail::Lines {
            return Ok(true);
        }
        let role = match line.kind() {
            SinkContextKind::Before => Role::Before,
            SinkContextKind::After | SinkContextKind::Other => Role::After,
        };
        let (bytes, spans, cut) = cut(line.bytes(), Vec::new());
        Ok(self.add(Hit::Line {
            path: self.path.clone(),
            line: line.line_number().unwrap_or(0),
            offset: line.absolute_byte_offset(),
            bytes,
            spans,
            role,
            cut,
        }))
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        // Text was told, and then it was not text any more: whoever reads it should know.
        if let Some(offset) = finish.binary_byte_offset()
            && self.found > 0
            && self.detail == Detail::Lines
            && !self.over
        {
            let path = self.path.clone();
            self.add(Hit::Binary { path, offset });
        }
        Ok(())
    }
}

fn has_nul(bytes: &[u8]) -> bool {
    bytes.contains(&0)
}

/// A file that is no longer read when the search is over.
pub(super) struct Stoppable<'a, R> {
    pub(super) inner: R,
    pub(super) stop: &'a Stop,
    pub(super) read: u64,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.why().is_some() {
            return Err(io::Error::other("stopped"));
        }
        let count = self.inner.read(buffer)?;
        self.read += u64::try_from(count).unwrap_or(0);
        Ok(count)
    }
}
