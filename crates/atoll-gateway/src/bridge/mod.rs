//! The HTTP bridge of Cloudflare's sandboxes, so that its clients work unchanged: `/v1/sandbox…`, `/v1/pool…` and
//! their OpenAPI document.
//!
//! It only translates. A request becomes one or two requests of our API, which take the same path as all others
//! (`sandbox.rs`): the same tokens, scopes and agents. Responses, events and errors (`error.rs`) are translated back.
//! Features without a counterpart are rejected explicitly (`unavailable.rs`); no option is silently ignored.

mod command;
mod document;
mod error;
mod events;
mod exec;
mod files;
mod frames;
mod id;
mod pool;
mod pty;
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
use error::ApiError;

use crate::Error;
use crate::app::App;

/// The prefix of routes that are forwarded to an agent.
pub(crate) const INSIDE: &str = "/v1/sandbox/{name}/";

/// Whether a path belongs to the bridge.
pub(crate) fn owns(path: &str) -> bool {
    path.starts_with("/v1/sandbox/") || path.starts_with("/v1/pool/")
}

/// Returns an error in the bridge's format.
pub(crate) fn refused(error: Error) -> Response {
    ApiError::from(error).into_response()
}

/// Returns all routes of the bridge.
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
    // Over HTTP/2, CONNECT opens a WebSocket (RFC 8441).
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
        // Large bodies are streamed, and JSON has its own limit.
        .layer(DefaultBodyLimit::disable());
    with_bridge_errors(routes)
}

fn pool_routes() -> Router<App> {
    let routes = Router::new()
        .route("/stats", get(pool::stats))
        .route("/prime", post(pool::prime))
        .route("/shutdown-prewarmed", post(pool::shut_down));
    with_bridge_errors(routes)
}

/// Returns the errors of unknown routes in the bridge's format, too.
fn with_bridge_errors(routes: Router<App>) -> Router<App> {
    routes.fallback(async || ApiError::from(Error::RouteNotFound)).method_not_allowed_fallback(
        async |request: Request| ApiError::from(Error::MethodNotAllowed { method: request.method().to_string() }),
    )
}
