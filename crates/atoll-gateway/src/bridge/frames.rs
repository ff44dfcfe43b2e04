//! What travels over a bridge's terminal in text frames, and what becomes of ours. Pure: no socket is touched here.

use atoll_protocol::{Gap, TerminalCommand, TerminalFrame, WindowSize};
use serde::{Deserialize, Serialize};

use super::events::exit_code;

/// What a client says.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Said {
    /// Give the window a size.
    Resize {
        /// Columns.
        cols: u16,
        /// Rows.
        rows: u16,
    },
}

/// What a client is told.
#[derive(Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Told {
    /// What was printed before is told, and from here on it is live.
    Ready,
    /// What was printed here is gone.
    Truncated {
        /// First position that cannot be read.
        from: u64,
        /// First position after it that can.
        to: u64,
    },
    /// The program is over.
    Exit {
        /// As a shell tells it.
        code: i32,
        /// The signal that ended it, if one did.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<String>)]
        signal: Option<atoll_protocol::Signal>,
    },
    /// What was asked for was not done.
    Error {
        /// Why.
        message: String,
    },
}

impl Told {
    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What a client's text frame asks for.
pub(super) fn command(text: &str) -> Result<TerminalCommand, Told> {
    let refused =
        |error: &dyn std::fmt::Display| Told::Error { message: format!("the message cannot be read: {error}") };
    let Said::Resize { cols, rows } = serde_json::from_str(text).map_err(|error| refused(&error))?;
    Ok(TerminalCommand::Resize(WindowSize::new(cols, rows).map_err(|error| refused(&error))?))
}

/// What a client is told of our frames. A bridge says `ready` behind what was printed before, we say it in front: so it
/// is held back until that much has passed.
#[derive(Debug, Default)]
pub(super) struct Order {
    reached: u64,
    /// Where `ready` is due.
    due: Option<u64>,
}

impl Order {
    /// A text frame of ours.
    pub(super) fn frame(&mut self, text: &str) -> Vec<Told> {
        match serde_json::from_str(text) {
            Ok(TerminalFrame::Ready(ready)) => {
                self.reached = ready.cursor;
                self.due = Some(ready.terminal.cursor);
                self.ready().into_iter().collect()
            }
            Ok(TerminalFrame::Truncated(Gap { from, to })) => {
                self.reached = to;
                [Told::Truncated { from, to }].into_iter().chain(self.ready()).collect()
            }
            Ok(TerminalFrame::Exit(exit)) => {
                // Whoever waits for `ready` does so before anything else.
                let ready = self.due.take().map(|_| Told::Ready);
                let exit = Told::Exit { code: exit_code(&exit.end), signal: exit.end.signal };
                ready.into_iter().chain([exit]).collect()
            }
            Ok(TerminalFrame::Error(body)) => vec![Told::Error { message: body.message }],
            // Of another viewer: a bridge has no word for it.
            Ok(TerminalFrame::Resize(_)) => Vec::new(),
            Err(error) => vec![Told::Error { message: format!("the terminal cannot be understood: {error}") }],
        }
    }

    /// So many bytes have passed.
    pub(super) fn passed(&mut self, bytes: usize) -> Option<Told> {
        self.reached += bytes as u64;
        self.ready()
    }

    fn ready(&mut self) -> Option<Told> {
        self.due.take_if(|due| *due <= self.reached).map(|_| Told::Ready)
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
    fn ready_comes_behind_what_was_printed_before() {
        let mut order = Order::default();
        assert_eq!(order.frame(&ready(0, 0)), [Told::Ready]);
        assert_eq!(order.passed(5), None);
        let mut order = Order::default();
        assert_eq!(order.frame(&ready(10, 20)), []);
        assert_eq!(order.passed(4), None);
        assert_eq!(order.passed(6), Some(Told::Ready));
        assert_eq!(order.passed(6), None);
        let mut order = Order::default();
        assert_eq!(order.frame(&ready(10, 20)), []);
        let told = order.frame(r#"{"truncated":{"from":10,"to":25}}"#);
        assert_eq!(told, [Told::Truncated { from: 10, to: 25 }, Told::Ready]);
    }

    #[test]
    fn a_client_can_only_resize() {
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
            assert!(matches!(command(bad), Err(Told::Error { .. })), "{bad}");
        }
    }

    #[test]
    fn frames_say_what_they_are() {
        assert_eq!(Told::Ready.text(), r#"{"type":"ready"}"#);
        assert_eq!(Told::Exit { code: 3, signal: None }.text(), r#"{"type":"exit","code":3}"#);
    }
}
