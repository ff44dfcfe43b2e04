//! Connections that become something else than HTTP: WebSockets through a preview, and raw TCP for who has a token. One
//! connection inside for each, and bytes both ways until both halves have ended.

use std::io;
use std::sync::Arc;

use atoll_http::Slipway;
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
use super::pass::Way;
use crate::Error;
use crate::app::{App, Closing};
use crate::auth::Caller;
use crate::fleet::Need;
use crate::metrics::While;
use crate::placement::{DialError, Inside, Promise};
use crate::proxy::{Change, Held, headers};

/// What is read at once in each direction. A connection that stalls holds two of them.
const PIECE: usize = 64 * 1024;

/// Asks the program to change over; if it does not, its answer is passed on as it is.
pub(super) async fn open(
    way: &Way<'_>,
    inside: Inside,
    mut request: Request,
    change: Change,
    held: Held,
) -> Result<Response, Error> {
    let broke = |error: hyper::Error| way.broke(&error);
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(inside)).await;
    let (mut sender, connection) = handshake.map_err(broke)?;
    tokio::spawn(connection.with_upgrades());
    let ours = hyper::upgrade::on(&mut request);
    let mut response = sender.send_request(request).await.map_err(broke)?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        to_client(response.headers_mut(), &way.outside(), None);
        return Ok(response.map(Body::new));
    }
    let theirs = hyper::upgrade::on(&mut response);
    let (app, closing) = (way.app.clone(), way.app.closing(way.lease));
    tokio::spawn(async move {
        if let Ok(theirs) = theirs.await
            && let Ok(Parts { io, read_buf, .. }) = theirs.downcast::<TokioIo<Inside>>()
        {
            carry(&app, ours, io.into_inner(), read_buf, closing).await;
        }
        drop(held);
    });
    let protocol = change.kept(headers::upgrade(response.headers()));
    to_client(response.headers_mut(), &way.outside(), protocol);
    change.told(&mut response);
    Ok(response.map(|_| Body::empty()))
}

/// A connection to a port, as what it is, for a caller who may. Starts a sandbox that sleeps.
pub(crate) async fn connect(
    app: &App,
    caller: &Caller,
    name: &SandboxName,
    port: u16,
    mut request: Request,
) -> Result<Response, Error> {
    let asked = headers::upgrade(request.headers());
    if !asked.is_some_and(|protocol| protocol.as_bytes().eq_ignore_ascii_case(b"tcp")) {
        return Err(Error::UpgradeRequired { to: "tcp" });
    }
    let handle = app.fleet.get(name)?;
    let place = handle.apps.place()?;
    let held = Held::new(handle.enter(), Some(place));
    let agent = handle.reach(name, Need::Run).await?;
    let placement = &app.fleet.ground().placement;
    let inside = match placement.dial(&agent, port).await {
        // Nothing was sent yet, so it is safe to try a second time.
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
        drop(held);
    });
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
    response.headers_mut().insert(UPGRADE, HeaderValue::from_static("tcp"));
    Ok(response)
}

/// Copies bytes both ways until both sides have ended, one breaks, the server drains, or the credential ends. A break on one
/// side is a reset on the other, and so is a revoked credential: neither side must take it for the end of the data.
async fn carry(app: &App, ours: OnUpgrade, mut inside: Inside, first: Bytes, closing: Promise<'static, Closing>) {
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

/// A plain TCP client is told by a reset; others see that the connection is over.
fn abort_client(ours: hyper::upgrade::Upgraded) {
    let plain = hyper_util::server::conn::auto::upgrade::downcast::<TokioIo<Slipway>>(ours);
    // Who comes to a preview gets its end without a word: a WebSocket has words of its own.
    if let Ok(parts) = plain {
        // Closing without lingering is a reset (tcp(7)).
        rustix::net::sockopt::set_socket_linger(parts.io.inner().stream(), Some(std::time::Duration::ZERO)).ok();
    }
}
