//! What travels over the WebSockets: frames to and from a process, and the control frames of a terminal.
//!
//! Every text frame is one of these as JSON. A terminal's bytes are binary frames, both ways, and have no words.

use serde::{Deserialize, Serialize};

use crate::{
    Encoding, EndRecord, ErrorBody, Gap, OutputEnd, OutputEvent, Resized, SignalReceipt, SignalRequest, StdinReceipt,
    TerminalInfo, WindowSize,
};

/// Bytes for a standard input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct StdinPiece {
    /// Position of the first byte in all that was ever written: a repeated write is skipped, a gap refused.
    pub offset: u64,
    /// The bytes, encoded.
    pub data: String,
    /// How.
    #[serde(default)]
    pub encoding: Encoding,
}

/// What a client sends to a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttachCommand {
    /// Write to its standard input. Answered by `written`.
    Stdin(StdinPiece),
    /// Close its standard input.
    Close,
    /// Send a signal. Answered by `signalled`.
    Signal(SignalRequest),
}

/// What a process's client is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttachEvent {
    /// It printed.
    Output(OutputEvent),
    /// What it printed here is gone.
    Gap(Gap),
    /// Its main process is over.
    End(OutputEnd),
    /// The pipe has taken the bytes.
    Written(StdinReceipt),
    /// The signal was sent.
    Signalled(SignalReceipt),
    /// What was asked for was not done.
    Error(ErrorBody),
}

/// What a terminal's client sends in text frames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TerminalCommand {
    /// Give the window a size.
    Resize(WindowSize),
    /// Send a signal.
    Signal(SignalRequest),
}

/// The connection stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TerminalReady {
    /// The terminal.
    pub terminal: TerminalInfo,
    /// Position of the first byte that follows. Count from here to know where to attach again.
    pub cursor: u64,
}

/// The program is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TerminalExit {
    /// How it ended.
    pub end: EndRecord,
    /// Position behind the last byte that was told.
    pub cursor: u64,
}

/// What a terminal's client is told in text frames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TerminalFrame {
    /// The first frame.
    Ready(TerminalReady),
    /// The window has this size from here on.
    Resize(Resized),
    /// What was printed here is gone.
    Truncated(Gap),
    /// The last frame, unless something that the program left behind still prints.
    Exit(TerminalExit),
    /// What was asked for was not done.
    Error(ErrorBody),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_say_what_they_are() {
        let read = |text: &str| serde_json::from_str::<AttachCommand>(text);
        assert_eq!(read(r#""close""#).unwrap(), AttachCommand::Close);
        let piece = StdinPiece { offset: 3, data: "x".to_owned(), encoding: Encoding::Utf8 };
        assert_eq!(read(r#"{"stdin":{"offset":3,"data":"x"}}"#).unwrap(), AttachCommand::Stdin(piece));
        let size = TerminalCommand::Resize(WindowSize::default());
        assert_eq!(serde_json::to_string(&size).unwrap(), r#"{"resize":{"cols":80,"rows":24}}"#);
    }
}
