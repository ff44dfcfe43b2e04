//! Terminals.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{EndRecord, ProcessState, TerminalId, Timestamp};

/// Size of a window, in characters. Both sides are at least 1 and within their maximum.
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

/// A window size out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidSize {
    cols: u16,
    rows: u16,
}

impl std::fmt::Display for InvalidSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (cols, rows) = (WindowSize::COLS_MAX, WindowSize::ROWS_MAX);
        write!(
            f,
            "{} x {} is not a valid window size: give 1 to {cols} columns and 1 to {rows} rows",
            self.cols, self.rows
        )
    }
}

impl std::error::Error for InvalidSize {}

impl WindowSize {
    /// Maximum number of columns. More than any real screen; a larger one would make snapshots use too much memory.
    pub const COLS_MAX: u16 = 1000;
    /// Maximum number of rows.
    pub const ROWS_MAX: u16 = 500;

    /// Checks the range and creates the size.
    pub fn new(cols: u16, rows: u16) -> Result<Self, InvalidSize> {
        let fits = (1..=Self::COLS_MAX).contains(&cols) && (1..=Self::ROWS_MAX).contains(&rows);
        if fits { Ok(Self { cols, rows }) } else { Err(InvalidSize { cols, rows }) }
    }

    /// Returns the nearest valid size. Real terminals may report a size of 0.
    pub fn nearest(cols: u16, rows: u16) -> Self {
        Self { cols: cols.clamp(1, Self::COLS_MAX), rows: rows.clamp(1, Self::ROWS_MAX) }
    }

    /// Returns the number of columns.
    pub fn cols(self) -> u16 {
        self.cols
    }

    /// Returns the number of rows.
    pub fn rows(self) -> u16 {
        self.rows
    }
}

impl Default for WindowSize {
    /// 80 x 24, as on the VT100.
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

/// A window was resized.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Resized {
    /// Position in the output.
    pub cursor: u64,
    /// The new size.
    pub size: WindowSize,
    /// Who resized it; `null` for the initial size.
    pub by: Option<String>,
    /// When it was resized.
    pub time: Timestamp,
}

/// One terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TerminalInfo {
    /// Id of the terminal.
    pub id: TerminalId,
    /// State of its program.
    pub state: ProcessState,
    /// Pid of its program inside the sandbox, while it runs.
    pub pid: Option<u32>,
    /// The command line, or the arguments joined for display.
    pub command: String,
    /// The current size.
    pub size: WindowSize,
    /// Who resized it last; `null` for the initial size.
    pub resized_by: Option<String>,
    /// Number of attached viewers.
    pub viewers: usize,
    /// Position after the last byte of its output.
    pub cursor: u64,
    /// When its program was started.
    pub started_at: Timestamp,
    /// How its program ended, if it has.
    pub end: Option<EndRecord>,
}

/// A list of terminals, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TerminalList {
    /// The terminals, including ended ones that are still retained.
    pub terminals: Vec<TerminalInfo>,
}

/// Opens a terminal: the one with this id, or a new one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TerminalRequest {
    /// Id of the terminal; generated if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<TerminalId>,
    /// Shell command line to run. The interactive shell if neither this nor `argv` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Program and arguments to run, without a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// Working directory; relative paths are below the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Changes to the default environment; `null` unsets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, Option<String>>,
    /// User inside the sandbox: a name or an id, optionally with `:group`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Initial number of columns (default 80).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cols: Option<u16>,
    /// Initial number of rows (default 24).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u16>,
    /// Value of `TERM` (default `xterm-256color`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub term: Option<String>,
}

/// Resizes a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ResizeRequest {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// Who resizes it, which is reported to other viewers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_size_is_checked_in_every_constructor() {
        assert!(WindowSize::new(80, 24).is_ok());
        for (cols, rows) in [(0, 24), (80, 0), (1001, 24), (80, 501)] {
            assert!(WindowSize::new(cols, rows).is_err());
        }
        assert_eq!(WindowSize::nearest(0, 0), WindowSize { cols: 1, rows: 1 });
        assert_eq!(serde_json::from_str::<WindowSize>(r#"{"cols":7,"rows":3}"#).unwrap().cols(), 7);
        let refused = serde_json::from_str::<WindowSize>(r#"{"cols":0,"rows":3}"#).unwrap_err().to_string();
        assert!(
            refused.starts_with("0 x 3 is not a valid window size: give 1 to 1000 columns and 1 to 500 rows"),
            "{refused}"
        );
    }
}
