//! What can go wrong between a caller and the server.

use atoll_protocol::{ErrorAnswer, ErrorBody, ErrorCode};
use http::StatusCode;

/// A call that was not answered as hoped.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server refused, and says why.
    #[error("{message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The stable code; `None` if it is none that this client knows.
        code: Option<ErrorCode>,
        /// What happened.
        message: String,
        /// What to do about it.
        hint: Option<String>,
        /// Facts for programs.
        details: Option<serde_json::Value>,
    },
    /// There is no server at this address, or none that answers.
    #[error("cannot reach {address}: {why}")]
    Unreachable {
        /// Where it should be.
        address: String,
        /// What the system said.
        why: String,
    },
    /// The connection broke. The request may or may not have been done.
    #[error("the connection broke: {why}")]
    Broken {
        /// What was seen of it.
        why: String,
    },
    /// The server said something that this client does not understand.
    #[error("the server's answer makes no sense: {why}")]
    Nonsense {
        /// What is wrong with it.
        why: String,
    },
    /// The request cannot be sent.
    #[error("{what}")]
    Invalid {
        /// What is wrong with it.
        what: String,
    },
}

impl Error {
    /// The stable code, if the server refused with one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused { code, .. } => *code,
            Self::Unreachable { .. } | Self::Broken { .. } | Self::Nonsense { .. } | Self::Invalid { .. } => None,
        }
    }

    /// Whether it may go away by itself: a stream tries again then.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Broken { .. } => true,
            // A gateway that is just being restarted, or cannot reach the server just now.
            Self::Refused { status, .. } => matches!(status, 502..=504),
            Self::Nonsense { .. } | Self::Invalid { .. } => false,
        }
    }

    pub(crate) fn nonsense(why: impl std::fmt::Display) -> Self {
        Self::Nonsense { why: why.to_string() }
    }

    pub(crate) fn invalid(what: impl std::fmt::Display) -> Self {
        Self::Invalid { what: what.to_string() }
    }

    pub(crate) fn broken(why: impl std::fmt::Display) -> Self {
        Self::Broken { why: why.to_string() }
    }

    /// What a stream told as its last word.
    pub(crate) fn told(error: ErrorBody) -> Self {
        let ErrorBody { code, message, hint, details } = error;
        Self::Refused { status: code.status(), code: Some(code), message, hint, details }
    }

    /// From an answer that is an error. Something in between may have answered in words of its own.
    pub(crate) fn refused(status: StatusCode, body: &[u8]) -> Self {
        if let Ok(ErrorAnswer { error }) = serde_json::from_slice(body) {
            let (code, message) = (Some(error.code), error.message);
            return Self::Refused { status: status.as_u16(), code, message, hint: error.hint, details: error.details };
        }
        let told: Option<serde_json::Value> = serde_json::from_slice(body).ok();
        let message = told.as_ref().and_then(|told| told.pointer("/error/message")).and_then(|text| text.as_str());
        let message = message.map_or_else(|| format!("the server answered {status}"), str::to_owned);
        Self::Refused { status: status.as_u16(), code: None, message, hint: None, details: None }
    }
}
