//! The bridge described. It is a document of its own: it says what a bridge's clients may rely on, and ours says the
//! rest. The file is compared with what the types say.

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

/// Where the page of our own document asks for it, and where this one does.
const OURS: &str = "\"/openapi.json\"";
const THIS: &str = "\"/v1/openapi.json\"";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Atoll's bridge",
        description = "The HTTP bridge of Cloudflare's sandboxes, served by Atoll for clients that speak it.",
        license(name = "Apache-2.0 OR MIT")
    ),
    tags(
        (name = "sandbox", description = "Sandboxes as a whole."),
        (name = "exec", description = "Commands."),
        (name = "files", description = "Files of the workspace."),
        (name = "workspace", description = "The workspace as an archive."),
        (name = "sessions", description = "Shells that remember."),
        (name = "terminals", description = "Programs behind a terminal."),
        (name = "pool", description = "Sandboxes made ahead."),
        (name = "not available", description = "What a bridge has and Atoll has not."),
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

/// What the bridge serves.
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

/// Whether the server can serve.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Health {
    /// It can.
    ok: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<String>,
}

/// Whether the server can serve. Asks for no token.
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

    /// `ATOLL_ACCEPT=1` writes the file anew.
    #[test]
    fn the_bridge_s_document_is_the_file() {
        let made = serde_json::to_string_pretty(&openapi()).unwrap() + "\n";
        if std::env::var_os("ATOLL_ACCEPT").is_some() {
            let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("bridge.json");
            std::fs::write(file, &made).unwrap();
            return;
        }
        assert_eq!(made, DOCUMENT, "run the test with ATOLL_ACCEPT=1 and look at the diff");
    }

    #[test]
    fn the_page_asks_for_this_document() {
        assert!(PAGE.matches(OURS).count() >= 2);
    }
}
