//! The OpenAPI document of the bridge. It is separate from the API's: it describes what clients of a bridge may rely
//! on. A test compares the file with the types.

use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use hyper::StatusCode;
use hyper::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use serde::Serialize;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Components, SecurityRequirement};

use super::{exec, files, pool, pty, sandboxes, sessions, unavailable};
use crate::app::App;
use crate::routes::{PAGE, PAGE_POLICY};

/// The document, as JSON.
const DOCUMENT: &str = include_str!("../../bridge.json");

/// The document's URL in the page of the API, and the bridge's.
const OURS: &str = "\"/openapi.json\"";
const THIS: &str = "\"/v1/openapi.json\"";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Atoll's bridge",
        description = "The HTTP bridge of Cloudflare's sandboxes, served by Atoll for existing clients.",
        license(name = "Apache-2.0 OR MIT")
    ),
    tags(
        (name = "sandbox", description = "Sandboxes."),
        (name = "exec", description = "Commands."),
        (name = "files", description = "Files of the workspace."),
        (name = "workspace", description = "The workspace as an archive."),
        (name = "sessions", description = "Persistent shell sessions."),
        (name = "terminals", description = "Terminals."),
        (name = "pool", description = "Pre-warmed sandboxes."),
        (name = "not available", description = "Features of a bridge that Atoll does not have."),
        (name = "server", description = "The server itself."),
    ),
    paths(
        sandboxes::create, sandboxes::running, sandboxes::delete,
        exec::exec,
        files::read, files::write, files::persist, files::hydrate,
        sessions::create, sessions::delete,
        pty::open,
        pool::stats, pool::prime, pool::shut_down,
        unavailable::mount, unavailable::unmount, unavailable::open_tunnel, unavailable::close_tunnel,
        health,
    ),
)]
struct Description;

/// Returns the description of the bridge's routes.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = Description::openapi();
    let bearer = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
    document.components.get_or_insert_with(Components::new).add_security_scheme("token", bearer);
    document.security = Some(vec![SecurityRequirement::new("token", [""; 0])]);
    document
}

pub(super) async fn json() -> Response {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT).into_response()
}

pub(super) async fn page() -> Response {
    ([(CONTENT_SECURITY_POLICY, PAGE_POLICY)], Html(PAGE.replace(OURS, THIS))).into_response()
}

/// Whether the server is ready.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Health {
    /// Whether it is ready.
    ok: bool,
    /// Why it is not ready.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<String>,
}

/// Check whether the server is ready. Needs no token.
#[utoipa::path(get, path = "/health", tag = "server", operation_id = "health", security(()),
    responses((status = 200, body = Health), (status = 503, body = Health)))]
pub(super) async fn health(State(app): State<App>) -> Response {
    match crate::routes::readiness(&app).await {
        Ok(()) => crate::routes::extract::json(StatusCode::OK, &Health { ok: true, errors: Vec::new() }),
        Err(error) => {
            let health = Health { ok: false, errors: vec![error.to_string()] };
            crate::routes::extract::json(StatusCode::SERVICE_UNAVAILABLE, &health)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Run with `ATOLL_ACCEPT=1` to rewrite the file.
    #[test]
    fn document_matches_the_file() {
        let made = serde_json::to_string_pretty(&openapi()).unwrap() + "\n";
        if std::env::var_os("ATOLL_ACCEPT").is_some() {
            let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("bridge.json");
            std::fs::write(file, &made).unwrap();
            return;
        }
        assert_eq!(made, DOCUMENT, "run the test with ATOLL_ACCEPT=1 and look at the diff");
    }

    #[test]
    fn page_contains_the_url_of_the_document() {
        assert!(PAGE.matches(OURS).count() >= 2);
    }
}
