//! The tools, a file per thing. Each takes arguments apart, asks the server one thing, and tells what came of it.

pub(crate) mod command;
pub(crate) mod directory;
pub(crate) mod file;
pub(crate) mod output;
pub(crate) mod port;
pub(crate) mod process;
pub(crate) mod search;

use std::time::Duration;

use atoll_protocol::ProcessId;

use crate::trouble::Trouble;

/// Where files are, if nothing else is said.
pub(crate) const HOME: &str = "/workspace";

/// The longest that one call may take: clients that wait longer are better served by start_process.
const CALL_MAX: Duration = Duration::from_secs(30 * 60);

/// A time in seconds, or what it is if it is not given.
fn seconds(field: &str, given: Option<u64>, usual: Duration) -> Result<Duration, Trouble> {
    let asked = given.map_or(usual, Duration::from_secs);
    if asked > CALL_MAX || asked.is_zero() {
        return Err(Trouble::invalid(format!("{field}: give 1 to {}", CALL_MAX.as_secs()))
            .hint("start what takes longer with start_process, and wait for it in several calls"));
    }
    Ok(asked)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn process_id(text: String) -> Result<ProcessId, Trouble> {
    ProcessId::new(text).map_err(|error| Trouble::invalid(error.to_string()))
}
