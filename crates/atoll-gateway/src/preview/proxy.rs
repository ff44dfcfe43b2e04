//! Forwards requests to a program inside a sandbox, and its responses to the client, without buffering.

use std::sync::Arc;

use atoll_http::{SPLICE_REQUEST_MIN, SpliceHandle};
use atoll_protocol::ErrorCode;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::response::Response;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::{Method, StatusCode, Uri, Version};
use tokio::time::{Duration, Instant, sleep};

use super::exposure::Exposure;
use super::headers::{Arrival, ClientInfo, PublicUrl, to_app, to_client};
use super::informational::Informational;
use super::{Target, expect_continue, tunnel};
use crate::Error;
use crate::agent_pool::{PooledConn, SendError};
use crate::app::App;
use crate::auth::holds_token;
use crate::lease::Lease;
use crate::placement::{Agent, DialError, PortStream};
use crate::proxy::{ForwardedBody, RequestGuard, UpgradeRequest, is_endless};
use crate::sandboxes::{Need, SandboxHandle};
use crate::spliced_body;

/// How long a program may take to listen after its sandbox was started, and the interval between attempts.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(15);
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The program to which one request is forwarded.
pub(super) struct Upstream<'a> {
    pub(super) app: &'a App,
    pub(super) target: &'a Target,
    pub(super) exposure: &'a Exposure,
    pub(super) handle: &'a SandboxHandle,
    /// The HTTP version of the client.
    pub(super) version: Version,
    pub(super) arrival: &'a Arrival,
    /// The lifetime of the client's credential.
    pub(super) lease: &'a Lease,
}

/// Forwards a request.
pub(super) async fn forward(upstream: &Upstream<'_>, mut request: Request) -> Result<Response, Error> {
    let permit = upstream.handle.app_pools.permit()?;
    let (agent, was_woken, in_use) = upstream.reach().await?;
    let guard = RequestGuard::new(in_use, Some(permit));
    upstream.set_uri(&mut request)?;
    if let Some(upgrade) = UpgradeRequest::from_request(&mut request)?.filter(|upgrade| !is_http(&upgrade.protocol())) {
        upstream.set_headers(&mut request, Some(upgrade.protocol()));
        let (inside, _) = upstream.dial(agent, was_woken).await?;
        return tunnel::open(upstream, inside, request, upgrade, guard).await;
    }
    upstream.set_headers(&mut request, None);
    let is_get = request.method() == Method::GET && request.body().is_end_stream();
    let interim = upstream.interim();
    let request = expect_continue::apply(request, interim.map(|interim| (Arc::clone(interim), upstream.public_url())));
    let (conn, agent, mut response) = match upstream.splice_client(&request).cloned() {
        None => upstream.send(agent, was_woken, request).await?,
        Some(client) => tokio::select! {
            sent = upstream.send_large(&client, agent, was_woken, request) => sent?,
            () = client.peer_closed() => return Err(upstream.broken(&"the client disconnected")),
        },
    };
    if let Some(interim) = interim {
        interim.flushed().await;
    }
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return Err(upstream.broken(&"it switched protocols without a request to do so"));
    }
    // The program's HTTP version does not concern the client.
    *response.version_mut() = Version::HTTP_11;
    to_client(response.headers_mut(), &upstream.public_url(), None);
    if is_get
        && let Some(client) = &upstream.arrival.splice
        && let Some(splice) = spliced_body::prepare_response(client, &conn, &response, upstream.version)
    {
        return splice.into_response(conn, response, guard).map_err(|error| upstream.broken(&error));
    }
    if upstream.arrival.splice.as_ref().is_some_and(|client| client.is_reading_paused()) {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    let until = is_endless(response.headers()).then(|| upstream.app.drained());
    let pool = upstream.handle.app_pools.pool(upstream.target.label.port);
    Ok(response.map(|body| Body::new(ForwardedBody::new(body, conn, pool, agent, guard).until(until))))
}

/// Whether the protocol is h2c. Upgrades from HTTP/1.1 to HTTP/2 are obsolete (RFC 9113, 3.1), and would bypass all
/// checks here.
fn is_http(protocol: &HeaderValue) -> bool {
    protocol.to_str().is_ok_and(|text| text.to_ascii_lowercase().contains("h2c"))
}

impl Upstream<'_> {
    /// Returns the sandbox's agent, and whether it had to be started.
    async fn reach(&self) -> Result<(Agent, bool, crate::sandboxes::InUse), Error> {
        let name = &self.target.label.name;
        if self.handle.agent().is_none() && !self.exposure.wake {
            return Err(Error::PreviewAsleep { name: name.clone() });
        }
        // From here on the sandbox is not stopped for idleness. It may have been stopped just before, so its state is
        // read again.
        let in_use = self.handle.enter();
        let sleeps = self.handle.agent().is_none();
        if sleeps && !self.exposure.wake {
            return Err(Error::PreviewAsleep { name: name.clone() });
        }
        let agent = self.handle.reach(name, Need::Run).await?;
        Ok((agent, sleeps, in_use))
    }

    /// Returns the client's connection, if bodies can be spliced to it.
    fn splice(&self) -> Option<&Arc<SpliceHandle>> {
        self.arrival.splice.as_ref().filter(|_| self.version == Version::HTTP_11)
    }

    /// Returns the sender of informational responses. HTTP/1.0 clients would take these for the final response.
    fn interim(&self) -> Option<&Arc<Informational>> {
        self.arrival.interim.as_ref().filter(|_| self.version == Version::HTTP_11)
    }

    /// Returns the client's connection if the request's body can be spliced: it is large and its length is known.
    fn splice_client(&self, request: &Request) -> Option<&Arc<SpliceHandle>> {
        let is_large = request.body().size_hint().exact().is_some_and(|length| length >= SPLICE_REQUEST_MIN);
        self.splice().filter(|_| is_large)
    }

    /// Sets the URI that the program gets.
    fn set_uri(&self, request: &mut Request) -> Result<(), Error> {
        if holds_token(self.target.inner.as_bytes()) {
            return Err(Error::invalid(
                "the URL contains a token of this server, which programs must not see: send it as \
                 `authorization: Bearer TOKEN`",
            ));
        }
        let uri = if self.exposure.keep_prefix { &self.target.path_and_query } else { &self.target.inner };
        let wrong = |error| Error::invalid(format!("invalid path: {error}"));
        *request.uri_mut() = uri.parse::<Uri>().map_err(wrong)?;
        Ok(())
    }

    /// Rewrites the headers for the program.
    fn set_headers(&self, request: &mut Request, upgrade: Option<HeaderValue>) {
        let client =
            ClientInfo { arrival: self.arrival, host: &self.target.host, prefix: self.target.prefix.as_deref() };
        to_app(request.headers_mut(), &client, upgrade);
    }

    pub(super) fn public_url(&self) -> PublicUrl {
        let (host, prefix) = (self.target.host.clone(), self.target.prefix.clone());
        PublicUrl { host, prefix, keeps_prefix: self.exposure.keep_prefix }
    }

    /// Sends the request on a pooled connection if there is one, and again on a new one if the program cannot have
    /// processed it.
    async fn send(
        &self,
        agent: Agent,
        was_woken: bool,
        mut request: Request,
    ) -> Result<(PooledConn, Agent, hyper::Response<hyper::body::Incoming>), Error> {
        let pool = Arc::clone(&self.handle.app_pools.pool(self.target.label.port));
        if let Some(mut conn) = pool.checkout(&agent) {
            let again = repeatable(&request);
            match conn.send(request).await {
                Ok(response) => return Ok((conn, agent, response)),
                Err(SendError::Unsent(unsent)) => request = *unsent,
                // The program closed the idle connection just as we used it.
                Err(SendError::Broken(error)) => request = again.ok_or_else(|| self.broken(&error))?,
            }
        }
        let (conn, agent) = self.conn(agent, was_woken).await?;
        self.send_over(conn, agent, request).await
    }

    /// Sends the request on a new connection, since a spliced body cannot be sent twice.
    async fn send_large(
        &self,
        client: &Arc<SpliceHandle>,
        agent: Agent,
        was_woken: bool,
        request: Request,
    ) -> Result<(PooledConn, Agent, hyper::Response<hyper::body::Incoming>), Error> {
        let (conn, agent) = self.conn(agent, was_woken).await?;
        let request = spliced_body::splice_request(client, &conn, request);
        self.send_over(conn, agent, request).await
    }

    async fn conn(&self, agent: Agent, was_woken: bool) -> Result<(PooledConn, Agent), Error> {
        let (inside, agent) = self.dial(agent, was_woken).await?;
        let conn = PooledConn::to_port(inside).await.map_err(|error| self.broken(&error))?;
        Ok((conn, agent))
    }

    async fn send_over(
        &self,
        mut conn: PooledConn,
        agent: Agent,
        request: Request,
    ) -> Result<(PooledConn, Agent, hyper::Response<hyper::body::Incoming>), Error> {
        let response = conn.send(request).await.map_err(|error| self.broken(&error))?;
        Ok((conn, agent, response))
    }

    /// Connects to the port. Retries for a while if the sandbox was just started.
    async fn dial(&self, agent: Agent, was_woken: bool) -> Result<(PortStream, Agent), Error> {
        let deadline = Instant::now() + LISTEN_TIMEOUT;
        loop {
            let error = match self.app.sandboxes.services().placement.dial(&agent, self.target.label.port).await {
                Ok(inside) => return Ok((inside, agent)),
                Err(DialError::Refused(body)) => Error::Agent { body },
                Err(DialError::Unreachable(error)) => {
                    // The agent may have exited, but only a use with `wake` starts a sandbox.
                    self.handle.check(&self.target.label.name, agent).await?;
                    let why = format!("does not answer: {error}");
                    return Err(Error::AgentUnavailable { name: self.target.label.name.clone(), why });
                }
            };
            if !was_woken || error.code() != ErrorCode::PortClosed || Instant::now() >= deadline {
                return Err(error);
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    pub(super) fn broken(&self, error: &dyn std::fmt::Display) -> Error {
        tracing::debug!(sandbox = %self.target.label.name, port = self.target.label.port, %error, "the program closed the connection");
        Error::PreviewBroken { port: self.target.label.port }
    }
}

/// Copies a request that can safely be sent twice (RFC 9110, 9.2.1).
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
