//! A command of a server, followed to its end in this terminal: its output is ours, its code is ours, and what
//! interrupts us ends it.

use std::time::Duration;

use atoll_client::{Client, ExecEvent, ExecStream, Follow, FollowEvent};
use atoll_protocol::{EndRecord, Gap, KillRequest, ProcessId, SessionId};
use tokio::time::timeout;

use crate::failure::Failure;
use crate::interrupts::Interrupts;
use crate::output::{Output, Piece};
use crate::{exit, printer};

/// How long the last output may take to be written after an interrupt.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A command that was asked for, and how to end it.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) client: Client,
    pub(crate) session: Option<SessionId>,
    pub(crate) id: ProcessId,
    /// Between TERM and KILL, if not as the command was started with.
    pub(crate) grace: Option<Duration>,
}

impl Asked {
    /// Ends it. What waits in a session's queue never begins; one that is over needs nothing.
    pub(crate) async fn end(&self, grace: Option<Duration>) {
        if let Some(session) = &self.session
            && self.client.session_cancel(session, &self.id).await.unwrap_or(false)
        {
            return;
        }
        let grace_ms = grace.and_then(|grace| u64::try_from(grace.as_millis()).ok());
        drop(self.client.kill(&self.id, &KillRequest { grace_ms }).await);
    }

    /// Ends it; asked again, without grace.
    async fn end_interrupted(&self, interrupts: &mut Interrupts) {
        tokio::select! {
            biased;
            _ = interrupts.next() => self.end(Some(Duration::ZERO)).await,
            () = self.end(self.grace) => {}
        }
    }

    /// Nobody else knows its id: its record is not needed any more. What lingers keeps it.
    pub(crate) async fn forget(&self) {
        drop(self.client.remove_process(&self.id).await);
    }
}

/// Where it is told what the command does.
#[derive(Debug)]
pub(crate) enum Source {
    Exec(Box<ExecStream>),
    Follow(Box<Follow>),
}

/// What it does.
#[derive(Debug)]
enum Told {
    Piece(Piece),
    End { end: EndRecord, reset: bool },
    Nothing,
}

impl Source {
    async fn next(&mut self) -> Result<Told, Failure> {
        match self {
            Self::Exec(stream) => Ok(stream.next().await?.map_or(Told::Nothing, |event| match event {
                ExecEvent::Start(_) => Told::Nothing,
                ExecEvent::Output(output) => Told::Piece(Piece::Bytes(output.stream, output.bytes)),
                ExecEvent::Gap(gap) => Told::Piece(dropped(gap)),
                ExecEvent::End(result) => Told::End { reset: result.session_reset, end: result.end },
            })),
            Self::Follow(follow) => Ok(follow.next().await?.map_or(Told::Nothing, |event| match event {
                FollowEvent::Output(output) => Told::Piece(Piece::Bytes(output.stream, output.bytes)),
                FollowEvent::Gap(gap) => Told::Piece(dropped(gap)),
                FollowEvent::End(end) => Told::End { end: end.end, reset: false },
            })),
        }
    }
}

fn dropped(gap: Gap) -> Piece {
    Piece::Dropped(gap.to - gap.from)
}

/// Passes output on until the command is over, and gives its code.
pub(crate) async fn follow(mut source: Source, asked: &Asked, interrupts: &mut Interrupts) -> Result<u8, Failure> {
    let output = Output::start();
    loop {
        let told = tokio::select! {
            biased;
            number = interrupts.next() => return interrupted(number, source, output, asked, interrupts).await,
            told = source.next() => told?,
        };
        let piece = match told {
            Told::Nothing => continue,
            Told::Piece(piece) => piece,
            Told::End { end, reset } => return over(output, &end, reset).await,
        };
        let taken = tokio::select! {
            biased;
            number = interrupts.next() => return interrupted(number, source, output, asked, interrupts).await,
            taken = output.hand(piece) => taken,
        };
        if !taken {
            // Nobody takes the output any more: as for any program in a pipeline, that is the end.
            asked.end_interrupted(interrupts).await;
            return written(output).await.map(|()| exit::BROKEN_PIPE);
        }
    }
}

async fn over(output: Output, end: &EndRecord, reset: bool) -> Result<u8, Failure> {
    written(output).await?;
    exit::explain(end);
    if reset {
        printer::note("the session's shell could not be saved; it was replaced by one with its last snapshot");
    }
    Ok(exit::of_end(end))
}

async fn written(output: Output) -> Result<(), Failure> {
    Ok(output.finish().await?)
}

async fn interrupted(
    number: u8,
    mut source: Source,
    output: Output,
    asked: &Asked,
    interrupts: &mut Interrupts,
) -> Result<u8, Failure> {
    asked.end_interrupted(interrupts).await;
    // What it said last is passed on, if somebody takes it.
    let last_words = async {
        loop {
            let taken = match source.next().await {
                Ok(Told::Piece(piece)) => output.hand(piece).await,
                Ok(Told::Nothing) => true,
                Ok(Told::End { .. }) | Err(_) => false,
            };
            if !taken {
                break;
            }
        }
        drop(output.finish().await);
    };
    drop(timeout(LAST_WORDS, last_words).await);
    Ok(128 + number)
}
