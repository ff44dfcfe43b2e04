//! Streams the output of a server's command to this terminal until the command ends, and returns its exit code. A
//! signal to this program kills the command.

use std::time::Duration;

use atoll_client::{Client, ExecEvent, ExecStream, Follow, FollowEvent};
use atoll_protocol::{EndRecord, Gap, KillRequest, ProcessId};
use tokio::time::timeout;

use crate::error::CliError;
use crate::interrupts::Interrupts;
use crate::output::{Output, Piece};
use crate::{exit, printer};

/// How long to wait for the remaining output after a signal.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// A command on a server, and how to kill it.
#[derive(Debug)]
pub(crate) struct RunningCommand {
    pub(crate) client: Client,
    pub(crate) id: ProcessId,
    /// Time between SIGTERM and SIGKILL; `None` uses the command's own grace period.
    pub(crate) grace: Option<Duration>,
}

impl RunningCommand {
    /// Kills the command. An error is ignored: the command may have ended.
    pub(crate) async fn kill(&self, grace: Option<Duration>) {
        let grace_ms = grace.and_then(|grace| u64::try_from(grace.as_millis()).ok());
        drop(self.client.kill(&self.id, &KillRequest { grace_ms }).await);
    }

    /// Kills the command with its grace period; a second signal kills it at once.
    async fn kill_on_interrupt(&self, interrupts: &mut Interrupts) {
        tokio::select! {
            biased;
            _ = interrupts.next() => self.kill(Some(Duration::ZERO)).await,
            () = self.kill(self.grace) => {}
        }
    }

    /// Removes the server's record of the command, whose id no other client knows. The server keeps the record while
    /// processes of the command linger.
    pub(crate) async fn remove_record(&self) {
        drop(self.client.remove_process(&self.id).await);
    }
}

/// The stream of events that a server sends for a command.
#[derive(Debug)]
pub(crate) enum Source {
    Exec(Box<ExecStream>),
    Follow(Box<Follow>),
}

/// One event of a command.
#[derive(Debug)]
enum Event {
    Output(Piece),
    End { end: EndRecord, reset: bool },
    Other,
}

impl Source {
    async fn next(&mut self) -> Result<Event, CliError> {
        match self {
            Self::Exec(stream) => Ok(stream.next().await?.map_or(Event::Other, |event| match event {
                ExecEvent::Start(_) => Event::Other,
                ExecEvent::Output(output) => Event::Output(Piece::Bytes(output.stream, output.bytes)),
                ExecEvent::Gap(gap) => Event::Output(dropped(gap)),
                ExecEvent::End(result) => Event::End { reset: result.session_reset, end: result.end },
            })),
            Self::Follow(follow) => Ok(follow.next().await?.map_or(Event::Other, |event| match event {
                FollowEvent::Output(output) => Event::Output(Piece::Bytes(output.stream, output.bytes)),
                FollowEvent::Gap(gap) => Event::Output(dropped(gap)),
                FollowEvent::End(end) => Event::End { end: end.end, reset: false },
            })),
        }
    }
}

fn dropped(gap: Gap) -> Piece {
    Piece::Dropped(gap.to - gap.from)
}

/// Streams output until the command ends, and returns its exit code.
pub(crate) async fn follow(
    mut source: Source,
    running: &RunningCommand,
    interrupts: &mut Interrupts,
) -> Result<u8, CliError> {
    let output = Output::start();
    loop {
        let event = tokio::select! {
            biased;
            number = interrupts.next() => return interrupted(number, source, output, running, interrupts).await,
            event = source.next() => event?,
        };
        let piece = match event {
            Event::Other => continue,
            Event::Output(piece) => piece,
            Event::End { end, reset } => return finish(output, &end, reset).await,
        };
        let sent = tokio::select! {
            biased;
            number = interrupts.next() => return interrupted(number, source, output, running, interrupts).await,
            sent = output.send(piece) => sent,
        };
        if !sent {
            // Standard output is closed: the command ends, as any program in a pipeline would.
            running.kill_on_interrupt(interrupts).await;
            return flush(output).await.map(|()| exit::BROKEN_PIPE);
        }
    }
}

async fn finish(output: Output, end: &EndRecord, reset: bool) -> Result<u8, CliError> {
    flush(output).await?;
    exit::explain(end);
    if reset {
        printer::note("the session's shell could not be saved; a new shell was started from its last snapshot");
    }
    Ok(exit::of_end(end))
}

async fn flush(output: Output) -> Result<(), CliError> {
    Ok(output.finish().await?)
}

async fn interrupted(
    number: u8,
    mut source: Source,
    output: Output,
    running: &RunningCommand,
    interrupts: &mut Interrupts,
) -> Result<u8, CliError> {
    running.kill_on_interrupt(interrupts).await;
    let drain = async {
        loop {
            let sent = match source.next().await {
                Ok(Event::Output(piece)) => output.send(piece).await,
                Ok(Event::Other) => true,
                Ok(Event::End { .. }) | Err(_) => false,
            };
            if !sent {
                break;
            }
        }
        drop(output.finish().await);
    };
    drop(timeout(DRAIN_TIMEOUT, drain).await);
    Ok(128 + number)
}
