//! WebSockets: a connection to the agent for each, and bytes both ways once both sides have changed over.

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

use super::{Held, headers};
use crate::Error;
use crate::app::{App, Closing};
use crate::metrics::While;
use crate::placement::{Promise, Wire};

/// How a client asks to change over.
#[derive(Debug)]
pub(crate) enum Change {
    /// The whole connection, to this protocol (HTTP/1.1).
    Connection(HeaderValue),
    /// One stream of it, to a WebSocket (HTTP/2, RFC 8441).
    Stream,
}

impl Change {
    /// What is asked for, if anything. A request over HTTP/2 becomes what an agent knows.
    pub(crate) fn asked_for(request: &mut Request) -> Result<Option<Self>, Error> {
        if let Some(protocol) = headers::upgrade(request.headers()) {
            return Ok(Some(Self::Connection(protocol)));
        }
        if *request.method() != Method::CONNECT {
            return Ok(None);
        }
        let protocol = request.extensions().get::<Protocol>().map(Protocol::as_str);
        if protocol != Some("websocket") {
            return Err(Error::invalid("only a WebSocket can be connected to (RFC 8441)"));
        }
        *request.method_mut() = Method::GET;
        // What the client sends from here on is no body.
        *request.body_mut() = Body::empty();
        request.headers_mut().insert(SEC_WEBSOCKET_KEY, key()?);
        Ok(Some(Self::Stream))
    }

    /// What is changed to.
    pub(crate) fn protocol(&self) -> HeaderValue {
        match self {
            Self::Connection(protocol) => protocol.clone(),
            Self::Stream => headers::WEBSOCKET,
        }
    }

    /// What the answer says of the change: a stream's says nothing.
    pub(crate) fn kept(&self, protocol: Option<HeaderValue>) -> Option<HeaderValue> {
        protocol.filter(|_| matches!(self, Self::Connection(_)))
    }

    /// An answer that changed over, as the client waits for it. Its headers are as they go to the client already.
    pub(crate) fn told<B>(&self, response: &mut hyper::Response<B>) {
        match self {
            Self::Connection(_) => {}
            // The stream is open, and says so as streams do.
            Self::Stream => {
                response.headers_mut().remove(SEC_WEBSOCKET_ACCEPT);
                *response.status_mut() = StatusCode::OK;
                *response.version_mut() = Version::HTTP_2;
            }
        }
    }
}

/// Over HTTP/2 a client sends none, and an agent asks for one: 16 bytes as base64, of which nothing depends.
fn key() -> Result<HeaderValue, Error> {
    let text = crate::random::text(21).map_err(|error| Error::internal("make up a key", error))?;
    HeaderValue::try_from(format!("{text}A==")).map_err(|error| Error::internal("make up a key", error))
}

/// Asks the agent to change over; if it does not, its answer is passed on as it is.
pub(super) async fn open(
    app: &App,
    wire: Wire,
    mut request: Request,
    change: Change,
    held: Held,
    closing: Promise<'static, Closing>,
) -> hyper::Result<Response> {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(wire)).await?;
    tokio::spawn(connection.with_upgrades());
    let ours = hyper::upgrade::on(&mut request);
    headers::to_agent(request.headers_mut(), Some(change.protocol()));
    let mut response = sender.send_request(request).await?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        headers::to_client(response.headers_mut(), None);
        return Ok(response.map(Body::new));
    }
    let theirs = hyper::upgrade::on(&mut response);
    tokio::spawn(carry(app.clone(), ours, theirs, held, closing));
    let protocol = change.kept(headers::upgrade(response.headers()));
    headers::to_client(response.headers_mut(), protocol);
    change.told(&mut response);
    Ok(response.map(|_| Body::empty()))
}

/// Copies bytes both ways until one side ends, the server drains, or the token ends.
async fn carry(app: App, ours: OnUpgrade, theirs: OnUpgrade, held: Held, closing: Promise<'static, Closing>) {
    let metrics = Arc::clone(&app.metrics);
    let _open = While::new(&metrics.tunnels);
    let (Ok(ours), Ok(theirs)) = tokio::join!(ours, theirs) else { return };
    let (mut ours, mut theirs) = (TokioIo::new(ours), TokioIo::new(theirs));
    tokio::select! {
        // How it ended is between the two.
        _ = copy_bidirectional(&mut ours, &mut theirs) => {}
        // Without a close frame the client sees an abnormal closure, code 1006 (RFC 6455, 7.1.5).
        _ = closing => {}
    }
    drop(held);
}
