//! All sessions: making and listing them.

use atoll_protocol::{SessionInfo, SessionList, SessionRequest};
use atoll_runtime::{Error, Session};
use axum::Json;
use axum::extract::State;

use crate::agent::Agent;
use crate::command;
use crate::error::Refusal;
use crate::extract::OptionalJson;

/// Make a session.
///
/// Answers when its shell waits for commands. An id that is taken is refused; of those who ask for one at once, exactly
/// one gets it.
#[utoipa::path(post, path = "/v1/sessions", tag = "sessions", operation_id = "createSession",
    request_body = Option<SessionRequest>, responses((status = 200, body = SessionInfo)))]
pub(super) async fn create(
    State(agent): State<Agent>,
    OptionalJson(request): OptionalJson<SessionRequest>,
) -> Result<Json<SessionInfo>, Refusal> {
    let (sandbox, spec) = (agent.sandbox().clone(), command::session(request));
    let session = seen_through(async move { sandbox.create_session(spec).await }).await?;
    Ok(Json(session.info()))
}

/// List sessions, oldest first; dead ones too.
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", operation_id = "listSessions",
    responses((status = 200, body = SessionList)))]
pub(super) async fn list(State(agent): State<Agent>) -> Json<SessionList> {
    Json(SessionList { sessions: agent.sandbox().sessions().iter().map(Session::info).collect() })
}

/// In a task of its own: a caller who hangs up must not leave half a shell, or half a removal.
pub(super) async fn seen_through<T: Send + 'static>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    tokio::spawn(work).await.unwrap_or(Err(Error::SandboxGone))
}
