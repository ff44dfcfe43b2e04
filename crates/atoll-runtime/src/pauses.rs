//! How long a sandbox has stood still, so that the clocks of what stands still can do so too.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// All pauses of one sandbox.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Of those that are over.
    past: Duration,
    /// When the one that is not over began.
    since: Option<Instant>,
}

impl Pauses {
    /// It stands still from here on. One that does already goes on standing.
    pub(crate) fn begin(&self) {
        self.inner().since.get_or_insert_with(Instant::now);
    }

    /// It goes on.
    pub(crate) fn end(&self) {
        let mut inner = self.inner();
        if let Some(since) = inner.since.take() {
            inner.past += since.elapsed();
        }
    }

    /// Whether it stands still now.
    pub(crate) fn is_now(&self) -> bool {
        self.inner().since.is_some()
    }

    /// How long it has stood still so far, all pauses together.
    pub(crate) fn total(&self) -> Duration {
        let inner = self.inner();
        inner.past + inner.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pauses_are_added_up() {
        let pauses = Pauses::default();
        let pass = async |millis| tokio::time::advance(Duration::from_millis(millis)).await;
        pass(5).await;
        assert_eq!((pauses.is_now(), pauses.total()), (false, Duration::ZERO));
        pauses.begin();
        pass(10).await;
        pauses.begin();
        pass(10).await;
        assert_eq!((pauses.is_now(), pauses.total()), (true, Duration::from_millis(20)));
        pauses.end();
        pass(100).await;
        pauses.end();
        pauses.begin();
        pass(1).await;
        assert_eq!(pauses.total(), Duration::from_millis(21));
    }
}
