//! Passing a command's output on, from a thread of its own: a terminal or pipe that takes nothing must hold up neither
//! the command nor its time limits nor Ctrl-C.

use std::io;

use atoll_protocol::Stream;
use atoll_runtime::{LogEvent, LogReader, Process};
use tokio::sync::{mpsc, oneshot};

use crate::printer;

/// Pieces on their way to the terminal. What is not taken yet stays in the log.
const ON_THE_WAY: usize = 4;

/// Standard output and standard error of this program.
#[derive(Debug)]
pub(crate) struct Output {
    sender: mpsc::Sender<LogEvent>,
    done: oneshot::Receiver<io::Result<()>>,
}

impl Output {
    /// Starts the thread.
    pub(crate) fn start() -> Self {
        let (sender, mut receiver) = mpsc::channel(ON_THE_WAY);
        let (tell, done) = oneshot::channel();
        std::thread::spawn(move || {
            let mut outcome = Ok(());
            while let Some(event) = receiver.blocking_recv() {
                outcome = write(event);
                if outcome.is_err() {
                    break;
                }
            }
            // Nobody asks after an interrupt.
            tell.send(outcome).ok();
        });
        Self { sender, done }
    }

    /// Passes on everything until the command is over and all that it had printed by then is written.
    pub(crate) async fn pass(self, process: &Process) -> io::Result<()> {
        let Self { sender, done } = self;
        let mut reader = process.log().reader(0);
        live(process, &mut reader, &sender).await;
        drop(sender);
        done.await.unwrap_or_else(|_| Err(io::Error::other("the output thread is gone")))
    }
}

/// Stops early when the other end has stopped taking; it tells why.
async fn live(process: &Process, reader: &mut LogReader, sender: &mpsc::Sender<LogEvent>) {
    loop {
        let event = tokio::select! {
            biased;
            event = reader.next() => event,
            _ = process.ended() => break,
        };
        if !hand_over(event, sender).await {
            return;
        }
    }
    let end = process.log().end();
    while reader.cursor() < end && hand_over(reader.next().await, sender).await {}
}

/// `false` when there is nothing more to hand over, or nobody to take it.
async fn hand_over(event: Option<LogEvent>, sender: &mpsc::Sender<LogEvent>) -> bool {
    match event {
        Some(event) => sender.send(event).await.is_ok(),
        None => false,
    }
}

fn write(event: LogEvent) -> io::Result<()> {
    match event {
        LogEvent::Output(chunk) => match chunk.stream {
            Stream::Stdout => printer::out(&chunk.bytes),
            Stream::Stderr => printer::err(&chunk.bytes),
        },
        LogEvent::Gap { from, to } => {
            printer::err(format!("atoll: {} bytes of output were dropped here\n", to - from).as_bytes())
        }
    }
}
