//! One HTTP connection to an agent. The task that waits for the response drives the connection, which saves the
//! wake-ups of a separate task in both directions.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use atoll_http::{SpliceHandle, SpliceStream};
use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as _, Frame, Incoming};
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

use crate::placement::{AgentStream, PortStream};

/// A connection that carries one request at a time.
#[derive(Debug)]
pub(crate) struct PooledConn {
    sender: SendRequest<Body>,
    driver: Driver,
    /// The same connection, for spliced bodies, if it is a plain socket.
    splice: Option<Arc<SpliceHandle>>,
}

/// hyper's connection future, which moves the bytes.
#[derive(Debug)]
enum Driver {
    Open(Box<Connection<TokioIo<AgentStream>, Body>>),
    Ended,
}

/// Why a request got no response.
#[derive(Debug)]
pub(crate) enum SendError {
    /// No byte of the request was written: it can be sent on another connection.
    Unsent(Box<Request<Body>>),
    /// The agent may have received all or part of the request.
    Broken(hyper::Error),
}

impl std::fmt::Display for SendError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsent(_) => f.write_str("the connection was closed"),
            Self::Broken(error) => error.fmt(f),
        }
    }
}

impl Driver {
    /// Polls the connection once. Errors surface in the response future or the body.
    fn drive(&mut self, context: &mut Context<'_>) {
        if let Self::Open(connection) = self
            && Pin::new(connection).poll(context).is_ready()
        {
            *self = Self::Ended;
        }
    }
}

impl PooledConn {
    pub(crate) async fn over(stream: AgentStream) -> hyper::Result<Self> {
        let any = (*stream).as_any();
        let splice = match any.downcast_ref() {
            Some(PortStream::Socket(socket)) => Some(socket.handle()),
            Some(PortStream::ViaAgent(_)) => None,
            None => any.downcast_ref().map(SpliceStream::handle),
        };
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        Ok(Self { sender, driver: Driver::Open(Box::new(connection)), splice })
    }

    /// Opens a connection to a port inside the sandbox.
    pub(crate) async fn to_port(inside: PortStream) -> hyper::Result<Self> {
        Self::over(Box::new(inside)).await
    }

    /// Takes the socket back from hyper, with the bytes that hyper has read but not yet delivered.
    pub(crate) fn into_splice(self) -> Option<(Arc<SpliceHandle>, Bytes)> {
        let Driver::Open(connection) = self.driver else { return None };
        Some((self.splice?, connection.into_parts().read_buf))
    }

    /// Returns the handle for spliced bodies, if the connection is open and is a plain socket.
    pub(crate) fn splice(&self) -> Option<&Arc<SpliceHandle>> {
        self.splice.as_ref().filter(|_| matches!(self.driver, Driver::Open(_)))
    }

    /// Whether a request can be sent: the last exchange has ended, and the agent has not closed the connection.
    pub(crate) fn is_ready(&mut self) -> bool {
        // No wake-up is needed: `send` polls again.
        self.driver.drive(&mut Context::from_waker(Waker::noop()));
        matches!(self.driver, Driver::Open(_)) && self.sender.is_ready()
    }

    /// Sends a request. Read the response's body with [`PooledConn::frame`].
    pub(crate) async fn send(&mut self, request: Request<Body>) -> Result<Response<Incoming>, SendError> {
        let Self { sender, driver, splice: _ } = self;
        let mut answer = std::pin::pin!(sender.try_send_request(request));
        let answered = std::future::poll_fn(|context| {
            driver.drive(context);
            answer.as_mut().poll(context)
        });
        answered.await.map_err(|mut error| match error.take_message() {
            Some(request) => SendError::Unsent(Box::new(request)),
            None => SendError::Broken(error.into_error()),
        })
    }

    /// Polls for the next frame of the response's body.
    pub(crate) fn frame(
        &mut self,
        body: &mut Incoming,
        context: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        if let Poll::Ready(frame) = Pin::new(&mut *body).poll_frame(context) {
            return Poll::Ready(frame);
        }
        self.driver.drive(context);
        Pin::new(body).poll_frame(context)
    }
}
