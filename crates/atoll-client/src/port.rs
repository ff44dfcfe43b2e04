//! Ports inside a sandbox: what listens, as it changes, connections to it, and how it is exposed.

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
use crate::subscription::{AfterBreak, Question, Subscription};

impl Client {
    /// Ports on which something listens inside.
    pub async fn ports(&self) -> Result<PortList, Error> {
        self.get("/ports", &[]).await
    }

    /// Follows ports as they open and close.
    pub fn follow_ports(&self) -> PortFollow {
        let question =
            Question { method: Method::GET, path: "/ports/events".to_owned(), query: Vec::new(), body: None };
        PortFollow { subscription: Subscription::new(self, question, None, AfterBreak::Resume) }
    }

    /// Connects to a port inside: bytes both ways.
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

    /// Exposed ports of a sandbox of this server.
    pub async fn previews(&self, name: &SandboxName) -> Result<PreviewList, Error> {
        self.get(&format!("/sandboxes/{name}/previews"), &[]).await
    }

    /// Exposes a port of a sandbox of this server, or changes how it is exposed.
    pub async fn expose(&self, name: &SandboxName, port: u16, asked: &ExposePort) -> Result<Preview, Error> {
        let ask = self.request(Method::PUT, &format!("/sandboxes/{name}/previews/{port}"), &[])?;
        ask.send_json(asked).await?.json().await
    }

    /// Gives an exposed port another token: its URLs so far lead nowhere from now on.
    pub async fn rotate_preview(&self, name: &SandboxName, port: u16) -> Result<Preview, Error> {
        self.post(&format!("/sandboxes/{name}/previews/{port}/rotate"), &json!({})).await
    }

    /// Signs a link to an exposed port that lets in whoever has it, for a while.
    pub async fn preview_link(&self, name: &SandboxName, port: u16, asked: &LinkRequest) -> Result<PreviewLink, Error> {
        self.post(&format!("/sandboxes/{name}/previews/{port}/link"), asked).await
    }

    /// Ends the exposure of a port. One that is not exposed is no error.
    pub async fn unexpose(&self, name: &SandboxName, port: u16) -> Result<(), Error> {
        let ask = self.request(Method::DELETE, &format!("/sandboxes/{name}/previews/{port}"), &[])?;
        ask.send(empty()).await.map(drop)
    }
}

/// What a follower of ports is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PortEvent {
    /// Everything that is open: first, and again after a break.
    Ports(Vec<PortInfo>),
    /// Something listens on it now.
    Opened(PortInfo),
    /// Nothing does any more.
    Closed(u16),
}

/// A follower of ports. After a dropped connection it tells everything that is open then.
#[derive(Debug)]
pub struct PortFollow {
    subscription: Subscription,
}

impl PortFollow {
    /// The next event. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<PortEvent, Error> {
        loop {
            let Event { name, data } = self.subscription.next().await?;
            let told = match name.as_str() {
                "ports" => serde_json::from_str(&data).map(|list: PortList| PortEvent::Ports(list.ports)),
                "opened" => serde_json::from_str(&data).map(PortEvent::Opened),
                "closed" => serde_json::from_str(&data).map(|closed: PortClosed| PortEvent::Closed(closed.port)),
                // A later server may tell more.
                _ => continue,
            };
            return told.map_err(Error::nonsense);
        }
    }
}

/// A connection to a port inside.
#[derive(Debug)]
pub struct PortStream {
    inner: TokioIo<Upgraded>,
}

impl PortStream {
    /// Breaks it off: the program inside is told that the connection broke, not that it ended. Over a unix socket that
    /// cannot be told, and it ends.
    pub fn abort(self) {
        if let Ok(parts) = self.inner.into_inner().downcast::<TokioIo<Connection>>()
            && let Connection::Tcp(stream) = parts.io.into_inner()
        {
            // Closing without lingering is a reset (tcp(7)).
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
