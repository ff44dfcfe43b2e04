//! Exposed ports of a sandbox, and raw connections to ports. Previews themselves are served elsewhere (`preview`).

use atoll_protocol::{ExposePort, LinkRequest, Preview, PreviewLink, PreviewList, SandboxName, Verb};
use axum::extract::{Path, Request, State};
use axum::response::Response;
use hyper::StatusCode;

use super::extract::{Json, Name, json};
use crate::app::App;
use crate::auth::Caller;
use crate::preview::{self, Label, linked};
use crate::{Error, clock};

/// How long a link is good if nothing is said, and at most.
const LINK_MS: u64 = 60 * 60 * 1000;
const LINK_MAX_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// The port in a path, behind the sandbox's name.
fn number(pairs: Vec<(String, String)>) -> Result<u16, Error> {
    let given = pairs.into_iter().find(|(key, _)| key == "port").map(|(_, value)| value).unwrap_or_default();
    let port = given.parse().ok().filter(|port| *port != 0);
    port.ok_or_else(|| Error::invalid("the port is no number from 1 to 65535"))
}

type Pairs = Path<Vec<(String, String)>>;

/// List the exposed ports of a sandbox, with their URLs. Starts nothing.
#[utoipa::path(get, path = "/v1/sandboxes/{name}/previews", tag = "ports", operation_id = "listPreviews",
    params(("name" = SandboxName, Path, description = "The sandbox.")), responses((status = 200, body = PreviewList)))]
pub(super) async fn list(State(app): State<App>, caller: Caller, Name(name): Name) -> Result<Response, Error> {
    // A URL is a way in.
    caller.must(Verb::Exec, &name)?;
    let exposed = app.fleet.get(&name)?.exposures();
    let previews = exposed.iter().map(|(port, exposure)| app.preview.preview(&name, *port, exposure)).collect();
    Ok(json(StatusCode::OK, &PreviewList { previews }))
}

/// Expose a port, or change how it is exposed. The sandbox is not started, and nothing needs to listen yet.
#[utoipa::path(put, path = "/v1/sandboxes/{name}/previews/{port}", tag = "ports", operation_id = "exposePort",
    params(("name" = SandboxName, Path, description = "The sandbox."), ("port" = u16, Path, description = "The port inside.", minimum = 1)),
    request_body = Option<ExposePort>,
    responses((status = 200, body = Preview, description = "It was exposed."),
        (status = 201, body = Preview, description = "It is exposed now.")))]
pub(super) async fn put(
    State(app): State<App>,
    caller: Caller,
    Name(name): Name,
    Path(pairs): Pairs,
    Json(asked): Json<ExposePort>,
) -> Result<Response, Error> {
    let port = number(pairs)?;
    caller.must(Verb::Admin, &name)?;
    let (exposure, is_new) = app.fleet.get(&name)?.expose(&name, port, asked).await?;
    tracing::info!(sandbox = %name, port, by = &*caller.id, "a port was exposed");
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(json(status, &app.preview.preview(&name, port, &exposure)))
}

/// End the exposure of a port: its URLs lead nowhere from now on. One that is not exposed is no error.
#[utoipa::path(delete, path = "/v1/sandboxes/{name}/previews/{port}", tag = "ports", operation_id = "unexposePort",
    params(("name" = SandboxName, Path, description = "The sandbox."), ("port" = u16, Path, description = "The port inside.", minimum = 1)),
    responses((status = 204, description = "It is not exposed.")))]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Caller,
    Name(name): Name,
    Path(pairs): Pairs,
) -> Result<StatusCode, Error> {
    let port = number(pairs)?;
    caller.must(Verb::Admin, &name)?;
    app.fleet.get(&name)?.unexpose(&name, port).await?;
    tracing::info!(sandbox = %name, port, by = &*caller.id, "a port is exposed no more");
    Ok(StatusCode::NO_CONTENT)
}

/// Give an exposed port another token: its URLs and signed links so far lead nowhere from now on.
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
    let exposure = app.fleet.get(&name)?.rotate(&name, port).await?;
    tracing::info!(sandbox = %name, port, by = &*caller.id, "an exposed port has another token");
    Ok(json(StatusCode::OK, &app.preview.preview(&name, port, &exposure)))
}

/// Sign a link that lets in whoever has it, for a while, without a token.
#[utoipa::path(post, path = "/v1/sandboxes/{name}/previews/{port}/link", tag = "ports", operation_id = "signPreviewLink",
    params(("name" = SandboxName, Path, description = "The sandbox."), ("port" = u16, Path, description = "The port inside.", minimum = 1)),
    request_body = Option<LinkRequest>, responses((status = 200, body = PreviewLink)))]
pub(super) async fn link(
    State(app): State<App>,
    caller: Caller,
    Name(name): Name,
    Path(pairs): Pairs,
    Json(asked): Json<LinkRequest>,
) -> Result<Response, Error> {
    let port = number(pairs)?;
    caller.must(Verb::Exec, &name)?;
    let lasts = asked.expires_in_ms.unwrap_or(LINK_MS);
    if !(1..=LINK_MAX_MS).contains(&lasts) {
        return Err(Error::invalid(format!("a link is good for 1 to {LINK_MAX_MS} ms")));
    }
    let exposed = app.fleet.get(&name)?.exposures();
    let exposure = exposed.get(&port).ok_or(Error::PortNotExposed { port })?;
    let label = Label { port, name, token: exposure.token.clone() };
    let nowhere = || Error::invalid("this server listens nowhere for previews");
    let (url, path_url) = app.preview.urls(&label).ok_or_else(nowhere)?;
    let expires_at = clock::later(lasts);
    let signed = app.preview.signer.sign(&label, expires_at);
    let link = PreviewLink { url: linked(&url, &signed), path_url: linked(&path_url, &signed), expires_at };
    Ok(json(StatusCode::OK, &link))
}

/// A raw connection to a port, described by the agent's document.
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
