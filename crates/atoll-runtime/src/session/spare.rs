//! A shell that is ready before it is wanted.
//!
//! Starting bash is most of what making a session costs. So a sandbox that has sessions keeps one spare shell, as fresh
//! as a new one would be: nothing but its own loading has run in it. The next session takes it. When the last session
//! goes, so does the spare: a sandbox without sessions runs nothing for them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::error::TryRecvError;

use super::shell::{Born, Shell};
use super::snapshot;
use super::spec::SessionSpec;
use crate::shared::Shared;

/// What is there.
#[derive(Debug, Default)]
enum Slot {
    #[default]
    Empty,
    /// One is being started.
    Filling,
    Ready(Box<Born>),
}

/// One sandbox's spare shell.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    slot: Mutex<Slot>,
}

/// Ends the spare, if there is one: what shells are made of has changed.
pub(crate) async fn discard_spare(shared: &Arc<Shared>) {
    if let Some(born) = shared.spare.take() {
        born.shell.destroy(shared).await;
    }
}

impl Spare {
    /// Takes the spare, if there is one and it lives.
    pub(super) fn take(&self) -> Option<Born> {
        let mut slot = self.slot();
        let Slot::Ready(mut born) = std::mem::take(&mut *slot) else {
            return None;
        };
        // Anybody inside may have killed it.
        matches!(born.shell.news.try_recv(), Err(TryRecvError::Empty)).then_some(*born)
    }

    /// Starts another, unless one is there or on its way.
    pub(super) fn refill(shared: &Arc<Shared>) {
        {
            let mut slot = shared.spare.slot();
            if !matches!(*slot, Slot::Empty) {
                return;
            }
            *slot = Slot::Filling;
        }
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            let (command, script) =
                snapshot::from_nothing(&SessionSpec::default().command(), &shared.environment(), &[]);
            // A session that wants one will be told why there is none.
            let slot = match Shell::start(&shared, "a spare shell", &command, &script).await {
                Ok(born) => Slot::Ready(Box::new(born)),
                Err(_) => Slot::Empty,
            };
            *shared.spare.slot() = slot;
            Self::discard_if_unused(&shared).await;
        });
    }

    /// Ends the spare if there is no session left that could be followed by another.
    pub(super) async fn discard_if_unused(shared: &Shared) {
        if !shared.sessions.is_empty() {
            return;
        }
        let slot = {
            let mut slot = shared.spare.slot();
            match *slot {
                // It looks again when it is there.
                Slot::Filling => return,
                Slot::Empty | Slot::Ready(_) => std::mem::take(&mut *slot),
            }
        };
        if let Slot::Ready(born) = slot {
            born.shell.destroy(shared).await;
        }
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
