//! The HTTP transport: MCP's streamable HTTP for many clients, mounted in a server.
//!
//! The server authenticates requests before they arrive here. A session belongs to the token that created it. A client
//! that names its sandbox may use any protocol version; any other client gets a session, and with it its own sandbox.
//! Nothing is created before the first request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use atoll_client::Client;
use atoll_protocol::{CreateSandbox, ErrorAnswer, ErrorBody, ErrorCode, SandboxName};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use tokio::sync::mpsc;

use crate::client_session::{ClientSession, SandboxTarget, SessionGuard};
use crate::handler::{Handler, Versions};

/// Name of the sandbox to use.
const SANDBOX: HeaderName = HeaderName::from_static("atoll-sandbox");
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The first version without sessions.
const FIRST_WITHOUT_SESSIONS: &str = "2026-07-28";

/// Maximum number of sessions: of one token, and in total.
const SESSIONS_PER_TOKEN: usize = 64;
const SESSIONS_MAX: usize = 512;

/// Sessions without messages for this time are closed. Longer than any call may take.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// Maximum size of a request body.
const BODY_MAX: usize = 8 * 1024 * 1024;

/// The HTTP response type.
pub type HttpResponse = Response<BoxBody<Bytes, std::convert::Infallible>>;

type Service = StreamableHttpService<Handler, LocalSessionManager>;

/// The authenticated sender of a request.
#[derive(Debug, Clone)]
pub struct HttpCaller {
    /// Identifies the token.
    pub token_id: Arc<str>,
    /// Whether the server's configuration allows the web origin of the request.
    pub is_allowed_origin: bool,
    /// A client of the server that sends the caller's own token.
    pub server: Client,
}

/// The MCP endpoint, to be mounted in a server.
#[derive(Debug)]
pub struct Mount {
    config: StreamableHttpServerConfig,
    sessions: Arc<LocalSessionManager>,
    service: OnceLock<ServiceCell>,
    entries: Mutex<HashMap<String, SessionEntry>>,
    /// Each client session holds a clone until it is closed.
    closed_tx: Mutex<Option<mpsc::Sender<()>>>,
    closed_rx: Mutex<Option<mpsc::Receiver<()>>>,
}

/// Wraps the service because it does not implement `Debug`.
struct ServiceCell(Service);

impl std::fmt::Debug for ServiceCell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Service")
    }
}

/// The owner of a session.
#[derive(Debug)]
struct SessionEntry {
    token_id: Arc<str>,
    session: Weak<ClientSession>,
}

/// One request, for the handler factory.
#[derive(Debug)]
struct CurrentRequest {
    caller: HttpCaller,
    target: SandboxTarget,
    closed_tx: mpsc::Sender<()>,
    session: Mutex<Weak<ClientSession>>,
}

tokio::task_local! {
    /// The current request. The library creates a handler for it without passing it.
    static CURRENT_REQUEST: Arc<CurrentRequest>;
}

impl Default for Mount {
    fn default() -> Self {
        let (closed_tx, closed_rx) = mpsc::channel(1);
        let mut session_config = SessionConfig::default();
        session_config.keep_alive = Some(IDLE_TIMEOUT);
        let mut sessions = LocalSessionManager::default();
        sessions.session_config = session_config;
        // The Host header is not checked here: clients with a valid token may use any host name, and a server without
        // tokens checks the name itself.
        let config =
            StreamableHttpServerConfig::default().disable_allowed_hosts().with_max_request_body_bytes(BODY_MAX);
        Self {
            config,
            sessions: Arc::new(sessions),
            service: OnceLock::new(),
            entries: Mutex::default(),
            closed_tx: Mutex::new(Some(closed_tx)),
            closed_rx: Mutex::new(Some(closed_rx)),
        }
    }
}

impl Mount {
    /// Handles one request.
    pub async fn handle<B>(&self, caller: HttpCaller, request: Request<B>) -> HttpResponse
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: std::fmt::Display,
    {
        match self.admit(caller, request.headers(), request.uri().authority()) {
            Ok(current) => self.forward(current, request).await,
            Err(error) => error.into_response(),
        }
    }

    async fn forward<B>(&self, current: CurrentRequest, request: Request<B>) -> HttpResponse
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: std::fmt::Display,
    {
        if request.method() == Method::DELETE {
            self.disconnect(request.headers());
        }
        let current = Arc::new(current);
        let response = CURRENT_REQUEST.scope(Arc::clone(&current), self.service().handle(request)).await;
        if let Some(id) = header(response.headers(), &SESSION) {
            let session = lock(&current.session).clone();
            lock(&self.entries)
                .entry(id.to_owned())
                .or_insert(SessionEntry { token_id: Arc::clone(&current.caller.token_id), session });
        }
        response
    }

    fn service(&self) -> &Service {
        let create = || {
            let sessions = Arc::clone(&self.sessions);
            ServiceCell(StreamableHttpService::new(handler, sessions, self.config.clone()))
        };
        &self.service.get_or_init(create).0
    }

    /// Checks the request and determines its sandbox.
    fn admit(
        &self,
        caller: HttpCaller,
        headers: &HeaderMap,
        authority: Option<&Authority>,
    ) -> Result<CurrentRequest, HttpError> {
        if !caller.is_allowed_origin {
            check_origin(headers, authority)?;
        }
        let target = match headers.get(SANDBOX) {
            None => SandboxTarget::Own,
            Some(name) => {
                let name = name.to_str().unwrap_or_default();
                let name = SandboxName::new(name).map_err(|error| HttpError::invalid(format!("{SANDBOX}: {error}")))?;
                SandboxTarget::Named(name)
            }
        };
        match header(headers, &SESSION) {
            Some(id) => self.check_owner(id, &caller.token_id)?,
            None if is_stateless(headers) => {}
            None => self.check_session_limit(&caller.token_id)?,
        }
        let closed_tx = lock(&self.closed_tx).clone().ok_or_else(HttpError::shutting_down)?;
        Ok(CurrentRequest { caller, target, closed_tx, session: Mutex::new(Weak::new()) })
    }

    /// Checks that a session belongs to this token. For other tokens it does not exist, so that session ids cannot be
    /// probed.
    fn check_owner(&self, id: &str, token_id: &str) -> Result<(), HttpError> {
        match lock(&self.entries).get(id) {
            Some(entry) if *entry.token_id == *token_id => Ok(()),
            Some(_) | None => Err(HttpError::no_session()),
        }
    }

    fn check_session_limit(&self, token_id: &str) -> Result<(), HttpError> {
        let mut entries = lock(&self.entries);
        entries.retain(|_, entry| entry.session.strong_count() > 0);
        let own = entries.values().filter(|entry| *entry.token_id == *token_id).count();
        if entries.len() >= SESSIONS_MAX || own >= SESSIONS_PER_TOKEN {
            return Err(HttpError::session_limit());
        }
        Ok(())
    }

    /// Handles the end of a session: cancels its calls at once, before the library waits for them.
    fn disconnect(&self, headers: &HeaderMap) {
        let entry = header(headers, &SESSION).and_then(|id| lock(&self.entries).remove(id));
        if let Some(session) = entry.and_then(|entry| entry.session.upgrade()) {
            session.disconnect();
        }
    }

    /// Closes all sessions when the server shuts down. Returns when they have cleaned up.
    pub async fn close(&self) {
        lock(&self.closed_tx).take();
        self.config.cancellation_token.cancel();
        let entries = std::mem::take(&mut *lock(&self.entries));
        for (id, entry) in entries {
            if let Some(session) = entry.session.upgrade() {
                session.disconnect();
            }
            // The session may have closed already.
            drop(self.sessions.close_session(&id.into()).await);
        }
        let closed_rx = lock(&self.closed_rx).take();
        if let Some(mut closed_rx) = closed_rx {
            closed_rx.recv().await;
        }
    }
}

/// Creates the handler for the current request.
fn handler() -> std::io::Result<Handler> {
    let current = CURRENT_REQUEST.try_with(Arc::clone).map_err(std::io::Error::other)?;
    let versions = match &current.target {
        SandboxTarget::Named(_) => Versions::All,
        SandboxTarget::Own => Versions::WithSessions,
    };
    let session = ClientSession::new(current.caller.server.clone(), current.target.clone(), CreateSandbox::default());
    let session = Arc::new(session.map_err(|error| std::io::Error::other(format!("{error:?}")))?);
    *lock(&current.session) = Arc::downgrade(&session);
    Ok(Handler::new(SessionGuard::new(session, current.closed_tx.clone()), versions))
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Returns whether the request uses a protocol version without sessions.
fn is_stateless(headers: &HeaderMap) -> bool {
    header(headers, &VERSION).is_some_and(|version| version >= FIRST_WITHOUT_SESSIONS)
}

/// Checks that a request from a web page has this server's own origin. A page of another origin must not use the
/// server with its visitor's credentials, not even under a name that it has pointed here (DNS rebinding). Programs
/// that are not browsers send no Origin. The authority of the request's target (HTTP/2's `:authority`, the absolute
/// form) takes precedence over `Host` (RFC 9112, 3.2.2).
fn check_origin(headers: &HeaderMap, authority: Option<&Authority>) -> Result<(), HttpError> {
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, origin)| origin);
    match (origin, authority.map(Authority::as_str).or_else(|| header(headers, &HOST))) {
        (Some(origin), Some(host)) if origin.eq_ignore_ascii_case(host) && is_unforgeable_name(host) => Ok(()),
        _ => Err(HttpError::foreign_origin()),
    }
}

/// Returns whether no other site can point this name here.
fn is_unforgeable_name(host: &str) -> bool {
    let bare = host.rsplit_once(':').map_or(host, |(name, port)| if port.contains(']') { host } else { name });
    bare == "localhost" || bare.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok()
}

/// An HTTP error response.
#[derive(Debug)]
struct HttpError {
    status: StatusCode,
    error: ErrorBody,
}

impl HttpError {
    fn new(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Self {
        Self { status, error: ErrorBody { code, message: message.into(), hint: None, details: None } }
    }

    fn invalid(message: String) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::ValidationFailed, message)
    }

    fn foreign_origin() -> Self {
        Self::new(StatusCode::FORBIDDEN, ErrorCode::Forbidden, "web pages of other origins must not use this server")
    }

    fn no_session() -> Self {
        Self::new(StatusCode::NOT_FOUND, ErrorCode::SessionNotFound, "no MCP session has this id")
    }

    fn session_limit() -> Self {
        let message = "the limit of MCP sessions is reached: end one, or name a sandbox with the header Atoll-Sandbox";
        Self::new(StatusCode::TOO_MANY_REQUESTS, ErrorCode::SessionLimit, message)
    }

    fn shutting_down() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::ShuttingDown, "the server is shutting down")
    }

    fn into_response(self) -> HttpResponse {
        let body = serde_json::to_vec(&ErrorAnswer { error: self.error }).unwrap_or_default();
        let mut response = Response::new(Full::new(Bytes::from(body)).boxed());
        *response.status_mut() = self.status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

/// Locks a mutex. The guarded data is consistent after every step, so poisoning is ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn only_own_origins_are_allowed() {
        for good in [
            headers(&[("host", "example.org")]),
            headers(&[("host", "localhost:7070"), ("origin", "http://localhost:7070")]),
            headers(&[("host", "[::1]:7070"), ("origin", "http://[::1]:7070")]),
        ] {
            assert!(check_origin(&good, None).is_ok(), "{good:?}");
        }
        let own = Authority::from_static("localhost:7070");
        assert!(check_origin(&headers(&[("origin", "https://localhost:7070")]), Some(&own)).is_ok(), "HTTP/2");
        for bad in [
            headers(&[("host", "localhost:7070"), ("origin", "https://evil.example")]),
            headers(&[("host", "localhost:7070"), ("origin", "http://localhost:3000")]),
            headers(&[("host", "localhost:7070"), ("origin", "null")]),
            // A name of another site that resolves to this server.
            headers(&[("host", "evil.example:7070"), ("origin", "http://evil.example:7070")]),
        ] {
            assert!(check_origin(&bad, None).is_err(), "{bad:?}");
        }
        let foreign = Authority::from_static("evil.example");
        for bad in [
            headers(&[("origin", "https://evil.example")]),
            headers(&[("origin", "http://localhost:7070"), ("host", "localhost:7070")]),
        ] {
            assert!(check_origin(&bad, Some(&foreign)).is_err(), "{bad:?}");
        }
    }

    #[tokio::test]
    async fn session_belongs_to_its_token() {
        let mount = Mount::default();
        let entry = SessionEntry { token_id: "one".into(), session: Weak::new() };
        lock(&mount.entries).insert("id".to_owned(), entry);
        assert!(mount.check_owner("id", "one").is_ok());
        for (id, token_id) in [("id", "two"), ("other", "one")] {
            assert_eq!(mount.check_owner(id, token_id).unwrap_err().status, StatusCode::NOT_FOUND);
        }
    }

    #[tokio::test]
    async fn sessions_of_a_token_are_limited() {
        let mount = Mount::default();
        let client = Client::unix("/nowhere");
        let session = Arc::new(ClientSession::new(client, SandboxTarget::Own, CreateSandbox::default()).unwrap());
        for number in 0..SESSIONS_PER_TOKEN {
            let entry = SessionEntry { token_id: "one".into(), session: Arc::downgrade(&session) };
            lock(&mount.entries).insert(number.to_string(), entry);
        }
        assert!(mount.check_session_limit("two").is_ok() && mount.check_session_limit("one").is_err());
        drop(session);
        assert!(mount.check_session_limit("one").is_ok(), "closed sessions do not count");
    }
}
