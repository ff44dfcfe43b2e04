//! Tokens. Only admins of the whole server may create them: any token could otherwise create one with more
//! permissions.

use atoll_protocol::{CreateToken, NewToken, TokenList, Verb};
use axum::extract::{Path, State};
use axum::response::Response;
use hyper::StatusCode;

use super::extract::{Json, json};
use crate::Error;
use crate::app::App;
use crate::auth::Caller;

/// List the tokens, without their secrets.
#[utoipa::path(get, path = "/v1/tokens", tag = "tokens", operation_id = "listTokens",
    responses((status = 200, body = TokenList)))]
pub(super) async fn list(State(app): State<App>, caller: Caller) -> Result<Response, Error> {
    caller.must_everywhere(Verb::Admin)?;
    Ok(json(StatusCode::OK, &TokenList { tokens: app.auth.list() }))
}

/// Create a token. Only this response contains its secret.
#[utoipa::path(post, path = "/v1/tokens", tag = "tokens", operation_id = "createToken", request_body = CreateToken,
    responses((status = 201, body = NewToken)))]
pub(super) async fn create(
    State(app): State<App>,
    caller: Caller,
    Json(requested): Json<CreateToken>,
) -> Result<Response, Error> {
    caller.must_everywhere(Verb::Admin)?;
    let made = app.auth.create(requested).await?;
    tracing::info!(token = made.info.id, by = &*caller.id, "token created");
    Ok(json(StatusCode::CREATED, &made))
}

/// Revoke a token.
#[utoipa::path(delete, path = "/v1/tokens/{id}", tag = "tokens", operation_id = "revokeToken",
    params(("id" = String, Path, description = "The token.")), responses((status = 204, description = "The token is revoked.")))]
pub(super) async fn revoke(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Error> {
    caller.must_everywhere(Verb::Admin)?;
    app.auth.revoke(&id).await?;
    tracing::info!(token = id, by = &*caller.id, "token revoked");
    Ok(StatusCode::NO_CONTENT)
}
