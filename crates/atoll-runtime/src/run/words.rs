//! What others ask of a command, what everybody may know of it, and what it is made of and leaves.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use atoll_protocol::{EndRecord, KillReceipt, ProcessState, Signal, Timestamp, WindowSize};
use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;

use super::exit::Main;
use crate::Error;
use crate::link::NewsReceiver;
use crate::network::Registered;
use crate::pipes::{OurEnds, Position};
use crate::shared::Shared;
use crate::terminal::Window;
use crate::tree::{SignalScope, Tree};

/// What everybody may know of a command.
#[derive(Debug, Clone)]
pub(crate) struct Status {
    pub(crate) state: ProcessState,
    pub(crate) pid: Option<u32>,
    pub(crate) started_at: Timestamp,
    pub(crate) end: Option<Ended>,
    pub(crate) failed: Option<Error>,
    pub(crate) restarts: u32,
    /// Its program ran, in this life or an earlier one.
    pub(crate) begun: bool,
    pub(crate) ready: Option<bool>,
}

/// What others ask of a command.
#[derive(Debug)]
pub(crate) enum Control {
    Signal {
        signal: Signal,
        scope: SignalScope,
        done: oneshot::Sender<Result<u64, Error>>,
    },
    Kill {
        grace: Duration,
        done: oneshot::Sender<KillReceipt>,
    },
    Write {
        at: Position,
        bytes: Bytes,
        done: oneshot::Sender<Result<u64, Error>>,
    },
    CloseStdin {
        done: oneshot::Sender<Result<(), Error>>,
    },
    /// Give its terminal another size.
    Resize {
        size: WindowSize,
        by: String,
        done: oneshot::Sender<Result<(), Error>>,
    },
    /// Is something of it blocked on reading its standard input?
    WantsInput {
        done: oneshot::Sender<bool>,
    },
}

/// What a life leaves to be told, once it is told that it is over.
#[derive(Debug)]
pub(crate) struct Driven {
    pub(crate) end: Option<Ended>,
    /// Why it was not run after all.
    pub(crate) failed: Option<Error>,
    /// Somebody wanted it to end, whatever its main process had come to by then.
    pub(crate) asked: bool,
    pub(super) receipts: Vec<oneshot::Sender<KillReceipt>>,
    pub(super) signalled: u64,
}

/// How a command ended, and where its log stood then.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    pub(crate) record: EndRecord,
    pub(crate) cursor: u64,
    /// The shell that ran it could not be saved, and was replaced.
    pub(crate) session_reset: bool,
}

impl Driven {
    /// Answers the kills that ended it.
    pub(crate) fn answer(self) {
        for receipt in self.receipts {
            // Whoever asked may have gone.
            receipt.send(KillReceipt { signalled: self.signalled, survivors: 0 }).ok();
        }
    }
}

/// What a new [`Run`] is made of.
pub(crate) struct Started {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: String,
    pub(crate) number: u64,
    pub(crate) tree: Tree,
    pub(crate) main: Main,
    pub(crate) news: NewsReceiver,
    pub(crate) ends: OurEnds,
    pub(crate) window: Option<Window>,
    pub(crate) started: Instant,
    pub(crate) started_at: SystemTime,
    /// Its place among those that are just starting.
    pub(crate) young: Option<OwnedSemaphorePermit>,
    /// Whose connections its processes open; none if they are known as a session's.
    pub(crate) registered: Option<Registered>,
}
