//! Output: events of the log, and what an answer carries of it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::{EndRecord, ProcessId, Timestamp};

/// Which of a command's two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// How bytes are put into JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
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
}

/// A piece of the ordered log over both streams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputEvent {
    /// Position of its first byte in the log.
    pub cursor: u64,
    /// Which output.
    pub stream: Stream,
    /// The bytes, encoded.
    pub data: String,
    /// How.
    pub encoding: Encoding,
    /// When they were read.
    pub time: Timestamp,
}

/// One whole output of a command as an answer carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
