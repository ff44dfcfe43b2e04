//! Around every request: its id, a line in the log, and the counts. Never a header, a body, a query or a command.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use atoll_protocol::SandboxName;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use hyper::header::{HeaderName, HeaderValue};

use crate::app::App;
use crate::metrics::Kind;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id that is taken from a client.
const ID_MAX: usize = 128;

/// Where requests to what runs inside a sandbox come in.
const INSIDE: &str = "/v1/sandboxes/{name}/{*rest}";

/// What the routes find out about a request, for its line in the log.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen(Arc<Mutex<Facts>>);

#[derive(Debug, Clone, Default)]
struct Facts {
    token: Option<String>,
    sandbox: Option<String>,
}

impl Seen {
    fn facts(&self) -> std::sync::MutexGuard<'_, Facts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who asked.
    pub(super) fn by(&self, token: &str) {
        self.facts().token = Some(token.to_owned());
    }

    /// Which sandbox it is about.
    pub(super) fn of(&self, name: &SandboxName) {
        self.facts().sandbox = Some(name.to_string());
    }
}

pub(super) async fn observe(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = request_id(&request);
    request.headers_mut().insert(REQUEST_ID, id.clone());
    let seen = Seen::default();
    request.extensions_mut().insert(seen.clone());
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let mut response = next.run(request).await;
    let kind = if route == INSIDE { Kind::Agent } else { Kind::Gateway };
    let (took, status) = (began.elapsed(), response.status().as_u16());
    app.metrics.answered(kind, status, took);
    let Facts { token, sandbox } = seen.facts().clone();
    let (token, sandbox) = (token.as_deref().unwrap_or("-"), sandbox.as_deref().unwrap_or("-"));
    let request_id = id.to_str().unwrap_or("-");
    tracing::info!(%method, route, status, took_ms = took.as_millis(), token, sandbox, request_id, "answered");
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

/// The client's, if it is one that can be put into a log; else a new one.
fn request_id(request: &Request) -> HeaderValue {
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    let given = request.headers().get(REQUEST_ID);
    let fits = |id: &&HeaderValue| (1..=ID_MAX).contains(&id.len()) && id.as_bytes().iter().all(inner);
    if let Some(id) = given.filter(fits) {
        return id.clone();
    }
    let made = crate::random::text(16).ok().and_then(|text| HeaderValue::from_str(&text).ok());
    made.unwrap_or_else(|| HeaderValue::from_static("unknown"))
}
