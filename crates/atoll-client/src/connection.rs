//! Connections to the server: unix socket, TCP, TLS, or a pipe within the same process, behind one type.

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection as Described};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

use crate::Error;
use crate::tls::Tls;

/// Address of the server.
#[derive(Debug, Clone)]
pub(crate) enum Address {
    Unix(PathBuf),
    /// `host:port`.
    Tcp(String),
    /// `host:port`, over TLS.
    Tls(String, Tls),
    /// In this process.
    InProcess(InProcess),
}

/// Receives the server's end of a new in-process connection.
#[derive(Clone)]
pub(crate) struct InProcess(pub(crate) Arc<dyn Fn(DuplexStream) + Send + Sync>);

impl std::fmt::Debug for InProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InProcess")
    }
}

/// Buffer size of an in-process connection.
const BUFFER_SIZE: usize = 64 * 1024;

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "{}", path.display()),
            Self::Tcp(address) | Self::Tls(address, _) => f.write_str(address),
            Self::InProcess(_) => f.write_str("this process"),
        }
    }
}

impl Address {
    /// Returns the authority to use in URLs.
    pub(crate) fn authority(&self) -> &str {
        match self {
            Self::Unix(_) | Self::InProcess(_) => "localhost",
            Self::Tcp(address) | Self::Tls(address, _) => address,
        }
    }

    pub(crate) async fn dial(&self) -> Result<Connection, Error> {
        let dialled = match self {
            Self::Unix(path) => UnixStream::connect(path).await.map(Connection::Unix),
            Self::Tcp(address) => dial_tcp(address).await.map(Connection::Tcp),
            Self::Tls(address, tls) => match dial_tcp(address).await {
                Ok(stream) => tls.over(stream).await.map(|stream| Connection::Tls(Box::new(stream))),
                Err(error) => Err(error),
            },
            Self::InProcess(InProcess(take)) => {
                let (ours, theirs) = tokio::io::duplex(BUFFER_SIZE);
                take(theirs);
                Ok(Connection::InProcess(ours))
            }
        };
        dialled.map_err(|error| Error::Unreachable { address: self.to_string(), why: error.to_string() })
    }
}

async fn dial_tcp(address: &str) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// A connection to the server.
#[derive(Debug)]
pub(crate) enum Connection {
    Unix(UnixStream),
    Tcp(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    InProcess(DuplexStream),
}

impl Described for Connection {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

macro_rules! either {
    ($self:ident.$method:ident($($argument:expr),*)) => {
        match $self.get_mut() {
            Self::Unix(stream) => Pin::new(stream).$method($($argument),*),
            Self::Tcp(stream) => Pin::new(stream).$method($($argument),*),
            Self::Tls(stream) => Pin::new(stream).$method($($argument),*),
            Self::InProcess(stream) => Pin::new(stream).$method($($argument),*),
        }
    };
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        either!(self.poll_read(context, buffer))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        either!(self.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self.poll_shutdown(context))
    }
}

/// The connector for hyper.
#[derive(Debug, Clone)]
pub(crate) struct Dialer(pub(crate) Address);

impl tower_service::Service<Uri> for Dialer {
    type Response = TokioIo<Connection>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    /// Connects to the configured address; the one in the URL is only a name.
    fn call(&mut self, _: Uri) -> Self::Future {
        let address = self.0.clone();
        Box::pin(async move { address.dial().await.map(TokioIo::new) })
    }
}
