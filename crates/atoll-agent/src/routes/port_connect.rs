//! A connection to a port inside, as what it is: bytes both ways. Over a unix socket the connection itself can be had,
//! as a descriptor, so that none of its bytes goes through here.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::TcpStream as StdStream;
use std::os::fd::AsFd;
use std::time::Duration;

use atoll_http::{SpliceStream, Stream};
use atoll_protocol::ErrorCode;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use http::header::{CONNECTION, HeaderValue, UPGRADE};
use http::{HeaderMap, StatusCode};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto::upgrade::downcast;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use tokio::io::copy_bidirectional_with_sizes;
use tokio::net::TcpStream;

use crate::agent::Agent;
use crate::error::Refusal;

/// What is read at once in each direction. Larger ones gain nothing; a connection that stalls holds two of them.
const PIECE: usize = 64 * 1024;

/// What a client wants to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// `tcp`: bytes both ways.
    Bytes,
    /// `atoll-socket`: the socket.
    Socket,
}

/// Connect to a port inside.
///
/// Asks to change over to `tcp` (`Connection: Upgrade`, `Upgrade: tcp`); after the 101, every byte is the connection's.
/// Each side may end its half, and an abort is passed on.
#[utoipa::path(get, path = "/v1/ports/{port}/connect", tag = "ports", operation_id = "connectToPort",
    params(("port" = u16, Path, description = "The port inside.", minimum = 1)),
    responses((status = 101, description = "Connected.")))]
pub(super) async fn connect(
    State(agent): State<Agent>,
    Path(port): Path<String>,
    mut request: Request,
) -> Result<Response, Refusal> {
    let port = port.parse().map_err(|_| Refusal::invalid("the port is no number from 1 to 65535"))?;
    let wanted = wanted(request.headers())?;
    let place = agent.tunnel_place();
    let busy = || Refusal::new(ErrorCode::TooManyConnections, "too many connections to ports are open");
    let place = place.ok_or_else(busy)?;
    let stream = agent.sandbox().connect(port).await?;
    let changed = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        match wanted {
            Wanted::Bytes => carry(changed, stream).await,
            // A client that is gone needs no socket; this one is closed.
            Wanted::Socket => drop(hand_over(changed, stream).await),
        }
        drop(place);
    });
    let protocol = HeaderValue::from_static(match wanted {
        Wanted::Bytes => "tcp",
        Wanted::Socket => "atoll-socket",
    });
    let headers = [(CONNECTION, HeaderValue::from_static("upgrade")), (UPGRADE, protocol)];
    Ok((StatusCode::SWITCHING_PROTOCOLS, headers, Body::empty()).into_response())
}

fn wanted(headers: &HeaderMap) -> Result<Wanted, Refusal> {
    let asked = headers.get(UPGRADE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if asked.eq_ignore_ascii_case("tcp") {
        return Ok(Wanted::Bytes);
    }
    if asked.eq_ignore_ascii_case("atoll-socket") {
        return Ok(Wanted::Socket);
    }
    Err(Refusal::invalid("this path is a connection: ask to change over with `Upgrade: tcp`"))
}

/// Bytes both ways until both halves have ended. What breaks on one side is broken off on the other, not ended.
async fn carry(changed: OnUpgrade, stream: StdStream) {
    let (Ok(client), Ok(mut inside)) = (changed.await, TcpStream::from_std(stream)) else { return };
    let mut client = TokioIo::new(client);
    if copy_bidirectional_with_sizes(&mut client, &mut inside, PIECE, PIECE).await.is_err() {
        // Closing without lingering is a reset (tcp(7)); one that is gone already is told nothing.
        rustix::net::sockopt::set_socket_linger(&inside, Some(Duration::ZERO)).ok();
    }
}

async fn hand_over(changed: OnUpgrade, stream: StdStream) -> io::Result<()> {
    let client: Upgraded = changed.await.map_err(io::Error::other)?;
    let client = downcast::<TokioIo<SpliceStream>>(client).map(|parts| parts.io.into_inner());
    let client = client.as_ref().map(SpliceStream::stream);
    let Ok(Stream::Unix(client)) = client else {
        return Err(io::Error::other("a socket can be passed over a unix socket only"));
    };
    let passed = [stream.as_fd()];
    let pass = || {
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut room);
        control.push(SendAncillaryMessage::ScmRights(&passed));
        // A descriptor travels with a byte.
        let sent = rustix::net::sendmsg(client, &[IoSlice::new(b"\n")], &mut control, SendFlags::NOSIGNAL);
        sent.map(drop).map_err(io::Error::from)
    };
    std::future::poll_fn(|context| client.poll_write_with(context, pass)).await
}
