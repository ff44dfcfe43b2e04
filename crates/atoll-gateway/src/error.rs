//! Everything that a request to the gateway can run into, in the user's words, and its one shape as an answer.
//!
//! What went wrong inside is logged where it happens; an answer never holds paths of secrets, variables or commands.

use std::io;
use std::time::Duration;

use atoll_protocol::{ErrorAnswer, ErrorBody, ErrorCode, SandboxName, Verb};
use axum::response::{IntoResponse, Response};
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, UPGRADE, WWW_AUTHENTICATE};
use hyper::{HeaderMap, StatusCode};
use serde::Serialize;

/// One option that is not as asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Which.
    pub option: String,
    /// What the sandbox has; variables are not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is: Option<serde_json::Value>,
    /// What was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<serde_json::Value>,
}

/// A request that was not done.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The request cannot be right.
    #[error("{what}")]
    Invalid {
        /// What is wrong with it.
        what: String,
    },
    /// No route.
    #[error("there is nothing at this path")]
    RouteNotFound,
    /// No such method here.
    #[error("this path does not take the method {method}")]
    MethodNotAllowed {
        /// As given.
        method: String,
    },
    /// A path that is a connection.
    #[error("this path is a connection: ask to change over with `Upgrade: {to}`")]
    UpgradeRequired {
        /// To what.
        to: &'static str,
    },
    /// Too much JSON.
    #[error("the body is larger than {max} bytes")]
    BodyTooLarge {
        /// What it may be.
        max: usize,
    },
    /// No token, or a wrong one.
    #[error("{why}")]
    Unauthorized {
        /// Which of the two.
        why: &'static str,
    },
    /// The token is not for this.
    #[error("this token does not allow {} on {what}", verb_name(*verb))]
    Forbidden {
        /// What would be needed.
        verb: Verb,
        /// On what.
        what: String,
    },
    /// Asked too often.
    #[error("this token asks too often")]
    RateLimited {
        /// When to ask again.
        after: Duration,
    },
    /// The key means another request.
    #[error("the idempotency key was used for a different request")]
    IdempotencyConflict,
    /// No such token.
    #[error("no token has the id {id}")]
    TokenNotFound {
        /// As given.
        id: String,
    },
    /// Too many tokens.
    #[error("there are {max} tokens already")]
    TokenLimit {
        /// How many there may be.
        max: usize,
    },
    /// No such sandbox.
    #[error("no sandbox is named {name}")]
    SandboxNotFound {
        /// The name.
        name: SandboxName,
    },
    /// It exists, otherwise.
    #[error("sandbox {name} exists with other options: {}", options(differences))]
    SandboxDiffers {
        /// The name.
        name: SandboxName,
        /// Which.
        differences: Vec<Difference>,
    },
    /// Frozen.
    #[error("sandbox {name} is paused")]
    SandboxPaused {
        /// The name.
        name: SandboxName,
    },
    /// Nothing runs in it.
    #[error("sandbox {name} is stopped: there is nothing to pause")]
    SandboxStopped {
        /// The name.
        name: SandboxName,
    },
    /// Too many sandboxes.
    #[error("there are {max} sandboxes already")]
    SandboxLimit {
        /// How many there may be.
        max: usize,
    },
    /// No preview there, for whatever reason.
    #[error("there is no preview at this address")]
    PreviewNotFound,
    /// Nobody exposed it.
    #[error("port {port} is not exposed")]
    PortNotExposed {
        /// The port.
        port: u16,
    },
    /// Private, and nothing came that lets one in.
    #[error("this preview is private")]
    PreviewClosed,
    /// Private, and another page asks.
    #[error("this preview is private, and was asked for by another page")]
    PreviewForeign,
    /// It sleeps.
    #[error("sandbox {name} sleeps")]
    PreviewAsleep {
        /// The name.
        name: SandboxName,
    },
    /// Too much at once.
    #[error("{max} requests to this sandbox's ports are open already")]
    PreviewBusy {
        /// How many there may be.
        max: usize,
    },
    /// The program hung up.
    #[error("the program on port {port} ended the connection before it had answered")]
    PreviewBroken {
        /// The port.
        port: u16,
    },
    /// Too many exposed ports.
    #[error("a sandbox has at most {max} exposed ports")]
    PreviewLimit {
        /// How many there may be.
        max: usize,
    },
    /// A preview's host name at the API.
    #[error("this is the API, and previews are served elsewhere")]
    Misdirected,
    /// The agent itself said why.
    #[error("{}", .body.message)]
    Agent {
        /// In its own words.
        body: ErrorBody,
    },
    /// The agent did not start or did not answer.
    #[error("the agent of sandbox {name} {why}")]
    AgentUnavailable {
        /// The name.
        name: SandboxName,
        /// What is known.
        why: String,
    },
    /// The server is about to end.
    #[error("the server is about to end")]
    ShuttingDown,
    /// The disk does not take it.
    #[error("{}: failed to {what}", .trouble.words())]
    Disk {
        /// Why.
        trouble: DiskTrouble,
        /// What was to be done.
        what: String,
    },
    /// Our own failure.
    #[error("{what}")]
    Internal {
        /// What failed.
        what: String,
    },
}

/// Why a disk takes no writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskTrouble {
    /// No room.
    Full,
    /// Mounted so, or turned so by the kernel after an error.
    ReadOnly,
}

impl DiskTrouble {
    fn words(self) -> &'static str {
        match self {
            Self::Full => "there is no room on the server's disk",
            Self::ReadOnly => "the server's disk is read-only",
        }
    }

    fn of_io(error: &io::Error) -> Option<Self> {
        let is_full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        let is_read_only = error.kind() == io::ErrorKind::ReadOnlyFilesystem;
        Self::of(is_full, is_read_only)
    }

    /// SQLite says which only for some files: it makes its journal anew, and cannot open that on a read-only disk.
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
    /// The request cannot be right.
    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid { what: what.into() }
    }

    /// Our own failure, while doing `what`.
    pub(crate) fn internal(what: &str, error: impl std::fmt::Display) -> Self {
        Self::Internal { what: format!("failed to {what}: {error}") }
    }

    /// A file of ours could not be written, while doing `what`.
    pub(crate) fn io(what: &str, error: &io::Error) -> Self {
        match DiskTrouble::of_io(error) {
            Some(trouble) => Self::Disk { trouble, what: what.to_owned() },
            None => Self::internal(what, error),
        }
    }

    /// The registry could not do `what`.
    pub(crate) fn registry(what: &str, error: &rusqlite::Error) -> Self {
        match DiskTrouble::of_registry(error) {
            Some(trouble) => Self::Disk { trouble, what: what.to_owned() },
            None => Self::internal(what, error),
        }
    }

    /// The stable code.
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
            Self::Disk { trouble: DiskTrouble::Full, .. } => ErrorCode::DiskFull,
            Self::Disk { trouble: DiskTrouble::ReadOnly, .. } => ErrorCode::DiskReadOnly,
            Self::Internal { .. } => ErrorCode::Internal,
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unauthorized { .. } => {
                "send `Authorization: Bearer TOKEN`; the first token is in the server's state directory"
            }
            Self::Forbidden { .. } => "ask for a token with a scope that covers it",
            Self::IdempotencyConflict => "use a new key for a new request",
            Self::SandboxDiffers { .. } => "leave these options out, or delete the sandbox first",
            Self::SandboxPaused { .. } => "resume it first",
            Self::SandboxStopped { .. } => "start it first",
            Self::Disk { trouble: DiskTrouble::Full, .. } => "make room on the disk that holds the server's state",
            Self::Disk { trouble: DiskTrouble::ReadOnly, .. } => {
                "mount the disk that holds the server's state for writing; the kernel's log says why it is not"
            }
            Self::SandboxLimit { .. } => "delete some that are not needed, or raise the server's limit",
            Self::TokenLimit { .. } => "revoke some that are not needed",
            Self::AgentUnavailable { .. } => "try again: a sandbox whose agent is gone is started on its next use",
            Self::PreviewClosed => "open a signed link, or send `Authorization: Bearer TOKEN`",
            Self::PreviewAsleep { .. } => "use the sandbox, and it wakes; or expose the port with `wake`",
            Self::PreviewBusy { .. } => "try again when some of them have ended",
            Self::PreviewLimit { .. } => "unexpose some that are not needed",
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

    /// The shape in which clients get it.
    pub fn body(&self) -> ErrorBody {
        ErrorBody { code: self.code(), message: self.to_string(), hint: self.hint(), details: self.details() }
    }

    /// What some statuses want to be told beside the body (RFC 9110, 11.6.1 and 10.2.3).
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
            // RFC 9110, 15.5.22; over HTTP/2 hyper leaves them out.
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
        // axum fills in what a route takes; an answer to anything else must not promise it.
        if status != StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().remove(ALLOW);
        }
        response
    }
}
