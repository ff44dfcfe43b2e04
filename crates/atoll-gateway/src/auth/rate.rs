//! How often one token may ask: a bucket that fills steadily and holds a burst.

use std::time::{Duration, Instant};

/// So many requests a second in the long run, and so many at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// In the long run.
    pub per_second: f64,
    /// At once.
    pub burst: f64,
}

/// One token's bucket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    left: f64,
    filled: Instant,
}

impl Bucket {
    pub(super) fn full(rate: Rate, now: Instant) -> Self {
        Self { left: rate.burst, filled: now }
    }

    /// Takes one; if there is none, says how long it will take.
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
    fn a_burst_then_a_steady_rate() {
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
