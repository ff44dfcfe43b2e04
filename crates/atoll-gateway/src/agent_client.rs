//! A minimal HTTP client for the gateway's own requests to agents. Requests of clients go through `proxy`.

use std::io;

use atoll_protocol::{ErrorAnswer, SandboxInfo, SandboxState};
use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::header::HOST;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;

use crate::placement::AgentStream;

/// Largest response that is read, in bytes.
const RESPONSE_MAX: usize = 1024 * 1024;

/// Sends a request without a body and reads the whole response.
pub(crate) async fn request(stream: AgentStream, method: Method, path: &str) -> io::Result<(StatusCode, Bytes)> {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, "agent")
        .body(Empty::<Bytes>::new())
        .map_err(io::Error::other)?;
    let exchange = async {
        let response = sender.send_request(request).await.map_err(io::Error::other)?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, RESPONSE_MAX).collect().await.map_err(io::Error::other)?;
        Ok((parts.status, body.to_bytes()))
    };
    tokio::pin!(exchange, connection);
    tokio::select! {
        response = &mut exchange => response,
        // The response may have arrived together with the end of the connection.
        _ = &mut connection => exchange.await,
    }
}

/// Returns the agent's description of its sandbox.
pub(crate) async fn info(stream: AgentStream) -> io::Result<SandboxInfo> {
    let (_, body) = request(stream, Method::GET, "/v1/sandbox").await?;
    serde_json::from_slice(&body).map_err(io::Error::other)
}

/// Sends a POST without a body. Returns the agent's error if it responds with one.
pub(crate) async fn post(stream: AgentStream, path: &str) -> io::Result<Result<(), ErrorAnswer>> {
    let (status, body) = request(stream, Method::POST, path).await?;
    if status.is_success() {
        return Ok(Ok(()));
    }
    serde_json::from_slice(&body).map(Err).map_err(io::Error::other)
}

/// Returns whether the agent's sandbox is paused. `false` if the agent does not respond.
pub(crate) async fn is_paused(stream: AgentStream) -> bool {
    info(stream).await.is_ok_and(|info| info.state == SandboxState::Paused)
}
