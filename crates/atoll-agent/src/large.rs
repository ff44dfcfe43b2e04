//! Answers that take long to write: made by another thread, so that they hold up nobody else.

use atoll_protocol::ErrorCode;
use axum::response::{IntoResponse, Response};

use crate::error::Refusal;

/// Bytes of output in an answer from which on it is worth a change of threads: about a millisecond's work.
const LARGE: usize = 512 * 1024;

/// Makes the answer that holds so many bytes of output.
pub(crate) async fn answer(bytes: usize, make: impl FnOnce() -> Response + Send + 'static) -> Response {
    if bytes < LARGE {
        return make();
    }
    let made = tokio::task::spawn_blocking(make).await;
    made.unwrap_or_else(|error| Refusal::new(ErrorCode::Internal, error.to_string()).into_response())
}
