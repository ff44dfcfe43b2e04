//! The lifecycle of sandboxes, and requests that are forwarded into them.

use std::collections::BTreeMap;
use std::time::Duration;

use atoll_protocol::{CreateSandbox, Isolation, PatchSandbox, SandboxList, SandboxName, SandboxRecord, Verb};
use axum::extract::{Query, Request, State};
use axum::response::Response;
use hyper::{HeaderMap, StatusCode};
use sha2::{Digest, Sha256};
use tokio::time::timeout;

use super::extract::{Json, Name, json};
use crate::app::App;
use crate::auth::Caller;
use crate::registry::{Claimed, Row};
use crate::sandboxes::SandboxHandle;
use crate::{Error, agent_client, clock, proxy};

/// Default and largest page size.
const PAGE: usize = 100;
const PAGE_MAX: usize = 1000;

/// How long an agent may take to respond; after that, the record is returned without its information.
const INFO_TIMEOUT: Duration = Duration::from_secs(2);

/// Longest idempotency key.
const KEY_MAX: usize = 255;

/// The query parameters of a list, for the OpenAPI document.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "parsed pair by pair: serde does not support repeated parameters")]
struct Pages {
    /// `NAME=VALUE`: return only sandboxes with this label. Can be repeated.
    label: Option<Vec<String>>,
    /// Return only sandboxes after this name.
    after: Option<SandboxName>,
    /// Page size (default: 100).
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// The query parameters of a list: `label=NAME=VALUE` (repeatable), `after=NAME`, `limit=COUNT`.
#[derive(Debug, Default)]
struct Page {
    labels: BTreeMap<String, String>,
    after: Option<SandboxName>,
    limit: Option<usize>,
}

impl Page {
    fn read(pairs: Vec<(String, String)>) -> Result<Self, Error> {
        let mut page = Self::default();
        for (name, value) in pairs {
            match name.as_str() {
                "label" => {
                    let wrong =
                        || Error::invalid(format!("label: `{}` is not of the form NAME=VALUE", value.escape_debug()));
                    let (name, value) = value.split_once('=').ok_or_else(wrong)?;
                    page.labels.insert(name.to_owned(), value.to_owned());
                }
                "after" => page.after = Some(named(value)?),
                "limit" => {
                    let fits = value.parse().ok().filter(|limit| (1..=PAGE_MAX).contains(limit));
                    let wrong = || Error::invalid(format!("limit must be a number from 1 to {PAGE_MAX}"));
                    page.limit = Some(fits.ok_or_else(wrong)?);
                }
                _ => return Err(Error::invalid(format!("unknown query parameter `{}`", name.escape_debug()))),
            }
        }
        Ok(page)
    }
}

fn named(text: String) -> Result<SandboxName, Error> {
    SandboxName::new(text).map_err(|error| Error::invalid(error.to_string()))
}

/// List the sandboxes that the caller may read, by name.
#[utoipa::path(get, path = "/v1/sandboxes", tag = "sandboxes", operation_id = "listSandboxes", params(Pages),
    responses((status = 200, body = SandboxList)))]
pub(super) async fn list(
    State(app): State<App>,
    caller: Caller,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, Error> {
    let Page { labels, after, limit } = Page::read(pairs)?;
    let limit = limit.unwrap_or(PAGE);
    let mut rows = app.registry.list(after, limit + 1, labels, move |name| caller.can(Verb::Read, name)).await?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let sandboxes: Vec<_> = rows.into_iter().map(|row| app.sandboxes.with_last_used(row).record()).collect();
    let next = sandboxes.last().filter(|_| more).map(|last| last.name.clone());
    Ok(json(StatusCode::OK, &SandboxList { sandboxes, next }))
}

/// Get or create the sandbox that the body names. Generates a name if the body has none.
#[utoipa::path(post, path = "/v1/sandboxes", tag = "sandboxes", operation_id = "createSandbox",
    params(("idempotency-key" = Option<String>, Header, description = "Requests with the same key and body refer to the same sandbox.")),
    request_body = Option<CreateSandbox>,
    responses((status = 200, body = SandboxRecord, description = "The sandbox existed."),
        (status = 201, body = SandboxRecord, description = "The sandbox was created.")))]
pub(super) async fn create(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Json(requested): Json<CreateSandbox>,
) -> Result<Response, Error> {
    let name = match &requested.name {
        Some(name) => name.clone(),
        None => {
            let text = crate::random::text(10).map_err(|error| Error::internal("generate a name", error))?;
            named(format!("atoll-{text}"))?
        }
    };
    let name = match headers.get("idempotency-key") {
        Some(key) => resolve_key(&app, &caller, key, &requested, name).await?,
        None => name,
    };
    get_or_create(&app, &caller, &name, requested).await
}

/// Returns the sandbox that an idempotency key refers to.
async fn resolve_key(
    app: &App,
    caller: &Caller,
    key: &hyper::header::HeaderValue,
    requested: &CreateSandbox,
    name: SandboxName,
) -> Result<SandboxName, Error> {
    let is_text = |key: &&str| key.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    let fits = key.to_str().ok().filter(|key| (1..=KEY_MAX).contains(&key.len())).filter(is_text);
    let key = fits.ok_or_else(|| Error::invalid(format!("the idempotency key must have 1 to {KEY_MAX} characters")))?;
    let body = serde_json::to_vec(requested).map_err(|error| Error::internal("encode the request", error))?;
    let request = Sha256::digest(body).to_vec();
    match app.registry.claim_key(caller.id.to_string(), key.to_owned(), request, name, clock::now()).await? {
        Claimed::Sandbox(name) => named(name),
        Claimed::Taken => Err(Error::IdempotencyConflict),
    }
}

/// Get or create the sandbox of this name.
#[utoipa::path(put, path = "/v1/sandboxes/{name}", tag = "sandboxes", operation_id = "putSandbox",
    params(("name" = SandboxName, Path, description = "The sandbox.")), request_body = Option<CreateSandbox>,
    responses((status = 200, body = SandboxRecord, description = "The sandbox existed."),
        (status = 201, body = SandboxRecord, description = "The sandbox was created.")))]
pub(super) async fn put(
    State(app): State<App>,
    caller: Caller,
    Name(name): Name,
    Json(requested): Json<CreateSandbox>,
) -> Result<Response, Error> {
    if requested.name.as_ref().is_some_and(|other| *other != name) {
        return Err(Error::invalid("the body and the path name different sandboxes"));
    }
    get_or_create(&app, &caller, &name, requested).await
}

async fn get_or_create(
    app: &App,
    caller: &Caller,
    name: &SandboxName,
    requested: CreateSandbox,
) -> Result<Response, Error> {
    caller.must(Verb::Admin, name)?;
    // Without isolation, a command has the server's privileges and can read its root token.
    if requested.isolation == Some(Isolation::None) {
        caller.must_everywhere(Verb::Admin)?;
    }
    if app.is_draining() {
        return Err(Error::ShuttingDown);
    }
    let (row, new) = app.sandboxes.create(name, requested).await?;
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(json(status, &row.record()))
}

/// Get a sandbox, with live information from its agent. Does not start it.
#[utoipa::path(get, path = "/v1/sandboxes/{name}", tag = "sandboxes", operation_id = "getSandbox",
    params(("name" = SandboxName, Path, description = "The sandbox.")), responses((status = 200, body = SandboxRecord)))]
pub(super) async fn get(State(app): State<App>, caller: Caller, Name(name): Name) -> Result<Response, Error> {
    caller.must(Verb::Read, &name)?;
    let handle = app.sandboxes.get(&name)?;
    let row = app.registry.sandbox(name.clone()).await?.ok_or(Error::SandboxNotFound { name })?;
    let mut record = app.sandboxes.with_last_used(row).record();
    if let Some(agent) = handle.agent() {
        let exchange = async { agent_client::info(app.sandboxes.services().placement.connect(&agent).await?).await };
        record.live = timeout(INFO_TIMEOUT, exchange).await.ok().and_then(Result::ok);
    }
    Ok(json(StatusCode::OK, &record))
}

/// Change a sandbox's labels and idle timeout.
#[utoipa::path(patch, path = "/v1/sandboxes/{name}", tag = "sandboxes", operation_id = "changeSandbox",
    params(("name" = SandboxName, Path, description = "The sandbox.")), request_body = Option<PatchSandbox>,
    responses((status = 200, body = SandboxRecord)))]
pub(super) async fn patch(
    State(app): State<App>,
    caller: Caller,
    Name(name): Name,
    Json(change): Json<PatchSandbox>,
) -> Result<Response, Error> {
    caller.must(Verb::Admin, &name)?;
    let row = app.sandboxes.get(&name)?.change(&name, change).await?;
    Ok(json(StatusCode::OK, &row.record()))
}

/// Delete a sandbox with all of its files.
#[utoipa::path(delete, path = "/v1/sandboxes/{name}", tag = "sandboxes", operation_id = "deleteSandbox",
    params(("name" = SandboxName, Path, description = "The sandbox.")), responses((status = 204, description = "The sandbox is deleted.")))]
pub(super) async fn delete(State(app): State<App>, caller: Caller, Name(name): Name) -> Result<StatusCode, Error> {
    caller.must(Verb::Admin, &name)?;
    app.sandboxes.get(&name)?.delete(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Start a stopped sandbox. Any use starts it, too.
#[utoipa::path(post, path = "/v1/sandboxes/{name}/start", tag = "sandboxes", operation_id = "startSandbox",
    params(("name" = SandboxName, Path, description = "The sandbox.")), responses((status = 200, body = SandboxRecord)))]
pub(super) async fn start(State(app): State<App>, caller: Caller, Name(name): Name) -> Result<Response, Error> {
    lifecycle(&app, &caller, &name, async |handle| handle.start(&name).await).await
}

/// Stop a sandbox. Its processes end; its files stay.
#[utoipa::path(post, path = "/v1/sandboxes/{name}/stop", tag = "sandboxes", operation_id = "stopSandbox",
    params(("name" = SandboxName, Path, description = "The sandbox.")), responses((status = 200, body = SandboxRecord)))]
pub(super) async fn stop(State(app): State<App>, caller: Caller, Name(name): Name) -> Result<Response, Error> {
    lifecycle(&app, &caller, &name, async |handle| handle.stop(&name).await).await
}

/// Pause a sandbox: freeze all of its processes.
#[utoipa::path(post, path = "/v1/sandboxes/{name}/pause", tag = "sandboxes", operation_id = "pauseSandbox",
    params(("name" = SandboxName, Path, description = "The sandbox.")), responses((status = 200, body = SandboxRecord)))]
pub(super) async fn pause(State(app): State<App>, caller: Caller, Name(name): Name) -> Result<Response, Error> {
    lifecycle(&app, &caller, &name, async |handle| handle.pause(&name).await).await
}

/// Resume a paused sandbox.
#[utoipa::path(post, path = "/v1/sandboxes/{name}/resume", tag = "sandboxes", operation_id = "resumeSandbox",
    params(("name" = SandboxName, Path, description = "The sandbox.")), responses((status = 200, body = SandboxRecord)))]
pub(super) async fn resume(State(app): State<App>, caller: Caller, Name(name): Name) -> Result<Response, Error> {
    lifecycle(&app, &caller, &name, async |handle| handle.resume(&name).await).await
}

/// Executes a lifecycle operation.
async fn lifecycle(
    app: &App,
    caller: &Caller,
    name: &SandboxName,
    act: impl AsyncFnOnce(SandboxHandle) -> Result<Row, Error>,
) -> Result<Response, Error> {
    caller.must(Verb::Admin, name)?;
    let row = act(app.sandboxes.get(name)?).await?;
    Ok(json(StatusCode::OK, &row.record()))
}

/// Forwards a request into a sandbox.
pub(super) async fn inside(
    State(app): State<App>,
    caller: Caller,
    Name(name): Name,
    request: Request,
) -> Result<Response, Error> {
    caller.must(proxy::verb(&request), &name)?;
    proxy::forward(&app, &caller, &name, request).await
}
