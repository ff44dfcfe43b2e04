//! Termination signals as a stream of numbers, so that a subcommand can clean up before it exits.

use std::io;

use atoll_runtime::Error;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A stream of termination signals, such as SIGINT.
#[derive(Debug)]
pub(crate) struct Interrupts {
    signals: Vec<(u8, Signal)>,
}

impl Interrupts {
    /// Installs handlers for the signals, which then no longer end the program.
    pub(crate) fn new(kinds: &[SignalKind]) -> Result<Self, Error> {
        let watch = |kind: &SignalKind| {
            let number = u8::try_from(kind.as_raw_value()).unwrap_or(u8::MAX);
            signal(*kind).map(|signal| (number, signal))
        };
        let signals = kinds.iter().map(watch).collect::<io::Result<_>>();
        Ok(Self {
            signals: signals
                .map_err(|error| Error::Internal { what: format!("failed to install a signal handler: {error}") })?,
        })
    }

    /// Waits for the next signal and returns its number.
    pub(crate) async fn next(&mut self) -> u8 {
        std::future::poll_fn(|context| {
            for (number, signal) in &mut self.signals {
                if signal.poll_recv(context).is_ready() {
                    return std::task::Poll::Ready(*number);
                }
            }
            std::task::Poll::Pending
        })
        .await
    }
}
