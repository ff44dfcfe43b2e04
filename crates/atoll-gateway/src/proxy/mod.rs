//! Forwards requests, responses, streams and WebSockets to agents without buffering them.
//!
//! Each request has a connection to the agent for itself, new or pooled, so that a disconnecting client closes exactly
//! its own connection and the agent notices. Authorization happens before, not here.

mod body;
pub(crate) mod headers;
mod path;
mod tunnel;

use std::sync::Arc;

use atoll_http::{SPLICE_REQUEST_MIN, SpliceHandle};
use atoll_protocol::{SandboxName, Verb};
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::response::Response;
use hyper::header::CONTENT_TYPE;
use hyper::{HeaderMap, Method, StatusCode, Uri, Version};

pub(crate) use body::{ForwardedBody, RequestGuard};
pub(crate) use tunnel::UpgradeRequest;

use crate::Error;
use crate::agent_pool::{PooledConn, SendError};
use crate::app::App;
use crate::auth::Caller;
use crate::placement::{Agent, AgentStream};
use crate::sandboxes::{Need, SandboxHandle};
use crate::spliced_body;

/// Returns the permission that a request to a sandbox needs, from its head. A WebSocket takes input, so it needs more
/// than `read`; so does a session's snapshot, which runs its shell and returns the values of its variables. Searching
/// files is `read`, although it has a body. Network rules and secrets need `admin`.
pub(crate) fn verb(request: &Request) -> Verb {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD) || path::is_search(request.uri().path());
    let needs_exec = headers::upgrade(request.headers()).is_some() || path::is_snapshot(request.uri().path());
    match (is_read && !needs_exec, path::governs(request.uri().path())) {
        (true, _) => Verb::Read,
        (false, true) => Verb::Admin,
        (false, false) => Verb::Exec,
    }
}

/// Forwards a request to the sandbox's agent. Starts the sandbox if necessary.
pub(crate) async fn forward(
    app: &App,
    caller: &Caller,
    name: &SandboxName,
    mut request: Request,
) -> Result<Response, Error> {
    let target = path::to_agent(request.uri().path(), request.uri().query())?;
    let wrong = |error| Error::invalid(format!("invalid path: {error}"));
    // Reading a file runs a worker inside.
    let is_read = verb(&request) == Verb::Read && !path::is_files(request.uri().path());
    let need = if is_read || !is_served(request.method()) { Need::Inspect } else { Need::Run };
    *request.uri_mut() = target.parse::<Uri>().map_err(wrong)?;
    let client_version = std::mem::replace(request.version_mut(), Version::HTTP_11);
    let splice = request.extensions_mut().remove::<Arc<SpliceHandle>>();
    let handle = app.sandboxes.get(name)?;
    let guard = RequestGuard::new(handle.enter(), None);
    let agent = handle.reach(name, need).await?;
    let upstream = Upstream { app, name, handle: &handle, client_version, splice };
    if let Some(upgrade) = UpgradeRequest::from_request(&mut request)? {
        let (stream, _) = upstream.connect(agent).await?;
        let closing = app.closing(caller.lease());
        let opened = tunnel::open(app, stream, request, upgrade, guard, closing).await;
        return opened.map_err(|error| upstream.broken(&error));
    }
    let mut response = upstream.pass(agent, request, guard).await?;
    if response.status() == StatusCode::UPGRADE_REQUIRED && client_version < Version::HTTP_2 {
        headers::want_upgrade(response.headers_mut());
    }
    Ok(response)
}

/// Opens an unpooled connection to the agent, for callers that speak a raw protocol. Starts the sandbox if necessary.
/// The sandbox counts as in use until the guard is dropped.
pub(crate) async fn connect(app: &App, name: &SandboxName) -> Result<(AgentStream, RequestGuard), Error> {
    let handle = app.sandboxes.get(name)?;
    let guard = RequestGuard::new(handle.enter(), None);
    let agent = handle.reach(name, Need::Run).await?;
    let upstream = Upstream { app, name, handle: &handle, client_version: Version::HTTP_11, splice: None };
    let (stream, _) = upstream.connect(agent).await?;
    Ok((stream, guard))
}

/// Whether agents serve the method at all. Other methods are rejected without starting the sandbox.
fn is_served(method: &Method) -> bool {
    // CONNECT opens a WebSocket over HTTP/2.
    let served = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::CONNECT];
    served.contains(method)
}

/// The agent to which one request is forwarded.
struct Upstream<'a> {
    app: &'a App,
    name: &'a SandboxName,
    handle: &'a SandboxHandle,
    /// The HTTP version of the client.
    client_version: Version,
    /// The client's connection, if bodies can be spliced to it.
    splice: Option<Arc<SpliceHandle>>,
}

impl Upstream<'_> {
    async fn pass(&self, agent: Agent, mut request: Request, guard: RequestGuard) -> Result<Response, Error> {
        headers::to_agent(request.headers_mut(), None);
        let is_get = request.method() == Method::GET;
        let (conn, agent, mut response) = match self.splice_client(&request) {
            None => self.send(agent, request).await?,
            Some(client) => tokio::select! {
                sent = self.send_large(client, agent, request) => sent?,
                () = client.peer_closed() => return Err(self.broken(&"the client disconnected")),
            },
        };
        headers::to_client(response.headers_mut(), None);
        if response.status() == StatusCode::GONE {
            // Either a session is gone, or the sandbox of the agent. In the latter case, the next use starts a new
            // one. Checked in the background.
            let (handle, name, agent) = (self.handle.clone(), self.name.clone(), agent.clone());
            tokio::spawn(async move { handle.check(&name, agent).await });
        }
        if is_get
            && let Some(splice) = &self.splice
            && let Some(splice) = spliced_body::prepare_response(splice, &conn, &response, self.client_version)
        {
            return splice.into_response(conn, response, guard).map_err(|error| self.broken(&error));
        }
        let until = is_endless(response.headers()).then(|| self.app.drained());
        let pool = Arc::clone(&self.handle.pool);
        Ok(response.map(|body| Body::new(ForwardedBody::new(body, conn, pool, agent, guard).until(until))))
    }

    /// Sends the request on a pooled connection if there is one, and on a new one if no byte of it was written.
    async fn send(
        &self,
        agent: Agent,
        mut request: Request,
    ) -> Result<(PooledConn, Agent, hyper::Response<hyper::body::Incoming>), Error> {
        if let Some(mut conn) = self.handle.pool.checkout(&agent) {
            match conn.send(request).await {
                Ok(response) => return Ok((conn, agent, response)),
                Err(SendError::Unsent(unsent)) => request = *unsent,
                Err(SendError::Broken(error)) => return Err(self.broken(&error)),
            }
        }
        let (conn, agent) = self.conn(agent).await?;
        self.send_over(conn, agent, request).await
    }

    /// Returns the client's connection if the request's body can be spliced: it is large and its length is known.
    fn splice_client(&self, request: &Request) -> Option<&Arc<SpliceHandle>> {
        let is_large = request.body().size_hint().exact().is_some_and(|length| length >= SPLICE_REQUEST_MIN);
        self.splice.as_ref().filter(|_| is_large && self.client_version == Version::HTTP_11)
    }

    /// Sends the request on a new connection, since a spliced body cannot be sent twice.
    async fn send_large(
        &self,
        client: &Arc<SpliceHandle>,
        agent: Agent,
        request: Request,
    ) -> Result<(PooledConn, Agent, hyper::Response<hyper::body::Incoming>), Error> {
        let (conn, agent) = self.conn(agent).await?;
        let request = spliced_body::splice_request(client, &conn, request);
        self.send_over(conn, agent, request).await
    }

    async fn conn(&self, agent: Agent) -> Result<(PooledConn, Agent), Error> {
        let (stream, agent) = self.connect(agent).await?;
        let conn = PooledConn::over(stream).await.map_err(|error| self.broken(&error))?;
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

    /// Connects to the agent. Retries once, which is safe: nothing was sent yet.
    async fn connect(&self, agent: Agent) -> Result<(AgentStream, Agent), Error> {
        let placement = &self.app.sandboxes.services().placement;
        if let Ok(stream) = placement.connect(&agent).await {
            return Ok((stream, agent));
        }
        let agent = self.handle.reach_again(self.name, agent).await?;
        let unavailable =
            |error| Error::AgentUnavailable { name: self.name.clone(), why: format!("does not answer: {error}") };
        Ok((placement.connect(&agent).await.map_err(unavailable)?, agent))
    }

    fn broken(&self, error: &dyn std::fmt::Display) -> Error {
        let why = format!("ended in the middle of the request, which may or may not have been carried out: {error}");
        Error::AgentUnavailable { name: self.name.clone(), why }
    }
}

/// Whether a response is an event stream, which has no end of its own.
pub(crate) fn is_endless(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}
