//! Writes a command's output to standard output and standard error from its own thread: a terminal or pipe that blocks
//! must not delay the command, its time limits or Ctrl-C.

use std::io;

use atoll_protocol::Stream;
use atoll_runtime::{LogEvent, LogReader, Process};
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use crate::printer;

/// Chunks in flight to the thread. Everything else stays in the command's log.
const CHANNEL_CAPACITY: usize = 4;

/// A chunk of output.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Bytes that the command printed.
    Bytes(Stream, Bytes),
    /// The number of bytes that the log had to drop.
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
        let (sender, mut receiver) = mpsc::channel(CHANNEL_CAPACITY);
        let (done_sender, done) = oneshot::channel();
        std::thread::spawn(move || {
            let mut outcome = Ok(());
            while let Some(piece) = receiver.blocking_recv() {
                outcome = write(piece);
                if outcome.is_err() {
                    break;
                }
            }
            // After a signal the receiver is dropped.
            done_sender.send(outcome).ok();
        });
        Self { sender, done }
    }

    /// Waits for room in the channel and queues a chunk. Returns `false` if the output is closed.
    pub(crate) async fn send(&self, piece: Piece) -> bool {
        self.sender.send(piece).await.is_ok()
    }

    /// Waits until everything is written.
    pub(crate) async fn finish(self) -> io::Result<()> {
        drop(self.sender);
        self.done.await.unwrap_or_else(|_| Err(io::Error::other("the output thread panicked")))
    }

    /// Writes the output of a command until it has ended and everything it printed is written.
    pub(crate) async fn write_all(self, process: &Process) -> io::Result<()> {
        let mut reader = process.log().reader(0);
        stream(process, &mut reader, &self).await;
        self.finish().await
    }
}

/// Queues output until the command ends. Returns early if the output is closed; `finish` then returns the error.
async fn stream(process: &Process, reader: &mut LogReader, output: &Output) {
    loop {
        let event = tokio::select! {
            biased;
            event = reader.next() => event,
            _ = process.ended() => break,
        };
        if !forward(event, output).await {
            return;
        }
    }
    let end = process.log().end();
    while reader.cursor() < end && forward(reader.next().await, output).await {}
}

/// Returns `false` at the end of the log, or if the output is closed.
async fn forward(event: Option<LogEvent>, output: &Output) -> bool {
    match event {
        Some(event) => output.send(event.into()).await,
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
