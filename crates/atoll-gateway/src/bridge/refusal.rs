//! Refusals as a bridge tells them: `{"error": WORDS, "code": NAME}`. The one place where our codes become its codes.
//!
//! Its clients go by the status: 404 of a file is a file that is not there, 403 of a file is a path outside of the
//! workspace, 503 is worth another try, and 400 is not. So a status says that here and nothing else.

use atoll_protocol::{ErrorBody, ErrorCode};
use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::Serialize;

use crate::Error;

/// What was asked for, as far as the names of its errors depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// A command.
    Exec,
    /// A terminal.
    Pty,
    /// A file is read.
    Read,
    /// A file is written.
    Write,
    /// The workspace is packed.
    Persist,
    /// The workspace is unpacked.
    Hydrate,
    /// A session is made or ended.
    Session,
}

impl Operation {
    /// What its failures are called, whatever failed.
    fn code(self) -> &'static str {
        match self {
            Self::Exec | Self::Pty => "exec_transport_error",
            Self::Read | Self::Persist => "workspace_archive_read_error",
            Self::Write | Self::Hydrate => "workspace_archive_write_error",
            Self::Session => "session_error",
        }
    }
}

/// The body of every answer that is an error.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct ErrorShape {
    /// What happened.
    error: String,
    /// Its stable name.
    code: String,
}

/// An error on its way to a client.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    shape: ErrorShape,
    /// What some statuses want to be told beside the body.
    headers: Box<HeaderMap>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: &str, error: impl Into<String>) -> Self {
        Self { status, shape: ErrorShape { error: error.into(), code: code.to_owned() }, headers: Box::default() }
    }

    /// The request cannot be right.
    pub(super) fn invalid(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", error)
    }

    /// A path that leads out of the workspace.
    pub(super) fn outside(what: &str) -> Self {
        let error = format!("{what} must be in /workspace");
        Self::new(StatusCode::FORBIDDEN, "invalid_request", error)
    }

    pub(super) fn is_not_found(&self) -> bool {
        self.status == StatusCode::NOT_FOUND
    }

    /// What the agent said about an operation.
    pub(super) fn told(operation: Operation, body: &ErrorBody) -> Self {
        let (status, code) = in_operation(operation, body.code).unwrap_or_else(|| general(body.code));
        Self::new(status, &code, words(body))
    }
}

/// With what to do about it, for which a bridge has no field.
fn words(body: &ErrorBody) -> String {
    match &body.hint {
        Some(hint) => format!("{} ({hint})", body.message),
        None => body.message.clone(),
    }
}

/// Where the operation decides what an error is called.
fn in_operation(operation: Operation, code: ErrorCode) -> Option<(StatusCode, String)> {
    let own = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::BAD_GATEWAY);
    let is_missing = matches!(code, ErrorCode::FileNotFound | ErrorCode::SandboxNotFound);
    if operation == Operation::Read && is_missing {
        return Some((StatusCode::NOT_FOUND, "workspace_read_not_found".to_owned()));
    }
    if bridge_name(code).is_some() || matches!(code, ErrorCode::SandboxPaused | ErrorCode::ShuttingDown) {
        return None;
    }
    // That it is the path which leads out is what 403 means to its clients.
    let status = if own == StatusCode::FORBIDDEN { StatusCode::BAD_GATEWAY } else { own };
    Some((status, operation.code().to_owned()))
}

/// What an error is called where the operation does not decide it. Of those for which a bridge has no name, ours.
fn general(code: ErrorCode) -> (StatusCode, String) {
    let own = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    // Worth another try: somebody may delete one.
    let status = if code == ErrorCode::SandboxLimit { StatusCode::SERVICE_UNAVAILABLE } else { own };
    (status, bridge_name(code).map_or_else(|| ours(code), str::to_owned))
}

/// Errors of the server or of the request as such, for which a bridge has a name.
fn bridge_name(code: ErrorCode) -> Option<&'static str> {
    const NAMES: [(ErrorCode, &str); 6] = [
        (ErrorCode::ValidationFailed, "invalid_request"),
        (ErrorCode::Unauthorized, "unauthorized"),
        (ErrorCode::BodyTooLarge, "payload_too_large"),
        (ErrorCode::ArgumentsTooLong, "payload_too_large"),
        (ErrorCode::SandboxLimit, "capacity_exceeded"),
        (ErrorCode::AgentUnavailable, "pool_error"),
    ];
    NAMES.iter().find(|(known, _)| *known == code).map(|(_, name)| *name)
}

fn ours(code: ErrorCode) -> String {
    let name = serde_json::to_value(code).ok();
    name.as_ref().and_then(|name| name.as_str()).unwrap_or_default().to_ascii_lowercase()
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let body = error.body();
        let (status, code) = general(body.code);
        let headers = Box::new(error.headers());
        Self { headers, ..Self::new(status, &code, words(&body)) }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.shape).unwrap_or_default();
        let mut headers = *self.headers;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut response = (self.status, headers, body).into_response();
        // axum fills in what a route takes; an answer to anything else must not promise it.
        if self.status != StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().remove(ALLOW);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(operation: Operation, code: ErrorCode) -> (u16, String) {
        let body = ErrorBody { code, message: "it".to_owned(), hint: None, details: None };
        let refusal = Refusal::told(operation, &body);
        (refusal.status.as_u16(), refusal.shape.code)
    }

    #[test]
    fn a_status_says_what_it_means_to_a_bridge_s_clients() {
        for (operation, code, status, name) in [
            (Operation::Read, ErrorCode::FileNotFound, 404, "workspace_read_not_found"),
            (Operation::Read, ErrorCode::PermissionDenied, 502, "workspace_archive_read_error"),
            (Operation::Read, ErrorCode::IsDirectory, 400, "workspace_archive_read_error"),
            (Operation::Write, ErrorCode::NoSpace, 507, "workspace_archive_write_error"),
            (Operation::Hydrate, ErrorCode::PathEscapes, 400, "workspace_archive_write_error"),
            (Operation::Exec, ErrorCode::CwdNotFound, 404, "exec_transport_error"),
            (Operation::Exec, ErrorCode::SandboxPaused, 409, "sandbox_paused"),
            (Operation::Exec, ErrorCode::ArgumentsTooLong, 413, "payload_too_large"),
            (Operation::Session, ErrorCode::SessionAlreadyExists, 409, "session_error"),
            (Operation::Pty, ErrorCode::ValidationFailed, 400, "invalid_request"),
            (Operation::Write, ErrorCode::AgentUnavailable, 502, "pool_error"),
        ] {
            assert_eq!(told(operation, code), (status, name.to_owned()), "{operation:?} {code:?}");
        }
        let full = Refusal::from(Error::SandboxLimit { max: 1 });
        assert_eq!((full.status.as_u16(), full.shape.code.as_str()), (503, "capacity_exceeded"));
    }
}
