//! The wall clock, for timestamps that people read. Timeouts use the monotonic clock (`sandboxes/activity.rs`,
//! `auth/rate.rs`).

use std::time::SystemTime;

use atoll_protocol::Timestamp;

/// Returns the current time.
pub(crate) fn now() -> Timestamp {
    SystemTime::now().into()
}

/// Returns the time in `millis` milliseconds.
pub(crate) fn later(millis: u64) -> Timestamp {
    Timestamp::from_millis(now().as_millis().saturating_add(millis))
}
