//! The routes described: the gateway's own part of the OpenAPI document, and where the whole is served.

use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use hyper::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use utoipa::OpenApi;

use super::{previews, sandboxes, server, tokens};
use crate::app::App;

/// The document as a page. It asks this server for the document, and nobody else for anything.
pub(crate) const PAGE: &str = include_str!("docs.html");

/// What the page may do.
pub(crate) const PAGE_POLICY: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Atoll",
        description = "Many sandboxes over HTTP: their life as a whole, and what happens inside each.",
        license(name = "Apache-2.0 OR MIT")
    ),
    tags(
        (name = "server", description = "The server itself."),
        (name = "sandboxes", description = "Sandboxes as a whole."),
        (name = "tokens", description = "Who may do what."),
    ),
    paths(
        server::alive, server::ready, server::metrics,
        tokens::list, tokens::create, tokens::revoke,
        sandboxes::list, sandboxes::create, sandboxes::get, sandboxes::put, sandboxes::patch, sandboxes::delete,
        sandboxes::start, sandboxes::stop, sandboxes::pause, sandboxes::resume,
        previews::list, previews::put, previews::delete, previews::rotate, previews::link,
    ),
)]
struct Description;

/// The gateway's own routes. What is inside a sandbox is described by its agent.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Description::openapi()
}

pub(super) async fn json(State(app): State<App>) -> Response {
    ([(CONTENT_TYPE, "application/json")], app.document).into_response()
}

pub(super) async fn page() -> Response {
    ([(CONTENT_SECURITY_POLICY, PAGE_POLICY)], Html(PAGE)).into_response()
}
