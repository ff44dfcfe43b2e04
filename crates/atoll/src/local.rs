//! The terminal that this program was started in: its size, its keys, and its modes, which are put back however we end.

use std::io::{self, Read, stdin};

use atoll_protocol::WindowSize;
use bytes::Bytes;
use rustix::termios::{OptionalActions, Termios};
use tokio::sync::mpsc;

use crate::printer;

/// Keys on their way to the program. Whoever types faster than it reads waits in the kernel.
const ON_THE_WAY: usize = 4;

/// A paste comes in pieces of this size.
const PIECE: usize = 4 * 1024;

/// Whether standard input is a terminal.
pub(crate) fn is_terminal() -> bool {
    rustix::termios::isatty(stdin())
}

/// How large it is now.
pub(crate) fn size() -> WindowSize {
    match rustix::termios::tcgetwinsize(stdin()) {
        // A serial line does not know, and says 0.
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => WindowSize::nearest(size.ws_col, size.ws_row),
        Ok(_) | Err(_) => WindowSize::default(),
    }
}

/// While this lives, every key comes as it is and nothing is echoed. The old modes come back when it is dropped: also
/// when an error or a panic does it.
#[derive(Debug)]
pub(crate) struct Raw {
    before: Termios,
}

impl Raw {
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
        // A terminal that is gone has no modes to put back.
        rustix::termios::tcsetattr(stdin(), OptionalActions::Now, &self.before).ok();
    }
}

/// Keys as they are pressed.
pub(crate) fn keys() -> mpsc::Receiver<Bytes> {
    input(PIECE)
}

/// Reads standard input on a thread of its own: such a read cannot be given up, and must not hold us up at the end.
pub(crate) fn input(piece: usize) -> mpsc::Receiver<Bytes> {
    let (sender, receiver) = mpsc::channel(ON_THE_WAY);
    std::thread::spawn(move || {
        let mut keyboard = stdin().lock();
        let mut buffer = vec![0; piece];
        while let Ok(count @ 1..) = keyboard.read(&mut buffer) {
            if sender.blocking_send(Bytes::copy_from_slice(&buffer[..count])).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Standard output, written by a thread of its own: a terminal that takes nothing must not hold up keys and signals.
#[derive(Debug)]
pub(crate) struct Display {
    sender: mpsc::Sender<Bytes>,
    writing: tokio::sync::oneshot::Receiver<io::Result<()>>,
}

impl Display {
    pub(crate) fn start() -> Self {
        let (sender, mut receiver) = mpsc::channel::<Bytes>(ON_THE_WAY);
        let (tell, writing) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let mut outcome = Ok(());
            while let Some(bytes) = receiver.blocking_recv() {
                outcome = printer::out(&bytes);
                if outcome.is_err() {
                    break;
                }
            }
            // Nobody asks after an interrupt.
            tell.send(outcome).ok();
        });
        Self { sender, writing }
    }

    /// Returns when there is room for one more piece; `false` when nobody takes anything any more.
    pub(crate) async fn show(&self, bytes: Bytes) -> bool {
        self.sender.send(bytes).await.is_ok()
    }

    /// Returns when everything is written.
    pub(crate) async fn finish(self) -> io::Result<()> {
        drop(self.sender);
        self.writing.await.unwrap_or_else(|_| Err(io::Error::other("the output thread is gone")))
    }
}
