//! The rate limit of a token: a token bucket.

use std::time::{Duration, Instant};

/// A sustained rate and a burst.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Requests per second in the long run.
    pub per_second: f64,
    /// Requests at once.
    pub burst: f64,
}

/// The bucket of one token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    left: f64,
    filled: Instant,
}

impl Bucket {
    pub(super) fn full(rate: Rate, now: Instant) -> Self {
        Self { left: rate.burst, filled: now }
    }

    /// Takes one request from the bucket. If it is empty, returns the time until the next one.
    pub(super) fn take(&mut self, rate: Rate, now: Instant) -> Result<(), Duration> {
        let passed = now.saturating_duration_since(self.filled).as_secs_f64();
        self.left = (self.left + passed * rate.per_second).min(rate.burst);
        self.filled = now;
        if self.left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - self.left) / rate.per_second));
        }
        self.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burst_is_followed_by_the_sustained_rate() {
        let rate = Rate { per_second: 10.0, burst: 3.0 };
        let start = Instant::now();
        let mut bucket = Bucket::full(rate, start);
        assert!((0..3).all(|_| bucket.take(rate, start).is_ok()));
        let wait = bucket.take(rate, start).unwrap_err();
        assert!(wait > Duration::from_millis(90) && wait <= Duration::from_millis(100), "{wait:?}");
        assert!(bucket.take(rate, start + Duration::from_millis(101)).is_ok());
        assert!(bucket.take(rate, start + Duration::from_millis(102)).is_err());
    }
}
