//! Retry policy: exponential backoff up to a time limit. Knows only times, not what is retried.

use std::time::Duration;

use tokio::time::Instant;

use crate::Error;

/// The first delay, and the longest.
const PAUSE: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// State of the retries of one operation.
#[derive(Debug)]
pub(crate) struct Retry {
    patience: Duration,
    pause: Duration,
    /// When the first failure since the last success happened.
    since: Option<Instant>,
    /// Earliest time of the next attempt.
    not_before: Option<Instant>,
}

impl Retry {
    pub(crate) fn new(patience: Duration) -> Self {
        Self { patience, pause: PAUSE, since: None, not_before: None }
    }

    /// Records a success.
    pub(crate) fn succeeded(&mut self) {
        *self = Self::new(self.patience);
    }

    /// Records a failure. Returns the error if it must not be retried.
    pub(crate) fn failed(&mut self, error: Error) -> Result<(), Error> {
        let now = Instant::now();
        let since = *self.since.get_or_insert(now);
        if !error.is_transient() || now + self.pause > since + self.patience {
            return Err(error);
        }
        self.not_before = Some(now + self.pause);
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        Ok(())
    }

    /// Waits until the next attempt is due. Cancel safe.
    pub(crate) async fn due(&self) {
        if let Some(moment) = self.not_before {
            tokio::time::sleep_until(moment).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn retry_gives_up_at_the_time_limit_or_a_permanent_error() {
        let mut retry = Retry::new(Duration::from_secs(60));
        assert!(retry.failed(Error::broken("cut")).is_ok());
        assert!(retry.failed(Error::invalid_response("?")).is_err());
        assert!(Retry::new(Duration::ZERO).failed(Error::broken("cut")).is_err());
    }

    #[tokio::test]
    async fn delays_grow_and_reset_after_success() {
        let mut retry = Retry::new(Duration::from_secs(60));
        for _ in 0..10 {
            retry.failed(Error::broken("cut")).unwrap();
        }
        assert_eq!(retry.pause, PAUSE_MAX);
        retry.succeeded();
        assert_eq!((retry.pause, retry.not_before), (PAUSE, None));
    }
}
