//! Output: events of the log, and what an answer carries of it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::{EndRecord, ProcessId, Timestamp};

/// Which of a command's two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// How bytes are put into JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// As text; bytes that are not UTF-8 are replaced, and the answer says so.
    #[default]
    Utf8,
    /// Exact.
    Base64,
}

impl Encoding {
    /// Encodes; `true` if bytes had to be replaced.
    pub fn encode(self, bytes: &[u8]) -> (String, bool) {
        match self {
            Self::Base64 => (STANDARD.encode(bytes), false),
            Self::Utf8 => match str::from_utf8(bytes) {
                Ok(text) => (text.to_owned(), false),
                Err(_) => (String::from_utf8_lossy(bytes).into_owned(), true),
            },
        }
    }

    /// The bytes again. `None` for text that is no base64.
    pub fn decode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::Base64 => STANDARD.decode(text).ok(),
            Self::Utf8 => Some(text.as_bytes().to_vec()),
        }
    }
}

/// A piece of the ordered log over both streams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OutputEvent {
    /// Position of its first byte in the log.
    pub cursor: u64,
    /// Position behind its last byte: where to go on.
    pub next_cursor: u64,
    /// Which output.
    pub stream: Stream,
    /// The bytes, encoded.
    pub data: String,
    /// How.
    pub encoding: Encoding,
    /// Whether bytes that are no UTF-8 were replaced.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub replaced: bool,
    /// When they were read.
    pub time: Timestamp,
}

/// Output that can no longer be read: the log had to drop it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Gap {
    /// First position that cannot be read.
    pub from: u64,
    /// First position after it that can.
    pub to: u64,
}

/// A range of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OutputPage {
    /// The output in the range, in order.
    pub events: Vec<OutputEvent>,
    /// What is missing from it.
    pub gaps: Vec<Gap>,
    /// Where the next page begins.
    pub next_cursor: u64,
    /// Nothing will ever come after this page.
    pub closed: bool,
}

/// The main process is over, and everything that it printed was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OutputEnd {
    /// How it ended.
    pub end: EndRecord,
    /// Position behind the last byte that was told.
    pub cursor: u64,
}

/// One whole output of a command as an answer carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Capture {
    /// Everything, or the head if something was left out.
    pub data: String,
    /// How `data` and the tail are encoded.
    pub encoding: Encoding,
    /// Whether bytes that are no UTF-8 were replaced.
    pub replaced: bool,
    /// How many bytes of the output are kept, the omitted ones included.
    pub bytes: u64,
    /// Set if the answer does not hold all bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub truncated: Option<Truncation>,
}

/// What an answer leaves out of an output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Truncation {
    /// Bytes between head and tail.
    pub omitted_bytes: u64,
    /// The last bytes.
    pub tail: String,
    /// Where in the log the omitted bytes begin.
    pub cursor: u64,
}

impl Capture {
    /// Puts kept bytes into an answer; `omitted` bytes are missing between them, from `cursor` on.
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

/// What `exec` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ExecResult {
    /// Its id, under which its log can be read and its survivors killed.
    pub id: ProcessId,
    /// How it ended.
    pub end: EndRecord,
    /// Standard output.
    pub stdout: Capture,
    /// Standard error.
    pub stderr: Capture,
    /// Position behind the last byte of the log when it ended.
    pub cursor: u64,
    /// The session's shell could not be saved when the command was ended: it was replaced by one that holds the
    /// session's last snapshot.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub session_reset: bool,
}
