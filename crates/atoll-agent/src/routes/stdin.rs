//! A process's standard input: written at an offset, so that a repeated request does no harm.

use atoll_protocol::{ProcessId, StdinReceipt};
use axum::Json;
use axum::body::Body;
use http::StatusCode;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Refusal;
use crate::extract::{self, Params, ThisProcess};

/// Where to write.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Place {
    /// Position of the first byte in all that was ever written. What was written before is skipped, a gap refused.
    offset: u64,
    /// Close standard input after the last byte.
    #[serde(default)]
    #[param(required = false)]
    close: bool,
}

/// Write to a process's standard input.
///
/// The body is taken as it is, as it comes, and as fast as the process reads.
#[utoipa::path(put, path = "/v1/processes/{id}/stdin", tag = "processes", operation_id = "writeStdin",
    params(("id" = ProcessId, Path), Place),
    request_body(content = String, content_type = "application/octet-stream"),
    responses((status = 200, body = StdinReceipt)))]
pub(super) async fn write(
    ThisProcess(process): ThisProcess,
    Params(place): Params<Place>,
    mut body: Body,
) -> Result<Json<StdinReceipt>, Refusal> {
    let mut next_offset = place.offset;
    // Also without a byte: a write to what cannot be written to, or behind a gap, is refused.
    let mut ahead = Some(extract::piece(&mut body).await?.unwrap_or_default());
    let mut at = place.offset;
    while let Some(bytes) = ahead {
        let length = bytes.len() as u64;
        next_offset = process.write_stdin(at, bytes).await?;
        // By our own count: a repeated write may end before what was written long ago.
        at += length;
        ahead = extract::piece(&mut body).await?;
    }
    if place.close {
        process.close_stdin().await?;
    }
    Ok(Json(StdinReceipt { next_offset }))
}

/// Close a process's standard input.
#[utoipa::path(delete, path = "/v1/processes/{id}/stdin", tag = "processes", operation_id = "closeStdin",
    params(("id" = ProcessId, Path)), responses((status = 204, description = "It is closed.")))]
pub(super) async fn close(ThisProcess(process): ThisProcess) -> Result<StatusCode, Refusal> {
    process.close_stdin().await?;
    Ok(StatusCode::NO_CONTENT)
}
