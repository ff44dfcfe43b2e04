//! Many clients over HTTP: the streamable transport of the protocol, mounted in a server.
//!
//! Who asks was found out before a request comes here; a session is the token's that began it, and nobody else's. A client
//! that names its sandbox may speak any version; one that does not gets a session, and with it a sandbox of its own.
//! Nothing is made before the first request.

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

use crate::guest::{Guest, Place, Stay};
use crate::handler::{Handler, Memory};

/// Which sandbox is meant.
const SANDBOX: HeaderName = HeaderName::from_static("atoll-sandbox");
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// From this version on there are no sessions.
const WITHOUT_SESSIONS: &str = "2026-07-28";

/// Sessions at once: of one token, and of all.
const SESSIONS_OF_ONE: usize = 64;
const SESSIONS_MAX: usize = 512;

/// A session of which nothing is heard for so long has ended. Longer than any call may take.
const IDLE: Duration = Duration::from_secs(60 * 60);

/// Bytes of one request.
const BODY_MAX: usize = 8 * 1024 * 1024;

/// What is answered.
pub type Answer = Response<BoxBody<Bytes, std::convert::Infallible>>;

type Service = StreamableHttpService<Handler, LocalSessionManager>;

/// Who asks.
#[derive(Debug, Clone)]
pub struct Visit {
    /// Tells tokens apart.
    pub who: Arc<str>,
    /// A web page of another place that the server was told to allow.
    pub is_allowed_page: bool,
    /// The way to the server, with the caller's own token.
    pub server: Client,
}

/// The place in a server where MCP is spoken.
#[derive(Debug)]
pub struct Mount {
    config: StreamableHttpServerConfig,
    sessions: Arc<LocalSessionManager>,
    service: OnceLock<ServiceCell>,
    known: Mutex<HashMap<String, Known>>,
    /// A clone is held for every client that is not gone yet.
    held: Mutex<Option<mpsc::Sender<()>>>,
    left: Mutex<Option<mpsc::Receiver<()>>>,
}

/// The library's service, which does not say what it is.
struct ServiceCell(Service);

impl std::fmt::Debug for ServiceCell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Service")
    }
}

/// A session: whose it is.
#[derive(Debug)]
struct Known {
    who: Arc<str>,
    guest: Weak<Guest>,
}

/// One request, for whoever has to make something for it.
#[derive(Debug)]
struct Arrival {
    visit: Visit,
    place: Place,
    held: mpsc::Sender<()>,
    guest: Mutex<Weak<Guest>>,
}

tokio::task_local! {
    /// The request that is being answered. The library makes a handler for it without saying for which.
    static ARRIVAL: Arc<Arrival>;
}

impl Default for Mount {
    fn default() -> Self {
        let (held, left) = mpsc::channel(1);
        let mut keeping = SessionConfig::default();
        keeping.keep_alive = Some(IDLE);
        let mut sessions = LocalSessionManager::default();
        sessions.session_config = keeping;
        // Whoever has a good token may come under any name; where none are asked for, the server looks at names itself.
        let config =
            StreamableHttpServerConfig::default().disable_allowed_hosts().with_max_request_body_bytes(BODY_MAX);
        Self {
            config,
            sessions: Arc::new(sessions),
            service: OnceLock::new(),
            known: Mutex::default(),
            held: Mutex::new(Some(held)),
            left: Mutex::new(Some(left)),
        }
    }
}

impl Mount {
    /// Answers one request.
    pub async fn answer<B>(&self, visit: Visit, request: Request<B>) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: std::fmt::Display,
    {
        match self.admitted(visit, request.headers(), request.uri().authority()) {
            Ok(arrival) => self.pass(arrival, request).await,
            Err(refused) => refused.into_answer(),
        }
    }

    async fn pass<B>(&self, arrival: Arrival, request: Request<B>) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: std::fmt::Display,
    {
        if request.method() == Method::DELETE {
            self.leave(request.headers());
        }
        let arrival = Arc::new(arrival);
        let answer = ARRIVAL.scope(Arc::clone(&arrival), self.service().handle(request)).await;
        if let Some(id) = header(answer.headers(), &SESSION) {
            let guest = lock(&arrival.guest).clone();
            lock(&self.known).entry(id.to_owned()).or_insert(Known { who: Arc::clone(&arrival.visit.who), guest });
        }
        answer
    }

    fn service(&self) -> &Service {
        let make = || {
            let sessions = Arc::clone(&self.sessions);
            ServiceCell(StreamableHttpService::new(handler, sessions, self.config.clone()))
        };
        &self.service.get_or_init(make).0
    }

    /// Whether the request may go on, and with which sandbox.
    fn admitted(&self, visit: Visit, headers: &HeaderMap, target: Option<&Authority>) -> Result<Arrival, Refused> {
        if !visit.is_allowed_page {
            check_origin(headers, target)?;
        }
        let place = match headers.get(SANDBOX) {
            None => Place::Own,
            Some(name) => {
                let name = name.to_str().unwrap_or_default();
                let name = SandboxName::new(name).map_err(|error| Refused::invalid(format!("{SANDBOX}: {error}")))?;
                Place::Named(name)
            }
        };
        match header(headers, &SESSION) {
            Some(id) => self.check_owner(id, &visit.who)?,
            None if is_stateless(headers) => {}
            None => self.check_room(&visit.who)?,
        }
        let held = lock(&self.held).clone().ok_or_else(Refused::ending)?;
        Ok(Arrival { visit, place, held, guest: Mutex::new(Weak::new()) })
    }

    /// A session is nobody's but its token's. For others there is none, so that nothing is learnt by asking.
    fn check_owner(&self, id: &str, who: &str) -> Result<(), Refused> {
        match lock(&self.known).get(id) {
            Some(known) if *known.who == *who => Ok(()),
            Some(_) | None => Err(Refused::no_session()),
        }
    }

    fn check_room(&self, who: &str) -> Result<(), Refused> {
        let mut known = lock(&self.known);
        known.retain(|_, session| session.guest.strong_count() > 0);
        let own = known.values().filter(|session| *session.who == *who).count();
        if known.len() >= SESSIONS_MAX || own >= SESSIONS_OF_ONE {
            return Err(Refused::full());
        }
        Ok(())
    }

    /// A session is being ended: what it runs ends now, and not when the library has waited for it.
    fn leave(&self, headers: &HeaderMap) {
        let known = header(headers, &SESSION).and_then(|id| lock(&self.known).remove(id));
        if let Some(guest) = known.and_then(|known| known.guest.upgrade()) {
            guest.leave();
        }
    }

    /// The server ends: so does every session. Returns when nothing of them is left.
    pub async fn close(&self) {
        lock(&self.held).take();
        self.config.cancellation_token.cancel();
        let known = std::mem::take(&mut *lock(&self.known));
        for (id, session) in known {
            if let Some(guest) = session.guest.upgrade() {
                guest.leave();
            }
            // One that has ended by itself is as good.
            drop(self.sessions.close_session(&id.into()).await);
        }
        let left = lock(&self.left).take();
        if let Some(mut left) = left {
            left.recv().await;
        }
    }
}

/// A handler for the request that is being answered.
fn handler() -> std::io::Result<Handler> {
    let arrival = ARRIVAL.try_with(Arc::clone).map_err(std::io::Error::other)?;
    let memory = match &arrival.place {
        Place::Named(_) => Memory::Certain,
        Place::Own => Memory::OfSessions,
    };
    let guest = Guest::new(arrival.visit.server.clone(), arrival.place.clone(), CreateSandbox::default());
    let guest = Arc::new(guest.map_err(|trouble| std::io::Error::other(format!("{trouble:?}")))?);
    *lock(&arrival.guest) = Arc::downgrade(&guest);
    Ok(Handler::new(Stay::new(guest, arrival.held.clone()), memory))
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Whether the request says that it belongs to no session.
fn is_stateless(headers: &HeaderMap) -> bool {
    header(headers, &VERSION).is_some_and(|version| version >= WITHOUT_SESSIONS)
}

/// A web page of another place must not speak to this server in its visitor's name, also not under a name of its own that
/// it has pointed here (DNS rebinding). Programs that are no browsers say nothing of an origin. The authority
/// of the request's target (HTTP/2's `:authority`, the absolute form) takes precedence over `Host` (RFC 9112, 3.2.2).
fn check_origin(headers: &HeaderMap, target: Option<&Authority>) -> Result<(), Refused> {
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, authority)| authority);
    match (origin, target.map(Authority::as_str).or_else(|| header(headers, &HOST))) {
        (Some(origin), Some(host)) if origin.eq_ignore_ascii_case(host) && is_own_name(host) => Ok(()),
        _ => Err(Refused::foreign()),
    }
}

/// A name that nobody else can point here.
fn is_own_name(host: &str) -> bool {
    let bare = host.rsplit_once(':').map_or(host, |(name, port)| if port.contains(']') { host } else { name });
    bare == "localhost" || bare.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok()
}

/// A request that is not answered.
#[derive(Debug)]
struct Refused {
    status: StatusCode,
    error: ErrorBody,
}

impl Refused {
    fn new(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Self {
        Self { status, error: ErrorBody { code, message: message.into(), hint: None, details: None } }
    }

    fn invalid(message: String) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::ValidationFailed, message)
    }

    fn foreign() -> Self {
        Self::new(StatusCode::FORBIDDEN, ErrorCode::Forbidden, "web pages of other places may not speak to this server")
    }

    fn no_session() -> Self {
        Self::new(StatusCode::NOT_FOUND, ErrorCode::SessionNotFound, "there is no such session")
    }

    fn full() -> Self {
        let message = "there are as many MCP sessions as there may be: end one, or name a sandbox in Atoll-Sandbox";
        Self::new(StatusCode::TOO_MANY_REQUESTS, ErrorCode::SessionLimit, message)
    }

    fn ending() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::ShuttingDown, "the server is about to end")
    }

    fn into_answer(self) -> Answer {
        let body = serde_json::to_vec(&ErrorAnswer { error: self.error }).unwrap_or_default();
        let mut answer = Response::new(Full::new(Bytes::from(body)).boxed());
        *answer.status_mut() = self.status;
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        answer
    }
}

/// What these locks guard is whole after every step, so a poisoned one is taken all the same.
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
    fn only_pages_of_this_place_may_ask() {
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
            // A name of theirs that leads here.
            headers(&[("host", "evil.example:7070"), ("origin", "http://evil.example:7070")]),
        ] {
            assert!(check_origin(&bad, None).is_err(), "{bad:?}");
        }
        let theirs = Authority::from_static("evil.example");
        for bad in [
            headers(&[("origin", "https://evil.example")]),
            headers(&[("origin", "http://localhost:7070"), ("host", "localhost:7070")]),
        ] {
            assert!(check_origin(&bad, Some(&theirs)).is_err(), "{bad:?}");
        }
    }

    #[tokio::test]
    async fn a_session_is_only_its_tokens() {
        let mount = Mount::default();
        let known = Known { who: "one".into(), guest: Weak::new() };
        lock(&mount.known).insert("id".to_owned(), known);
        assert!(mount.check_owner("id", "one").is_ok());
        for (id, who) in [("id", "two"), ("other", "one")] {
            assert_eq!(mount.check_owner(id, who).unwrap_err().status, StatusCode::NOT_FOUND);
        }
    }

    #[tokio::test]
    async fn there_are_only_so_many_sessions() {
        let mount = Mount::default();
        let client = Client::unix("/nowhere");
        let guest = Arc::new(Guest::new(client, Place::Own, CreateSandbox::default()).unwrap());
        for number in 0..SESSIONS_OF_ONE {
            let known = Known { who: "one".into(), guest: Arc::downgrade(&guest) };
            lock(&mount.known).insert(number.to_string(), known);
        }
        assert!(mount.check_room("two").is_ok() && mount.check_room("one").is_err());
        drop(guest);
        assert!(mount.check_room("one").is_ok(), "those that are gone do not count");
    }
}
