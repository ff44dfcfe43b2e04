//! A terminal's screen.

use serde::{Deserialize, Serialize};

use crate::WindowSize;

/// Content of a terminal's screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ScreenInfo {
    /// Size of the screen.
    pub size: WindowSize,
    /// Text without colours: one line per row, without trailing spaces.
    pub text: String,
    /// Escape sequences that draw the screen on an empty terminal of the same size, with colours, cursor and input
    /// modes.
    pub formatted: String,
    /// Escape sequences that reset a terminal after `formatted` was drawn on it.
    pub reset: String,
    /// Row of the text cursor, from 0.
    pub cursor_row: u16,
    /// Column of the text cursor, from 0.
    pub cursor_col: u16,
    /// Whether the text cursor is hidden.
    pub cursor_hidden: bool,
    /// Whether this is the alternate screen, which programs such as editors use.
    pub alternate: bool,
    /// Position in the output at which the screen had this content: attach there to continue.
    pub cursor: u64,
    /// Whether all output before that position was processed. Otherwise old content may be missing.
    pub whole: bool,
}
