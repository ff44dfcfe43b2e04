//! Recordings in the asciicast v2 format (<https://docs.asciinema.org/manual/asciicast/v2/>): a header line, then one
//! line per event.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The version of the format.
pub const CAST_VERSION: u8 = 2;

/// The first line of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CastHeader {
    /// Always [`CAST_VERSION`].
    pub version: u8,
    /// Columns at the start.
    pub width: u16,
    /// Rows at the start.
    pub height: u16,
    /// Start time, in seconds since 1970.
    pub timestamp: u64,
    /// Environment variables of the terminal, such as `TERM`.
    pub env: BTreeMap<String, String>,
}

/// Every other line: seconds since the start, the kind of event, and its data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CastEvent(f64, String, String);

impl CastEvent {
    /// Creates an output event.
    pub fn output(seconds: f64, text: String) -> Self {
        Self(seconds, "o".to_owned(), text)
    }

    /// Creates an event that resizes the window.
    pub fn resize(seconds: f64, cols: u16, rows: u16) -> Self {
        Self(seconds, "r".to_owned(), format!("{cols}x{rows}"))
    }

    /// Creates a marker, which players show on the timeline.
    pub fn marker(seconds: f64, label: String) -> Self {
        Self(seconds, "m".to_owned(), label)
    }

    /// Returns the seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.0
    }

    /// Returns the output, if this is an output event.
    pub fn as_output(&self) -> Option<&str> {
        (self.1 == "o").then_some(self.2.as_str())
    }

    /// Returns the kind: `o`, `r` or `m`.
    pub fn kind(&self) -> &str {
        &self.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cast_event_is_an_array_of_three() {
        let line = serde_json::to_string(&CastEvent::resize(1.5, 80, 24)).unwrap();
        assert_eq!(line, r#"[1.5,"r","80x24"]"#);
        let read: CastEvent = serde_json::from_str(r#"[0.25,"o","a\u001b[0m"]"#).unwrap();
        assert_eq!(read.as_output(), Some("a\u{1b}[0m"));
    }
}
