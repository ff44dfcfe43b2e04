//! WebSockets: a connection to the agent for each, and bytes both ways once both sides have changed over.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;

use super::{Held, headers};
use crate::app::App;
use crate::metrics::While;
use crate::placement::Wire;

/// Asks the agent to change over; if it does not, its answer is passed on as it is.
pub(super) async fn open(
    app: &App,
    wire: Wire,
    mut request: Request,
    protocol: HeaderValue,
    held: Held,
) -> hyper::Result<Response> {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(wire)).await?;
    tokio::spawn(connection.with_upgrades());
    let ours = hyper::upgrade::on(&mut request);
    headers::to_agent(request.headers_mut(), Some(protocol));
    let mut response = sender.send_request(request).await?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        headers::to_client(response.headers_mut(), None);
        return Ok(response.map(Body::new));
    }
    let theirs = hyper::upgrade::on(&mut response);
    tokio::spawn(carry(app.clone(), ours, theirs, held));
    let protocol = headers::upgrade(response.headers());
    headers::to_client(response.headers_mut(), protocol);
    Ok(response.map(|_| Body::empty()))
}

/// Bytes both ways until one side ends, or the server does.
async fn carry(app: App, ours: OnUpgrade, theirs: OnUpgrade, held: Held) {
    let metrics = Arc::clone(&app.metrics);
    let _open = While::new(&metrics.tunnels);
    let (Ok(ours), Ok(theirs)) = tokio::join!(ours, theirs) else { return };
    let (mut ours, mut theirs) = (TokioIo::new(ours), TokioIo::new(theirs));
    tokio::select! {
        // How it ended is between the two.
        _ = copy_bidirectional(&mut ours, &mut theirs) => {}
        () = app.drained() => {}
    }
    drop(held);
}
