//! Sandboxes as a whole, and the way inside.

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
use crate::fleet::Handle;
use crate::registry::{Claimed, Row};
use crate::{Error, ask, clock, proxy};

/// Sandboxes in one page, if not told otherwise, and at most.
const PAGE: usize = 100;
const PAGE_MAX: usize = 1000;

/// How long an agent may take to say what it is doing; the rest is told without it.
const LIVE_WITHIN: Duration = Duration::from_secs(2);

/// The longest idempotency key.
const KEY_MAX: usize = 255;

/// The parameters of a list, as they are described.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "they are read pair by pair: serde reads no repeated parameter")]
struct Pages {
    /// `NAME=VALUE`: only those with this label. May be given more than once.
    label: Option<Vec<String>>,
    /// Only those behind this name.
    after: Option<SandboxName>,
    /// At most so many (100).
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// `?label=NAME=VALUE` (any number), `after=NAME`, `limit=COUNT`.
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
                    let wrong = || Error::invalid(format!("label: `{}` is no NAME=VALUE", value.escape_debug()));
                    let (name, value) = value.split_once('=').ok_or_else(wrong)?;
                    page.labels.insert(name.to_owned(), value.to_owned());
                }
                "after" => page.after = Some(named(value)?),
                "limit" => {
                    let fits = value.parse().ok().filter(|limit| (1..=PAGE_MAX).contains(limit));
                    let wrong = || Error::invalid(format!("limit is wrong: give 1 to {PAGE_MAX}"));
                    page.limit = Some(fits.ok_or_else(wrong)?);
                }
                _ => return Err(Error::invalid(format!("`{}` is no filter", name.escape_debug()))),
            }
        }
        Ok(page)
    }
}

fn named(text: String) -> Result<SandboxName, Error> {
    SandboxName::new(text).map_err(|error| Error::invalid(error.to_string()))
}

/// List the sandboxes that the caller may see, by name.
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
    let sandboxes: Vec<_> = rows.into_iter().map(|row| app.fleet.freshen(row).record()).collect();
    let next = sandboxes.last().filter(|_| more).map(|last| last.name.clone());
    Ok(json(StatusCode::OK, &SandboxList { sandboxes, next }))
}

/// Get or create the sandbox that the body names; a name is made up if it names none.
#[utoipa::path(post, path = "/v1/sandboxes", tag = "sandboxes", operation_id = "createSandbox",
    params(("idempotency-key" = Option<String>, Header, description = "The same key and body mean the same sandbox.")),
    request_body = Option<CreateSandbox>,
    responses((status = 200, body = SandboxRecord, description = "It was there."),
        (status = 201, body = SandboxRecord, description = "It is new.")))]
pub(super) async fn create(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Json(asked): Json<CreateSandbox>,
) -> Result<Response, Error> {
    let name = match &asked.name {
        Some(name) => name.clone(),
        None => {
            let text = crate::random::text(10).map_err(|error| Error::internal("make up a name", error))?;
            named(format!("atoll-{text}"))?
        }
    };
    let name = match headers.get("idempotency-key") {
        Some(key) => meant(&app, &caller, key, &asked, name).await?,
        None => name,
    };
    get_or_create(&app, &caller, &name, asked).await
}

/// The sandbox that this key means.
async fn meant(
    app: &App,
    caller: &Caller,
    key: &hyper::header::HeaderValue,
    asked: &CreateSandbox,
    name: SandboxName,
) -> Result<SandboxName, Error> {
    let is_text = |key: &&str| key.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    let fits = key.to_str().ok().filter(|key| (1..=KEY_MAX).contains(&key.len())).filter(is_text);
    let key = fits.ok_or_else(|| Error::invalid(format!("the idempotency key must have 1 to {KEY_MAX} letters")))?;
    let body = serde_json::to_vec(asked).map_err(|error| Error::internal("read the request", error))?;
    let request = Sha256::digest(body).to_vec();
    match app.registry.claim_key(caller.id.to_string(), key.to_owned(), request, name, clock::now()).await? {
        Claimed::Sandbox(name) => named(name),
        Claimed::Taken => Err(Error::IdempotencyConflict),
    }
}

/// Get or create the sandbox of this name.
#[utoipa::path(put, path = "/v1/sandboxes/{name}", tag = "sandboxes", operation_id = "putSandbox",
    params(("name" = SandboxName, Path, description = "The sandbox.")), request_body = Option<CreateSandbox>,
    responses((status = 200, body = SandboxRecord, description = "It was there."),
        (status = 201, body = SandboxRecord, description = "It is new.")))]
pub(super) async fn put(
    State(app): State<App>,
    caller: Caller,
    Name(name): Name,
    Json(asked): Json<CreateSandbox>,
) -> Result<Response, Error> {
    if asked.name.as_ref().is_some_and(|other| *other != name) {
        return Err(Error::invalid("the body names another sandbox than the path"));
    }
    get_or_create(&app, &caller, &name, asked).await
}

async fn get_or_create(
    app: &App,
    caller: &Caller,
    name: &SandboxName,
    asked: CreateSandbox,
) -> Result<Response, Error> {
    caller.must(Verb::Admin, name)?;
    // Without a wall a command has the server's rights, and reads its first token.
    if asked.isolation == Some(Isolation::None) {
        caller.must_everywhere(Verb::Admin)?;
    }
    if app.is_draining() {
        return Err(Error::ShuttingDown);
    }
    let (row, new) = app.fleet.create(name, asked).await?;
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(json(status, &row.record()))
}

/// Show a sandbox, with what its agent says. Starts none.
#[utoipa::path(get, path = "/v1/sandboxes/{name}", tag = "sandboxes", operation_id = "getSandbox",
    params(("name" = SandboxName, Path, description = "The sandbox.")), responses((status = 200, body = SandboxRecord)))]
pub(super) async fn get(State(app): State<App>, caller: Caller, Name(name): Name) -> Result<Response, Error> {
    caller.must(Verb::Read, &name)?;
    let handle = app.fleet.get(&name)?;
    let row = app.registry.sandbox(name.clone()).await?.ok_or(Error::SandboxNotFound { name })?;
    let mut record = app.fleet.freshen(row).record();
    if let Some(agent) = handle.agent() {
        let asked = async { ask::info(app.fleet.ground().placement.connect(&agent).await?).await };
        record.live = timeout(LIVE_WITHIN, asked).await.ok().and_then(Result::ok);
    }
    Ok(json(StatusCode::OK, &record))
}

/// Change a sandbox's labels and idle clock.
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
    let row = app.fleet.get(&name)?.change(&name, change).await?;
    Ok(json(StatusCode::OK, &row.record()))
}

/// End a sandbox and remove everything of it.
#[utoipa::path(delete, path = "/v1/sandboxes/{name}", tag = "sandboxes", operation_id = "deleteSandbox",
    params(("name" = SandboxName, Path, description = "The sandbox.")), responses((status = 204, description = "Nothing of it is left.")))]
pub(super) async fn delete(State(app): State<App>, caller: Caller, Name(name): Name) -> Result<StatusCode, Error> {
    caller.must(Verb::Admin, &name)?;
    app.fleet.get(&name)?.delete(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Start a sandbox that is stopped; any use does so too.
#[utoipa::path(post, path = "/v1/sandboxes/{name}/start", tag = "sandboxes", operation_id = "startSandbox",
    params(("name" = SandboxName, Path, description = "The sandbox.")), responses((status = 200, body = SandboxRecord)))]
pub(super) async fn start(State(app): State<App>, caller: Caller, Name(name): Name) -> Result<Response, Error> {
    whole(&app, &caller, &name, async |handle| handle.start(&name).await).await
}

/// End what runs in a sandbox; its files stay.
#[utoipa::path(post, path = "/v1/sandboxes/{name}/stop", tag = "sandboxes", operation_id = "stopSandbox",
    params(("name" = SandboxName, Path, description = "The sandbox.")), responses((status = 200, body = SandboxRecord)))]
pub(super) async fn stop(State(app): State<App>, caller: Caller, Name(name): Name) -> Result<Response, Error> {
    whole(&app, &caller, &name, async |handle| handle.stop(&name).await).await
}

/// Freeze a sandbox with everything alive.
#[utoipa::path(post, path = "/v1/sandboxes/{name}/pause", tag = "sandboxes", operation_id = "pauseSandbox",
    params(("name" = SandboxName, Path, description = "The sandbox.")), responses((status = 200, body = SandboxRecord)))]
pub(super) async fn pause(State(app): State<App>, caller: Caller, Name(name): Name) -> Result<Response, Error> {
    whole(&app, &caller, &name, async |handle| handle.pause(&name).await).await
}

/// Let a paused sandbox go on.
#[utoipa::path(post, path = "/v1/sandboxes/{name}/resume", tag = "sandboxes", operation_id = "resumeSandbox",
    params(("name" = SandboxName, Path, description = "The sandbox.")), responses((status = 200, body = SandboxRecord)))]
pub(super) async fn resume(State(app): State<App>, caller: Caller, Name(name): Name) -> Result<Response, Error> {
    whole(&app, &caller, &name, async |handle| handle.resume(&name).await).await
}

/// Something that is done to a sandbox as a whole.
async fn whole(
    app: &App,
    caller: &Caller,
    name: &SandboxName,
    act: impl AsyncFnOnce(Handle) -> Result<Row, Error>,
) -> Result<Response, Error> {
    caller.must(Verb::Admin, name)?;
    let row = act(app.fleet.get(name)?).await?;
    Ok(json(StatusCode::OK, &row.record()))
}

/// Everything that happens inside.
pub(super) async fn inside(
    State(app): State<App>,
    caller: Caller,
    Name(name): Name,
    request: Request,
) -> Result<Response, Error> {
    caller.must(proxy::verb(&request), &name)?;
    proxy::forward(&app, &caller, &name, request).await
}
