//! The way to an agent: requests, answers, streams and WebSockets go through as they are, nothing is collected.
//!
//! A request has a line to the agent for itself, new or kept from an earlier one, so that a client that goes away takes
//! exactly its own line with it, and the agent knows. It decides nothing about who may: that is done before.

mod body;
pub(crate) mod headers;
mod path;
mod tunnel;

use std::sync::Arc;

use atoll_http::{LARGE_UP, Passage};
use atoll_protocol::{SandboxName, Verb};
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::response::Response;
use hyper::header::CONTENT_TYPE;
use hyper::{HeaderMap, Method, StatusCode, Uri, Version};

pub(crate) use body::{Held, Passing};
pub(crate) use tunnel::Change;

use crate::Error;
use crate::app::App;
use crate::auth::Caller;
use crate::fleet::{Handle, Need};
use crate::lines::{Line, NotSent};
use crate::placement::{Agent, Wire};
use crate::slipping;

/// What a request to a sandbox asks for, by its head. A WebSocket takes input, so it is more than a look; and so is a
/// session's snapshot, for which its shell has to run, and which tells the values of its variables. To search files is
/// a look, though what to look for is in a body. What it may reach is for whoever decides over the sandbox.
pub(crate) fn verb(request: &Request) -> Verb {
    let looks = matches!(*request.method(), Method::GET | Method::HEAD) || path::is_search(request.uri().path());
    let runs = headers::upgrade(request.headers()).is_some() || path::is_snapshot(request.uri().path());
    match (looks && !runs, path::governs(request.uri().path())) {
        (true, _) => Verb::Read,
        (false, true) => Verb::Admin,
        (false, false) => Verb::Exec,
    }
}

/// Passes a request on to the sandbox's agent, which is started if need be.
pub(crate) async fn forward(
    app: &App,
    caller: &Caller,
    name: &SandboxName,
    mut request: Request,
) -> Result<Response, Error> {
    let target = path::to_agent(request.uri().path(), request.uri().query())?;
    let wrong = |error| Error::invalid(format!("the path is wrong: {error}"));
    // To read a file something inside has to run.
    let looks = verb(&request) == Verb::Read && !path::is_files(request.uri().path());
    let need = if looks || !is_served(request.method()) { Need::Look } else { Need::Run };
    *request.uri_mut() = target.parse::<Uri>().map_err(wrong)?;
    let came_by = std::mem::replace(request.version_mut(), Version::HTTP_11);
    let passage = request.extensions_mut().remove::<Arc<Passage>>();
    let handle = app.fleet.get(name)?;
    let held = Held::new(handle.enter(), None);
    let agent = handle.reach(name, need).await?;
    let way = Way { app, name, handle: &handle, came_by, passage };
    if let Some(change) = Change::asked_for(&mut request)? {
        let (wire, _) = way.connect(agent).await?;
        let closing = app.closing(caller.lease());
        let opened = tunnel::open(app, wire, request, change, held, closing).await;
        return opened.map_err(|error| way.broke(&error));
    }
    let mut response = way.pass(agent, request, held).await?;
    if response.status() == StatusCode::UPGRADE_REQUIRED && came_by < Version::HTTP_2 {
        headers::want_upgrade(response.headers_mut());
    }
    Ok(response)
}

/// A connection to the sandbox's agent for who speaks over it as nobody else does. The sandbox is in use for as long as what
/// comes with it is held; it is started if need be.
pub(crate) async fn wire(app: &App, name: &SandboxName) -> Result<(Wire, Held), Error> {
    let handle = app.fleet.get(name)?;
    let held = Held::new(handle.enter(), None);
    let agent = handle.reach(name, Need::Run).await?;
    let way = Way { app, name, handle: &handle, came_by: Version::HTTP_11, passage: None };
    let (wire, _) = way.connect(agent).await?;
    Ok((wire, held))
}

/// Whether an agent has a use for the method. What it refuses needs no sandbox that runs.
fn is_served(method: &Method) -> bool {
    // CONNECT: a WebSocket over HTTP/2.
    let served = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::CONNECT];
    served.contains(method)
}

/// From one request to its sandbox's agent.
struct Way<'a> {
    app: &'a App,
    name: &'a SandboxName,
    handle: &'a Handle,
    /// What the client speaks.
    came_by: Version,
    /// How large bodies can go past us, where they can.
    passage: Option<Arc<Passage>>,
}

impl Way<'_> {
    async fn pass(&self, agent: Agent, mut request: Request, held: Held) -> Result<Response, Error> {
        headers::to_agent(request.headers_mut(), None);
        let is_get = request.method() == Method::GET;
        let (line, agent, mut response) = match self.rises(&request) {
            None => self.send(agent, request).await?,
            Some(client) => tokio::select! {
                sent = self.send_large(client, agent, request) => sent?,
                () = client.gone() => return Err(self.broke(&"its client is gone")),
            },
        };
        headers::to_client(response.headers_mut(), None);
        if response.status() == StatusCode::GONE {
            // A session may be gone, or the sandbox under its agent: then the next use starts another one. Nobody waits.
            let (handle, name, agent) = (self.handle.clone(), self.name.clone(), agent.clone());
            tokio::spawn(async move { handle.check(&name, agent).await });
        }
        if is_get
            && let Some(passage) = &self.passage
            && let Some(room) = slipping::room(passage, &line, &response, self.came_by)
        {
            return room.pass(line, response, held).map_err(|error| self.broke(&error));
        }
        let until = is_endless(response.headers()).then(|| self.app.drained());
        let lines = Arc::clone(&self.handle.lines);
        Ok(response.map(|body| Body::new(Passing::new(body, line, lines, agent, held).until(until))))
    }

    /// On a line that waits, if there is one. A request of which nothing has left is sent on a new one.
    async fn send(
        &self,
        agent: Agent,
        mut request: Request,
    ) -> Result<(Line, Agent, hyper::Response<hyper::body::Incoming>), Error> {
        if let Some(mut line) = self.handle.lines.take(&agent) {
            match line.send(request).await {
                Ok(response) => return Ok((line, agent, response)),
                Err(NotSent::Unsent(unsent)) => request = *unsent,
                Err(NotSent::Broken(error)) => return Err(self.broke(&error)),
            }
        }
        let (line, agent) = self.line(agent).await?;
        self.send_on(line, agent, request).await
    }

    /// The client's connection, if a request's body can go past us: a large one whose length is known.
    fn rises(&self, request: &Request) -> Option<&Arc<Passage>> {
        let is_large = request.body().size_hint().exact().is_some_and(|length| length >= LARGE_UP);
        self.passage.as_ref().filter(|_| is_large && self.came_by == Version::HTTP_11)
    }

    /// On a new connection: what goes past us cannot be sent again.
    async fn send_large(
        &self,
        client: &Arc<Passage>,
        agent: Agent,
        request: Request,
    ) -> Result<(Line, Agent, hyper::Response<hyper::body::Incoming>), Error> {
        let (line, agent) = self.line(agent).await?;
        let request = slipping::rise(client, &line, request);
        self.send_on(line, agent, request).await
    }

    async fn line(&self, agent: Agent) -> Result<(Line, Agent), Error> {
        let (wire, agent) = self.connect(agent).await?;
        let line = Line::over(wire).await.map_err(|error| self.broke(&error))?;
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

    /// Nothing was sent yet, so it is safe to try a second time.
    async fn connect(&self, agent: Agent) -> Result<(Wire, Agent), Error> {
        let placement = &self.app.fleet.ground().placement;
        if let Ok(wire) = placement.connect(&agent).await {
            return Ok((wire, agent));
        }
        let agent = self.handle.reach_again(self.name, agent).await?;
        let unavailable =
            |error| Error::AgentUnavailable { name: self.name.clone(), why: format!("does not answer: {error}") };
        Ok((placement.connect(&agent).await.map_err(unavailable)?, agent))
    }

    fn broke(&self, error: &dyn std::fmt::Display) -> Error {
        let why = format!("ended in the middle of the request, which may or may not have been carried out: {error}");
        Error::AgentUnavailable { name: self.name.clone(), why }
    }
}

/// Events go on for as long as somebody listens.
pub(crate) fn is_endless(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}
