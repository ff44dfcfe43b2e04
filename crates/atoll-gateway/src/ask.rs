//! One small request to an agent by the gateway itself. What clients ask goes through `proxy` instead.

use std::io;

use atoll_protocol::{ErrorAnswer, SandboxInfo, SandboxState};
use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::header::HOST;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;

use crate::placement::Wire;

/// The most that an agent's answer to us may hold.
const ANSWER_MAX: usize = 1024 * 1024;

/// Asks, and reads the whole answer.
pub(crate) async fn one(wire: Wire, method: Method, path: &str) -> io::Result<(StatusCode, Bytes)> {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(wire)).await.map_err(io::Error::other)?;
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, "agent")
        .body(Empty::<Bytes>::new())
        .map_err(io::Error::other)?;
    let asked = async {
        let response = sender.send_request(request).await.map_err(io::Error::other)?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, ANSWER_MAX).collect().await.map_err(io::Error::other)?;
        Ok((parts.status, body.to_bytes()))
    };
    tokio::pin!(asked, connection);
    tokio::select! {
        answer = &mut asked => answer,
        // The answer may have come with the end of the connection.
        _ = &mut connection => asked.await,
    }
}

/// What an agent says of its sandbox.
pub(crate) async fn info(wire: Wire) -> io::Result<SandboxInfo> {
    let (_, body) = one(wire, Method::GET, "/v1/sandbox").await?;
    serde_json::from_slice(&body).map_err(io::Error::other)
}

/// Has an agent do something to its sandbox as a whole; its own error if it will not.
pub(crate) async fn tell(wire: Wire, path: &str) -> io::Result<Result<(), ErrorAnswer>> {
    let (status, body) = one(wire, Method::POST, path).await?;
    if status.is_success() {
        return Ok(Ok(()));
    }
    serde_json::from_slice(&body).map(Err).map_err(io::Error::other)
}

/// Whether an agent's sandbox is paused.
pub(crate) async fn is_paused(wire: Wire) -> bool {
    info(wire).await.is_ok_and(|info| info.state == SandboxState::Paused)
}
