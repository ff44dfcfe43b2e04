//! One command, told as it happens.

use atoll_protocol::{Encoding, ErrorCode, ExecRequest, OnDisconnect, SessionId};
use axum::response::Response;
use serde::Deserialize;

use super::refusal::{ErrorShape, Operation, Refusal};
use super::sandbox::{Sandbox, Wanted};
use super::sessions::{self, InSession};
use super::{command, events, workspace};
use crate::Error;
use crate::routes::extract::Json;

/// The longest time limit that is taken, in milliseconds: a year.
const TIMEOUT_MAX: f64 = 365.0 * 24.0 * 60.0 * 60.0 * 1000.0;

/// A command.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Exec {
    /// A program and its arguments.
    #[schema(min_items = 1)]
    argv: Vec<String>,
    /// Ends it, and all that it started, after so long.
    #[serde(default)]
    #[schema(minimum = 0)]
    timeout_ms: Option<f64>,
    /// Where it runs, in `/workspace`; there if not given.
    #[serde(default)]
    cwd: Option<String>,
}

/// Run a command to its end.
///
/// The answer is a stream of events. `stdout` and `stderr` carry bytes as base64. The last is `exit` with
/// `{"exit_code": NUMBER}`, or `error` with `{"error": WORDS, "code": NAME}` if how it ended cannot be told. A command that a
/// signal ended has 128 and the signal's number, one whose time was up 124 and a line on `stderr` that says so. Who goes
/// away before the end takes the command along.
#[utoipa::path(post, path = "/v1/sandbox/{id}/exec", tag = "exec", operation_id = "exec",
    params(("id" = String, Path, description = "The sandbox."),
        ("Session-Id" = Option<String>, Header, description = "The session to run it in; made if it is not there.")),
    request_body = Exec,
    responses((status = 200, content_type = "text/event-stream", body = String), (status = "default", body = ErrorShape)))]
pub(super) async fn exec(
    sandbox: Sandbox,
    InSession(session): InSession,
    body: Result<Json<Exec>, Error>,
) -> Result<Response, Refusal> {
    let Json(asked) = body?;
    let request = translated(asked, session.is_some())?;
    let limit = request.timeout_ms;
    sandbox.make_sure().await?;
    let response = match session {
        None => sandbox.ask(Operation::Exec, sandbox.request_json("exec", &request, Wanted::Events)?).await?,
        Some(session) => in_session(&sandbox, &session, &request).await?,
    };
    Ok(events::translated(response, limit))
}

fn translated(asked: Exec, in_session: bool) -> Result<ExecRequest, Refusal> {
    let Exec { argv, timeout_ms, cwd } = asked;
    if argv.is_empty() {
        return Err(Refusal::invalid("argv must hold at least one word"));
    }
    let request = if in_session { ExecRequest::shell(command::line(&argv)) } else { command::request(&argv) };
    Ok(ExecRequest {
        cwd: cwd.map(|cwd| in_workspace(&cwd)).transpose()?,
        timeout_ms: timeout_ms.map(millis).transpose()?,
        encoding: Encoding::Base64,
        // It was all told before its end.
        answer_bytes: Some(0),
        on_disconnect: OnDisconnect::Kill,
        ..request
    })
}

fn in_workspace(cwd: &str) -> Result<String, Refusal> {
    let path = workspace::resolved(cwd.as_bytes()).ok_or_else(|| Refusal::outside("cwd"))?;
    String::from_utf8(path).map_err(|_| Refusal::invalid("cwd must be text"))
}

/// A number of JavaScript's.
fn millis(given: f64) -> Result<u64, Refusal> {
    if !(0.0..=TIMEOUT_MAX).contains(&given) {
        return Err(Refusal::invalid(format!("timeout_ms must be a number from 0 to {TIMEOUT_MAX}")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was just looked at")]
    Ok(given.ceil() as u64)
}

async fn in_session(sandbox: &Sandbox, id: &SessionId, request: &ExecRequest) -> Result<Response, Refusal> {
    let rest = format!("sessions/{id}/exec");
    let asked = sandbox.request_json(&rest, request, Wanted::Events)?;
    match sandbox.try_ask(Operation::Exec, asked).await? {
        Ok(response) => Ok(response),
        Err(answer) if answer.error.code == ErrorCode::SessionNotFound => {
            sessions::make_sure(sandbox, id).await?;
            sandbox.ask(Operation::Exec, sandbox.request_json(&rest, request, Wanted::Events)?).await
        }
        Err(answer) => Err(Refusal::told(Operation::Exec, &answer.error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Result<ExecRequest, Refusal> {
        translated(serde_json::from_str(text).unwrap(), false)
    }

    #[test]
    fn a_command_is_one_of_ours() {
        let request = asked(r#"{"argv":["ls","a b"],"timeout_ms":1500.2,"cwd":"src"}"#).unwrap();
        assert_eq!(request.command.as_deref(), Some("ls 'a b'"));
        assert_eq!((request.timeout_ms, request.cwd.as_deref()), (Some(1501), Some("/workspace/src")));
        assert_eq!((request.on_disconnect, request.encoding), (OnDisconnect::Kill, Encoding::Base64));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for bad in [
            r#"{"argv":[]}"#,
            r#"{"argv":["a"],"timeout_ms":-1}"#,
            r#"{"argv":["a"],"timeout_ms":1e300}"#,
            r#"{"argv":["a"],"cwd":"/etc"}"#,
        ] {
            assert!(asked(bad).is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<Exec>(r#"{"argv":["a"],"env":{}}"#).is_err());
    }
}
