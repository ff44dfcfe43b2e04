//! The HTTP API: a route parses a request, calls one method, and encodes the result.

mod document;
pub(crate) mod extract;
mod leased;
mod observe;
mod origins;
mod pages;
mod previews;
mod sandboxes;
mod server;
mod tokens;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{any, delete, get, post, put};

pub use document::openapi;
pub(crate) use document::{PAGE, PAGE_POLICY};
pub use origins::Origins;
pub(crate) use server::readiness;

use crate::Error;
use crate::adapter::{self, InProcessApi, ProtocolAdapter};
use crate::app::App;
use crate::auth::Caller;
use crate::bridge;

/// Builds the router of the API and of all protocol adapters.
pub(crate) fn router(app: App, adapters: &[Arc<dyn ProtocolAdapter>]) -> Router {
    let mut all = api();
    let in_process = InProcessApi::new({
        let app = app.clone();
        move || around(api(), app)
    });
    for adapter in adapters {
        let (adapter, in_process, path) = (Arc::clone(adapter), in_process.clone(), adapter.path());
        let origins = app.origins.clone();
        let answer = move |caller: Caller, request: Request| {
            let (adapter, in_process) = (Arc::clone(&adapter), in_process.clone());
            let is_allowed_page = origins.of(&request).is_some();
            async move {
                adapter
                    .handle(adapter::Caller { id: Arc::clone(&caller.id), is_allowed_page, api: in_process }, request)
                    .await
            }
        };
        all = all.route(path, any(answer));
    }
    around(all, app)
}

fn api() -> Router<App> {
    Router::new()
        .route("/healthz", get(server::alive))
        .route("/readyz", get(server::ready))
        .route("/metrics", get(server::metrics))
        .route("/openapi.json", get(document::json))
        .route("/docs", get(document::page))
        .route("/v1/tokens", get(tokens::list).post(tokens::create))
        .route("/v1/tokens/{id}", delete(tokens::revoke))
        .route("/v1/sandboxes", get(sandboxes::list).post(sandboxes::create))
        .route(
            "/v1/sandboxes/{name}",
            get(sandboxes::get).put(sandboxes::put).patch(sandboxes::patch).delete(sandboxes::delete),
        )
        .route("/v1/sandboxes/{name}/start", post(sandboxes::start))
        .route("/v1/sandboxes/{name}/stop", post(sandboxes::stop))
        .route("/v1/sandboxes/{name}/pause", post(sandboxes::pause))
        .route("/v1/sandboxes/{name}/resume", post(sandboxes::resume))
        .route("/v1/sandboxes/{name}/previews", get(previews::list))
        .route("/v1/sandboxes/{name}/previews/{port}", put(previews::put).delete(previews::delete))
        .route("/v1/sandboxes/{name}/previews/{port}/rotate", post(previews::rotate))
        .route("/v1/sandboxes/{name}/previews/{port}/link", post(previews::link))
        .route("/v1/sandboxes/{name}/ports/{port}/connect", get(previews::connect))
        .route("/v1/sandboxes/{name}/{*rest}", any(sandboxes::inside))
        .merge(bridge::router())
}

/// Adds the layers that all routes share.
fn around(routes: Router<App>, app: App) -> Router {
    routes
        .fallback(async || Error::RouteNotFound)
        .method_not_allowed_fallback(async |request: Request| Error::MethodNotAllowed {
            method: request.method().to_string(),
        })
        .layer(from_fn(leased::end_with_token))
        .layer(from_fn(atoll_http::drain_request_body))
        .layer(from_fn_with_state(app.origins.clone(), origins::allow))
        .layer(from_fn_with_state(app.clone(), observe::observe))
        .with_state(app)
}
