//! Output of commands: log events, and the part that a response contains.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::{EndRecord, ProcessId, Timestamp};

/// One of a command's two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Encoding of bytes in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// Text; bytes that are not valid UTF-8 are replaced, and `replaced` is set.
    #[default]
    Utf8,
    /// Base64, which is exact.
    Base64,
}

impl Encoding {
    /// Encodes bytes. Returns `true` if some had to be replaced.
    pub fn encode(self, bytes: &[u8]) -> (String, bool) {
        match self {
            Self::Base64 => (STANDARD.encode(bytes), false),
            Self::Utf8 => match str::from_utf8(bytes) {
                Ok(text) => (text.to_owned(), false),
                Err(_) => (String::from_utf8_lossy(bytes).into_owned(), true),
            },
        }
    }

    /// Decodes the bytes. Returns `None` if the text is not valid base64.
    pub fn decode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::Base64 => STANDARD.decode(text).ok(),
            Self::Utf8 => Some(text.as_bytes().to_vec()),
        }
    }
}

/// A piece of the log, which orders both streams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OutputEvent {
    /// Position of its first byte in the log.
    pub cursor: u64,
    /// Position after its last byte, to continue from.
    pub next_cursor: u64,
    /// Output stream.
    pub stream: Stream,
    /// The bytes, encoded as `encoding` says.
    pub data: String,
    /// Encoding of `data`.
    pub encoding: Encoding,
    /// Whether bytes that are not valid UTF-8 were replaced.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub replaced: bool,
    /// When the bytes were read.
    pub time: Timestamp,
}

/// Output that the log has dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Gap {
    /// First position that cannot be read.
    pub from: u64,
    /// First position after it that can be read.
    pub to: u64,
}

/// A page of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OutputPage {
    /// Output on this page, in order.
    pub events: Vec<OutputEvent>,
    /// Output missing from this page.
    pub gaps: Vec<Gap>,
    /// Position of the next page.
    pub next_cursor: u64,
    /// Whether the log is complete: no output follows this page.
    pub closed: bool,
}

/// The main process has ended, and all of its output was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OutputEnd {
    /// How it ended.
    pub end: EndRecord,
    /// Position after the last byte sent.
    pub cursor: u64,
}

/// One output stream of a command, as a response contains it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Capture {
    /// The whole output, or its head if it was truncated.
    pub data: String,
    /// Encoding of `data` and of the tail.
    pub encoding: Encoding,
    /// Whether bytes that are not valid UTF-8 were replaced.
    pub replaced: bool,
    /// Number of bytes retained, including the omitted ones.
    pub bytes: u64,
    /// Set if the response does not contain all bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub truncated: Option<Truncation>,
}

/// The part of an output that a response omits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Truncation {
    /// Number of bytes omitted between head and tail.
    pub omitted_bytes: u64,
    /// The tail of the output.
    pub tail: String,
    /// Position of the omitted bytes in the log.
    pub cursor: u64,
}

impl Capture {
    /// Creates a capture from head and tail; `omitted` bytes are missing between them, from `cursor` on.
    pub fn new(encoding: Encoding, head: &[u8], tail: &[u8], omitted: u64, cursor: Option<u64>) -> Self {
        let (data, head_replaced) = encoding.encode(head);
        let (tail_text, tail_replaced) = encoding.encode(tail);
        let truncated =
            cursor.filter(|_| omitted > 0).map(|cursor| Truncation { omitted_bytes: omitted, tail: tail_text, cursor });
        Self {
            data,
            encoding,
            replaced: head_replaced || tail_replaced,
            bytes: head.len() as u64 + omitted + tail.len() as u64,
            truncated,
        }
    }
}

/// Result of `exec`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ExecResult {
    /// Id of the command, to read its log and kill its background processes.
    pub id: ProcessId,
    /// How it ended.
    pub end: EndRecord,
    /// Standard output.
    pub stdout: Capture,
    /// Standard error.
    pub stderr: Capture,
    /// Position after the last byte of the log when the command ended.
    pub cursor: u64,
    /// Whether the session's shell did not survive the end of the command and was replaced by one restored from the
    /// session's last snapshot.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub session_reset: bool,
}
