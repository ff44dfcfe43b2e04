//! Errors of the client.

use atoll_protocol::{ErrorAnswer, ErrorBody, ErrorCode};
use http::StatusCode;

/// Why a call failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server returned an error.
    #[error("{message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The stable code; `None` if this client does not know it.
        code: Option<ErrorCode>,
        /// What failed.
        message: String,
        /// What to do about it.
        hint: Option<String>,
        /// Machine-readable facts.
        details: Option<serde_json::Value>,
    },
    /// No server responds at this address.
    #[error("cannot reach {address}: {why}")]
    Unreachable {
        /// Address of the server.
        address: String,
        /// Error of the system.
        why: String,
    },
    /// The connection broke. The request may or may not have been executed.
    #[error("the connection broke: {why}")]
    Broken {
        /// What broke it.
        why: String,
    },
    /// The server sent a response that this client cannot decode.
    #[error("invalid response from the server: {why}")]
    InvalidResponse {
        /// What is invalid.
        why: String,
    },
    /// The request cannot be sent.
    #[error("{what}")]
    Invalid {
        /// What is invalid.
        what: String,
    },
}

impl Error {
    /// Returns the stable code, if the server returned one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused { code, .. } => *code,
            Self::Unreachable { .. } | Self::Broken { .. } | Self::InvalidResponse { .. } | Self::Invalid { .. } => {
                None
            }
        }
    }

    /// Returns whether the error is transient, so that a stream retries.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Broken { .. } => true,
            // A gateway that is restarting, or that cannot reach the server at the moment.
            Self::Refused { status, .. } => matches!(status, 502..=504),
            Self::InvalidResponse { .. } | Self::Invalid { .. } => false,
        }
    }

    pub(crate) fn invalid_response(why: impl std::fmt::Display) -> Self {
        Self::InvalidResponse { why: why.to_string() }
    }

    pub(crate) fn invalid(what: impl std::fmt::Display) -> Self {
        Self::Invalid { what: what.to_string() }
    }

    pub(crate) fn broken(why: impl std::fmt::Display) -> Self {
        Self::Broken { why: why.to_string() }
    }

    /// Creates an error from the last event of a stream.
    pub(crate) fn from_body(error: ErrorBody) -> Self {
        let ErrorBody { code, message, hint, details } = error;
        Self::Refused { status: code.status(), code: Some(code), message, hint, details }
    }

    /// Creates an error from an error response. A proxy in between may have responded in another format.
    pub(crate) fn refused(status: StatusCode, body: &[u8]) -> Self {
        if let Ok(ErrorAnswer { error }) = serde_json::from_slice(body) {
            let (code, message) = (Some(error.code), error.message);
            return Self::Refused { status: status.as_u16(), code, message, hint: error.hint, details: error.details };
        }
        let json: Option<serde_json::Value> = serde_json::from_slice(body).ok();
        let message = json.as_ref().and_then(|json| json.pointer("/error/message")).and_then(|text| text.as_str());
        let message = message.map_or_else(|| format!("the server responded with status {status}"), str::to_owned);
        Self::Refused { status: status.as_u16(), code: None, message, hint: None, details: None }
    }
}
