//! The way to an agent: requests, answers, streams and WebSockets go through as they are, nothing is collected.
//!
//! One connection to the agent for each request, so that a client that goes away takes exactly its own connection with
//! it, and the agent knows. It decides nothing about who may: that is done before.

mod body;
mod headers;
mod path;

use std::sync::Arc;

use atoll_protocol::{SandboxName, Verb};
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method, StatusCode, Uri, Version};
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;

use body::Passing;

use crate::Error;
use crate::app::App;
use crate::fleet::{Handle, InUse, Need};
use crate::metrics::While;
use crate::placement::{Agent, Wire};

/// What a request to a sandbox asks for, by its head. A WebSocket takes input, so it is more than a look; and so is a
/// session's snapshot, for which its shell has to run, and which tells the values of its variables.
pub(crate) fn verb(request: &Request) -> Verb {
    let looks = matches!(*request.method(), Method::GET | Method::HEAD);
    let runs = headers::upgrade(request.headers()).is_some() || path::is_snapshot(request.uri().path());
    if looks && !runs { Verb::Read } else { Verb::Exec }
}

/// Passes a request on to the sandbox's agent, which is started if need be.
pub(crate) async fn forward(app: &App, name: &SandboxName, request: Request) -> Result<Response, Error> {
    let target = path::to_agent(request.uri().path(), request.uri().query())?;
    let handle = app.fleet.get(name)?;
    let in_use = handle.enter();
    let need = if verb(&request) == Verb::Read { Need::Look } else { Need::Run };
    let agent = handle.reach(name, need).await?;
    let wire = connect(app, name, &handle, agent.clone()).await?;
    let response = pass(app, name, wire, target, request, in_use).await?;
    if response.status() == StatusCode::GONE {
        // A session may be gone, or the sandbox under its agent: then the next use starts another one. Nobody waits.
        let name = name.clone();
        tokio::spawn(async move { handle.check(&name, agent).await });
    }
    Ok(response)
}

/// Nothing was sent yet, so it is safe to try a second time.
async fn connect(app: &App, name: &SandboxName, handle: &Handle, agent: Agent) -> Result<Wire, Error> {
    let placement = &app.fleet.ground().placement;
    if let Ok(wire) = placement.connect(&agent).await {
        return Ok(wire);
    }
    let agent = handle.reach_again(name, agent).await?;
    let unavailable = |error| Error::AgentUnavailable { name: name.clone(), why: format!("does not answer: {error}") };
    placement.connect(&agent).await.map_err(unavailable)
}

async fn pass(
    app: &App,
    name: &SandboxName,
    wire: Wire,
    target: String,
    mut request: Request,
    in_use: InUse,
) -> Result<Response, Error> {
    let unavailable = |error: &dyn std::fmt::Display| Error::AgentUnavailable {
        name: name.clone(),
        why: format!("ended in the middle of the request, which may or may not have been carried out: {error}"),
    };
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(wire)).await.map_err(|error| unavailable(&error))?;
    tokio::spawn(connection.with_upgrades());
    let ours = hyper::upgrade::on(&mut request);
    let upgrade = headers::upgrade(request.headers());
    let request = to_agent(request, &target, upgrade)?;
    let mut response = sender.send_request(request).await.map_err(|error| unavailable(&error))?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        let theirs = hyper::upgrade::on(&mut response);
        tokio::spawn(tunnel(app.clone(), ours, theirs, in_use));
        let protocol = headers::upgrade(response.headers());
        headers::to_client(response.headers_mut(), protocol);
        return Ok(response.map(|_| Body::empty()));
    }
    headers::to_client(response.headers_mut(), None);
    let until = is_endless(response.headers()).then(|| app.drained());
    Ok(response.map(|body| Body::new(Passing::new(body, in_use, until))))
}

fn to_agent(mut request: Request, target: &str, upgrade: Option<HeaderValue>) -> Result<Request, Error> {
    *request.uri_mut() =
        target.parse::<Uri>().map_err(|error| Error::invalid(format!("the path is wrong: {error}")))?;
    *request.version_mut() = Version::HTTP_11;
    headers::to_agent(request.headers_mut(), upgrade);
    Ok(request)
}

/// Events go on for as long as somebody listens.
fn is_endless(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// Bytes both ways until one side ends, or the server does.
async fn tunnel(app: App, ours: hyper::upgrade::OnUpgrade, theirs: hyper::upgrade::OnUpgrade, in_use: InUse) {
    let metrics = Arc::clone(&app.metrics);
    let _open = While::new(&metrics.tunnels);
    let (Ok(ours), Ok(theirs)) = tokio::join!(ours, theirs) else { return };
    let (mut ours, mut theirs) = (TokioIo::new(ours), TokioIo::new(theirs));
    tokio::select! {
        // How it ended is between the two.
        _ = copy_bidirectional(&mut ours, &mut theirs) => {}
        () = app.drained() => {}
    }
    drop(in_use);
}
