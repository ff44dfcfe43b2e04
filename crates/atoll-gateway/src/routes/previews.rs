//! Exposed ports of a sandbox, and raw connections to ports. The previews themselves are served by `preview`.

use atoll_protocol::{ExposePort, LinkRequest, Preview, PreviewLink, PreviewList, SandboxName, Verb};
use axum::extract::{Path, Request, State};
use axum::response::Response;
use hyper::StatusCode;

use super::extract::{Json, Name, json};
use crate::app::App;
use crate::auth::Caller;
use crate::preview::{self, Label, linked};
use crate::{Error, clock};

/// Default and longest lifetime of a signed link.
const LINK_MS: u64 = 60 * 60 * 1000;
const LINK_MAX_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// Parses the port in the path.
fn number(pairs: Vec<(String, String)>) -> Result<u16, Error> {
    let given = pairs.into_iter().find(|(key, _)| key == "port").map(|(_, value)| value).unwrap_or_default();
    let port = given.parse().ok().filter(|port| *port != 0);
    port.ok_or_else(|| Error::invalid("the port must be a number from 1 to 65535"))
}

type Pairs = Path<Vec<(String, String)>>;

/// List the exposed ports of a sandbox, with their URLs. Does not start it.
#[utoipa::path(get, path = "/v1/sandboxes/{name}/previews", tag = "ports", operation_id = "listPreviews",
    params(("name" = SandboxName, Path, description = "The sandbox.")), responses((status = 200, body = PreviewList)))]
pub(super) async fn list(State(app): State<App>, caller: Caller, Name(name): Name) -> Result<Response, Error> {
    // A preview's URL grants access, so `read` is not enough.
    caller.must(Verb::Exec, &name)?;
    let exposed = app.sandboxes.get(&name)?.exposures();
    let previews = exposed.iter().map(|(port, exposure)| app.preview.preview(&name, *port, exposure)).collect();
    Ok(json(StatusCode::OK, &PreviewList { previews }))
}

/// Expose a port, or change how it is exposed. Does not start the sandbox; nothing needs to listen yet.
#[utoipa::path(put, path = "/v1/sandboxes/{name}/previews/{port}", tag = "ports", operation_id = "exposePort",
    params(("name" = SandboxName, Path, description = "The sandbox."), ("port" = u16, Path, description = "The port inside.", minimum = 1)),
    request_body = Option<ExposePort>,
    responses((status = 200, body = Preview, description = "The port was exposed already."),
        (status = 201, body = Preview, description = "The port is now exposed.")))]
pub(super) async fn put(
    State(app): State<App>,
    caller: Caller,
    Name(name): Name,
    Path(pairs): Pairs,
    Json(requested): Json<ExposePort>,
) -> Result<Response, Error> {
    let port = number(pairs)?;
    caller.must(Verb::Admin, &name)?;
    let (exposure, is_new) = app.sandboxes.get(&name)?.expose(&name, port, requested).await?;
    tracing::info!(sandbox = %name, port, by = &*caller.id, "port exposed");
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(json(status, &app.preview.preview(&name, port, &exposure)))
}

/// Stop exposing a port. Its URLs stop working. Succeeds if the port is not exposed.
#[utoipa::path(delete, path = "/v1/sandboxes/{name}/previews/{port}", tag = "ports", operation_id = "unexposePort",
    params(("name" = SandboxName, Path, description = "The sandbox."), ("port" = u16, Path, description = "The port inside.", minimum = 1)),
    responses((status = 204, description = "The port is not exposed.")))]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Caller,
    Name(name): Name,
    Path(pairs): Pairs,
) -> Result<StatusCode, Error> {
    let port = number(pairs)?;
    caller.must(Verb::Admin, &name)?;
    app.sandboxes.get(&name)?.unexpose(&name, port).await?;
    tracing::info!(sandbox = %name, port, by = &*caller.id, "port unexposed");
    Ok(StatusCode::NO_CONTENT)
}

/// Rotate the token of an exposed port. Its previous URLs and signed links stop working.
#[utoipa::path(post, path = "/v1/sandboxes/{name}/previews/{port}/rotate", tag = "ports", operation_id = "rotatePreview",
    params(("name" = SandboxName, Path, description = "The sandbox."), ("port" = u16, Path, description = "The port inside.", minimum = 1)),
    responses((status = 200, body = Preview)))]
pub(super) async fn rotate(
    State(app): State<App>,
    caller: Caller,
    Name(name): Name,
    Path(pairs): Pairs,
) -> Result<Response, Error> {
    let port = number(pairs)?;
    caller.must(Verb::Admin, &name)?;
    let exposure = app.sandboxes.get(&name)?.rotate(&name, port).await?;
    tracing::info!(sandbox = %name, port, by = &*caller.id, "token of an exposed port rotated");
    Ok(json(StatusCode::OK, &app.preview.preview(&name, port, &exposure)))
}

/// Sign a link that grants temporary access without a token.
#[utoipa::path(post, path = "/v1/sandboxes/{name}/previews/{port}/link", tag = "ports", operation_id = "signPreviewLink",
    params(("name" = SandboxName, Path, description = "The sandbox."), ("port" = u16, Path, description = "The port inside.", minimum = 1)),
    request_body = Option<LinkRequest>, responses((status = 200, body = PreviewLink)))]
pub(super) async fn link(
    State(app): State<App>,
    caller: Caller,
    Name(name): Name,
    Path(pairs): Pairs,
    Json(requested): Json<LinkRequest>,
) -> Result<Response, Error> {
    let port = number(pairs)?;
    caller.must(Verb::Exec, &name)?;
    let lasts = requested.expires_in_ms.unwrap_or(LINK_MS);
    if !(1..=LINK_MAX_MS).contains(&lasts) {
        return Err(Error::invalid(format!("a link is valid for 1 to {LINK_MAX_MS} ms")));
    }
    let exposed = app.sandboxes.get(&name)?.exposures();
    let exposure = exposed.get(&port).ok_or(Error::PortNotExposed { port })?;
    let label = Label { port, name, token: exposure.token.clone() };
    let nowhere = || Error::invalid("this server does not serve previews");
    let (url, path_url) = app.preview.urls(&label).ok_or_else(nowhere)?;
    let expires_at = clock::later(lasts);
    let signed = app.preview.signer.sign(&label, expires_at);
    let link = PreviewLink { url: linked(&url, &signed), path_url: linked(&path_url, &signed), expires_at };
    Ok(json(StatusCode::OK, &link))
}

/// Opens a raw connection to a port. The agent's document describes it.
pub(super) async fn connect(
    State(app): State<App>,
    caller: Caller,
    Name(name): Name,
    Path(pairs): Pairs,
    request: Request,
) -> Result<Response, Error> {
    let port = number(pairs)?;
    caller.must(Verb::Exec, &name)?;
    preview::connect(&app, &caller, &name, port, request).await
}
