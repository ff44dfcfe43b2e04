//! Forwards WebSockets: one connection to the agent each, and bytes in both directions after the upgrade.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::ext::Protocol;
use hyper::header::{HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY};
use hyper::upgrade::OnUpgrade;
use hyper::{Method, StatusCode, Version};
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;

use super::{RequestGuard, headers};
use crate::Error;
use crate::app::{App, Closing};
use crate::metrics::While;
use crate::placement::{AgentStream, BoxFuture};

/// How a client requests an upgrade.
#[derive(Debug)]
pub(crate) enum UpgradeRequest {
    /// Of the whole connection, to this protocol (HTTP/1.1).
    Connection(HeaderValue),
    /// Of one stream, to a WebSocket (HTTP/2, RFC 8441).
    Stream,
}

impl UpgradeRequest {
    /// Returns the requested upgrade, if any. Rewrites a request over HTTP/2 to its HTTP/1.1 form for the agent.
    pub(crate) fn from_request(request: &mut Request) -> Result<Option<Self>, Error> {
        if let Some(protocol) = headers::upgrade(request.headers()) {
            return Ok(Some(Self::Connection(protocol)));
        }
        if *request.method() != Method::CONNECT {
            return Ok(None);
        }
        let protocol = request.extensions().get::<Protocol>().map(Protocol::as_str);
        if protocol != Some("websocket") {
            return Err(Error::invalid("CONNECT opens WebSockets only (RFC 8441)"));
        }
        *request.method_mut() = Method::GET;
        // What the client sends from here on is not a request body.
        *request.body_mut() = Body::empty();
        request.headers_mut().insert(SEC_WEBSOCKET_KEY, key()?);
        Ok(Some(Self::Stream))
    }

    /// Returns the protocol to which the connection is upgraded.
    pub(crate) fn protocol(&self) -> HeaderValue {
        match self {
            Self::Connection(protocol) => protocol.clone(),
            Self::Stream => headers::WEBSOCKET,
        }
    }

    /// Returns the protocol that the response names. A stream's response names none.
    pub(crate) fn response_protocol(&self, protocol: Option<HeaderValue>) -> Option<HeaderValue> {
        protocol.filter(|_| matches!(self, Self::Connection(_)))
    }

    /// Turns the agent's response into the one that the client expects. Its headers are already those for the client.
    pub(crate) fn accept<B>(&self, response: &mut hyper::Response<B>) {
        match self {
            Self::Connection(_) => {}
            // Over HTTP/2, status 200 accepts the upgrade.
            Self::Stream => {
                response.headers_mut().remove(SEC_WEBSOCKET_ACCEPT);
                *response.status_mut() = StatusCode::OK;
                *response.version_mut() = Version::HTTP_2;
            }
        }
    }
}

/// Generates a `sec-websocket-key`: 16 bytes as base64. HTTP/2 clients send none, and agents require one; its value is
/// irrelevant.
fn key() -> Result<HeaderValue, Error> {
    let text = crate::random::text(21).map_err(|error| Error::internal("generate a key", error))?;
    HeaderValue::try_from(format!("{text}A==")).map_err(|error| Error::internal("generate a key", error))
}

/// Requests the upgrade from the agent. If the agent declines, its response is forwarded.
pub(super) async fn open(
    app: &App,
    stream: AgentStream,
    mut request: Request,
    upgrade: UpgradeRequest,
    guard: RequestGuard,
    closing: BoxFuture<'static, Closing>,
) -> hyper::Result<Response> {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection.with_upgrades());
    let ours = hyper::upgrade::on(&mut request);
    headers::to_agent(request.headers_mut(), Some(upgrade.protocol()));
    let mut response = sender.send_request(request).await?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        headers::to_client(response.headers_mut(), None);
        return Ok(response.map(Body::new));
    }
    let theirs = hyper::upgrade::on(&mut response);
    tokio::spawn(carry(app.clone(), ours, theirs, guard, closing));
    let protocol = upgrade.response_protocol(headers::upgrade(response.headers()));
    headers::to_client(response.headers_mut(), protocol);
    upgrade.accept(&mut response);
    Ok(response.map(|_| Body::empty()))
}

/// Copies bytes both ways until one side ends, the server drains, or the token ends.
async fn carry(
    app: App,
    ours: OnUpgrade,
    theirs: OnUpgrade,
    guard: RequestGuard,
    closing: BoxFuture<'static, Closing>,
) {
    let metrics = Arc::clone(&app.metrics);
    let _open = While::new(&metrics.tunnels);
    let (Ok(ours), Ok(theirs)) = tokio::join!(ours, theirs) else { return };
    let (mut ours, mut theirs) = (TokioIo::new(ours), TokioIo::new(theirs));
    tokio::select! {
        // Both sides see how it ended.
        _ = copy_bidirectional(&mut ours, &mut theirs) => {}
        // Without a close frame the client sees an abnormal closure, code 1006 (RFC 6455, 7.1.5).
        _ = closing => {}
    }
    drop(guard);
}
