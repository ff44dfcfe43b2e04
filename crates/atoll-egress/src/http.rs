//! HTTP in the clear, or out of TLS that ends here: every request is seen to be for the name that the connection is for.
//!
//! Requests are read and written anew, so that what is odd about their form ends here: what the other side sees has one
//! length and one host. Nothing is collected; bodies pass as they come.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use atoll_protocol::{DenialReason, EgressProtocol};
use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::header::{CONNECTION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, TE, UPGRADE};
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use hyper_util::rt::{TokioIo, TokioTimer};

use crate::flow::{self, Denied, Flow};
use crate::guard;
use crate::name::{self, Name};
use crate::refusing::{Answering, Refusing, Talk};
use crate::relay;
use crate::secret::{Scrubbed, Scrubber};
use crate::shared::named;
use crate::stream::{Io, Side};
use crate::websocket::Frames;

/// Headers that are about one connection (RFC 9110, section 7.6.1), and what programs say to a proxy.
const HOP: [&str; 7] =
    ["connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "upgrade", "http2-settings"];

type Answer = Response<BoxBody<Bytes, hyper::Error>>;

/// For whom requests on a connection may be.
#[derive(Debug, Clone)]
pub(crate) enum Expected {
    /// This name, in the clear.
    Name(Name),
    /// This name, by TLS.
    Secure(Name),
    /// The name of the first one, in the clear.
    First,
    /// Any that is allowed: we are spoken to as a proxy.
    Anything,
}

impl Expected {
    /// The name, if it is known from the beginning.
    pub(crate) fn known(&self) -> Option<Name> {
        match self {
            Self::Name(name) | Self::Secure(name) => Some(name.clone()),
            Self::First | Self::Anything => None,
        }
    }

    fn protocol(&self) -> EgressProtocol {
        match self {
            Self::Secure(_) => EgressProtocol::Tls,
            Self::Name(_) | Self::First | Self::Anything => EgressProtocol::Http,
        }
    }
}

/// One connection of requests.
struct Session {
    flow: Arc<Flow>,
    expected: Expected,
    /// The connection to the other side that waits for the next request, and whose it is.
    outside: Mutex<Option<(Name, u16, SendRequest<Incoming>)>>,
    /// Of the first request, where that one decides.
    first: std::sync::OnceLock<Name>,
    /// What the connection becomes when it is no longer HTTP.
    next: Mutex<Option<Next>>,
    talk: Arc<Talk>,
}

/// What comes after HTTP.
enum Next {
    /// A WebSocket: the two sides, and what searches the messages that come back.
    WebSocket { inside: OnUpgrade, outside: OnUpgrade, frames: Option<Box<Frames>> },
    /// A connection to this name and port, asked for by CONNECT.
    Within { inside: OnUpgrade, name: Name, port: u16 },
}

/// Answers requests until the program hangs up.
pub(crate) async fn serve(flow: &Arc<Flow>, client: impl Io + 'static, expected: Expected) {
    let (host, protocol) = (expected.known(), Some(expected.protocol()));
    let malformed = Denied { reason: DenialReason::Malformed, host, address: None, port: None, protocol };
    let deny = {
        let (flow, malformed) = (Arc::clone(flow), malformed.clone());
        move || {
            flow.deny(&malformed);
            refusal_text(&malformed, flow.port)
        }
    };
    let talk = Talk::new(deny.clone());
    let client = Refusing::new(client, &talk);
    let first = std::sync::OnceLock::new();
    let (outside, next) = (Mutex::default(), Mutex::default());
    let session = Arc::new(Session { flow: Arc::clone(flow), expected, outside, first, next, talk });
    let service = service_fn(|request| {
        let session = Arc::clone(&session);
        session.talk.asked();
        async move {
            let talk = Arc::clone(&session.talk);
            let answer = session.answer(request).await;
            Ok::<_, Infallible>(answer.map(|body| Answering::new(body, &talk)))
        }
    });
    let mut server = hyper::server::conn::http1::Builder::new();
    server.timer(TokioTimer::new()).max_buf_size(flow.shared.budget.head()).preserve_header_case(true).half_close(true);
    let served = server.serve_connection(TokioIo::new(client), service).with_upgrades().await;
    // What hyper does not answer by itself is told now.
    if served.is_err_and(|error| error.is_parse()) && !session.talk.is_refused() {
        deny();
    }
    let next = session.next.lock().unwrap_or_else(PoisonError::into_inner).take();
    match next {
        None => {}
        Some(Next::WebSocket { inside, outside, frames }) => {
            if let (Ok(inside), Ok(outside)) = tokio::join!(inside, outside) {
                let (inside, outside) = (TokioIo::new(inside), TokioIo::new(outside));
                let relayed = relay::upgraded(inside, outside, frames, &flow.shared.budget).await;
                if relayed.is_err_and(|error| error.kind() == std::io::ErrorKind::InvalidData) {
                    flow.deny(&malformed);
                }
            }
        }
        Some(Next::Within { inside, name, port }) => {
            if let Ok(stream) = inside.await {
                flow::within(flow, Side::Within(Box::new(TokioIo::new(stream))), name, port).await;
            }
        }
    }
}

/// What a request is for, and what stands in its first line for the other side.
struct Meant {
    name: Name,
    port: u16,
    path: Uri,
}

impl Session {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        let refused = match self.meant(&request) {
            Err(denied) => denied,
            Ok(meant) if request.method() == Method::CONNECT => match self.connect(&meant, request) {
                Ok(answer) => return answer,
                Err(denied) => denied,
            },
            Ok(meant) => match self.pass(&meant, request).await {
                Ok(answer) => return answer,
                Err(denied) => denied,
            },
        };
        self.flow.deny(&refused);
        refusal(&refused, self.flow.port)
    }

    /// One host in all places where one can stand, and the one that is expected.
    fn meant(&self, request: &Request<Incoming>) -> Result<Meant, Denied> {
        let (host, protocol) = (self.expected.known(), Some(self.expected.protocol()));
        let denied = |reason| Denied { reason, host: host.clone(), address: None, port: None, protocol };
        let mut hosts = request.headers().get_all(HOST).iter();
        let header = match (hosts.next(), hosts.next()) {
            (Some(host), None) => Some(name::authority(host.as_bytes()).ok_or_else(|| denied(DenialReason::BadName))?),
            (None, _) => None,
            (Some(_), Some(_)) => return Err(denied(DenialReason::Malformed)),
        };
        let line = match request.uri().authority() {
            Some(authority) => {
                Some(name::authority(authority.as_str().as_bytes()).ok_or_else(|| denied(DenialReason::BadName))?)
            }
            None => None,
        };
        // HTTP/1.0 may leave it out, and then nobody can say for whom it is.
        let (name, port) = line.clone().or(header.clone()).ok_or_else(|| denied(DenialReason::NoName))?;
        let differs = header.is_some_and(|(host, _)| host != name);
        let named = |reason| Denied { host: Some(name.clone()), ..denied(reason) };
        if differs {
            return Err(named(DenialReason::NameMismatch));
        }
        let to_proxy = line.is_some();
        let port = match &self.expected {
            Expected::Anything if !to_proxy => return Err(named(DenialReason::NoName)),
            Expected::Anything => port.unwrap_or(80),
            // CONNECT to a host that is allowed would make that host the way to others.
            _ if request.method() == Method::CONNECT => return Err(named(DenialReason::ProtocolNotAllowed)),
            Expected::Name(own) | Expected::Secure(own) if *own != name => {
                return Err(named(DenialReason::NameMismatch));
            }
            Expected::First if *self.first.get_or_init(|| name.clone()) != name => {
                return Err(named(DenialReason::NameMismatch));
            }
            Expected::Name(_) | Expected::Secure(_) | Expected::First => match port {
                Some(port) if port != self.flow.port => return Err(named(DenialReason::NameMismatch)),
                _ => self.flow.port,
            },
        };
        if request.uri().scheme_str().is_some_and(|scheme| !scheme.eq_ignore_ascii_case("http")) {
            return Err(named(DenialReason::Malformed));
        }
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let path = path.parse().map_err(|_| named(DenialReason::Malformed))?;
        Ok(Meant { name, port, path })
    }

    /// CONNECT to us as a proxy: what follows is judged like a connection to that name.
    fn connect(&self, meant: &Meant, request: Request<Incoming>) -> Result<Answer, Denied> {
        let Meant { name, port, .. } = meant;
        let denied = |reason| Denied::of(reason, name);
        let force = self.flow.shared.force();
        self.flow.shared.admit(&force.policy, &self.flow.owner, name).map_err(denied)?;
        named(&force.policy, &self.flow.owner, name, *port).map_err(denied)?;
        if !self.flow.may_nest() {
            return Err(denied(DenialReason::ProtocolNotAllowed));
        }
        self.then(Next::Within { inside: hyper::upgrade::on(request), name: name.clone(), port: *port });
        Ok(Response::new(empty()))
    }

    fn then(&self, next: Next) {
        self.talk.changes();
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(next);
    }

    async fn pass(&self, meant: &Meant, mut request: Request<Incoming>) -> Result<Answer, Denied> {
        let Meant { name, port, path } = meant;
        let denied = |reason| Denied { protocol: Some(self.expected.protocol()), ..Denied::of(reason, name) };
        let force = self.flow.shared.force();
        self.flow.shared.admit(&force.policy, &self.flow.owner, name).map_err(denied)?;
        let allowed = named(&force.policy, &self.flow.owner, name, *port).map_err(denied)?;
        if !allowed.protocols.allow(self.expected.protocol()) {
            return Err(denied(DenialReason::ProtocolNotAllowed));
        }
        let upgrade = websocket(request.headers());
        let waiting = upgrade.is_some().then(|| hyper::upgrade::on(&mut request));
        *request.uri_mut() = path.clone();
        *request.version_mut() = Version::HTTP_11;
        prepare(request.headers_mut(), upgrade.as_ref());
        let usual = if self.expected.protocol() == EgressProtocol::Tls { 443 } else { 80 };
        let host = if *port == usual { name.to_string() } else { format!("{name}:{port}") };
        let host = HeaderValue::try_from(host).map_err(|_| denied(DenialReason::BadName))?;
        request.headers_mut().insert(HOST, host);
        let is_guarded = force.secrets.hold(name);
        if is_guarded {
            guard::request(request.headers_mut());
        }
        // Only where the other side has proved to be who it is.
        let used = match &self.expected {
            Expected::Secure(_) => force.secrets.put_into(request.headers_mut(), name, *port),
            Expected::Name(_) | Expected::First | Expected::Anything => Vec::new(),
        };
        if !used.is_empty() {
            self.flow.secrets_used.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        let scrubber = is_guarded.then(|| Scrubber::of_host(used, self.flow.shared.force.subscribe(), name.clone()));
        let response = self.send(name, *port, &allowed, request).await?;
        self.bring_back(response, waiting, scrubber).map_err(denied)
    }

    /// On the connection that waits, if it is still good; nothing of a request is sent twice.
    async fn send(
        &self,
        name: &Name,
        port: u16,
        allowed: &crate::policy::Allowed,
        request: Request<Incoming>,
    ) -> Result<Response<Incoming>, Denied> {
        let unreachable =
            || Denied { protocol: Some(self.expected.protocol()), ..Denied::of(DenialReason::Unreachable, name) };
        let waiting = self.outside.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut sender = match waiting.filter(|(own, at, _)| own == name && *at == port) {
            Some((_, _, mut sender)) => match sender.ready().await {
                Ok(()) => sender,
                Err(_) => self.open(name, port, allowed).await?,
            },
            None => self.open(name, port, allowed).await?,
        };
        let response = sender.send_request(request).await.map_err(|_| unreachable())?;
        *self.outside.lock().unwrap_or_else(PoisonError::into_inner) = Some((name.clone(), port, sender));
        Ok(response)
    }

    async fn open(
        &self,
        name: &Name,
        port: u16,
        allowed: &crate::policy::Allowed,
    ) -> Result<SendRequest<Incoming>, Denied> {
        match &self.expected {
            Expected::Secure(_) => self.shake(name, self.flow.dial_tls(name, allowed).await?).await,
            Expected::Name(_) | Expected::First | Expected::Anything => {
                self.shake(name, self.flow.dial(name, port, EgressProtocol::Http, allowed).await?).await
            }
        }
    }

    async fn shake(&self, name: &Name, stream: impl Io + 'static) -> Result<SendRequest<Incoming>, Denied> {
        let mut client = hyper::client::conn::http1::Builder::new();
        client.preserve_header_case(true).max_buf_size(self.flow.shared.budget.head());
        let shaken = client.handshake(TokioIo::new(stream)).await;
        let (sender, connection) = shaken.map_err(|_| Denied::of(DenialReason::Unreachable, name))?;
        tokio::spawn(connection.with_upgrades());
        Ok(sender)
    }

    fn bring_back(
        &self,
        mut response: Response<Incoming>,
        waiting: Option<OnUpgrade>,
        mut scrubber: Option<Scrubber>,
    ) -> Result<Answer, DenialReason> {
        if let Some(scrubber) = &mut scrubber {
            guard::answer(&mut response)?;
            scrubber.headers(response.headers_mut());
        }
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            // Nobody asked for it.
            let Some(waiting) = waiting else { return Err(DenialReason::Malformed) };
            let outside = hyper::upgrade::on(&mut response);
            self.then(Next::WebSocket { inside: waiting, outside, frames: scrubber.map(Frames::new).map(Box::new) });
            return Ok(response.map(|_| empty()));
        }
        response.headers_mut().remove(CONNECTION);
        Ok(match scrubber {
            None => response.map(BodyExt::boxed),
            Some(scrubber) => response.map(|body| Scrubbed::new(body, scrubber).boxed()),
        })
    }
}

/// The only upgrade that goes through: what follows it cannot be taken for further requests.
fn websocket(headers: &HeaderMap) -> Option<HeaderValue> {
    headers.get(UPGRADE).filter(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket")).cloned()
}

fn prepare(headers: &mut HeaderMap, upgrade: Option<&HeaderValue>) {
    let wants_trailers = headers.get_all(TE).iter().any(|value| {
        value.to_str().is_ok_and(|value| value.split(',').any(|word| word.trim().eq_ignore_ascii_case("trailers")))
    });
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| HeaderName::from_bytes(name.trim().as_bytes()).ok())
        // To name these there would make a request mean something else behind us.
        .filter(|name| !matches!(name.as_str(), "host" | "content-length" | "transfer-encoding" | "authorization"))
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP {
        headers.remove(name);
    }
    if wants_trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
    if let Some(protocol) = upgrade {
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, protocol.clone());
    }
}

fn empty() -> BoxBody<Bytes, hyper::Error> {
    Full::default().map_err(|never| match never {}).boxed()
}

/// Whether the other side failed, rather than the rules.
fn is_fault(reason: DenialReason) -> bool {
    matches!(reason, DenialReason::Unreachable | DenialReason::NoAddress | DenialReason::Untrusted)
}

/// Why not, for programs.
fn refusal_body(denied: &Denied, port: u16) -> String {
    let port = denied.port.unwrap_or(port);
    let host = denied.host.as_ref().map(Name::as_str);
    let reason = serde_json::to_value(denied.reason).unwrap_or_default();
    let message =
        if is_fault(denied.reason) { "could not be reached" } else { "is not allowed by the sandbox's rules" };
    let address = || denied.address.map(|address| std::net::SocketAddr::from((address, port)).to_string());
    let what = host.map(|host| format!("{host}:{port}")).or_else(address).unwrap_or_else(|| "this".to_owned());
    let message = format!("{what} {message}");
    serde_json::json!({ "error": { "code": "EGRESS_DENIED", "reason": reason, "host": host, "port": port, "message": message } })
        .to_string()
}

fn refusal(denied: &Denied, port: u16) -> Answer {
    let body = Full::new(Bytes::from(refusal_body(denied, port))).map_err(|never| match never {}).boxed();
    let mut answer = Response::new(body);
    *answer.status_mut() = if is_fault(denied.reason) { StatusCode::BAD_GATEWAY } else { StatusCode::FORBIDDEN };
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // What else is on the connection may be for somebody else.
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// The same as text, where nothing was read as HTTP yet.
pub(crate) fn refusal_text(denied: &Denied, port: u16) -> String {
    let body = refusal_body(denied, port);
    let status = if is_fault(denied.reason) { "502 Bad Gateway" } else { "403 Forbidden" };
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}
