//! A terminal's screen as the API shows it.

use serde::{Deserialize, Serialize};

use crate::WindowSize;

/// What is on a terminal's screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ScreenInfo {
    /// How large it is.
    pub size: WindowSize,
    /// Its text without colours: a line per row, without the spaces at its end.
    pub text: String,
    /// What draws it on an empty terminal of the same size, with colours, cursor and input modes.
    pub formatted: String,
    /// What takes a terminal on which it was drawn back to normal.
    pub reset: String,
    /// Row of the text cursor, from 0.
    pub cursor_row: u16,
    /// Column of the text cursor, from 0.
    pub cursor_col: u16,
    /// Whether the text cursor is hidden.
    pub cursor_hidden: bool,
    /// Whether it is the second screen, on which programs such as editors draw.
    pub alternate: bool,
    /// The position in the output at which this was on the screen: attach there to go on.
    pub cursor: u64,
    /// Whether every byte before that was seen. Else something drawn long ago may be missing.
    pub whole: bool,
}
