//! The errors of the gateway's API, and their JSON form.
//!
//! Internal details are logged where they occur; a response never contains paths of secrets, variables or commands.

use std::io;
use std::time::Duration;

use atoll_protocol::{ErrorAnswer, ErrorBody, ErrorCode, SandboxName, Verb};
use axum::response::{IntoResponse, Response};
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, UPGRADE, WWW_AUTHENTICATE};
use hyper::{HeaderMap, StatusCode};
use serde::Serialize;

/// An option of an existing sandbox that differs from the requested one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The option's name.
    pub option: String,
    /// The sandbox's value. Omitted for variables, which may be secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is: Option<serde_json::Value>,
    /// The requested value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<serde_json::Value>,
}

/// Why a request failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The request is invalid.
    #[error("{what}")]
    Invalid {
        /// What is invalid.
        what: String,
    },
    /// There is no such route.
    #[error("no such path")]
    RouteNotFound,
    /// The route does not support the method.
    #[error("this path does not support the method {method}")]
    MethodNotAllowed {
        /// The method.
        method: String,
    },
    /// The route needs a protocol upgrade.
    #[error("this path requires an upgrade: send `Connection: upgrade` and `Upgrade: {to}`")]
    UpgradeRequired {
        /// The protocol.
        to: &'static str,
    },
    /// The JSON body is too large.
    #[error("the body is larger than {max} bytes")]
    BodyTooLarge {
        /// The limit in bytes.
        max: usize,
    },
    /// The token is missing or invalid.
    #[error("{why}")]
    Unauthorized {
        /// Which of the two.
        why: &'static str,
    },
    /// The token's scopes do not allow it.
    #[error("this token does not allow {} on {what}", verb_name(*verb))]
    Forbidden {
        /// The missing permission.
        verb: Verb,
        /// What it is missing on.
        what: String,
    },
    /// The token has exceeded its rate limit.
    #[error("rate limit exceeded for this token")]
    RateLimited {
        /// When to retry.
        after: Duration,
    },
    /// The idempotency key belongs to another request.
    #[error("the idempotency key was used for a different request")]
    IdempotencyConflict,
    /// There is no such token.
    #[error("no token has the id {id}")]
    TokenNotFound {
        /// The id.
        id: String,
    },
    /// There are too many tokens.
    #[error("the limit of {max} tokens is reached")]
    TokenLimit {
        /// The limit.
        max: usize,
    },
    /// There is no such sandbox.
    #[error("no sandbox is named {name}")]
    SandboxNotFound {
        /// The name.
        name: SandboxName,
    },
    /// The sandbox exists with other options.
    #[error("sandbox {name} exists with other options: {}", options(differences))]
    SandboxDiffers {
        /// The name.
        name: SandboxName,
        /// The options that differ.
        differences: Vec<Difference>,
    },
    /// The sandbox is paused.
    #[error("sandbox {name} is paused")]
    SandboxPaused {
        /// The name.
        name: SandboxName,
    },
    /// The sandbox is not running.
    #[error("sandbox {name} is stopped: there is nothing to pause")]
    SandboxStopped {
        /// The name.
        name: SandboxName,
    },
    /// There are too many sandboxes.
    #[error("the limit of {max} sandboxes is reached")]
    SandboxLimit {
        /// The limit.
        max: usize,
    },
    /// There is no preview at this address, for any reason.
    #[error("there is no preview at this address")]
    PreviewNotFound,
    /// The port is not exposed.
    #[error("port {port} is not exposed")]
    PortNotExposed {
        /// The port.
        port: u16,
    },
    /// The preview is private, and the request has no valid credential.
    #[error("this preview is private")]
    PreviewClosed,
    /// The preview is private, and a page of another origin sent the request.
    #[error("this preview is private, and the request comes from another page")]
    PreviewForeign,
    /// The sandbox is stopped, and the preview may not start it.
    #[error("sandbox {name} is stopped")]
    PreviewAsleep {
        /// The name.
        name: SandboxName,
    },
    /// Too many requests to the sandbox's ports are open.
    #[error("{max} requests to this sandbox's ports are open already")]
    PreviewBusy {
        /// The limit.
        max: usize,
    },
    /// The program closed the connection.
    #[error("the program on port {port} closed the connection before it responded")]
    PreviewBroken {
        /// The port.
        port: u16,
    },
    /// Too many ports are exposed.
    #[error("a sandbox has at most {max} exposed ports")]
    PreviewLimit {
        /// The limit.
        max: usize,
    },
    /// A preview's host name on an API listener.
    #[error("this address serves the API, not previews")]
    Misdirected,
    /// An error that the agent returned.
    #[error("{}", .body.message)]
    Agent {
        /// The agent's error.
        body: ErrorBody,
    },
    /// The agent did not start or did not respond.
    #[error("the agent of sandbox {name} {why}")]
    AgentUnavailable {
        /// The name.
        name: SandboxName,
        /// What happened, as a predicate of the agent.
        why: String,
    },
    /// The server is shutting down.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// The disk rejects writes.
    #[error("{}: failed to {what}", .cause.message())]
    Disk {
        /// Why.
        cause: DiskError,
        /// What failed.
        what: String,
    },
    /// An internal error.
    #[error("{what}")]
    Internal {
        /// What failed.
        what: String,
    },
}

/// Why a disk rejects writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskError {
    /// No space is left.
    Full,
    /// Mounted read-only, or remounted so by the kernel after an error.
    ReadOnly,
}

impl DiskError {
    fn message(self) -> &'static str {
        match self {
            Self::Full => "the server's disk is full",
            Self::ReadOnly => "the server's disk is read-only",
        }
    }

    fn of_io(error: &io::Error) -> Option<Self> {
        let is_full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        let is_read_only = error.kind() == io::ErrorKind::ReadOnlyFilesystem;
        Self::of(is_full, is_read_only)
    }

    /// SQLite reports a read-only disk only for some files: it also fails to create its journal there.
    fn of_registry(error: &rusqlite::Error) -> Option<Self> {
        let code = error.sqlite_error_code()?;
        let is_read_only = matches!(code, rusqlite::ErrorCode::ReadOnly | rusqlite::ErrorCode::CannotOpen);
        Self::of(code == rusqlite::ErrorCode::DiskFull, is_read_only)
    }

    fn of(is_full: bool, is_read_only: bool) -> Option<Self> {
        match (is_full, is_read_only) {
            (true, _) => Some(Self::Full),
            (false, true) => Some(Self::ReadOnly),
            (false, false) => None,
        }
    }
}

fn verb_name(verb: Verb) -> &'static str {
    match verb {
        Verb::Read => "read",
        Verb::Exec => "exec",
        Verb::Admin => "admin",
    }
}

fn options(differences: &[Difference]) -> String {
    differences.iter().map(|difference| difference.option.as_str()).collect::<Vec<_>>().join(", ")
}

impl Error {
    /// The request is invalid.
    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid { what: what.into() }
    }

    /// An internal error while doing `what`.
    pub(crate) fn internal(what: &str, error: impl std::fmt::Display) -> Self {
        Self::Internal { what: format!("failed to {what}: {error}") }
    }

    /// An I/O error while doing `what`.
    pub(crate) fn io(what: &str, error: &io::Error) -> Self {
        match DiskError::of_io(error) {
            Some(cause) => Self::Disk { cause, what: what.to_owned() },
            None => Self::internal(what, error),
        }
    }

    /// A registry error while doing `what`.
    pub(crate) fn registry(what: &str, error: &rusqlite::Error) -> Self {
        match DiskError::of_registry(error) {
            Some(cause) => Self::Disk { cause, what: what.to_owned() },
            None => Self::internal(what, error),
        }
    }

    /// Returns the stable error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid { .. } => ErrorCode::ValidationFailed,
            Self::RouteNotFound => ErrorCode::RouteNotFound,
            Self::MethodNotAllowed { .. } => ErrorCode::MethodNotAllowed,
            Self::BodyTooLarge { .. } => ErrorCode::BodyTooLarge,
            Self::UpgradeRequired { .. } => ErrorCode::UpgradeRequired,
            Self::Unauthorized { .. } => ErrorCode::Unauthorized,
            Self::Forbidden { .. } => ErrorCode::Forbidden,
            Self::RateLimited { .. } => ErrorCode::RateLimited,
            Self::IdempotencyConflict => ErrorCode::IdempotencyConflict,
            Self::TokenNotFound { .. } => ErrorCode::TokenNotFound,
            Self::TokenLimit { .. } => ErrorCode::TokenLimit,
            Self::SandboxNotFound { .. } => ErrorCode::SandboxNotFound,
            Self::SandboxDiffers { .. } => ErrorCode::SandboxDiffers,
            Self::SandboxPaused { .. } => ErrorCode::SandboxPaused,
            Self::SandboxStopped { .. } => ErrorCode::SandboxStopped,
            Self::SandboxLimit { .. } => ErrorCode::SandboxLimit,
            Self::PreviewNotFound | Self::PortNotExposed { .. } => ErrorCode::PreviewNotFound,
            Self::PreviewClosed => ErrorCode::Unauthorized,
            Self::PreviewForeign => ErrorCode::Forbidden,
            Self::PreviewAsleep { .. } => ErrorCode::PreviewAsleep,
            Self::PreviewBusy { .. } => ErrorCode::PreviewBusy,
            Self::PreviewBroken { .. } => ErrorCode::PreviewBroken,
            Self::PreviewLimit { .. } => ErrorCode::PreviewLimit,
            Self::Misdirected => ErrorCode::Misdirected,
            Self::Agent { body } => body.code,
            Self::AgentUnavailable { .. } => ErrorCode::AgentUnavailable,
            Self::ShuttingDown => ErrorCode::ShuttingDown,
            Self::Disk { cause: DiskError::Full, .. } => ErrorCode::DiskFull,
            Self::Disk { cause: DiskError::ReadOnly, .. } => ErrorCode::DiskReadOnly,
            Self::Internal { .. } => ErrorCode::Internal,
        }
    }

    /// Returns what the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unauthorized { .. } => {
                "send `Authorization: Bearer TOKEN`; the root token is in the server's state directory"
            }
            Self::Forbidden { .. } => "use a token with a scope that covers it",
            Self::IdempotencyConflict => "use a new key for a new request",
            Self::SandboxDiffers { .. } => "omit these options, or delete the sandbox first",
            Self::SandboxPaused { .. } => "resume it first",
            Self::SandboxStopped { .. } => "start it first",
            Self::Disk { cause: DiskError::Full, .. } => "free space on the disk that holds the server's state",
            Self::Disk { cause: DiskError::ReadOnly, .. } => {
                "remount the disk that holds the server's state read-write; the kernel's log says why it is read-only"
            }
            Self::SandboxLimit { .. } => "delete unused sandboxes, or raise the server's limit",
            Self::TokenLimit { .. } => "revoke unused tokens",
            Self::AgentUnavailable { .. } => "retry: the next use of the sandbox starts a new agent",
            Self::PreviewClosed => "open a signed link, or send `Authorization: Bearer TOKEN`",
            Self::PreviewAsleep { .. } => "start the sandbox, or expose the port with `wake`",
            Self::PreviewBusy { .. } => "retry when some of them have ended",
            Self::PreviewLimit { .. } => "unexpose unused ports",
            Self::Agent { body } => return body.hint.clone(),
            Self::Invalid { .. }
            | Self::RouteNotFound
            | Self::MethodNotAllowed { .. }
            | Self::BodyTooLarge { .. }
            | Self::UpgradeRequired { .. }
            | Self::RateLimited { .. }
            | Self::TokenNotFound { .. }
            | Self::SandboxNotFound { .. }
            | Self::PreviewNotFound
            | Self::PortNotExposed { .. }
            | Self::PreviewForeign
            | Self::PreviewBroken { .. }
            | Self::Misdirected
            | Self::ShuttingDown
            | Self::Internal { .. } => return None,
        };
        Some(hint.to_owned())
    }

    fn details(&self) -> Option<serde_json::Value> {
        match self {
            Self::SandboxDiffers { differences, .. } => Some(serde_json::json!({ "differences": differences })),
            Self::Agent { body } => body.details.clone(),
            Self::Invalid { .. }
            | Self::RouteNotFound
            | Self::MethodNotAllowed { .. }
            | Self::BodyTooLarge { .. }
            | Self::UpgradeRequired { .. }
            | Self::Unauthorized { .. }
            | Self::Forbidden { .. }
            | Self::RateLimited { .. }
            | Self::IdempotencyConflict
            | Self::TokenNotFound { .. }
            | Self::TokenLimit { .. }
            | Self::SandboxNotFound { .. }
            | Self::SandboxPaused { .. }
            | Self::SandboxStopped { .. }
            | Self::SandboxLimit { .. }
            | Self::PreviewNotFound
            | Self::PortNotExposed { .. }
            | Self::PreviewClosed
            | Self::PreviewForeign
            | Self::PreviewAsleep { .. }
            | Self::PreviewBusy { .. }
            | Self::PreviewBroken { .. }
            | Self::PreviewLimit { .. }
            | Self::Misdirected
            | Self::AgentUnavailable { .. }
            | Self::ShuttingDown
            | Self::Disk { .. }
            | Self::Internal { .. } => None,
        }
    }

    /// Returns the JSON form.
    pub fn body(&self) -> ErrorBody {
        ErrorBody { code: self.code(), message: self.to_string(), hint: self.hint(), details: self.details() }
    }

    /// Returns the headers that some statuses require (RFC 9110, 11.6.1 and 10.2.3).
    pub(crate) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Self::Unauthorized { .. } | Self::PreviewClosed = self {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Self::RateLimited { after } = self {
            headers.insert(RETRY_AFTER, HeaderValue::from(after.as_secs() + 1));
        }
        if let Self::UpgradeRequired { to } = self {
            // RFC 9110, 15.5.22. hyper omits them over HTTP/2.
            headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
            headers.insert(UPGRADE, HeaderValue::from_static(to));
        }
        if let Self::ShuttingDown | Self::PreviewBusy { .. } = self {
            headers.insert(RETRY_AFTER, HeaderValue::from(1));
        }
        headers
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code().status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = self.headers();
        let body = serde_json::to_vec(&ErrorAnswer { error: self.body() }).unwrap_or_default();
        let mut response = (status, headers, body).into_response();
        // axum sets `Allow` from the route; a response with another status must not have it.
        if status != StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().remove(ALLOW);
        }
        response
    }
}
