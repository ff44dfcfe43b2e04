//! Refusals: what a client gets instead of an answer. The one place where an error becomes an HTTP status.

use atoll_protocol::{ErrorAnswer, ErrorBody, ErrorCode};
use atoll_runtime::Error;
use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::UPGRADE;
use http::{HeaderValue, StatusCode};

/// An error on its way to the client.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// Boxed: every answer makes room for it.
    body: Box<ErrorBody>,
}

impl Refusal {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { body: Box::new(ErrorBody { code, message: message.into(), hint: None, details: None }) }
    }

    /// The request cannot be right.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::ValidationFailed, message)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.body.hint = Some(hint.into());
        self
    }

    pub(crate) fn into_body(self) -> ErrorBody {
        *self.body
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self { body: Box::new(body(&error)) }
    }
}

/// The runtime's own account, with the facts that a program needs to go on.
pub(crate) fn body(error: &Error) -> ErrorBody {
    let mut body = error.body();
    if let Error::StdinGap { expected, .. } = error {
        body.details = Some(serde_json::json!({ "next_offset": expected }));
    }
    if let Error::SessionTerminated { end: Some(end), .. } = error {
        body.details = Some(serde_json::json!({ "end": end }));
    }
    body
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.body.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(ErrorAnswer { error: *self.body })).into_response();
        if status == StatusCode::UPGRADE_REQUIRED {
            // Such an answer names what it wants (RFC 9110, 15.5.22).
            response.headers_mut().insert(UPGRADE, HeaderValue::from_static("websocket"));
        }
        response
    }
}
