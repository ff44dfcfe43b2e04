//! The tools, one file per subject. Each parses its arguments, sends requests to the server, and formats the result.

pub(crate) mod command;
pub(crate) mod directory;
pub(crate) mod file;
pub(crate) mod output;
pub(crate) mod port;
pub(crate) mod process;
pub(crate) mod search;

use std::time::Duration;

use atoll_protocol::ProcessId;

use crate::error::ToolError;

/// Default directory.
pub(crate) const HOME: &str = "/workspace";

/// Maximum duration of one call. Longer commands should use start_process.
const CALL_MAX: Duration = Duration::from_secs(30 * 60);

/// Returns a duration from an argument in seconds, or its default.
fn seconds(field: &str, given: Option<u64>, default: Duration) -> Result<Duration, ToolError> {
    let duration = given.map_or(default, Duration::from_secs);
    if duration > CALL_MAX || duration.is_zero() {
        return Err(ToolError::invalid(format!("{field}: must be 1 to {}", CALL_MAX.as_secs()))
            .hint("run longer commands with start_process, and wait for them in several calls"));
    }
    Ok(duration)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn process_id(text: String) -> Result<ProcessId, ToolError> {
    ProcessId::new(text).map_err(|error| ToolError::invalid(error.to_string()))
}
