//! The gateway's part of the OpenAPI document, and the routes that serve the whole document.

use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use hyper::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use utoipa::OpenApi;

use super::{previews, sandboxes, server, tokens};
use crate::app::App;

/// The document as an HTML page. It loads the document from this server, and nothing from elsewhere.
pub(crate) const PAGE: &str = include_str!("docs.html");

/// Content security policy of the page.
pub(crate) const PAGE_POLICY: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Atoll",
        description = "Sandboxes over HTTP: their lifecycle, and everything inside them.",
        license(name = "Apache-2.0 OR MIT")
    ),
    tags(
        (name = "server", description = "The server itself."),
        (name = "sandboxes", description = "Sandboxes and their lifecycle."),
        (name = "tokens", description = "Access tokens and their permissions."),
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

/// Returns the description of the gateway's own routes. The agent describes those inside a sandbox.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Description::openapi()
}

pub(super) async fn json(State(app): State<App>) -> Response {
    ([(CONTENT_TYPE, "application/json")], app.document).into_response()
}

pub(super) async fn page() -> Response {
    ([(CONTENT_SECURITY_POLICY, PAGE_POLICY)], Html(PAGE)).into_response()
}
