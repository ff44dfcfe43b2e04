//! The HTTP bridge of Cloudflare's sandboxes, so that its clients work here as they are: `/v1/sandbox…`, `/v1/pool…` and
//! the document that describes them.
//!
//! It translates and decides nothing. A request becomes one or two of our own, which take the same way as everybody's
//! (`sandbox.rs`): the same tokens and scopes, the same agent. An answer becomes what a bridge would have said, errors
//! included (`refusal.rs`). What there is no counterpart for is refused by name (`unavailable.rs`); nothing is taken and
//! then left out.

mod command;
mod document;
mod events;
mod exec;
mod files;
mod frames;
mod id;
mod pool;
mod pty;
mod refusal;
mod sandbox;
mod sandboxes;
mod sessions;
mod unavailable;
mod workspace;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, delete, get, on, post};

pub use document::openapi;
use refusal::Refusal;

use crate::Error;
use crate::app::App;

/// Where requests to what runs inside a sandbox come in.
pub(crate) const INSIDE: &str = "/v1/sandbox/{name}/";

/// Whether a path belongs to the bridge.
pub(crate) fn owns(path: &str) -> bool {
    path.starts_with("/v1/sandbox/") || path.starts_with("/v1/pool/")
}

/// An error in the bridge's shape.
pub(crate) fn refused(error: Error) -> Response {
    Refusal::from(error).into_response()
}

/// Every route of it.
pub(crate) fn router() -> Router<App> {
    Router::new()
        .nest("/v1/sandbox", sandbox_routes())
        .nest("/v1/pool", pool_routes())
        .route("/health", get(document::health))
        .route("/v1/openapi.json", get(document::json))
        .route("/v1/openapi", get(document::page))
        .route("/v1/openapi.html", get(document::page))
}

fn sandbox_routes() -> Router<App> {
    // A WebSocket over HTTP/2 is asked for with CONNECT (RFC 8441).
    let pty = on(MethodFilter::GET.or(MethodFilter::CONNECT), pty::open);
    let routes = Router::new()
        .route("/", post(sandboxes::create))
        .route("/{name}", delete(sandboxes::delete))
        .route("/{name}/running", get(sandboxes::running))
        .route("/{name}/exec", post(exec::exec))
        .route("/{name}/file/", get(files::read).put(files::write))
        .route("/{name}/file/{*path}", get(files::read).put(files::write))
        .route("/{name}/persist", post(files::persist))
        .route("/{name}/hydrate", post(files::hydrate))
        .route("/{name}/pty", pty)
        .route("/{name}/session", post(sessions::create))
        .route("/{name}/session/{session}", delete(sessions::delete))
        .route("/{name}/mount", post(unavailable::mount))
        .route("/{name}/unmount", post(unavailable::unmount))
        .route("/{name}/tunnel/{port}", post(unavailable::open_tunnel).delete(unavailable::close_tunnel))
        // What is large is never held in memory, and JSON has its own limit.
        .layer(DefaultBodyLimit::disable());
    in_its_own_shape(routes)
}

fn pool_routes() -> Router<App> {
    let routes = Router::new()
        .route("/stats", get(pool::stats))
        .route("/prime", post(pool::prime))
        .route("/shutdown-prewarmed", post(pool::shut_down));
    in_its_own_shape(routes)
}

/// Also what is not there is told as a bridge tells it.
fn in_its_own_shape(routes: Router<App>) -> Router<App> {
    routes.fallback(async || Refusal::from(Error::RouteNotFound)).method_not_allowed_fallback(
        async |request: Request| Refusal::from(Error::MethodNotAllowed { method: request.method().to_string() }),
    )
}
