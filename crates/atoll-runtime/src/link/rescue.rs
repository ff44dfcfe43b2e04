//! Frees init from a program that was stopped before it executed.
//!
//! Init sleeps until the program executes (see `atoll_isolation::unstarted`); until then it serves nobody, so this is done
//! from here. It costs nothing as long as starts are quick.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use atoll_isolation::unstarted::{Stopped, stopped_before_start};
use tokio::time::Instant;

use super::Inner;

/// After how long a start is looked at. Most take less than a millisecond.
pub(super) const SLOW: Duration = Duration::from_millis(100);

/// The shortest pause between two looks. A look at many processes takes longer, and the pause is longer in proportion: this
/// thread has other work.
const PAUSE: Duration = Duration::from_millis(10);
const PAUSE_PER_LOOK: u32 = 10;

/// How often a program is continued. One that is still found stopped is being stopped all the time, and is killed.
const TRIES: u32 = 20;

/// Begins to look after unanswered starts, unless that is being done already. Ends when all are answered.
pub(super) fn begin(inner: &Arc<Inner>) {
    if inner.claim_rescue() {
        tokio::spawn(rescue(Arc::clone(inner)));
    }
}

async fn rescue(inner: Arc<Inner>) {
    loop {
        free_all(&inner).await;
        inner.end_rescue();
        // One may have come since, and been left to us.
        if !inner.has_unanswered_starts() || !inner.claim_rescue() {
            return;
        }
    }
}

async fn free_all(inner: &Inner) {
    let mut tries: HashMap<Stopped, u32> = HashMap::new();
    while inner.has_unanswered_starts() {
        let began = Instant::now();
        for stopped in stopped_before_start(inner.init) {
            let count = tries.entry(stopped).or_default();
            *count += 1;
            // Gone meanwhile is as good.
            drop(if *count > TRIES { stopped.kill() } else { stopped.resume() });
        }
        tokio::time::sleep(PAUSE.max(began.elapsed() * PAUSE_PER_LOOK)).await;
    }
}
