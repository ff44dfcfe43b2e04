//! The text frames of a bridge's terminal, and their translation. Pure: no I/O.

use atoll_protocol::{Gap, TerminalCommand, TerminalFrame, WindowSize};
use serde::{Deserialize, Serialize};

use super::events::exit_code;

/// A text frame from the client.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum ClientFrame {
    /// Resize the terminal.
    Resize {
        /// Columns.
        cols: u16,
        /// Rows.
        rows: u16,
    },
}

/// A text frame to the client.
#[derive(Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ServerFrame {
    /// Earlier output has been sent; from here on, output is live.
    Ready,
    /// Some output is no longer available.
    Truncated {
        /// First position that is not available.
        from: u64,
        /// First position after the gap.
        to: u64,
    },
    /// The program has ended.
    Exit {
        /// The exit code, as a shell reports it.
        code: i32,
        /// The signal that killed it, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<String>)]
        signal: Option<atoll_protocol::Signal>,
    },
    /// A request failed.
    Error {
        /// Why.
        message: String,
    },
}

impl ServerFrame {
    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Parses a client's text frame.
pub(super) fn command(text: &str) -> Result<TerminalCommand, ServerFrame> {
    let refused = |error: &dyn std::fmt::Display| ServerFrame::Error { message: format!("invalid message: {error}") };
    let ClientFrame::Resize { cols, rows } = serde_json::from_str(text).map_err(|error| refused(&error))?;
    Ok(TerminalCommand::Resize(WindowSize::new(cols, rows).map_err(|error| refused(&error))?))
}

/// Translates our frames. A bridge sends `ready` after earlier output, we send it before: so it is deferred until that
/// output has been sent.
#[derive(Debug, Default)]
pub(super) struct FrameOrder {
    reached: u64,
    /// The position at which `ready` is due.
    due: Option<u64>,
}

impl FrameOrder {
    /// Translates one of our text frames.
    pub(super) fn frame(&mut self, text: &str) -> Vec<ServerFrame> {
        match serde_json::from_str(text) {
            Ok(TerminalFrame::Ready(ready)) => {
                self.reached = ready.cursor;
                self.due = Some(ready.terminal.cursor);
                self.ready().into_iter().collect()
            }
            Ok(TerminalFrame::Truncated(Gap { from, to })) => {
                self.reached = to;
                [ServerFrame::Truncated { from, to }].into_iter().chain(self.ready()).collect()
            }
            Ok(TerminalFrame::Exit(exit)) => {
                // `ready` comes before the end.
                let ready = self.due.take().map(|_| ServerFrame::Ready);
                let exit = ServerFrame::Exit { code: exit_code(&exit.end), signal: exit.end.signal };
                ready.into_iter().chain([exit]).collect()
            }
            Ok(TerminalFrame::Error(body)) => vec![ServerFrame::Error { message: body.message }],
            // Another viewer resized it: a bridge has no frame for that.
            Ok(TerminalFrame::Resize(_)) => Vec::new(),
            Err(error) => vec![ServerFrame::Error { message: format!("invalid message from the terminal: {error}") }],
        }
    }

    /// Counts output that was sent. Returns `ready` when it is due.
    pub(super) fn passed(&mut self, bytes: usize) -> Option<ServerFrame> {
        self.reached += bytes as u64;
        self.ready()
    }

    fn ready(&mut self) -> Option<ServerFrame> {
        self.due.take_if(|due| *due <= self.reached).map(|_| ServerFrame::Ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(cursor: u64, end: u64) -> String {
        let terminal = format!(
            r#"{{"id":"t","state":"running","pid":2,"command":"sh","size":{{"cols":80,"rows":24}},"resized_by":null,"viewers":1,"cursor":{end},"started_at":"2026-11-15T06:25:24.681Z","end":null}}"#
        );
        format!(r#"{{"ready":{{"terminal":{terminal},"cursor":{cursor}}}}}"#)
    }

    #[test]
    fn ready_comes_after_earlier_output() {
        let mut order = FrameOrder::default();
        assert_eq!(order.frame(&ready(0, 0)), [ServerFrame::Ready]);
        assert_eq!(order.passed(5), None);
        let mut order = FrameOrder::default();
        assert_eq!(order.frame(&ready(10, 20)), []);
        assert_eq!(order.passed(4), None);
        assert_eq!(order.passed(6), Some(ServerFrame::Ready));
        assert_eq!(order.passed(6), None);
        let mut order = FrameOrder::default();
        assert_eq!(order.frame(&ready(10, 20)), []);
        let frames = order.frame(r#"{"truncated":{"from":10,"to":25}}"#);
        assert_eq!(frames, [ServerFrame::Truncated { from: 10, to: 25 }, ServerFrame::Ready]);
    }

    #[test]
    fn client_can_only_resize() {
        let size = WindowSize::new(7, 3).unwrap();
        assert_eq!(command(r#"{"type":"resize","cols":7,"rows":3}"#), Ok(TerminalCommand::Resize(size)));
        for bad in [
            "",
            "x",
            "{}",
            r#"{"type":"resize","cols":0,"rows":3}"#,
            r#"{"type":"kill"}"#,
            r#"{"type":"resize","cols":7}"#,
        ] {
            assert!(matches!(command(bad), Err(ServerFrame::Error { .. })), "{bad}");
        }
    }

    #[test]
    fn frames_have_a_type() {
        assert_eq!(ServerFrame::Ready.text(), r#"{"type":"ready"}"#);
        assert_eq!(ServerFrame::Exit { code: 3, signal: None }.text(), r#"{"type":"exit","code":3}"#);
    }
}
