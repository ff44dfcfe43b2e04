//! Waiting for the kernel, with a deadline and without spinning.
//!
//! Owns the pauses between two looks. poll(2) with POLLPRI on `cgroup.events` would need `unsafe`
//! here; whoever has a reactor can wait on [`Leaf::events`](super::Leaf::events) instead.

use std::thread;
use std::time::{Duration, Instant};

/// Short enough that a freeze (tens of microseconds) is not slowed, long enough to give the core
/// to the processes that are waited for.
const FIRST_PAUSE: Duration = Duration::from_micros(50);

/// Beyond this, more pauses cost less than the time they would add.
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// A deadline and the next pause.
#[derive(Debug)]
pub(super) struct Patience {
    until: Instant,
    pause: Duration,
}

impl Patience {
    pub(super) fn new(within: Duration) -> Self {
        let now = Instant::now();
        // A duration too large for the clock means a day: still an end.
        let a_day = Duration::from_secs(86_400);
        let until = now.checked_add(within).unwrap_or(now + a_day);
        Self { until, pause: FIRST_PAUSE }
    }

    /// Pauses, then says whether it makes sense to look again.
    pub(super) fn wait(&mut self) -> bool {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        thread::sleep(self.pause.min(left));
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_at_the_deadline_after_few_looks() {
        let mut patience = Patience::new(Duration::from_millis(20));
        let looks = std::iter::from_fn(|| patience.wait().then_some(())).count();
        assert!((2..30).contains(&looks), "{looks} looks");
    }

    #[test]
    fn no_time_means_no_wait_and_forever_is_no_panic() {
        assert!(!Patience::new(Duration::ZERO).wait());
        assert!(Patience::new(Duration::MAX).wait());
    }
}
