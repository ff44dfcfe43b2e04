//! Terminals as the API shows them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{EndRecord, ProcessState, TerminalId, Timestamp};

/// How large a window is, in characters. Neither side is 0 or beyond its cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(try_from = "RawSize", into = "RawSize")]
pub struct WindowSize {
    cols: u16,
    rows: u16,
}

#[derive(Serialize, Deserialize)]
struct RawSize {
    cols: u16,
    rows: u16,
}

/// A window that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidSize {
    cols: u16,
    rows: u16,
}

impl std::fmt::Display for InvalidSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (cols, rows) = (WindowSize::COLS_MAX, WindowSize::ROWS_MAX);
        write!(f, "{} x {} is no window: give 1 to {cols} columns and 1 to {rows} rows", self.cols, self.rows)
    }
}

impl std::error::Error for InvalidSize {}

impl WindowSize {
    /// Widest window. A wall of screens in a tiny font has fewer; a snapshot of more would cost too much memory.
    pub const COLS_MAX: u16 = 1000;
    /// Highest window.
    pub const ROWS_MAX: u16 = 500;

    /// Checks the caps.
    pub fn new(cols: u16, rows: u16) -> Result<Self, InvalidSize> {
        let fits = (1..=Self::COLS_MAX).contains(&cols) && (1..=Self::ROWS_MAX).contains(&rows);
        if fits { Ok(Self { cols, rows }) } else { Err(InvalidSize { cols, rows }) }
    }

    /// The nearest window that can be: for sizes that a real terminal reports, which may be 0.
    pub fn nearest(cols: u16, rows: u16) -> Self {
        Self { cols: cols.clamp(1, Self::COLS_MAX), rows: rows.clamp(1, Self::ROWS_MAX) }
    }

    /// Columns.
    pub fn cols(self) -> u16 {
        self.cols
    }

    /// Rows.
    pub fn rows(self) -> u16 {
        self.rows
    }
}

impl Default for WindowSize {
    /// What terminals have been since the VT100.
    fn default() -> Self {
        Self { cols: 80, rows: 24 }
    }
}

impl TryFrom<RawSize> for WindowSize {
    type Error = InvalidSize;
    fn try_from(raw: RawSize) -> Result<Self, InvalidSize> {
        Self::new(raw.cols, raw.rows)
    }
}

impl From<WindowSize> for RawSize {
    fn from(size: WindowSize) -> Self {
        Self { cols: size.cols, rows: size.rows }
    }
}

/// A window got this size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Resized {
    /// Where in the output.
    pub cursor: u64,
    /// The new size.
    pub size: WindowSize,
    /// Who asked for it; `None` for the size that it was made with.
    pub by: Option<String>,
    /// When.
    pub time: Timestamp,
}

/// One terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TerminalInfo {
    /// Its id.
    pub id: TerminalId,
    /// Where in its life its program is.
    pub state: ProcessState,
    /// Pid of its program inside the sandbox, while it runs.
    pub pid: Option<u32>,
    /// What was asked for: the shell string, or the arguments joined for reading.
    pub command: String,
    /// The size last asked for.
    pub size: WindowSize,
    /// Who asked for it; `None` for the size that it was made with.
    pub resized_by: Option<String>,
    /// How many are looking.
    pub viewers: usize,
    /// Position behind the last byte of its output.
    pub cursor: u64,
    /// When its program was started.
    pub started_at: Timestamp,
    /// How its program ended, if it has.
    pub end: Option<EndRecord>,
}

/// Terminals, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TerminalList {
    /// All that are remembered.
    pub terminals: Vec<TerminalInfo>,
}

/// Asks for a terminal: the one that has this id, or a new one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TerminalRequest {
    /// Its id; made up if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<TerminalId>,
    /// A shell string to run in it. Without this and `argv`: the interactive shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// A program and its arguments to run in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// Working directory; relative ones are below the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Changes to the default environment; `null` unsets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, Option<String>>,
    /// User inside: a name, a number, or either with `:group`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Columns at first (80).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cols: Option<u16>,
    /// Rows at first (24).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u16>,
    /// The variable `TERM` (`xterm-256color`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub term: Option<String>,
}

/// Asks for another window size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ResizeRequest {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// Who asks; other viewers are told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked_wherever_they_come_from() {
        assert!(WindowSize::new(80, 24).is_ok());
        for (cols, rows) in [(0, 24), (80, 0), (1001, 24), (80, 501)] {
            assert!(WindowSize::new(cols, rows).is_err());
        }
        assert_eq!(WindowSize::nearest(0, 0), WindowSize { cols: 1, rows: 1 });
        assert_eq!(serde_json::from_str::<WindowSize>(r#"{"cols":7,"rows":3}"#).unwrap().cols(), 7);
        let refused = serde_json::from_str::<WindowSize>(r#"{"cols":0,"rows":3}"#).unwrap_err().to_string();
        assert!(refused.starts_with("0 x 3 is no window: give 1 to 1000 columns and 1 to 500 rows"), "{refused}");
    }
}
