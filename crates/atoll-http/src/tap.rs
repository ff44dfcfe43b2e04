//! The body of a large request, taken from its connection itself.
//!
//! hyper has read the head, and may have read some of the body with it: that comes first, as hyper tells it. From then on
//! hyper reads nothing more of this connection, and takes no further request from it: the answer must say so
//! (`connection: close`).

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use bytes::Bytes;

use crate::passage::Passage;
use crate::stream::{PIECE, Source, pipe};

/// See the module.
#[derive(Debug)]
pub struct Tap {
    client: Arc<Passage>,
    /// As hyper reads it, for as long as it has some.
    body: Body,
    is_dry: bool,
    left: u64,
}

/// Where bytes are between two sockets.
#[derive(Debug)]
pub struct Pipe {
    into: OwnedFd,
    /// The end that is read from.
    pub out: OwnedFd,
}

impl Pipe {
    /// An empty one.
    pub fn new() -> io::Result<Self> {
        let (out, into) = pipe()?;
        Ok(Self { into, out })
    }
}

impl Tap {
    /// A body of `length` bytes that comes over this connection.
    pub fn new(client: Arc<Passage>, body: Body, length: u64) -> Self {
        client.hold();
        Self { client, body, is_dry: false, left: length }
    }

    /// How many bytes are still to come.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// What hyper has read; `None` when all else is in the connection.
    pub fn poll_early(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, axum::Error>>> {
        while self.left > 0 && !self.is_dry {
            match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(None) => return Poll::Ready(Some(Err(axum::Error::new(broke_off())))),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.took(bytes.len());
                        return Poll::Ready(Some(Ok(bytes)));
                    }
                }
                Poll::Pending => {
                    ready!(self.client.poll_dry(context));
                    self.is_dry = true;
                }
            }
        }
        Poll::Ready(None)
    }

    /// Moves more from the connection, by `fill`, which is given it and how many bytes at most, and tells how many it
    /// were. Not before [`Tap::poll_early`] has nothing more.
    pub fn poll_rest(
        &mut self,
        context: &mut Context<'_>,
        fill: impl FnOnce(&mut Context<'_>, &Passage, u64) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match ready!(fill(context, &self.client, self.left))? {
            // Less than was promised: nobody must take it for all.
            0 => Poll::Ready(Err(broke_off())),
            moved => {
                self.took(moved);
                Poll::Ready(Ok(moved))
            }
        }
    }

    /// Moves more into an empty pipe; nothing is lost if the wait is given up.
    pub async fn fill(&mut self, pipe: &Pipe) -> io::Result<usize> {
        let pour = |context: &mut Context<'_>, client: &Passage, most: u64| {
            client.poll_pour(context, &pipe.into, usize::try_from(most).unwrap_or(PIECE).min(PIECE))
        };
        std::future::poll_fn(|context| self.poll_rest(context, pour)).await
    }

    /// Takes what is left off the client's hands, to no use: as many bytes at most, or a little more.
    pub async fn swallow(&mut self, most: u64) -> io::Result<()> {
        let enough = self.left.saturating_sub(most);
        while let Some(bytes) = std::future::poll_fn(|context| self.poll_early(context)).await {
            bytes.map_err(io::Error::other)?;
        }
        while self.left > enough {
            self.fill(&Pipe::new()?).await?;
        }
        Ok(())
    }

    fn took(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes as u64);
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.client.past();
    }
}

fn broke_off() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}
