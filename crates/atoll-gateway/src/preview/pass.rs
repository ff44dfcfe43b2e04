//! A request on its way to a program inside, and its answer on the way back. Nothing is collected, and nothing is held
//! for longer than somebody waits for it.

use std::sync::Arc;

use atoll_http::{LARGE_UP, Passage};
use atoll_protocol::ErrorCode;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::response::Response;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::{Method, StatusCode, Uri, Version};
use tokio::time::{Duration, Instant, sleep};

use super::exposure::Exposure;
use super::headers::{Arrival, Outside, Seen, to_app, to_client};
use super::interim::Interim;
use super::{Where, gate, tunnel};
use crate::Error;
use crate::app::App;
use crate::auth::holds_token;
use crate::fleet::{Handle, Need};
use crate::lease::Lease;
use crate::lines::{Line, NotSent};
use crate::placement::{Agent, DialError, Inside};
use crate::proxy::{Change, Held, Passing, is_endless};
use crate::slipping;

/// How long a program may take to listen after its sandbox was woken, and how often is looked.
const UP_WITHIN: Duration = Duration::from_secs(15);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// From one request to the program that is meant.
pub(super) struct Way<'a> {
    pub(super) app: &'a App,
    pub(super) at: &'a Where,
    pub(super) exposure: &'a Exposure,
    pub(super) handle: &'a Handle,
    /// What the client speaks.
    pub(super) version: Version,
    pub(super) arrival: &'a Arrival,
    /// The lifetime of the visitor's credential.
    pub(super) lease: &'a Lease,
}

/// Passes a request on.
pub(super) async fn pass(way: &Way<'_>, mut request: Request) -> Result<Response, Error> {
    let place = way.handle.apps.place()?;
    let (agent, was_woken, in_use) = way.reach().await?;
    let held = Held::new(in_use, Some(place));
    way.aim(&mut request)?;
    if let Some(change) = Change::asked_for(&mut request)?.filter(|change| !is_http(&change.protocol())) {
        way.address(&mut request, Some(change.protocol()));
        let (inside, _) = way.dial(agent, was_woken).await?;
        return tunnel::open(way, inside, request, change, held).await;
    }
    way.address(&mut request, None);
    let is_get = request.method() == Method::GET && request.body().is_end_stream();
    let interim = way.interim();
    let request = gate::listen(request, interim.map(|interim| (Arc::clone(interim), way.outside())));
    let (line, agent, mut response) = match way.rises(&request).cloned() {
        None => way.send(agent, was_woken, request).await?,
        Some(client) => tokio::select! {
            sent = way.send_large(&client, agent, was_woken, request) => sent?,
            () = client.gone() => return Err(way.broke(&"its client is gone")),
        },
    };
    if let Some(interim) = interim {
        interim.all_said().await;
    }
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return Err(way.broke(&"it changed over, and nobody had asked"));
    }
    // What is spoken inside is no business of the client's.
    *response.version_mut() = Version::HTTP_11;
    to_client(response.headers_mut(), &way.outside(), None);
    if is_get
        && let Some(client) = &way.arrival.passage
        && let Some(room) = slipping::room(client, &line, &response, way.version)
    {
        return room.pass(line, response, held).map_err(|error| way.broke(&error));
    }
    if way.arrival.passage.as_ref().is_some_and(|client| client.is_held()) {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    let until = is_endless(response.headers()).then(|| way.app.drained());
    let lines = way.handle.apps.lines(way.at.label.port);
    Ok(response.map(|body| Body::new(Passing::new(body, line, lines, agent, held).until(until))))
}

/// HTTP/2 begun in the middle of HTTP/1.1, which nobody does any more (RFC 9113, 3.1), would go past everything that is
/// looked at here.
fn is_http(protocol: &HeaderValue) -> bool {
    protocol.to_str().is_ok_and(|text| text.to_ascii_lowercase().contains("h2c"))
}

impl Way<'_> {
    /// The sandbox's agent, and whether it had to be started.
    async fn reach(&self) -> Result<(Agent, bool, crate::fleet::InUse), Error> {
        let name = &self.at.label.name;
        if self.handle.agent().is_none() && !self.exposure.wake {
            return Err(Error::PreviewAsleep { name: name.clone() });
        }
        // From here on it is not put to sleep under us; whether it was just before is looked at once more.
        let in_use = self.handle.enter();
        let sleeps = self.handle.agent().is_none();
        if sleeps && !self.exposure.wake {
            return Err(Error::PreviewAsleep { name: name.clone() });
        }
        let agent = self.handle.reach(name, Need::Run).await?;
        Ok((agent, sleeps, in_use))
    }

    /// The client's connection, if bodies can go past us on it.
    fn passage(&self) -> Option<&Arc<Passage>> {
        self.arrival.passage.as_ref().filter(|_| self.version == Version::HTTP_11)
    }

    /// How something is said to the client before the answer. Clients of HTTP/1.0 would take it for the answer.
    fn interim(&self) -> Option<&Arc<Interim>> {
        self.arrival.interim.as_ref().filter(|_| self.version == Version::HTTP_11)
    }

    /// Whether a request's body can go past us: a large one whose length is known. The client's connection.
    fn rises(&self, request: &Request) -> Option<&Arc<Passage>> {
        let is_large = request.body().size_hint().exact().is_some_and(|length| length >= LARGE_UP);
        self.passage().filter(|_| is_large)
    }

    /// What the program is asked for.
    fn aim(&self, request: &mut Request) -> Result<(), Error> {
        if holds_token(self.at.inner.as_bytes()) {
            return Err(Error::invalid(
                "the URL holds a token of this server, which programs must not see: send it as \
                 `authorization: Bearer TOKEN`",
            ));
        }
        let target = if self.exposure.keep_prefix { &self.at.place } else { &self.at.inner };
        let wrong = |error| Error::invalid(format!("the path is wrong: {error}"));
        *request.uri_mut() = target.parse::<Uri>().map_err(wrong)?;
        Ok(())
    }

    /// Says who asks.
    fn address(&self, request: &mut Request, upgrade: Option<HeaderValue>) {
        let seen = Seen { arrival: self.arrival, host: &self.at.host, prefix: self.at.prefix.as_deref() };
        to_app(request.headers_mut(), &seen, upgrade);
    }

    pub(super) fn outside(&self) -> Outside {
        let (host, prefix) = (self.at.host.clone(), self.at.prefix.clone());
        Outside { host, prefix, keeps_prefix: self.exposure.keep_prefix }
    }

    /// On a connection that waits, if there is one. What was surely not read by anybody is sent again on a new one.
    async fn send(
        &self,
        agent: Agent,
        was_woken: bool,
        mut request: Request,
    ) -> Result<(Line, Agent, hyper::Response<hyper::body::Incoming>), Error> {
        let lines = Arc::clone(&self.handle.apps.lines(self.at.label.port));
        if let Some(mut line) = lines.take(&agent) {
            let again = repeatable(&request);
            match line.send(request).await {
                Ok(response) => return Ok((line, agent, response)),
                Err(NotSent::Unsent(unsent)) => request = *unsent,
                // It hung up as we began to speak, as servers do with connections that wait.
                Err(NotSent::Broken(error)) => request = again.ok_or_else(|| self.broke(&error))?,
            }
        }
        let (line, agent) = self.line(agent, was_woken).await?;
        self.send_on(line, agent, request).await
    }

    /// On a new connection: what goes past us cannot be sent again.
    async fn send_large(
        &self,
        client: &Arc<Passage>,
        agent: Agent,
        was_woken: bool,
        request: Request,
    ) -> Result<(Line, Agent, hyper::Response<hyper::body::Incoming>), Error> {
        let (line, agent) = self.line(agent, was_woken).await?;
        let request = slipping::rise(client, &line, request);
        self.send_on(line, agent, request).await
    }

    async fn line(&self, agent: Agent, was_woken: bool) -> Result<(Line, Agent), Error> {
        let (inside, agent) = self.dial(agent, was_woken).await?;
        let line = Line::inside(inside).await.map_err(|error| self.broke(&error))?;
        Ok((line, agent))
    }

    async fn send_on(
        &self,
        mut line: Line,
        agent: Agent,
        request: Request,
    ) -> Result<(Line, Agent, hyper::Response<hyper::body::Incoming>), Error> {
        let response = line.send(request).await.map_err(|error| self.broke(&error))?;
        Ok((line, agent, response))
    }

    /// Connects to the port. After a sleep, programs take a moment.
    async fn dial(&self, agent: Agent, was_woken: bool) -> Result<(Inside, Agent), Error> {
        let deadline = Instant::now() + UP_WITHIN;
        loop {
            let error = match self.app.fleet.ground().placement.dial(&agent, self.at.label.port).await {
                Ok(inside) => return Ok((inside, agent)),
                Err(DialError::Refused(body)) => Error::Agent { body },
                Err(DialError::Unreachable(error)) => {
                    // Gone, perhaps; but a preview starts nothing by itself.
                    self.handle.check(&self.at.label.name, agent).await?;
                    let why = format!("does not answer: {error}");
                    return Err(Error::AgentUnavailable { name: self.at.label.name.clone(), why });
                }
            };
            if !was_woken || error.code() != ErrorCode::PortClosed || Instant::now() >= deadline {
                return Err(error);
            }
            sleep(LOOK_EVERY).await;
        }
    }

    pub(super) fn broke(&self, error: &dyn std::fmt::Display) -> Error {
        tracing::debug!(sandbox = %self.at.label.name, port = self.at.label.port, %error, "a program hung up");
        Error::PreviewBroken { port: self.at.label.port }
    }
}

/// The same request once more, if sending it twice does no harm (RFC 9110, 9.2.1).
fn repeatable(request: &Request) -> Option<Request> {
    let is_safe = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if !is_safe || !request.body().is_end_stream() {
        return None;
    }
    let mut again = Request::new(Body::empty());
    request.method().clone_into(again.method_mut());
    request.uri().clone_into(again.uri_mut());
    request.headers().clone_into(again.headers_mut());
    request.extensions().clone_into(again.extensions_mut());
    Some(again)
}
