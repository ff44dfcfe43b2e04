//! The error of a subcommand, and its conversion to the error body that people and programs see.

use std::io;

use atoll_protocol::{ErrorBody, ErrorCode};
use atoll_runtime::Error;

/// Why a subcommand failed.
#[derive(Debug)]
pub(crate) enum CliError {
    /// On this machine.
    Local(Error),
    /// The server returned an error, or is unreachable.
    Server(atoll_client::Error),
    /// The result could not be printed.
    Output(io::Error),
}

impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        Self::Local(error)
    }
}

impl From<atoll_client::Error> for CliError {
    fn from(error: atoll_client::Error) -> Self {
        Self::Server(error)
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl CliError {
    /// An error that the user can correct.
    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Local(Error::Invalid { what: what.into() })
    }

    /// An error that the user cannot correct.
    pub(crate) fn internal(what: impl Into<String>) -> Self {
        Self::Local(Error::Internal { what: what.into() })
    }

    /// Returns the error body, as the API has it.
    pub(crate) fn body(&self) -> ErrorBody {
        match self {
            Self::Local(error) => error.body(),
            Self::Server(error) => server_body(error),
            Self::Output(error) => body(ErrorCode::Internal, format!("failed to print: {error}")),
        }
    }
}

fn server_body(error: &atoll_client::Error) -> ErrorBody {
    let message = error.to_string();
    if let atoll_client::Error::Refused { code, hint, details, .. } = error {
        let code = code.unwrap_or(ErrorCode::Internal);
        return ErrorBody { code, message, hint: hint.clone(), details: details.clone() };
    }
    if let atoll_client::Error::Invalid { .. } = error {
        return body(ErrorCode::ValidationFailed, message);
    }
    if let atoll_client::Error::Unreachable { why, .. } = error {
        let hint = if why.contains("certificate") {
            "the certificate must be valid for the host in --server and signed by an authority in --ca-file"
        } else {
            "start a server with `atoll serve`, or pass the address of another one with --server"
        };
        return ErrorBody { hint: Some(hint.to_owned()), ..body(ErrorCode::ServerUnreachable, message) };
    }
    body(ErrorCode::Internal, message)
}

fn body(code: ErrorCode, message: String) -> ErrorBody {
    ErrorBody { code, message, hint: None, details: None }
}
