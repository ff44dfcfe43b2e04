//! What can go wrong in a subcommand: here, at the server, or in telling it. One shape for people and for programs.

use std::io;

use atoll_protocol::{ErrorBody, ErrorCode};
use atoll_runtime::Error;

/// Why a subcommand did not do what was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It went wrong here.
    Here(Error),
    /// The server refused, or could not be asked.
    There(atoll_client::Error),
    /// What was found could not be printed.
    Printing(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Here(error)
    }
}

impl From<atoll_client::Error> for Failure {
    fn from(error: atoll_client::Error) -> Self {
        Self::There(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Printing(error)
    }
}

impl Failure {
    /// The user can mend it.
    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Here(Error::Invalid { what: what.into() })
    }

    /// The user cannot.
    pub(crate) fn internal(what: impl Into<String>) -> Self {
        Self::Here(Error::Internal { what: what.into() })
    }

    /// The shape in which it is told.
    pub(crate) fn body(&self) -> ErrorBody {
        match self {
            Self::Here(error) => error.body(),
            Self::There(error) => of_server(error),
            Self::Printing(error) => plain(ErrorCode::Internal, format!("failed to print: {error}")),
        }
    }
}

fn of_server(error: &atoll_client::Error) -> ErrorBody {
    let message = error.to_string();
    if let atoll_client::Error::Refused { code, hint, details, .. } = error {
        let code = code.unwrap_or(ErrorCode::Internal);
        return ErrorBody { code, message, hint: hint.clone(), details: details.clone() };
    }
    if let atoll_client::Error::Invalid { .. } = error {
        return plain(ErrorCode::ValidationFailed, message);
    }
    if let atoll_client::Error::Unreachable { why, .. } = error {
        let hint = if why.contains("certificate") {
            "the server's certificate must have the name that was asked for, and be vouched for by one in --ca-file"
        } else {
            "start a server with `atoll serve`, or name another one with --server"
        };
        return ErrorBody { hint: Some(hint.to_owned()), ..plain(ErrorCode::ServerUnreachable, message) };
    }
    plain(ErrorCode::Internal, message)
}

fn plain(code: ErrorCode, message: String) -> ErrorBody {
    ErrorBody { code, message, hint: None, details: None }
}
