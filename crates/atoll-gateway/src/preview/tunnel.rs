//! Upgraded connections: WebSockets through a preview, and raw TCP for clients with a token. Each has its own
//! connection to the port; bytes are copied in both directions until both sides have ended.

use std::io;
use std::sync::Arc;

use atoll_http::SpliceStream;
use atoll_protocol::SandboxName;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONNECTION, HeaderValue, UPGRADE};
use hyper::upgrade::{OnUpgrade, Parts};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncWriteExt, copy_bidirectional_with_sizes};

use super::headers::to_client;
use super::proxy::Upstream;
use crate::Error;
use crate::app::{App, Closing};
use crate::auth::Caller;
use crate::metrics::While;
use crate::placement::{BoxFuture, DialError, PortStream};
use crate::proxy::{RequestGuard, UpgradeRequest, headers};
use crate::sandboxes::Need;

/// Buffer size per direction. A stalled connection holds two buffers.
const PIECE: usize = 64 * 1024;

/// Requests the upgrade from the program. If the program declines, its response is forwarded.
pub(super) async fn open(
    upstream: &Upstream<'_>,
    inside: PortStream,
    mut request: Request,
    upgrade: UpgradeRequest,
    guard: RequestGuard,
) -> Result<Response, Error> {
    let broken = |error: hyper::Error| upstream.broken(&error);
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(inside)).await;
    let (mut sender, connection) = handshake.map_err(broken)?;
    tokio::spawn(connection.with_upgrades());
    let ours = hyper::upgrade::on(&mut request);
    let mut response = sender.send_request(request).await.map_err(broken)?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        to_client(response.headers_mut(), &upstream.public_url(), None);
        return Ok(response.map(Body::new));
    }
    let theirs = hyper::upgrade::on(&mut response);
    let (app, closing) = (upstream.app.clone(), upstream.app.closing(upstream.lease));
    tokio::spawn(async move {
        if let Ok(theirs) = theirs.await
            && let Ok(Parts { io, read_buf, .. }) = theirs.downcast::<TokioIo<PortStream>>()
        {
            carry(&app, ours, io.into_inner(), read_buf, closing).await;
        }
        drop(guard);
    });
    let protocol = upgrade.response_protocol(headers::upgrade(response.headers()));
    to_client(response.headers_mut(), &upstream.public_url(), protocol);
    upgrade.accept(&mut response);
    Ok(response.map(|_| Body::empty()))
}

/// Opens a raw TCP connection to a port, for an authorized caller. Starts a stopped sandbox.
pub(crate) async fn connect(
    app: &App,
    caller: &Caller,
    name: &SandboxName,
    port: u16,
    mut request: Request,
) -> Result<Response, Error> {
    let requested = headers::upgrade(request.headers());
    if !requested.is_some_and(|protocol| protocol.as_bytes().eq_ignore_ascii_case(b"tcp")) {
        return Err(Error::UpgradeRequired { to: "tcp" });
    }
    let handle = app.sandboxes.get(name)?;
    let permit = handle.app_pools.permit()?;
    let guard = RequestGuard::new(handle.enter(), Some(permit));
    let agent = handle.reach(name, Need::Run).await?;
    let placement = &app.sandboxes.services().placement;
    let inside = match placement.dial(&agent, port).await {
        // Retried once, which is safe: nothing was sent yet.
        Err(DialError::Unreachable(_)) => placement.dial(&handle.reach_again(name, agent).await?, port).await,
        dialled => dialled,
    };
    let inside = inside.map_err(|error| match error {
        DialError::Refused(body) => Error::Agent { body },
        DialError::Unreachable(error) => {
            Error::AgentUnavailable { name: name.clone(), why: format!("does not answer: {error}") }
        }
    })?;
    let ours = hyper::upgrade::on(&mut request);
    let (app, closing) = (app.clone(), app.closing(caller.lease()));
    tokio::spawn(async move {
        carry(&app, ours, inside, Bytes::new(), closing).await;
        drop(guard);
    });
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
    response.headers_mut().insert(UPGRADE, HeaderValue::from_static("tcp"));
    Ok(response)
}

/// Copies bytes in both directions until both sides have ended, one fails, the server drains, or the credential ends.
/// A failure on one side resets the other, and so does a revoked credential: neither side must take it for the end of
/// the data.
async fn carry(app: &App, ours: OnUpgrade, mut inside: PortStream, first: Bytes, closing: BoxFuture<'static, Closing>) {
    let metrics = Arc::clone(&app.metrics);
    let _open = While::new(&metrics.tunnels);
    let Ok(ours) = ours.await else { return inside.abort() };
    let mut ours = TokioIo::new(ours);
    let copied: io::Result<()> = tokio::select! {
        copied = async {
            ours.write_all(&first).await?;
            copy_bidirectional_with_sizes(&mut ours, &mut inside, PIECE, PIECE).await.map(drop)
        } => copied,
        closing = closing => match closing {
            Closing::Draining => Ok(()),
            Closing::Revoked => Err(io::ErrorKind::PermissionDenied.into()),
        },
    };
    if copied.is_err() {
        inside.abort();
        abort_client(ours.into_inner());
    }
}

/// Resets the connection of a plain TCP client. Other clients see the connection close.
fn abort_client(ours: hyper::upgrade::Upgraded) {
    let plain = hyper_util::server::conn::auto::upgrade::downcast::<TokioIo<SpliceStream>>(ours);
    // A preview's client sees the connection close: WebSockets have their own close frames.
    if let Ok(parts) = plain {
        // Closing without lingering is a reset (tcp(7)).
        rustix::net::sockopt::set_socket_linger(parts.io.inner().stream(), Some(std::time::Duration::ZERO)).ok();
    }
}
