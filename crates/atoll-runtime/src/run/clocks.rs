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
    /// How long the sandbox had stood still when the limits were last set back by that.
    pub(super) stood: Duration,
}

/// How often is looked at a limit that would be up if its sandbox did not stand still.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

impl Clocks {
    /// Sets the command's own limits back by as long as the sandbox has stood still: `stood` in all, up to now.
    pub(super) fn set_back(&mut self, stood: Duration, is_paused: bool) {
        let missed = stood.saturating_sub(std::mem::replace(&mut self.stood, stood));
        let soonest = is_paused.then(|| Instant::now() + LOOK_AGAIN);
        for limit in [&mut self.timeout, &mut self.idle].into_iter().flatten() {
            *limit += missed;
            *limit = soonest.map_or(*limit, |soonest| soonest.max(*limit));
        }
    }

    pub(super) fn next(&self) -> Option<Instant> {
        [self.timeout, self.grown, self.idle, self.grace, self.kill_again, self.receipt].into_iter().flatten().min()
    }
}

/// Takes a clock that has rung.
pub(super) fn rung(clock: &mut Option<Instant>, now: Instant) -> bool {
    clock.take_if(|at| *at <= now).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn limits_stand_still_with_the_sandbox_and_other_clocks_do_not() {
        let now = Instant::now();
        let at = |millis| Some(now + Duration::from_millis(millis));
        let mut clocks = Clocks { timeout: at(100), idle: at(200), grace: at(300), ..Clocks::default() };
        clocks.set_back(Duration::from_millis(10), false);
        assert_eq!((clocks.timeout, clocks.idle, clocks.grace), (at(110), at(210), at(300)));
        clocks.set_back(Duration::from_millis(10), false);
        assert_eq!(clocks.timeout, at(110), "a pause counts once");
        clocks.set_back(Duration::from_millis(15), false);
        assert_eq!(clocks.timeout, at(115));
        tokio::time::advance(Duration::from_millis(115)).await;
        clocks.set_back(Duration::from_millis(15), true);
        assert_eq!(clocks.timeout, at(165), "not up while it stands still");
    }
}
