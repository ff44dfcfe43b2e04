//! Tokens. Only who may do everything may make them: whoever could make one could make one for everything.

use atoll_protocol::{CreateToken, TokenList, Verb};
use axum::extract::{Path, State};
use axum::response::Response;
use hyper::StatusCode;

use super::extract::{Json, json};
use crate::Error;
use crate::app::App;
use crate::auth::Caller;

pub(super) async fn list(State(app): State<App>, caller: Caller) -> Result<Response, Error> {
    caller.must_everywhere(Verb::Admin)?;
    Ok(json(StatusCode::OK, &TokenList { tokens: app.auth.list() }))
}

pub(super) async fn create(
    State(app): State<App>,
    caller: Caller,
    Json(asked): Json<CreateToken>,
) -> Result<Response, Error> {
    caller.must_everywhere(Verb::Admin)?;
    let made = app.auth.create(asked).await?;
    tracing::info!(token = made.info.id, by = caller.id, "a token was made");
    Ok(json(StatusCode::CREATED, &made))
}

pub(super) async fn revoke(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Error> {
    caller.must_everywhere(Verb::Admin)?;
    app.auth.revoke(&id).await?;
    tracing::info!(token = id, by = caller.id, "a token was revoked");
    Ok(StatusCode::NO_CONTENT)
}
