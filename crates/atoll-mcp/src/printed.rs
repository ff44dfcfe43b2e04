//! What a command printed, as a model is given it: beginning and end, and how to read what lies between.

use atoll_protocol::Capture;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trouble::Trouble;

/// Bytes of each output that an answer holds if nothing is said, and at most: what a model reads costs its user.
pub(crate) const SHOWN: u64 = 16_000;
pub(crate) const SHOWN_MAX: u64 = 256 * 1024;

/// How bytes are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Encoding {
    #[default]
    Text,
    Base64,
}

impl Encoding {
    /// Encodes; `true` if bytes that are no text had to be replaced.
    pub(crate) fn encode(self, bytes: &[u8]) -> (String, bool) {
        match self {
            Self::Base64 => (STANDARD.encode(bytes), false),
            Self::Text => match str::from_utf8(bytes) {
                Ok(text) => (text.to_owned(), false),
                Err(_) => (String::from_utf8_lossy(bytes).into_owned(), true),
            },
        }
    }
}

/// How many bytes to show.
pub(crate) fn shown(asked: Option<u64>) -> Result<u64, Trouble> {
    let asked = asked.unwrap_or(SHOWN);
    if asked > SHOWN_MAX {
        return Err(Trouble::invalid(format!("max_output_bytes: at most {SHOWN_MAX}"))
            .hint("read more of it with read_output, from the cursor that the answer names"));
    }
    Ok(asked)
}

/// One output of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Printed {
    /// All of it; only its beginning if omitted_bytes is not 0.
    pub(crate) text: String,
    /// Its end, if something is missing between that and `text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tail: Option<String>,
    /// How many bytes were printed in all.
    pub(crate) bytes: u64,
    /// How many are missing between `text` and `tail`.
    pub(crate) omitted_bytes: u64,
    /// Give this cursor to read_output for what is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) omitted_cursor: Option<u64>,
    /// How `text` and `tail` are given.
    pub(crate) encoding: Encoding,
    /// It has bytes that are no text; they were replaced by U+FFFD. Ask for encoding base64 for the exact ones.
    pub(crate) replaced: bool,
}

impl Printed {
    /// From what the server says.
    pub(crate) fn new(capture: &Capture, encoding: Encoding) -> Result<Self, Trouble> {
        let wrong = || Trouble::new(atoll_protocol::ErrorCode::Internal, "the server's answer is no base64");
        let head = capture.encoding.decode(&capture.data).ok_or_else(wrong)?;
        let (text, mut replaced) = encoding.encode(&head);
        let mut printed = Self {
            text,
            tail: None,
            bytes: capture.bytes,
            omitted_bytes: 0,
            omitted_cursor: None,
            encoding,
            replaced: false,
        };
        if let Some(cut) = &capture.truncated {
            let tail = capture.encoding.decode(&cut.tail).ok_or_else(wrong)?;
            let (tail, tail_replaced) = encoding.encode(&tail);
            replaced |= tail_replaced;
            printed.tail = Some(tail);
            printed.omitted_bytes = cut.omitted_bytes;
            printed.omitted_cursor = Some(cut.cursor);
        }
        printed.replaced = replaced || capture.replaced;
        Ok(printed)
    }

    /// As a model reads it; `process` is whose it is.
    pub(crate) fn readable(&self, process: &str) -> String {
        let mut text = self.text.clone();
        if let Some(cursor) = self.omitted_cursor {
            let omitted = self.omitted_bytes;
            text.push_str(&format!(
                "\n[... {omitted} bytes are left out here; read_output with process \"{process}\" and cursor {cursor} \
                 gives them ...]\n"
            ));
            text.push_str(self.tail.as_deref().unwrap_or_default());
        }
        text
    }
}

/// The newest line of output, for people who wait.
#[derive(Debug, Default)]
pub(crate) struct Newest {
    line: Vec<u8>,
    shown: String,
    bytes: u64,
}

/// Bytes of a line that are told.
const LINE_MAX: usize = 160;

impl Newest {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let mut lines = bytes.rsplit(|byte| matches!(byte, b'\n' | b'\r'));
        let last = lines.next().unwrap_or_default();
        if last.len() < bytes.len() {
            let whole = lines.find(|line| !line.is_empty());
            if let Some(whole) = whole {
                self.shown = readable(whole);
            } else if !self.line.is_empty() {
                self.shown = readable(&self.line);
            }
            self.line.clear();
        }
        let room = LINE_MAX.saturating_sub(self.line.len());
        self.line.extend_from_slice(&last[..last.len().min(room)]);
    }

    pub(crate) fn text(&self) -> String {
        let line = if self.line.is_empty() { self.shown.clone() } else { readable(&self.line) };
        format!("{line} ({} bytes so far)", self.bytes)
    }
}

fn readable(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(LINE_MAX)]);
    text.chars().filter(|letter| !letter.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted_and_can_be_found() {
        let capture = Capture::new(atoll_protocol::Encoding::Base64, b"head\n", b"tail", 1000, Some(5));
        let printed = Printed::new(&capture, Encoding::Text).unwrap();
        assert_eq!((printed.text.as_str(), printed.tail.as_deref()), ("head\n", Some("tail")));
        assert_eq!((printed.bytes, printed.omitted_bytes, printed.omitted_cursor), (1009, 1000, Some(5)));
        let text = printed.readable("p1");
        assert!(text.starts_with("head\n") && text.ends_with("tail"), "{text}");
        assert!(text.contains("1000 bytes") && text.contains("\"p1\" and cursor 5"), "{text}");
    }

    #[test]
    fn bytes_that_are_no_text_are_said_to_be_or_given_exactly() {
        let capture = Capture::new(atoll_protocol::Encoding::Base64, b"a\xff", b"", 0, None);
        let text = Printed::new(&capture, Encoding::Text).unwrap();
        assert_eq!((text.text.as_str(), text.replaced), ("a\u{fffd}", true));
        let exact = Printed::new(&capture, Encoding::Base64).unwrap();
        assert_eq!((exact.text.as_str(), exact.replaced), ("Yf8=", false));
    }

    #[test]
    fn the_newest_line_is_the_one_that_was_begun_last() {
        let mut newest = Newest::default();
        for piece in ["one\ntwo\nth", "ree", "\n"] {
            newest.add(piece.as_bytes());
        }
        assert_eq!(newest.text(), "three (14 bytes so far)");
        newest.add(b"\x1b[1mfour");
        assert_eq!(newest.text(), "[1mfour (22 bytes so far)");
    }
}
