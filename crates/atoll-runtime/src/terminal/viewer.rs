//! Looking at a terminal: what was there, then what comes, then how it ended.

use atoll_protocol::{EndRecord, Resized, WindowSize};
use bytes::Bytes;

use super::handle::Terminal;
use super::timeline::{Moment, Timeline};
use crate::Error;
use crate::run::Ended;

/// How much of the past [`Attach::Tail`] shows: some screens full, little enough to send at once.
const TAIL_BYTES: u64 = 64 * 1024;

/// Where to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Attach {
    /// With the newest part of what was printed.
    #[default]
    Tail,
    /// At a place: where an earlier viewer stopped, or the screen was drawn.
    Cursor(u64),
    /// With what comes.
    Now,
}

/// What a viewer may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// Look, type and resize.
    #[default]
    ReadWrite,
    /// Look.
    ReadOnly,
}

/// How to look at a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ViewerOptions {
    /// Where to begin.
    pub from: Attach,
    /// What the viewer may do.
    pub access: Access,
}

/// What a viewer is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalEvent {
    /// It printed.
    Output {
        /// Position of the first byte.
        cursor: u64,
        /// The bytes, exactly.
        bytes: Bytes,
    },
    /// What it printed here is gone: the log had to drop it.
    Truncated {
        /// First position that cannot be read.
        from: u64,
        /// First position after it that can.
        to: u64,
    },
    /// Its window has this size from here on. The first event of every viewer is one.
    Resized(Resized),
    /// Its program is over. What comes after this was printed by something that it left behind.
    Exit(Box<EndRecord>),
}

/// Somebody who looks at a terminal. It holds nothing up, however slowly it is read.
#[derive(Debug)]
pub struct Viewer {
    terminal: Terminal,
    timeline: Timeline,
    access: Access,
    told_exit: bool,
}

impl Viewer {
    pub(super) fn new(terminal: Terminal, options: ViewerOptions) -> Self {
        let end = terminal.log().end();
        let since = match options.from {
            Attach::Tail => end.saturating_sub(TAIL_BYTES),
            Attach::Cursor(cursor) => cursor.min(end),
            Attach::Now => end,
        };
        let timeline = Timeline::new(terminal.log(), terminal.window(), since);
        terminal.joined();
        Self { terminal, timeline, access: options.access, told_exit: false }
    }

    /// What it looks at.
    pub fn terminal(&self) -> &Terminal {
        &self.terminal
    }

    /// The position to attach at again after what was told so far.
    pub fn cursor(&self) -> u64 {
        self.timeline.position()
    }

    /// The next event; waits for one. `None` when the exit was told and nothing is left. Dropping the future loses
    /// nothing.
    pub async fn next(&mut self) -> Option<TerminalEvent> {
        let process = self.terminal.process().clone();
        loop {
            if let Some(change) = self.timeline.due() {
                return Some(TerminalEvent::Resized(change));
            }
            let over = process.ended_at().filter(|_| !self.told_exit);
            if let Some(ended) = over.filter(|ended| self.timeline.position() >= ended.cursor) {
                return Some(self.exit(ended));
            }
            tokio::select! {
                biased;
                moment = self.timeline.next() => match moment {
                    Some(moment) => return Some(event(moment)),
                    None if self.told_exit => return None,
                    None => return process.over().await.ok().map(|ended| self.exit(ended)),
                },
                ended = process.over(), if !self.told_exit && process.ended_at().is_none() => {
                    // Nothing ran here, so nothing can be told.
                    ended.ok()?;
                }
            }
        }
    }

    fn exit(&mut self, ended: Ended) -> TerminalEvent {
        self.told_exit = true;
        TerminalEvent::Exit(Box::new(ended.record))
    }

    /// Types.
    pub async fn write(&self, bytes: Bytes) -> Result<(), Error> {
        self.allowed()?;
        self.terminal.write(bytes).await
    }

    /// Gives the window a size.
    pub async fn resize(&self, size: WindowSize, by: impl Into<String>) -> Result<(), Error> {
        self.allowed()?;
        self.terminal.resize(size, by).await
    }

    fn allowed(&self) -> Result<(), Error> {
        match self.access {
            Access::ReadWrite => Ok(()),
            Access::ReadOnly => Err(Error::TerminalReadOnly { id: self.terminal.id().to_string() }),
        }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.terminal.left();
    }
}

fn event(moment: Moment) -> TerminalEvent {
    match moment {
        Moment::Output(chunk) => TerminalEvent::Output { cursor: chunk.cursor, bytes: chunk.bytes },
        Moment::Gap { from, to } => TerminalEvent::Truncated { from, to },
        Moment::Resized(change) => TerminalEvent::Resized(change),
    }
}
