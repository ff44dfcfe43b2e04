//! The moments at which something must happen to a command.

use std::time::Duration;

use tokio::time::Instant;

/// The moments at which something must happen.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    pub(super) timeout: Option<Instant>,
    pub(super) grown: Option<Instant>,
    pub(super) idle_after: Option<Duration>,
    pub(super) idle: Option<Instant>,
    pub(super) grace: Option<Instant>,
    pub(super) kill_again: Option<Instant>,
    pub(super) receipt: Option<Instant>,
}

impl Clocks {
    pub(super) fn next(&self) -> Option<Instant> {
        [self.timeout, self.grown, self.idle, self.grace, self.kill_again, self.receipt].into_iter().flatten().min()
    }
}

/// Takes a clock that has rung.
pub(super) fn rung(clock: &mut Option<Instant>, now: Instant) -> bool {
    clock.take_if(|at| *at <= now).is_some()
}
