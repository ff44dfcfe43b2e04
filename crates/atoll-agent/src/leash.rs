//! A process that is tied to its caller: if the caller goes away before its end, its tree is ended.

use atoll_protocol::OnDisconnect;
use atoll_runtime::{Error, Process, ProcessSpec};
use tokio::sync::oneshot;

use crate::place::Place;

/// A process and what happens to it when this is dropped.
#[derive(Debug)]
pub(crate) struct Leash {
    process: Process,
    place: Place,
    on_drop: OnDisconnect,
}

impl Leash {
    /// Starts a process. A caller who goes away while it is being started counts too.
    pub(crate) async fn start(place: &Place, spec: ProcessSpec, on_drop: OnDisconnect) -> Result<Self, Error> {
        let place = place.clone();
        let (hand_over, handed) = oneshot::channel();
        // In a task of its own, so that the start is seen through. If nobody takes the leash, it is dropped, and acts.
        tokio::spawn(async move {
            let started = place.start(spec).await.map(|process| Self { process, place, on_drop });
            drop(hand_over.send(started));
        });
        handed.await.unwrap_or(Err(Error::SandboxGone))
    }

    pub(crate) fn process(&self) -> &Process {
        &self.process
    }

    /// It has ended, and the caller knows.
    pub(crate) fn release(&mut self) {
        self.on_drop = OnDisconnect::Keep;
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        match self.on_drop {
            OnDisconnect::Keep => {}
            OnDisconnect::Kill => {
                let (place, process) = (self.place.clone(), self.process.clone());
                tokio::spawn(async move { place.end(&process).await });
            }
        }
    }
}
