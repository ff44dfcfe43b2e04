//! Command output for models: head and tail, and the cursor from which to read the middle.

use atoll_protocol::Capture;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ToolError;

/// Default and maximum number of bytes of each output in a result. Users pay for every byte that a model reads.
pub(crate) const OUTPUT_DEFAULT: u64 = 16_000;
pub(crate) const OUTPUT_MAX: u64 = 256 * 1024;

/// Encoding of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Encoding {
    #[default]
    Text,
    Base64,
}

impl Encoding {
    /// Encodes bytes. Returns `true` if bytes that are not valid UTF-8 had to be replaced.
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

/// Returns the number of bytes to include, checked against the maximum.
pub(crate) fn output_limit(requested: Option<u64>) -> Result<u64, ToolError> {
    let requested = requested.unwrap_or(OUTPUT_DEFAULT);
    if requested > OUTPUT_MAX {
        return Err(ToolError::invalid(format!("max_output_bytes: at most {OUTPUT_MAX}"))
            .hint("read the rest with read_output, from the cursor in the result"));
    }
    Ok(requested)
}

/// One output stream of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct TruncatedOutput {
    /// The whole output, or its head if omitted_bytes is not 0.
    pub(crate) text: String,
    /// The tail of the output, if bytes between `text` and `tail` were omitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tail: Option<String>,
    /// Total number of bytes printed.
    pub(crate) bytes: u64,
    /// Number of bytes omitted between `text` and `tail`.
    pub(crate) omitted_bytes: u64,
    /// Cursor for read_output to read the omitted bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) omitted_cursor: Option<u64>,
    /// Encoding of `text` and `tail`.
    pub(crate) encoding: Encoding,
    /// Whether bytes that are not valid UTF-8 were replaced by U+FFFD. Use encoding base64 to get the exact bytes.
    pub(crate) replaced: bool,
}

impl TruncatedOutput {
    /// Converts the server's capture.
    pub(crate) fn new(capture: &Capture, encoding: Encoding) -> Result<Self, ToolError> {
        let wrong = || ToolError::new(atoll_protocol::ErrorCode::Internal, "the server's response is not valid base64");
        let head = capture.encoding.decode(&capture.data).ok_or_else(wrong)?;
        let (text, mut replaced) = encoding.encode(&head);
        let mut truncated_output = Self {
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
            truncated_output.tail = Some(tail);
            truncated_output.omitted_bytes = cut.omitted_bytes;
            truncated_output.omitted_cursor = Some(cut.cursor);
        }
        truncated_output.replaced = replaced || capture.replaced;
        Ok(truncated_output)
    }

    /// Returns the text for the model; `process` is the id to use with read_output.
    pub(crate) fn readable(&self, process: &str) -> String {
        let mut text = self.text.clone();
        if let Some(cursor) = self.omitted_cursor {
            let omitted = self.omitted_bytes;
            text.push_str(&format!(
                "\n[... {omitted} bytes omitted; to read them, call read_output with process \"{process}\" and cursor \
                 {cursor} ...]\n"
            ));
            text.push_str(self.tail.as_deref().unwrap_or_default());
        }
        text
    }
}

/// The last line of output, for progress notifications.
#[derive(Debug, Default)]
pub(crate) struct LastLine {
    line: Vec<u8>,
    shown: String,
    bytes: u64,
}

/// Maximum number of bytes of a line to show.
const LINE_MAX: usize = 160;

impl LastLine {
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
    fn omitted_bytes_are_counted_and_have_a_cursor() {
        let capture = Capture::new(atoll_protocol::Encoding::Base64, b"head\n", b"tail", 1000, Some(5));
        let truncated_output = TruncatedOutput::new(&capture, Encoding::Text).unwrap();
        assert_eq!((truncated_output.text.as_str(), truncated_output.tail.as_deref()), ("head\n", Some("tail")));
        assert_eq!(
            (truncated_output.bytes, truncated_output.omitted_bytes, truncated_output.omitted_cursor),
            (1009, 1000, Some(5))
        );
        let text = truncated_output.readable("p1");
        assert!(text.starts_with("head\n") && text.ends_with("tail"), "{text}");
        assert!(text.contains("1000 bytes") && text.contains("\"p1\" and cursor 5"), "{text}");
    }

    #[test]
    fn binary_output_is_flagged_or_exact() {
        let capture = Capture::new(atoll_protocol::Encoding::Base64, b"a\xff", b"", 0, None);
        let text = TruncatedOutput::new(&capture, Encoding::Text).unwrap();
        assert_eq!((text.text.as_str(), text.replaced), ("a\u{fffd}", true));
        let exact = TruncatedOutput::new(&capture, Encoding::Base64).unwrap();
        assert_eq!((exact.text.as_str(), exact.replaced), ("Yf8=", false));
    }

    #[test]
    fn last_line_is_the_last_one_started() {
        let mut last_line = LastLine::default();
        for piece in ["one\ntwo\nth", "ree", "\n"] {
            last_line.add(piece.as_bytes());
        }
        assert_eq!(last_line.text(), "three (14 bytes so far)");
        last_line.add(b"\x1b[1mfour");
        assert_eq!(last_line.text(), "[1mfour (22 bytes so far)");
    }
}
