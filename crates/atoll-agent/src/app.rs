//! The routes put together, and what holds for all of them: unknown paths, wrong methods, request ids, the document.

use atoll_protocol::{ErrorAnswer, ErrorCode};
use axum::Router;
use axum::extract::Request;
use axum::middleware;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi as Document, PathItem, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{OpenApi, PartialSchema, ToSchema};

use crate::agent::Agent;
use crate::auth::{self, Token};
use crate::error::Refusal;
use crate::{request_id, routes};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Atoll",
        description = "One sandbox over HTTP: commands, processes, sessions, terminals and their output, files.",
        license(name = "Apache-2.0 OR MIT")
    ),
    tags(
        (name = "sandbox", description = "The sandbox as a whole."),
        (name = "network", description = "The way out: rules, events, secrets."),
        (name = "exec", description = "One command, run to its end."),
        (name = "processes", description = "Commands with a life of their own."),
        (name = "sessions", description = "Shells that remember: one bash each, one command at a time."),
        (name = "files", description = "Files of the sandbox, as one of its users."),
        (name = "ports", description = "What listens inside, and connections to it."),
        (name = "terminals", description = "Programs behind a pseudo-terminal."),
    ),
    components(schemas(
        atoll_protocol::ArchiveExisting,
        atoll_protocol::AttachCommand,
        atoll_protocol::AttachEvent,
        atoll_protocol::GitProgress,
        atoll_protocol::TerminalCommand,
        atoll_protocol::TerminalFrame,
        atoll_protocol::WatchFrame,
    ))
)]
struct Description;

/// Every route over this sandbox, to be served or nested as the embedder likes. Whoever reaches it may do everything.
pub fn router(agent: Agent) -> Router {
    open(agent).layer(middleware::from_fn(atoll_http::drain_request_body)).layer(middleware::from_fn(request_id::carry))
}

/// The same for those who know the token.
pub(crate) fn router_behind(token: Token, agent: Agent) -> Router {
    let guarded = open(agent).layer(middleware::from_fn_with_state(token, auth::check));
    // Outside: a refusal has an id too.
    guarded.layer(middleware::from_fn(atoll_http::drain_request_body)).layer(middleware::from_fn(request_id::carry))
}

fn open(agent: Agent) -> Router {
    routes::all().router().fallback(not_found).method_not_allowed_fallback(not_allowed).with_state(agent)
}

/// The OpenAPI document of the routes.
pub fn openapi() -> Document {
    let mut document = Description::openapi();
    document.merge(routes::all().description());
    add_error_answer(&mut document);
    add_token(&mut document);
    document
}

/// Over TCP a token is needed; over a unix socket nothing is.
fn add_token(document: &mut Document) {
    let token = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    document.components.get_or_insert_default().add_security_scheme("token", token);
    document.security = Some(vec![SecurityRequirement::default(), SecurityRequirement::new("token", [""; 0])]);
}

/// Every operation can answer with an error, and all in one shape.
fn add_error_answer(document: &mut Document) {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(ErrorAnswer::name()))).build();
    let answer = ResponseBuilder::new()
        .description("What went wrong; the status follows from the code.")
        .content("application/json", content)
        .build();
    for operation in document.paths.paths.values_mut().flat_map(operations) {
        for answer in operation.responses.responses.values_mut() {
            describe(answer);
        }
        operation.responses.responses.insert("default".to_owned(), answer.clone().into());
    }
    let mut schemas = vec![(ErrorAnswer::name().into_owned(), ErrorAnswer::schema())];
    ErrorAnswer::schemas(&mut schemas);
    document.components.get_or_insert_default().schemas.extend(schemas);
}

/// The format wants words for every answer, also where the type says it all.
fn describe(answer: &mut RefOr<Response>) {
    if let RefOr::T(response) = answer
        && response.description.is_empty()
    {
        response.description = "Done.".to_owned();
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.put, &mut item.post, &mut item.delete].into_iter().flatten()
}

async fn not_found(request: Request) -> Refusal {
    Refusal::new(ErrorCode::RouteNotFound, format!("there is nothing at {}", request.uri().path()))
}

async fn not_allowed(request: Request) -> Refusal {
    let message = format!("{} cannot be done at {}", request.method(), request.uri().path());
    Refusal::new(ErrorCode::MethodNotAllowed, message)
}
