//! Runs one command and streams its output.

use atoll_protocol::{Encoding, ErrorCode, ExecRequest, OnDisconnect, SessionId};
use axum::response::Response;
use serde::Deserialize;

use super::error::{ApiError, ErrorShape, Operation};
use super::sandbox::{ResponseKind, Sandbox};
use super::sessions::{self, InSession};
use super::{command, events, workspace};
use crate::Error;
use crate::routes::extract::Json;

/// Longest timeout in milliseconds: a year.
const TIMEOUT_MAX: f64 = 365.0 * 24.0 * 60.0 * 60.0 * 1000.0;

/// A command.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Exec {
    /// A program and its arguments.
    #[schema(min_items = 1)]
    argv: Vec<String>,
    /// Timeout in milliseconds, after which the command and its descendants are killed.
    #[serde(default)]
    #[schema(minimum = 0)]
    timeout_ms: Option<f64>,
    /// The working directory, in `/workspace` (default: `/workspace`).
    #[serde(default)]
    cwd: Option<String>,
}

/// Run a command.
///
/// The response is an event stream. `stdout` and `stderr` events carry bytes as base64. The last event is `exit` with
/// `{"exit_code": NUMBER}`, or `error` with `{"error": MESSAGE, "code": NAME}` if the exit status is unknown. A
/// command that was killed by a signal has 128 plus the signal's number, one that timed out has 124 and a note on
/// `stderr`. Disconnecting before the end kills the command.
#[utoipa::path(post, path = "/v1/sandbox/{id}/exec", tag = "exec", operation_id = "exec",
    params(("id" = String, Path, description = "The sandbox."),
        ("Session-Id" = Option<String>, Header, description = "The session to run the command in. It is created if it does not exist.")),
    request_body = Exec,
    responses((status = 200, content_type = "text/event-stream", body = String), (status = "default", body = ErrorShape)))]
pub(super) async fn exec(
    sandbox: Sandbox,
    InSession(session): InSession,
    body: Result<Json<Exec>, Error>,
) -> Result<Response, ApiError> {
    let Json(requested) = body?;
    let request = translated(requested, session.is_some())?;
    let limit = request.timeout_ms;
    sandbox.ensure_exists().await?;
    let response = match session {
        None => sandbox.send(Operation::Exec, sandbox.request_json("exec", &request, ResponseKind::Events)?).await?,
        Some(session) => in_session(&sandbox, &session, &request).await?,
    };
    Ok(events::translated(response, limit))
}

fn translated(requested: Exec, in_session: bool) -> Result<ExecRequest, ApiError> {
    let Exec { argv, timeout_ms, cwd } = requested;
    if argv.is_empty() {
        return Err(ApiError::invalid("argv must not be empty"));
    }
    let request = if in_session { ExecRequest::shell(command::line(&argv)) } else { command::request(&argv) };
    Ok(ExecRequest {
        cwd: cwd.map(|cwd| in_workspace(&cwd)).transpose()?,
        timeout_ms: timeout_ms.map(millis).transpose()?,
        encoding: Encoding::Base64,
        // All output was streamed already.
        answer_bytes: Some(0),
        on_disconnect: OnDisconnect::Kill,
        ..request
    })
}

fn in_workspace(cwd: &str) -> Result<String, ApiError> {
    let path = workspace::resolved(cwd.as_bytes()).ok_or_else(|| ApiError::outside("cwd"))?;
    String::from_utf8(path).map_err(|_| ApiError::invalid("cwd must be text"))
}

/// Converts a JavaScript number.
fn millis(given: f64) -> Result<u64, ApiError> {
    if !(0.0..=TIMEOUT_MAX).contains(&given) {
        return Err(ApiError::invalid(format!("timeout_ms must be a number from 0 to {TIMEOUT_MAX}")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was just checked")]
    Ok(given.ceil() as u64)
}

async fn in_session(sandbox: &Sandbox, id: &SessionId, request: &ExecRequest) -> Result<Response, ApiError> {
    let rest = format!("sessions/{id}/exec");
    let requested = sandbox.request_json(&rest, request, ResponseKind::Events)?;
    match sandbox.try_send(Operation::Exec, requested).await? {
        Ok(response) => Ok(response),
        Err(answer) if answer.error.code == ErrorCode::SessionNotFound => {
            sessions::ensure_exists(sandbox, id).await?;
            sandbox.send(Operation::Exec, sandbox.request_json(&rest, request, ResponseKind::Events)?).await
        }
        Err(answer) => Err(ApiError::from_agent(Operation::Exec, &answer.error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ExecRequest, ApiError> {
        translated(serde_json::from_str(text).unwrap(), false)
    }

    #[test]
    fn command_is_translated() {
        let request = parse(r#"{"argv":["ls","a b"],"timeout_ms":1500.2,"cwd":"src"}"#).unwrap();
        assert_eq!(request.command.as_deref(), Some("ls 'a b'"));
        assert_eq!((request.timeout_ms, request.cwd.as_deref()), (Some(1501), Some("/workspace/src")));
        assert_eq!((request.on_disconnect, request.encoding), (OnDisconnect::Kill, Encoding::Base64));
    }

    #[test]
    fn invalid_commands_are_rejected() {
        for bad in [
            r#"{"argv":[]}"#,
            r#"{"argv":["a"],"timeout_ms":-1}"#,
            r#"{"argv":["a"],"timeout_ms":1e300}"#,
            r#"{"argv":["a"],"cwd":"/etc"}"#,
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<Exec>(r#"{"argv":["a"],"env":{}}"#).is_err());
    }
}
