//! Where a hunk fits in a file, and the file that results.
//!
//! Pure: lines in, lines out. A hunk of a unified diff must fit exactly, at its line or at the nearest place; a hunk of
//! an envelope is looked for from where the last one ended, first exactly, then with blanks not counted.

use super::hunk::{Form, Hunk, Op, Place, Text};
use crate::error::{Failure, Kind, Result};
use crate::stop::Stop;

/// How much a line may differ from what a patch says, from nothing to much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Looseness {
    /// In nothing.
    Exact,
    /// In blanks at its end.
    TrailingBlanks,
    /// In blanks at either end.
    Blanks,
    /// In typographic signs for which a keyboard has plain ones.
    Punctuation,
}

const LOOSE: [Looseness; 4] = [Looseness::Exact, Looseness::TrailingBlanks, Looseness::Blanks, Looseness::Punctuation];

/// A file with more lines is not patched: where each begins is held in memory.
const MAX_LINES: usize = 4 << 20;

/// How a hunk went in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fitted {
    /// Which.
    pub hunk: usize,
    /// The line of the old file at which it fits, counted from one.
    pub line: u64,
    /// How many lines from where it should be.
    pub offset: i64,
    /// How many lines of context at each end were not looked at.
    pub fuzz: usize,
    /// In what its lines may have differed.
    pub looseness: Looseness,
}

/// How hunks are looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) form: Form,
    pub(super) fuzz: usize,
    pub(super) stop: &'a Stop,
}

/// A place that was found: the index of its first line, and how it was found.
struct Found {
    at: usize,
    /// Lines of context left out at the front and at the back.
    trimmed: (usize, usize),
    fuzz: usize,
    looseness: Looseness,
}

/// Puts all hunks into a text.
pub(super) fn apply(path: &[u8], text: &[u8], hunks: &[Hunk], rules: Rules<'_>) -> Result<(Vec<u8>, Vec<Fitted>)> {
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').take(MAX_LINES + 1).collect();
    if lines.len() > MAX_LINES {
        return Err(Failure::new(Kind::TooLarge, path, format!("has more than {MAX_LINES} lines")));
    }
    let out = Vec::with_capacity(text.len());
    let mut work = Work { path, lines: &lines, next: 0, drift: 0, rules, out, open_line: false };
    let mut fitted = Vec::with_capacity(hunks.len());
    for hunk in hunks {
        fitted.push(work.hunk(hunk)?);
    }
    let rest = work.next;
    for line in &lines[rest..] {
        work.push(line);
    }
    if work.open_line {
        let why = "a line without an end would not be the last: the patch lacks `\\ No newline at end of file`";
        return Err(Failure::new(Kind::Content, path, why));
    }
    Ok((work.out, fitted))
}

struct Work<'a> {
    path: &'a [u8],
    lines: &'a [&'a [u8]],
    /// The first line that no hunk has taken yet.
    next: usize,
    /// How far from their place the last hunk was.
    drift: i64,
    rules: Rules<'a>,
    out: Vec<u8>,
    /// A line without an end has got another behind it.
    open_line: bool,
}

impl Work<'_> {
    fn hunk(&mut self, hunk: &Hunk) -> Result<Fitted> {
        let old = hunk.old();
        let (found, offset) = match &hunk.place {
            Place::Line(line) => self.by_line(hunk, &old, *line)?,
            Place::Behind { anchors, end_of_file } => (self.by_lines(hunk, &old, anchors, *end_of_file)?, 0),
        };
        for index in self.next..found.at {
            self.push(self.lines[index]);
        }
        self.next = found.at;
        self.drift = offset;
        self.write(hunk, &found);
        let line = u64::try_from(found.at).unwrap_or(u64::MAX - 1) + 1;
        Ok(Fitted { hunk: hunk.number, line, offset, fuzz: found.fuzz, looseness: found.looseness })
    }

    fn write(&mut self, hunk: &Hunk, found: &Found) {
        let ops = &hunk.ops[found.trimmed.0..hunk.ops.len() - found.trimmed.1];
        for op in ops {
            match op {
                // The file's own line: it may differ in blanks from the patch's.
                Op::Keep(_) => {
                    self.push(self.lines[self.next]);
                    self.next += 1;
                }
                Op::Remove(_) => self.next += 1,
                Op::Add(text) => self.add(text),
            }
        }
    }

    fn add(&mut self, text: &Text) {
        let mut line = Vec::with_capacity(text.bytes.len() + 2);
        text.write(&mut line);
        if self.rules.form == Form::Envelope && self.has_carriage_returns() && !line.ends_with(b"\r\n") {
            line.pop();
            line.extend_from_slice(b"\r\n");
        }
        self.push(&line);
    }

    fn push(&mut self, line: &[u8]) {
        if !self.out.is_empty() && !self.out.ends_with(b"\n") {
            match self.rules.form {
                Form::Unified => self.open_line = true,
                // An envelope cannot say that a line has no end; one that gets others behind it gets one.
                Form::Envelope => self.out.push(b'\n'),
            }
        }
        self.out.extend_from_slice(line);
    }

    fn has_carriage_returns(&self) -> bool {
        self.lines.first().is_some_and(|line| line.ends_with(b"\r\n"))
    }

    fn by_line(&self, hunk: &Hunk, old: &[&Text], line: u64) -> Result<(Found, i64)> {
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        if old.is_empty() {
            // Behind the line it names; there is nothing to look for elsewhere.
            let at = shifted(line, self.drift);
            if at < self.next || at > self.lines.len() {
                return Err(self.unfit(hunk, format!("it belongs behind line {line}, which is not there")));
            }
            return Ok((Found { at, trimmed: (0, 0), fuzz: 0, looseness: Looseness::Exact }, self.drift));
        }
        for fuzz in 0..=self.rules.fuzz {
            let trimmed = trim(hunk, fuzz);
            let kept = &old[trimmed.0..old.len() - trimmed.1];
            if kept.is_empty() || (fuzz > 0 && trimmed == trim(hunk, fuzz - 1)) {
                break;
            }
            let named = line.saturating_sub(1) + trimmed.0;
            if let Some(at) = self.nearest(hunk, kept, shifted(named, self.drift))? {
                let offset = difference(at, named);
                return Ok((Found { at, trimmed, fuzz, looseness: Looseness::Exact }, offset));
            }
        }
        Err(self.unfit(hunk, self.explain(old, shifted(line.saturating_sub(1), self.drift))))
    }

    /// The place nearest to where it should be. Two that are equally near are none.
    fn nearest(&self, hunk: &Hunk, old: &[&Text], wanted: usize) -> Result<Option<usize>> {
        let Some(last) = self.lines.len().checked_sub(old.len()) else { return Ok(None) };
        let fits = |at: usize| at >= self.next && at <= last && fits(&self.lines[at..], old, Looseness::Exact);
        if fits(wanted) {
            return Ok(Some(wanted));
        }
        for distance in 1..=self.lines.len() {
            if distance % 1024 == 0 {
                self.rules.stop.check()?;
            }
            let before = wanted.checked_sub(distance).filter(|at| fits(*at));
            let after = wanted.checked_add(distance).filter(|at| fits(*at));
            match (before, after) {
                (Some(before), Some(after)) => {
                    let why = format!("it fits at line {} as well as at line {}", before + 1, after + 1);
                    return Err(self.unfit(hunk, why));
                }
                (Some(at), None) | (None, Some(at)) => return Ok(Some(at)),
                (None, None) => {}
            }
        }
        Ok(None)
    }

    fn by_lines(&self, hunk: &Hunk, old: &[&Text], anchors: &[Vec<u8>], end_of_file: bool) -> Result<Found> {
        let mut from = self.next;
        for anchor in anchors {
            let text = Text { bytes: anchor.clone(), newline: true };
            let (at, _) = self.seek(&[&text], from, false)?.ok_or_else(|| {
                self.unfit(hunk, format!("no line after line {from} is `{}`", String::from_utf8_lossy(anchor)))
            })?;
            from = at + 1;
        }
        if old.is_empty() {
            let at = if anchors.is_empty() { self.lines.len() } else { from };
            return Ok(Found { at, trimmed: (0, 0), fuzz: 0, looseness: Looseness::Exact });
        }
        let mut found = self.seek(old, from, end_of_file)?;
        let mut trimmed = (0, 0);
        // A model ends a hunk with an empty line where the file has none.
        if found.is_none()
            && let Some(Op::Keep(last)) = hunk.ops.last()
            && last.bytes.is_empty()
            && old.len() > 1
        {
            found = self.seek(&old[..old.len() - 1], from, end_of_file)?;
            trimmed = (0, 1);
        }
        match found {
            Some((at, looseness)) => Ok(Found { at, trimmed, fuzz: 0, looseness }),
            None => Err(self.unfit(hunk, self.explain(old, from))),
        }
    }

    /// The first place from here on, as exact as possible.
    fn seek(&self, old: &[&Text], from: usize, end_of_file: bool) -> Result<Option<(usize, Looseness)>> {
        let Some(last) = self.lines.len().checked_sub(old.len()) else { return Ok(None) };
        for looseness in LOOSE {
            if end_of_file && last >= from && fits(&self.lines[last..], old, looseness) {
                return Ok(Some((last, looseness)));
            }
            for at in from..=last {
                if at % 1024 == 0 {
                    self.rules.stop.check()?;
                }
                if fits(&self.lines[at..], old, looseness) {
                    return Ok(Some((at, looseness)));
                }
            }
        }
        Ok(None)
    }

    fn unfit(&self, hunk: &Hunk, why: String) -> Failure {
        Failure::new(Kind::Content, self.path, format!("hunk {} does not fit: {why}", hunk.number))
    }

    /// What differs at the place where most of it is the same.
    fn explain(&self, old: &[&Text], wanted: usize) -> String {
        let same = |at: usize| {
            let lines = self.lines.get(at..).unwrap_or_default();
            lines.iter().zip(old).filter(|(line, text)| text.is(line)).count()
        };
        let far = |at: usize| at.abs_diff(wanted);
        let best = (self.next..self.lines.len()).max_by_key(|at| (same(*at), usize::MAX - far(*at)));
        let Some(best) = best.filter(|at| same(*at) > 0) else {
            let first = old.first().map_or_else(String::new, |text| shown(&text.bytes));
            return format!("none of its lines is there; the first is {first}");
        };
        for (index, text) in old.iter().enumerate() {
            let Some(line) = self.lines.get(best + index) else {
                return format!("the file ends at line {}, where it expects {}", self.lines.len(), shown(&text.bytes));
            };
            if !text.is(line) {
                return format!(
                    "line {} is {}, but it expects {}",
                    best + index + 1,
                    shown_line(line),
                    expected(text, line)
                );
            }
        }
        "it overlaps the one before".to_owned()
    }
}

/// How many lines of context to leave out at each end.
fn trim(hunk: &Hunk, fuzz: usize) -> (usize, usize) {
    let keeps = |op: &&Op| matches!(op, Op::Keep(_));
    let front = hunk.ops.iter().take_while(keeps).count();
    let back = hunk.ops.iter().rev().take_while(keeps).count();
    (front.min(fuzz), back.min(fuzz))
}

fn fits(lines: &[&[u8]], old: &[&Text], looseness: Looseness) -> bool {
    lines.len() >= old.len() && old.iter().zip(lines).all(|(text, line)| alike(text, line, looseness))
}

fn alike(text: &Text, line: &[u8], looseness: Looseness) -> bool {
    match looseness {
        Looseness::Exact => text.is(line),
        Looseness::TrailingBlanks => text.bytes.trim_ascii_end() == line.trim_ascii_end(),
        Looseness::Blanks => text.bytes.trim_ascii() == line.trim_ascii(),
        Looseness::Punctuation => plain(&text.bytes) == plain(line),
    }
}

/// With the dashes, quotes and blanks that a keyboard has.
fn plain(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line.trim_ascii());
    text.chars()
        .map(|sign| match sign {
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            '\u{2018}'..='\u{201b}' => '\'',
            '\u{201c}'..='\u{201f}' => '"',
            '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
            other => other,
        })
        .collect()
}

fn shifted(line: usize, drift: i64) -> usize {
    line.saturating_add_signed(isize::try_from(drift).unwrap_or(0))
}

fn difference(at: usize, named: usize) -> i64 {
    let distance = i64::try_from(at.abs_diff(named)).unwrap_or(i64::MAX);
    if at >= named { distance } else { -distance }
}

/// How much of a line an error shows.
const SHOWN: usize = 120;

fn shown(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(SHOWN)];
    let more = if bytes.len() > SHOWN { "…" } else { "" };
    format!("`{}{more}`", cut.escape_ascii())
}

fn shown_line(line: &[u8]) -> String {
    match line.strip_suffix(b"\n") {
        Some(line) => shown(line),
        None => format!("{} without a line end", shown(line)),
    }
}

fn expected(text: &Text, line: &[u8]) -> String {
    let mut words = shown(&text.bytes);
    if !text.newline {
        words.push_str(" without a line end");
    }
    if line.strip_suffix(b"\r\n") == Some(&text.bytes) {
        words.push_str(": the file's lines end in CRLF, the patch's in LF");
    }
    words
}
