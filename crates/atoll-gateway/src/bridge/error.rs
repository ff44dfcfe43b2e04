//! Errors in the bridge's format: `{"error": MESSAGE, "code": NAME}`. The only place that maps our error codes to the
//! bridge's.
//!
//! Clients of a bridge rely on the status: 404 for a file means that it does not exist, 403 that its path is outside
//! of the workspace, 503 can be retried, and 400 cannot. Each status is used for exactly that.

use atoll_protocol::{ErrorBody, ErrorCode};
use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::Serialize;

use crate::Error;

/// The operation of a request. It determines the codes of some errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Running a command.
    Exec,
    /// Opening a terminal.
    Pty,
    /// Reading a file.
    Read,
    /// Writing a file.
    Write,
    /// Archiving the workspace.
    Persist,
    /// Extracting an archive into the workspace.
    Hydrate,
    /// Creating or deleting a session.
    Session,
}

impl Operation {
    /// Returns the code of all other failures of the operation.
    fn code(self) -> &'static str {
        match self {
            Self::Exec | Self::Pty => "exec_transport_error",
            Self::Read | Self::Persist => "workspace_archive_read_error",
            Self::Write | Self::Hydrate => "workspace_archive_write_error",
            Self::Session => "session_error",
        }
    }
}

/// The body of error responses.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct ErrorShape {
    /// The message.
    error: String,
    /// The stable code.
    code: String,
}

/// An error response.
#[derive(Debug)]
pub(super) struct ApiError {
    status: StatusCode,
    body: ErrorShape,
    /// Headers that some statuses require.
    headers: Box<HeaderMap>,
}

impl ApiError {
    pub(super) fn new(status: StatusCode, code: &str, error: impl Into<String>) -> Self {
        Self { status, body: ErrorShape { error: error.into(), code: code.to_owned() }, headers: Box::default() }
    }

    /// The request is invalid.
    pub(super) fn invalid(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", error)
    }

    /// A path outside of the workspace.
    pub(super) fn outside(what: &str) -> Self {
        let error = format!("{what} must be in /workspace");
        Self::new(StatusCode::FORBIDDEN, "invalid_request", error)
    }

    pub(super) fn is_not_found(&self) -> bool {
        self.status == StatusCode::NOT_FOUND
    }

    /// Translates an agent's error.
    pub(super) fn from_agent(operation: Operation, body: &ErrorBody) -> Self {
        let (status, code) = in_operation(operation, body.code).unwrap_or_else(|| general(body.code));
        Self::new(status, &code, message(body))
    }
}

/// Returns the message with the hint appended, for which a bridge has no field.
fn message(body: &ErrorBody) -> String {
    match &body.hint {
        Some(hint) => format!("{} ({hint})", body.message),
        None => body.message.clone(),
    }
}

/// Returns the status and code where the operation determines them.
fn in_operation(operation: Operation, code: ErrorCode) -> Option<(StatusCode, String)> {
    let own = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::BAD_GATEWAY);
    let is_missing = matches!(code, ErrorCode::FileNotFound | ErrorCode::SandboxNotFound);
    if operation == Operation::Read && is_missing {
        return Some((StatusCode::NOT_FOUND, "workspace_read_not_found".to_owned()));
    }
    if bridge_name(code).is_some() || matches!(code, ErrorCode::SandboxPaused | ErrorCode::ShuttingDown) {
        return None;
    }
    // To clients, 403 means a path outside of the workspace. Here the kernel denied permission.
    let status = if own == StatusCode::FORBIDDEN { StatusCode::BAD_GATEWAY } else { own };
    Some((status, operation.code().to_owned()))
}

/// Returns the status and code where the operation does not determine them. Codes without a counterpart are ours in
/// lower case.
fn general(code: ErrorCode) -> (StatusCode, String) {
    let own = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    // Clients retry 503, and a sandbox may be deleted meanwhile.
    let status = if code == ErrorCode::SandboxLimit { StatusCode::SERVICE_UNAVAILABLE } else { own };
    (status, bridge_name(code).map_or_else(|| ours(code), str::to_owned))
}

/// Returns the bridge's name for errors of the server or of the request itself.
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

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let body = error.body();
        let (status, code) = general(body.code);
        let headers = Box::new(error.headers());
        Self { headers, ..Self::new(status, &code, message(&body)) }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.body).unwrap_or_default();
        let mut headers = *self.headers;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut response = (self.status, headers, body).into_response();
        // axum sets `Allow` from the route; a response with another status must not have it.
        if self.status != StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().remove(ALLOW);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(operation: Operation, code: ErrorCode) -> (u16, String) {
        let body = ErrorBody { code, message: "it".to_owned(), hint: None, details: None };
        let error = ApiError::from_agent(operation, &body);
        (error.status.as_u16(), error.body.code)
    }

    #[test]
    fn errors_map_to_the_bridges_statuses_and_codes() {
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
            assert_eq!(translated(operation, code), (status, name.to_owned()), "{operation:?} {code:?}");
        }
        let full = ApiError::from(Error::SandboxLimit { max: 1 });
        assert_eq!((full.status.as_u16(), full.body.code.as_str()), (503, "capacity_exceeded"));
    }
}
