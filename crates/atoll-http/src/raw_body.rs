//! The body of a large request, read straight from its connection's socket.
//!
//! hyper has read the head and possibly some of the body with it; that part comes first, through hyper. From then on
//! hyper reads nothing more from this connection and takes no further request from it, so the response must say
//! `connection: close`.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use bytes::Bytes;

use crate::splice::SpliceHandle;
use crate::stream::{PIPE_SIZE, Source, pipe};

/// A request body that bypasses hyper, except for the bytes that hyper has already buffered.
#[derive(Debug)]
pub struct RawBody {
    client: Arc<SpliceHandle>,
    /// hyper's body, which yields the bytes that hyper has already read.
    body: Body,
    is_drained: bool,
    left: u64,
}

/// A pipe between two sockets.
#[derive(Debug)]
pub struct Pipe {
    into: OwnedFd,
    /// The read end.
    pub out: OwnedFd,
}

impl Pipe {
    /// Creates an empty pipe.
    pub fn new() -> io::Result<Self> {
        let (out, into) = pipe()?;
        Ok(Self { into, out })
    }
}

impl RawBody {
    /// Takes over a body of `length` bytes from this connection. Stops hyper from reading it further.
    pub fn new(client: Arc<SpliceHandle>, body: Body, length: u64) -> Self {
        client.pause_reading();
        Self { client, body, is_drained: false, left: length }
    }

    /// Returns the number of bytes that are still to come.
    pub fn remaining(&self) -> u64 {
        self.left
    }

    /// Polls for bytes that hyper has already read; `None` when the remainder is in the socket.
    pub fn poll_buffered(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, axum::Error>>> {
        while self.left > 0 && !self.is_drained {
            match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(None) => return Poll::Ready(Some(Err(axum::Error::new(truncated())))),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.advance(bytes.len());
                        return Poll::Ready(Some(Ok(bytes)));
                    }
                }
                Poll::Pending => {
                    ready!(self.client.poll_drained(context));
                    self.is_drained = true;
                }
            }
        }
        Poll::Ready(None)
    }

    /// Moves more bytes from the socket with `fill`, which gets the connection and the maximum, and returns the number
    /// of bytes moved. Call it only after [`RawBody::poll_buffered`] has returned `None`.
    pub fn poll_remaining(
        &mut self,
        context: &mut Context<'_>,
        fill: impl FnOnce(&mut Context<'_>, &SpliceHandle, u64) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match ready!(fill(context, &self.client, self.left))? {
            // The body is shorter than announced: an error, so that no reader takes it for complete.
            0 => Poll::Ready(Err(truncated())),
            moved => {
                self.advance(moved);
                Poll::Ready(Ok(moved))
            }
        }
    }

    /// Moves more bytes into an empty pipe. Cancel-safe.
    pub async fn fill(&mut self, pipe: &Pipe) -> io::Result<usize> {
        let pour = |context: &mut Context<'_>, client: &SpliceHandle, most: u64| {
            client.poll_splice_into(context, &pipe.into, usize::try_from(most).unwrap_or(PIPE_SIZE).min(PIPE_SIZE))
        };
        std::future::poll_fn(|context| self.poll_remaining(context, pour)).await
    }

    /// Reads and discards up to `most` bytes of the remainder, or a little more.
    pub async fn discard(&mut self, most: u64) -> io::Result<()> {
        let enough = self.left.saturating_sub(most);
        while let Some(bytes) = std::future::poll_fn(|context| self.poll_buffered(context)).await {
            bytes.map_err(io::Error::other)?;
        }
        while self.left > enough {
            self.fill(&Pipe::new()?).await?;
        }
        Ok(())
    }

    fn advance(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes as u64);
    }
}

impl Drop for RawBody {
    fn drop(&mut self) {
        self.client.body_done();
    }
}

fn truncated() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}
