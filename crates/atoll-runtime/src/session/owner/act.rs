//! What the machine has decided is done: commands begun, refused, and told.

use std::os::fd::AsFd;
use std::sync::Arc;

use atoll_shell::message::Task;

use super::{Job, Owner};
use crate::session::machine::{Effect, Event};
use crate::session::order;
use crate::session::part::Part;
use crate::session::turn::{self, Turn};
use crate::{Error, network, pipes};

impl Owner {
    pub(super) async fn on(&mut self, event: Event) {
        let mut effects = self.machine.on(event);
        while !effects.is_empty() {
            for effect in std::mem::take(&mut effects) {
                effects.extend(self.act(effect).await);
            }
        }
        self.note();
    }

    /// Does what an effect says. What follows from that at once is more effects.
    pub(super) async fn act(&mut self, effect: Effect) -> Vec<Effect> {
        match effect {
            Effect::Begin { job } => return self.begin(job),
            Effect::Dump { .. } => self.begin_dump(),
            Effect::Conclude { .. } => self.turn = None,
            Effect::ConcludeReset { job } => self.shell_lost(job, true).await,
            Effect::ConcludeLost { job } => self.shell_lost(job, false).await,
            Effect::Snapshot { job } => self.give_snapshot(job),
            Effect::Cancel { job } => self.refuse(job, |id| Error::CommandCancelled { id }),
            Effect::RefuseFull { job } => {
                let session = self.session.id().to_string();
                self.refuse(job, move |_| Error::SessionBusy { id: session });
            }
            Effect::RefuseDead { job } => {
                let error = self.terminated();
                self.refuse(job, move |_| error);
            }
            Effect::Replace => return self.replace().await,
            Effect::Die => self.die(),
        }
        Vec::new()
    }

    pub(super) fn begin(&mut self, number: u64) -> Vec<Effect> {
        let (Some(Job::Run(command)), Some(shell)) = (self.jobs.remove(&number), &mut self.shell) else {
            return Vec::new();
        };
        let spec = command.process.spec().clone();
        let text = order::text_of(&spec.command.invocation).unwrap_or_default();
        let made = turn::remember(&command).and_then(|()| {
            let rules = spec.command.network.as_deref().map(network::rules).transpose()?;
            let made = pipes::make(&spec.command.stdin, self.shared.null.as_fd(), shell.owner);
            let (theirs, ours) = made.map_err(|error| Error::io("make the command's standard descriptors", &error))?;
            Ok((theirs, ours, shell.process.owns(command.process.id(), rules)?))
        });
        let (theirs, ours, narrowed) = match made {
            Ok(ends) => ends,
            Err(error) => {
                turn::refuse(&self.shared, &command, error);
                // Nothing was run: as if it had been, and were over.
                return self.machine.on(Event::Reported { settled: true });
            }
        };
        shell.process.begin(number);
        let standard = [theirs.stdin.as_fd(), theirs.stdout.as_fd(), theirs.stderr.as_fd()];
        // A shell that cannot be told has ended; its end is told next.
        shell.wire.order(Task::Run, &order::payload(&spec.command, &text), &standard).ok();
        let part = Part::new(Arc::clone(&shell.process), number, self.background.clone());
        let turn = self.turn.insert(Turn::begin(&self.shared, *command, part, ours, order::is_blank(&text)));
        turn.narrowed = narrowed;
        self.rest_at = None;
        Vec::new()
    }

    pub(super) fn give_snapshot(&mut self, job: u64) {
        if let Some(Job::Dump { done }) = self.jobs.remove(&job) {
            if self.is_too_large {
                drop(done.send(Err(self.too_large())));
                return;
            }
            let unreadable = || Error::Internal { what: "the shell's state could not be read".to_owned() };
            done.send(self.snapshot.clone().ok_or_else(unreadable)).ok();
        }
    }

    pub(super) fn refuse(&mut self, job: u64, why: impl FnOnce(String) -> Error) {
        match self.jobs.remove(&job) {
            Some(Job::Run(command)) => {
                let error = why(command.process.id().to_string());
                turn::refuse(&self.shared, &command, error);
            }
            Some(Job::Dump { done }) => drop(done.send(Err(why(String::new())))),
            None => {}
        }
    }

    pub(super) fn terminated(&self) -> Error {
        let end = self.status.borrow().end.clone();
        Error::SessionTerminated { id: self.session.id().to_string(), end: end.map(Box::new) }
    }
}
