//! What others ask of a running command: signals, kills, input, another size.

use std::os::fd::AsFd;
use std::time::SystemTime;

use atoll_isolation::sys::process;
use atoll_protocol::{Resized, Signal, WindowSize};
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Control, Main, RECEIPT_WITHIN, Run, Status};
use crate::Error;
use crate::life::Event;
use crate::tree::SignalScope;

impl Run {
    pub(super) async fn control(&mut self, control: Control, status: &watch::Sender<Status>) {
        match control {
            Control::Signal { signal, scope, done } => {
                let result = self.signal(signal, scope).await;
                drop(done.send(result));
            }
            Control::Kill { grace, done } => {
                self.receipts.push(done);
                self.asked = true;
                self.clocks.receipt.get_or_insert(Instant::now() + grace + RECEIPT_WITHIN);
                self.on(Event::KillAsked { grace }, status).await;
            }
            Control::Write { at, bytes, done } => match &mut self.stdin {
                Some(stdin) => stdin.accept(at, bytes, done),
                None => drop(done.send(Err(Error::StdinNotOpen { id: self.id.clone() }))),
            },
            Control::CloseStdin { done } => drop(done.send(self.close_stdin())),
            Control::Resize { size, by, done } => drop(done.send(self.resize(size, by))),
            Control::WantsInput { done } => {
                let wants = crate::input::wants_input(&self.shared, &self.tree, self.stdin.as_ref()).await;
                if wants {
                    // What it asked for before it began to wait is then in the log.
                    self.drain();
                }
                done.send(wants).ok();
            }
        }
    }

    /// What was printed before is read first, so that the change is noted at its place in the output.
    fn resize(&mut self, size: WindowSize, by: String) -> Result<(), Error> {
        self.drain();
        let Some((pty, window)) = &self.terminal else {
            return Err(Error::invalid("only a terminal has a size"));
        };
        pty.resize(size).map_err(|error| Error::io("resize the terminal", &error))?;
        let change = Resized { cursor: self.log.end(), size, by: Some(by), time: SystemTime::now().into() };
        if let Some(note) = self.process.note() {
            note.resized(change.clone());
        }
        window.resized(change);
        Ok(())
    }

    /// Closed after what was accepted before has been written.
    fn close_stdin(&mut self) -> Result<(), Error> {
        match &mut self.stdin {
            None => return Err(Error::StdinNotOpen { id: self.id.clone() }),
            Some(writer) if writer.has_pending() => writer.close_when_written(),
            Some(_) => self.stdin = None,
        }
        Ok(())
    }

    async fn signal(&mut self, signal: Signal, scope: SignalScope) -> Result<u64, Error> {
        match scope {
            SignalScope::Tree => self.tree.signal(&self.shared.link, signal.number()).await,
            SignalScope::Main if self.exit.is_some() => Err(Error::ProcessEnded { id: self.id.clone() }),
            SignalScope::Main => match &self.main {
                Main::Process(pidfd) => process::signal_pidfd(pidfd.as_fd(), signal.number())
                    .map(|()| 1)
                    .map_err(|_| Error::ProcessEnded { id: self.id.clone() }),
                Main::Command => match self.shared.link.signal(self.number, signal.number()).await? {
                    true => Ok(1),
                    false => Err(Error::ProcessEnded { id: self.id.clone() }),
                },
                // What a session's shell runs is all that there is to signal.
                Main::Turn => self.tree.signal(&self.shared.link, signal.number()).await,
            },
        }
    }
}
