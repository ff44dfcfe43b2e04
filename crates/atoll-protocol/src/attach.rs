//! WebSocket frames: frames to and from a process, and the control frames of a terminal.
//!
//! Every text frame is one of these types as JSON. Terminal input and output are binary frames without a wrapper.

use serde::{Deserialize, Serialize};

use crate::{
    Encoding, EndRecord, ErrorBody, Gap, OutputEnd, OutputEvent, Resized, SignalReceipt, SignalRequest, StdinReceipt,
    TerminalInfo, WindowSize,
};

/// Bytes for a process's standard input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct StdinPiece {
    /// Offset of the first byte in the whole input. Bytes already written are skipped; a gap is an error.
    pub offset: u64,
    /// The bytes, encoded as `encoding` says.
    pub data: String,
    /// Encoding of `data`.
    #[serde(default)]
    pub encoding: Encoding,
}

/// A frame from the client to a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttachCommand {
    /// Write to standard input. Answered by `written`.
    Stdin(StdinPiece),
    /// Close standard input.
    Close,
    /// Send a signal. Answered by `signalled`.
    Signal(SignalRequest),
}

/// A frame from a process to the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttachEvent {
    /// Output of the process.
    Output(OutputEvent),
    /// Output at this position is no longer available.
    Gap(Gap),
    /// The main process has ended.
    End(OutputEnd),
    /// The pipe has accepted the bytes.
    Written(StdinReceipt),
    /// The signal was sent.
    Signalled(SignalReceipt),
    /// The last command failed.
    Error(ErrorBody),
}

/// A text frame from the client to a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TerminalCommand {
    /// Set the window size.
    Resize(WindowSize),
    /// Send a signal.
    Signal(SignalRequest),
}

/// The first frame of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TerminalReady {
    /// The terminal.
    pub terminal: TerminalInfo,
    /// Position of the first byte that follows. Count from here to know where to reattach.
    pub cursor: u64,
}

/// The terminal's program has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TerminalExit {
    /// How it ended.
    pub end: EndRecord,
    /// Position after the last byte sent.
    pub cursor: u64,
}

/// A text frame from a terminal to the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TerminalFrame {
    /// The first frame.
    Ready(TerminalReady),
    /// The window size changes at this point of the output.
    Resize(Resized),
    /// Output at this position is no longer available.
    Truncated(Gap),
    /// The last frame, unless background processes of the program still print.
    Exit(TerminalExit),
    /// The last command failed.
    Error(ErrorBody),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_json_is_tagged_by_its_kind() {
        let read = |text: &str| serde_json::from_str::<AttachCommand>(text);
        assert_eq!(read(r#""close""#).unwrap(), AttachCommand::Close);
        let piece = StdinPiece { offset: 3, data: "x".to_owned(), encoding: Encoding::Utf8 };
        assert_eq!(read(r#"{"stdin":{"offset":3,"data":"x"}}"#).unwrap(), AttachCommand::Stdin(piece));
        let size = TerminalCommand::Resize(WindowSize::default());
        assert_eq!(serde_json::to_string(&size).unwrap(), r#"{"resize":{"cols":80,"rows":24}}"#);
    }
}
