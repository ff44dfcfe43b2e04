//! The way to the server: a unix socket or TCP, and one type for both.

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection as Described};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use crate::Error;

/// Where the server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Unix(PathBuf),
    /// `host:port`.
    Tcp(String),
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "{}", path.display()),
            Self::Tcp(address) => f.write_str(address),
        }
    }
}

impl Address {
    /// What stands for it in a URL.
    pub(crate) fn authority(&self) -> &str {
        match self {
            Self::Unix(_) => "localhost",
            Self::Tcp(address) => address,
        }
    }

    pub(crate) async fn dial(&self) -> Result<Connection, Error> {
        let dialled = match self {
            Self::Unix(path) => UnixStream::connect(path).await.map(Connection::Unix),
            Self::Tcp(address) => TcpStream::connect(address).await.and_then(|stream| {
                stream.set_nodelay(true)?;
                Ok(Connection::Tcp(stream))
            }),
        };
        dialled.map_err(|error| Error::Unreachable { address: self.to_string(), why: error.to_string() })
    }
}

/// A connection to the server.
#[derive(Debug)]
pub(crate) enum Connection {
    Unix(UnixStream),
    Tcp(TcpStream),
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

/// What hyper asks for connections.
#[derive(Debug, Clone)]
pub(crate) struct Dialer(pub(crate) Address);

impl tower_service::Service<Uri> for Dialer {
    type Response = TokioIo<Connection>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    /// The address is ours; that in the URL is only a name.
    fn call(&mut self, _: Uri) -> Self::Future {
        let address = self.0.clone();
        Box::pin(async move { address.dial().await.map(TokioIo::new) })
    }
}
