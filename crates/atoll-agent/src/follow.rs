//! Following the output of a process or a terminal to its end: what was printed, then what is, then how it ended.
//!
//! Holds one position and no output. A client that reads slowly holds up nothing but its own position.

use atoll_protocol::{EndRecord, ErrorBody, Gap, OutputEnd};
use atoll_runtime::{Chunk, Error, Log, LogEvent, LogReader, Process, Terminal};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::error;

/// Whose output it is.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    Process(Process),
    Terminal(Terminal),
}

impl Source {
    pub(crate) fn log(&self) -> &Log {
        match self {
            Self::Process(process) => process.log(),
            Self::Terminal(terminal) => terminal.log(),
        }
    }

    async fn ended(&self) -> Result<EndRecord, Error> {
        match self {
            Self::Process(process) => process.ended().await,
            Self::Terminal(terminal) => terminal.ended().await,
        }
    }
}

/// How far to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Until {
    /// To the end of the main process.
    #[default]
    End,
    /// Until nothing is left that could print.
    Closed,
}

/// What a follower is told.
#[derive(Debug)]
pub(crate) enum Told {
    Output(Chunk),
    Gap(Gap),
    /// The last thing.
    End(OutputEnd),
    /// The last thing, if the end is not known.
    Failed(ErrorBody),
}

#[derive(Debug)]
enum Stage {
    /// The main process runs.
    Running,
    /// It is over; up to here it printed.
    Over { end: EndRecord, cursor: u64 },
    /// All is told.
    Done,
}

/// A follower.
#[derive(Debug)]
pub(crate) struct Follow {
    source: Source,
    reader: LogReader,
    until: Until,
    stage: Stage,
}

impl Follow {
    pub(crate) fn new(source: Source, since: u64, until: Until) -> Self {
        let reader = source.log().reader(since);
        Self { source, reader, until, stage: Stage::Running }
    }

    /// The next thing; waits for it. `None` after the last. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Told> {
        loop {
            match &self.stage {
                Stage::Running => {
                    if let Some(told) = self.while_running().await {
                        return Some(told);
                    }
                }
                Stage::Over { cursor, .. } if self.until == Until::End && self.reader.cursor() >= *cursor => {
                    return self.end();
                }
                Stage::Over { .. } => {
                    return match self.reader.next().await {
                        Some(event) => Some(told(event)),
                        None => self.end(),
                    };
                }
                Stage::Done => return None,
            }
        }
    }

    /// `None` when the stage has changed.
    async fn while_running(&mut self) -> Option<Told> {
        let source = self.source.clone();
        let ended = tokio::select! {
            // The end first: something that it left behind may print for ever.
            biased;
            ended = source.ended() => ended,
            event = self.reader.next() => match event {
                Some(event) => return Some(told(event)),
                None => source.ended().await,
            },
        };
        match ended {
            Ok(end) => {
                self.stage = Stage::Over { end, cursor: source.log().end() };
                None
            }
            Err(error) => {
                self.stage = Stage::Done;
                Some(Told::Failed(error::body(&error)))
            }
        }
    }

    fn end(&mut self) -> Option<Told> {
        match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::Over { end, .. } => Some(Told::End(OutputEnd { end, cursor: self.reader.cursor() })),
            Stage::Running | Stage::Done => None,
        }
    }
}

fn told(event: LogEvent) -> Told {
    match event {
        LogEvent::Output(chunk) => Told::Output(chunk),
        LogEvent::Gap { from, to } => Told::Gap(Gap { from, to }),
    }
}
