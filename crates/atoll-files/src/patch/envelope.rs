//! Reads the patches that coding agents write: files between `*** Begin Patch` and `*** End Patch`.
//!
//! Models write them with small faults: blanks around markers, a here-document around the whole, an empty line where an
//! empty line of context was meant. These are taken as meant; anything else is refused with its line.

use super::hunk::{Action, FilePatch, Form, Hunk, Op, Patch, Place, Text};
use crate::error::{Failure, Kind, Result};

const BEGIN: &[u8] = b"*** Begin Patch";
const END: &[u8] = b"*** End Patch";
const ADD: &[u8] = b"*** Add File: ";
const DELETE: &[u8] = b"*** Delete File: ";
const UPDATE: &[u8] = b"*** Update File: ";
const MOVE: &[u8] = b"*** Move to: ";
const END_OF_FILE: &[u8] = b"*** End of File";

/// Whether a text is such a patch.
pub(super) fn is(text: &[u8]) -> bool {
    lines(text).any(|line| line.trim_ascii() == BEGIN)
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// Reads the whole patch.
pub(super) fn parse(text: &[u8]) -> Result<Patch> {
    let all: Vec<&[u8]> = lines(text).collect();
    let begin = all.iter().position(|line| line.trim_ascii() == BEGIN).unwrap_or(0);
    let end = all.iter().rposition(|line| line.trim_ascii() == END);
    let end = end.filter(|end| *end > begin).ok_or_else(|| bad(b"", "the patch has no `*** End Patch`".into()))?;
    let mut reader = Reader { lines: &all[begin + 1..end], at: 0, first: begin + 2 };
    let mut files = Vec::new();
    while let Some(line) = reader.peek() {
        if line.trim_ascii().is_empty() {
            reader.at += 1;
        } else {
            files.push(reader.file()?);
        }
    }
    if files.is_empty() {
        return Err(bad(b"", "the patch names no file".into()));
    }
    Ok(Patch { form: Form::Envelope, files })
}

fn bad(path: &[u8], why: String) -> Failure {
    Failure::new(Kind::Content, path, why)
}

struct Reader<'a> {
    lines: &'a [&'a [u8]],
    at: usize,
    /// The number, in the whole text, of the first of the lines.
    first: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a [u8]> {
        self.lines.get(self.at).copied()
    }

    /// The rest of the line, if it begins with this marker.
    fn marked(&mut self, marker: &[u8]) -> Option<&'a [u8]> {
        let rest = self.peek()?.trim_ascii().strip_prefix(marker)?;
        self.at += 1;
        Some(rest.trim_ascii())
    }

    fn file(&mut self) -> Result<FilePatch> {
        if let Some(path) = self.marked(ADD) {
            return self.added(path);
        }
        if let Some(path) = self.marked(DELETE) {
            return Ok(FilePatch { path: path.to_vec(), action: Action::Delete, hunks: Vec::new() });
        }
        if let Some(path) = self.marked(UPDATE) {
            return self.updated(path);
        }
        let line = self.lines[self.at];
        let why = format!(
            "line {} of the patch should be `*** Add File:`, `*** Update File:` or `*** Delete File:`, but is `{}`",
            self.first + self.at,
            String::from_utf8_lossy(line)
        );
        Err(bad(b"", why))
    }

    fn added(&mut self, path: &[u8]) -> Result<FilePatch> {
        let mut ops = Vec::new();
        while let Some(line) = self.peek().filter(|line| !line.trim_ascii().starts_with(b"*** ")) {
            let Some(bytes) = line.strip_prefix(b"+") else {
                if line.trim_ascii().is_empty() {
                    self.at += 1;
                    continue;
                }
                return Err(bad(path, format!("line {} of the patch does not begin with `+`", self.first + self.at)));
            };
            ops.push(Op::Add(text(bytes)));
            self.at += 1;
        }
        let hunks = if ops.is_empty() { Vec::new() } else { vec![Hunk { number: 1, place: Place::Line(0), ops }] };
        Ok(FilePatch { path: path.to_vec(), action: Action::Create { mode: None }, hunks })
    }

    fn updated(&mut self, path: &[u8]) -> Result<FilePatch> {
        let to = self.marked(MOVE).map(<[u8]>::to_vec);
        let mut hunks = Vec::new();
        while let Some(line) = self.peek() {
            let trimmed = line.trim_ascii();
            if trimmed.starts_with(b"*** ") {
                break;
            }
            if trimmed.is_empty() && self.only_blank_before_marker() {
                self.at += 1;
                continue;
            }
            hunks.push(self.hunk(path, hunks.len() + 1)?);
        }
        if hunks.is_empty() && to.is_none() {
            return Err(bad(path, "the patch says nothing about this file".into()));
        }
        Ok(FilePatch { path: path.to_vec(), action: Action::Change { to, copy: false, mode: None }, hunks })
    }

    /// Blank lines between one file and the next are not context.
    fn only_blank_before_marker(&self) -> bool {
        let rest = self.lines[self.at..].iter().find(|line| !line.trim_ascii().is_empty());
        rest.is_none_or(|line| line.starts_with(b"*** "))
    }

    fn hunk(&mut self, path: &[u8], number: usize) -> Result<Hunk> {
        let mut anchors = Vec::new();
        while let Some(rest) = self.peek().and_then(|line| line.strip_prefix(b"@@")) {
            // A model that thinks of a unified diff writes its numbers; they mean nothing here.
            let anchor = rest.strip_prefix(b" ").unwrap_or(rest);
            let numbers = anchor.starts_with(b"-") && memchr::memmem::find(anchor, b" @@").is_some();
            if !anchor.trim_ascii().is_empty() && !numbers {
                anchors.push(anchor.to_vec());
            }
            self.at += 1;
        }
        let mut ops = Vec::new();
        let mut end_of_file = false;
        while let Some(line) = self.peek() {
            if line.starts_with(b"@@") || (line.trim_ascii().is_empty() && self.only_blank_before_marker()) {
                break;
            }
            if line.trim_ascii() == END_OF_FILE {
                end_of_file = true;
                self.at += 1;
                break;
            }
            if line.starts_with(b"*** ") {
                break;
            }
            ops.push(match line.first() {
                Some(b' ') => Op::Keep(text(&line[1..])),
                Some(b'-') => Op::Remove(text(&line[1..])),
                Some(b'+') => Op::Add(text(&line[1..])),
                None => Op::Keep(text(b"")),
                Some(_) => {
                    let why = format!(
                        "hunk {number}: line {} of the patch begins with none of blank, `-`, `+`: `{}`",
                        self.first + self.at,
                        String::from_utf8_lossy(line)
                    );
                    return Err(bad(path, why));
                }
            });
            self.at += 1;
        }
        if ops.is_empty() {
            return Err(bad(path, format!("hunk {number} has no lines")));
        }
        Ok(Hunk { number, place: Place::Behind { anchors, end_of_file }, ops })
    }
}

fn text(bytes: &[u8]) -> Text {
    Text { bytes: bytes.to_vec(), newline: true }
}
