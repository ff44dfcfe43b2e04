//! All terminals: opening and listing them.

use atoll_protocol::{TerminalInfo, TerminalList, TerminalRequest};
use atoll_runtime::Terminal;
use axum::Json;
use axum::extract::State;

use crate::agent::Agent;
use crate::command;
use crate::error::Refusal;
use crate::extract::OptionalJson;

/// Open a terminal.
///
/// Answers when its program runs. An id whose program lives: the one that is there, however many ask at once.
#[utoipa::path(post, path = "/v1/terminals", tag = "terminals", operation_id = "openTerminal",
    request_body = Option<TerminalRequest>, responses((status = 200, body = TerminalInfo)))]
pub(super) async fn open(
    State(agent): State<Agent>,
    OptionalJson(request): OptionalJson<TerminalRequest>,
) -> Result<Json<TerminalInfo>, Refusal> {
    let terminal = agent.sandbox().open_terminal(command::terminal(request)?).await?;
    Ok(Json(terminal.info()))
}

/// List terminals, oldest first; ended ones too, as long as they are remembered.
#[utoipa::path(get, path = "/v1/terminals", tag = "terminals", operation_id = "listTerminals",
    responses((status = 200, body = TerminalList)))]
pub(super) async fn list(State(agent): State<Agent>) -> Json<TerminalList> {
    Json(TerminalList { terminals: agent.sandbox().terminals().iter().map(Terminal::info).collect() })
}
