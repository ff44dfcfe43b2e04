//! Around every request: its id, a log line, and the metrics. Never logs headers, bodies, queries or commands.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use atoll_protocol::SandboxName;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::header::{HeaderName, HeaderValue};

use crate::Error;
use crate::app::App;
use crate::auth::Caller;
use crate::bridge;
use crate::lease::Lease;
use crate::metrics::Kind;
use crate::preview::is_preview_host;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest request id that is accepted from a client.
const ID_MAX: usize = 128;

/// The route of requests that are forwarded to an agent.
const INSIDE: &str = "/v1/sandboxes/{name}/{*rest}";

/// What the routes learn about a request, for its log line.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestInfo(Arc<Mutex<Facts>>);

#[derive(Debug, Default)]
struct Facts {
    token: Option<Arc<str>>,
    lease: Option<Lease>,
    sandbox: Option<SandboxName>,
}

impl RequestInfo {
    fn facts(&self) -> std::sync::MutexGuard<'_, Facts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the caller.
    pub(super) fn by(&self, caller: &Caller) {
        let mut facts = self.facts();
        facts.token = Some(Arc::clone(&caller.id));
        facts.lease = Some(caller.lease().clone());
    }

    /// The lease of the caller's token, once the caller is known.
    pub(super) fn lease(&self) -> Option<Lease> {
        self.facts().lease.clone()
    }

    /// Records the sandbox.
    pub(super) fn of(&self, name: &SandboxName) {
        self.facts().sandbox = Some(name.clone());
    }
}

pub(super) async fn observe(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = request_id(&request);
    request.headers_mut().insert(REQUEST_ID, id.clone());
    let seen = RequestInfo::default();
    request.extensions_mut().insert(seen.clone());
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let authority = request.uri().authority().map(|authority| authority.as_str());
    let mut response = if is_preview_host(&app.preview, request.headers(), authority) {
        Error::Misdirected.into_response()
    } else {
        next.run(request).await
    };
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    let is_inside = route == INSIDE || route.starts_with(bridge::INSIDE);
    let kind = if is_inside { Kind::Agent } else { Kind::Gateway };
    let (took, status) = (began.elapsed(), response.status().as_u16());
    app.metrics.answered(kind, status, took);
    let facts = std::mem::take(&mut *seen.facts());
    let token = facts.token.as_deref().unwrap_or("-");
    let sandbox = facts.sandbox.as_ref().map_or("-", SandboxName::as_str);
    let request_id = id.to_str().unwrap_or("-");
    tracing::info!(%method, route, status, took_ms = took.as_millis(), token, sandbox, request_id, "answered");
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

/// Returns the client's request id if it is safe to log, else a new one.
fn request_id(request: &Request) -> HeaderValue {
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    let given = request.headers().get(REQUEST_ID);
    let fits = |id: &&HeaderValue| (1..=ID_MAX).contains(&id.len()) && id.as_bytes().iter().all(inner);
    if let Some(id) = given.filter(fits) {
        return id.clone();
    }
    generate()
}

/// Generates an id: a random prefix per server and a counter. A random number per request would be a system call per
/// request.
fn generate() -> HeaderValue {
    static BEGINNING: OnceLock<String> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let beginning = BEGINNING.get_or_init(|| crate::random::text(10).unwrap_or_default());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    HeaderValue::from_str(&format!("{beginning}-{count}")).unwrap_or_else(|_| HeaderValue::from_static("unknown"))
}
