//! Ports inside a sandbox: listening ports, connections to them, and previews.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use atoll_protocol::{
    ExposePort, LinkRequest, PortClosed, PortInfo, PortList, Preview, PreviewLink, PreviewList, SandboxName,
};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONNECTION, HOST, UPGRADE};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::client::{Client, empty};
use crate::connection::Connection;
use crate::error::Error;
use crate::events::Event;
use crate::subscription::{AfterBreak, StreamRequest, Subscription};

impl Client {
    /// Returns the listening ports inside the sandbox.
    pub async fn ports(&self) -> Result<PortList, Error> {
        self.get("/ports", &[]).await
    }

    /// Follows ports as they open and close.
    pub fn follow_ports(&self) -> PortFollow {
        let stream_request =
            StreamRequest { method: Method::GET, path: "/ports/events".to_owned(), query: Vec::new(), body: None };
        PortFollow { subscription: Subscription::new(self, stream_request, None, AfterBreak::Resume) }
    }

    /// Connects to a port inside the sandbox, as a byte stream.
    pub async fn connect_port(&self, port: u16) -> Result<PortStream, Error> {
        let uri = self.uri("http", &format!("/ports/{port}/connect"), &[])?;
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        let mut request = Request::get(target)
            .header(HOST, self.address().authority())
            .header(CONNECTION, "upgrade")
            .header(UPGRADE, "tcp");
        if let Some(token) = self.token() {
            request = request.header(AUTHORIZATION, token);
        }
        let request = request.body(Empty::<Bytes>::new()).map_err(Error::invalid)?;
        let connection = TokioIo::new(self.address().dial().await?);
        let (mut sender, driving) = http1::handshake(connection).await.map_err(Error::broken)?;
        tokio::spawn(driving.with_upgrades());
        let response = sender.send_request(request).await.map_err(Error::broken)?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            let status = response.status();
            let body = response.into_body().collect().await.map(http_body_util::Collected::to_bytes);
            return Err(Error::refused(status, &body.unwrap_or_default()));
        }
        let upgraded = hyper::upgrade::on(response).await.map_err(Error::broken)?;
        Ok(PortStream { inner: TokioIo::new(upgraded) })
    }

    /// Returns the exposed ports of a sandbox of this server.
    pub async fn previews(&self, name: &SandboxName) -> Result<PreviewList, Error> {
        self.get(&format!("/sandboxes/{name}/previews"), &[]).await
    }

    /// Exposes a port of a sandbox of this server, or changes how it is exposed.
    pub async fn expose(&self, name: &SandboxName, port: u16, request: &ExposePort) -> Result<Preview, Error> {
        let builder = self.request(Method::PUT, &format!("/sandboxes/{name}/previews/{port}"), &[])?;
        builder.send_json(request).await?.json().await
    }

    /// Replaces the token of an exposed port, which invalidates its previous URLs.
    pub async fn rotate_preview(&self, name: &SandboxName, port: u16) -> Result<Preview, Error> {
        self.post(&format!("/sandboxes/{name}/previews/{port}/rotate"), &json!({})).await
    }

    /// Signs a link that grants access to an exposed port until it expires.
    pub async fn preview_link(
        &self,
        name: &SandboxName,
        port: u16,
        request: &LinkRequest,
    ) -> Result<PreviewLink, Error> {
        self.post(&format!("/sandboxes/{name}/previews/{port}/link"), request).await
    }

    /// Unexposes a port. Does nothing if the port is not exposed.
    pub async fn unexpose(&self, name: &SandboxName, port: u16) -> Result<(), Error> {
        let builder = self.request(Method::DELETE, &format!("/sandboxes/{name}/previews/{port}"), &[])?;
        builder.send(empty()).await.map(drop)
    }
}

/// An event of followed ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PortEvent {
    /// All open ports: the first event, and again after each reconnect.
    Ports(Vec<PortInfo>),
    /// A process listens on this port now.
    Opened(PortInfo),
    /// No process listens on this port any more.
    Closed(u16),
}

/// Follows ports. It reconnects by itself, and then returns all open ports again.
#[derive(Debug)]
pub struct PortFollow {
    subscription: Subscription,
}

impl PortFollow {
    /// Returns the next event. Cancel safe: dropping the future loses no events.
    pub async fn next(&mut self) -> Result<PortEvent, Error> {
        loop {
            let Event { name, data } = self.subscription.next().await?;
            let decoded = match name.as_str() {
                "ports" => serde_json::from_str(&data).map(|list: PortList| PortEvent::Ports(list.ports)),
                "opened" => serde_json::from_str(&data).map(PortEvent::Opened),
                "closed" => serde_json::from_str(&data).map(|closed: PortClosed| PortEvent::Closed(closed.port)),
                // A later server may send other events.
                _ => continue,
            };
            return decoded.map_err(Error::invalid_response);
        }
    }
}

/// A connection to a port inside a sandbox.
#[derive(Debug)]
pub struct PortStream {
    inner: TokioIo<Upgraded>,
}

impl PortStream {
    /// Aborts the connection with a reset, so that the program inside does not see a normal end. A unix socket has no
    /// reset, so the program sees a normal end there.
    pub fn abort(self) {
        if let Ok(parts) = self.inner.into_inner().downcast::<TokioIo<Connection>>()
            && let Connection::Tcp(stream) = parts.io.into_inner()
        {
            // Closing without lingering sends a reset (tcp(7)).
            rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).ok();
        }
    }
}

impl AsyncRead for PortStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_read(context, buffer)
    }
}

impl AsyncWrite for PortStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(context)
    }
}
