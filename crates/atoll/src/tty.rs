//! The terminal of this program: its size, its input, its output, and raw mode, which is always restored.

use std::io::{self, Read, stdin};

use atoll_protocol::WindowSize;
use bytes::Bytes;
use rustix::termios::{OptionalActions, Termios};
use tokio::sync::mpsc;

use crate::printer;

/// Chunks in flight between a thread and the runtime. When the channel is full, further input waits in the kernel.
const CHANNEL_CAPACITY: usize = 4;

/// Read size for typed input; a larger paste arrives in several chunks.
const CHUNK: usize = 4 * 1024;

/// Returns whether standard input is a terminal.
pub(crate) fn is_terminal() -> bool {
    rustix::termios::isatty(stdin())
}

/// Returns the current size of the terminal.
pub(crate) fn size() -> WindowSize {
    match rustix::termios::tcgetwinsize(stdin()) {
        // A serial line has no size and reports 0.
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => WindowSize::nearest(size.ws_col, size.ws_row),
        Ok(_) | Err(_) => WindowSize::default(),
    }
}

/// A guard that keeps the terminal in raw mode: no echo, no line editing, no signal keys. Dropping it restores the
/// previous modes, also after an error or a panic.
#[derive(Debug)]
pub(crate) struct Raw {
    before: Termios,
}

impl Raw {
    /// Switches the terminal to raw mode.
    pub(crate) fn enter() -> io::Result<Self> {
        let before = rustix::termios::tcgetattr(stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        let guard = Self { before };
        rustix::termios::tcsetattr(stdin(), OptionalActions::Now, &raw)?;
        Ok(guard)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // The terminal may have hung up.
        rustix::termios::tcsetattr(stdin(), OptionalActions::Now, &self.before).ok();
    }
}

/// Returns typed input as it arrives.
pub(crate) fn keys() -> mpsc::Receiver<Bytes> {
    input(CHUNK)
}

/// Reads standard input on its own thread, because a blocking read cannot be cancelled and must not delay the exit.
pub(crate) fn input(chunk: usize) -> mpsc::Receiver<Bytes> {
    let (sender, receiver) = mpsc::channel(CHANNEL_CAPACITY);
    std::thread::spawn(move || {
        let mut stdin = stdin().lock();
        let mut buffer = vec![0; chunk];
        while let Ok(count @ 1..) = stdin.read(&mut buffer) {
            if sender.blocking_send(Bytes::copy_from_slice(&buffer[..count])).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Standard output, written by its own thread: a terminal that blocks must not delay input and signals.
#[derive(Debug)]
pub(crate) struct Display {
    sender: mpsc::Sender<Bytes>,
    result: tokio::sync::oneshot::Receiver<io::Result<()>>,
}

impl Display {
    /// Starts the thread.
    pub(crate) fn start() -> Self {
        let (sender, mut receiver) = mpsc::channel::<Bytes>(CHANNEL_CAPACITY);
        let (result_sender, result) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let mut outcome = Ok(());
            while let Some(bytes) = receiver.blocking_recv() {
                outcome = printer::out(&bytes);
                if outcome.is_err() {
                    break;
                }
            }
            // After a signal the receiver is dropped.
            result_sender.send(outcome).ok();
        });
        Self { sender, result }
    }

    /// Waits for room in the channel and queues a chunk. Returns `false` if standard output is closed.
    pub(crate) async fn show(&self, bytes: Bytes) -> bool {
        self.sender.send(bytes).await.is_ok()
    }

    /// Waits until everything is written.
    pub(crate) async fn finish(self) -> io::Result<()> {
        drop(self.sender);
        self.result.await.unwrap_or_else(|_| Err(io::Error::other("the output thread panicked")))
    }
}
