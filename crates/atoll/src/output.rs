//! Passing a command's output on, from a thread of its own: a terminal or pipe that takes nothing must hold up neither
//! the command nor its time limits nor Ctrl-C.

use std::io;

use atoll_protocol::Stream;
use atoll_runtime::{LogEvent, LogReader, Process};
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use crate::printer;

/// Pieces on their way to the terminal. What is not taken yet stays in the log.
const ON_THE_WAY: usize = 4;

/// What is passed on.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Bytes that were printed.
    Bytes(Stream, Bytes),
    /// So many bytes could not be kept.
    Dropped(u64),
}

impl From<LogEvent> for Piece {
    fn from(event: LogEvent) -> Self {
        match event {
            LogEvent::Output(chunk) => Self::Bytes(chunk.stream, chunk.bytes),
            LogEvent::Gap { from, to } => Self::Dropped(to - from),
        }
    }
}

/// Standard output and standard error of this program.
#[derive(Debug)]
pub(crate) struct Output {
    sender: mpsc::Sender<Piece>,
    done: oneshot::Receiver<io::Result<()>>,
}

impl Output {
    /// Starts the thread.
    pub(crate) fn start() -> Self {
        let (sender, mut receiver) = mpsc::channel(ON_THE_WAY);
        let (tell, done) = oneshot::channel();
        std::thread::spawn(move || {
            let mut outcome = Ok(());
            while let Some(piece) = receiver.blocking_recv() {
                outcome = write(piece);
                if outcome.is_err() {
                    break;
                }
            }
            // Nobody asks after an interrupt.
            tell.send(outcome).ok();
        });
        Self { sender, done }
    }

    /// Returns when there is room for one more piece; `false` when nobody takes anything any more.
    pub(crate) async fn hand(&self, piece: Piece) -> bool {
        self.sender.send(piece).await.is_ok()
    }

    /// Returns when everything is written.
    pub(crate) async fn finish(self) -> io::Result<()> {
        drop(self.sender);
        self.done.await.unwrap_or_else(|_| Err(io::Error::other("the output thread is gone")))
    }

    /// Passes on everything until the command is over and all that it had printed by then is written.
    pub(crate) async fn pass(self, process: &Process) -> io::Result<()> {
        let mut reader = process.log().reader(0);
        live(process, &mut reader, &self).await;
        self.finish().await
    }
}

/// Stops early when the other end has stopped taking; it tells why.
async fn live(process: &Process, reader: &mut LogReader, output: &Output) {
    loop {
        let event = tokio::select! {
            biased;
            event = reader.next() => event,
            _ = process.ended() => break,
        };
        if !hand_over(event, output).await {
            return;
        }
    }
    let end = process.log().end();
    while reader.cursor() < end && hand_over(reader.next().await, output).await {}
}

/// `false` when there is nothing more to hand over, or nobody to take it.
async fn hand_over(event: Option<LogEvent>, output: &Output) -> bool {
    match event {
        Some(event) => output.hand(event.into()).await,
        None => false,
    }
}

fn write(piece: Piece) -> io::Result<()> {
    match piece {
        Piece::Bytes(Stream::Stdout, bytes) => printer::out(&bytes),
        Piece::Bytes(Stream::Stderr, bytes) => printer::err(&bytes),
        Piece::Dropped(count) => printer::err(format!("atoll: {count} bytes of output were dropped here\n").as_bytes()),
    }
}
