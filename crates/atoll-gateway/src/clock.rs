//! The wall clock, for what people see. What decides is monotonic (`fleet/activity.rs`, `auth/rate.rs`).

use std::time::SystemTime;

use atoll_protocol::Timestamp;

/// Now.
pub(crate) fn now() -> Timestamp {
    SystemTime::now().into()
}

/// So many milliseconds from now on.
pub(crate) fn later(millis: u64) -> Timestamp {
    Timestamp::from_millis(now().as_millis().saturating_add(millis))
}
