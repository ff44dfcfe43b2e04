//! When to try again: soon at first, then less often, and not for ever. Times only; what is tried is others' matter.

use std::time::Duration;

use tokio::time::Instant;

use crate::Error;

/// The first pause, and the longest.
const PAUSE: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// The state of one effort.
#[derive(Debug)]
pub(crate) struct Retry {
    patience: Duration,
    pause: Duration,
    /// When it went wrong first, of those times since it went well.
    since: Option<Instant>,
    /// Not to be tried before.
    not_before: Option<Instant>,
}

impl Retry {
    pub(crate) fn new(patience: Duration) -> Self {
        Self { patience, pause: PAUSE, since: None, not_before: None }
    }

    /// It went well.
    pub(crate) fn succeeded(&mut self) {
        *self = Self::new(self.patience);
    }

    /// It went wrong. The error again, if it is not to be tried again.
    pub(crate) fn failed(&mut self, error: Error) -> Result<(), Error> {
        let now = Instant::now();
        let since = *self.since.get_or_insert(now);
        if !error.is_passing() || now + self.pause > since + self.patience {
            return Err(error);
        }
        self.not_before = Some(now + self.pause);
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        Ok(())
    }

    /// Waits until it may be tried. Dropping the future loses nothing.
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
    async fn it_gives_up_when_patience_ends_or_trying_is_pointless() {
        let mut retry = Retry::new(Duration::from_secs(60));
        assert!(retry.failed(Error::broken("cut")).is_ok());
        assert!(retry.failed(Error::nonsense("?")).is_err());
        assert!(Retry::new(Duration::ZERO).failed(Error::broken("cut")).is_err());
    }

    #[tokio::test]
    async fn pauses_grow_and_begin_anew() {
        let mut retry = Retry::new(Duration::from_secs(60));
        for _ in 0..10 {
            retry.failed(Error::broken("cut")).unwrap();
        }
        assert_eq!(retry.pause, PAUSE_MAX);
        retry.succeeded();
        assert_eq!((retry.pause, retry.not_before), (PAUSE, None));
    }
}
