//! Informational responses, 1xx (RFC 9110, 15.2). hyper reads them from programs, but cannot write them to clients.
//!
//! So they are written beside hyper, when hyper has nothing to write: it flushes a connection only after writing
//! everything of its own. The final response waits until they are written. HTTP/1.1 only: over HTTP/2, only hyper can
//! write a stream's frames.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf, Bytes, BytesMut};
use hyper::{HeaderMap, StatusCode};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Most queued bytes. Further informational responses are dropped.
const QUEUE_MAX: usize = 64 * 1024;

/// The informational responses of one connection.
#[derive(Debug, Default)]
pub(crate) struct Informational {
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    bytes: BytesMut,
    /// Whether some bytes are being written.
    is_writing: bool,
    /// The task that waits until all are written.
    waits: Option<Waker>,
}

impl Informational {
    fn state(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a response.
    pub(super) fn send(&self, status: StatusCode, headers: &HeaderMap) {
        let text = encoded(status, headers);
        let mut state = self.state();
        if state.bytes.len() + text.len() <= QUEUE_MAX {
            state.bytes.extend_from_slice(&text);
        }
    }

    /// Returns when all queued responses are written.
    pub(super) async fn flushed(&self) {
        std::future::poll_fn(|context| {
            let mut state = self.state();
            if state.bytes.is_empty() && !state.is_writing {
                return Poll::Ready(());
            }
            state.waits = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Takes the queued bytes.
    fn take(&self) -> Bytes {
        let mut state = self.state();
        let taken = state.bytes.split().freeze();
        state.is_writing = !taken.is_empty();
        if !state.is_writing
            && let Some(waits) = state.waits.take()
        {
            waits.wake();
        }
        taken
    }
}

fn encoded(status: StatusCode, headers: &HeaderMap) -> BytesMut {
    let reason = status.canonical_reason().unwrap_or_default();
    let mut text = BytesMut::from(format!("HTTP/1.1 {} {reason}\r\n", status.as_str()).as_bytes());
    for (name, value) in headers {
        for piece in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            text.extend_from_slice(piece);
        }
    }
    text.extend_from_slice(b"\r\n");
    text
}

/// A client's connection on which informational responses can be written beside hyper.
#[derive(Debug)]
pub(crate) struct InformationalStream<S> {
    stream: S,
    interim: Arc<Informational>,
    writing: Bytes,
}

impl<S: AsyncWrite + Unpin> InformationalStream<S> {
    pub(crate) fn new(stream: S) -> (Self, Arc<Informational>) {
        let interim = Arc::<Informational>::default();
        (Self { stream, interim: Arc::clone(&interim), writing: Bytes::new() }, interim)
    }

    /// Writes the current responses to the end, so that hyper's bytes do not come between them.
    fn poll_writing(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.writing.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, &self.writing))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.writing.advance(written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for InformationalStream<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for InformationalStream<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_writing(context))?;
        Pin::new(&mut this.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_writing(context))?;
        Pin::new(&mut this.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            ready!(this.poll_writing(context))?;
            this.writing = this.interim.take();
            if this.writing.is_empty() {
                return Pin::new(&mut this.stream).poll_flush(context);
            }
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn informational_responses_are_written_between_messages() {
        // A buffer smaller than any of the messages.
        let (ours, mut theirs) = tokio::io::duplex(7);
        let (mut stream, interim) = InformationalStream::new(ours);
        let mut headers = HeaderMap::new();
        headers.insert("link", HeaderValue::from_static("</a.css>"));
        let reader = tokio::spawn(async move {
            let mut text = String::new();
            theirs.read_to_string(&mut text).await.unwrap();
            text
        });
        stream.write_all(b"the last answer").await.unwrap();
        interim.send(StatusCode::EARLY_HINTS, &headers);
        interim.send(StatusCode::PROCESSING, &HeaderMap::new());
        let (flushed, ()) = tokio::join!(stream.flush(), interim.flushed());
        flushed.unwrap();
        stream.write_all(b"the next").await.unwrap();
        interim.flushed().await;
        drop(stream);
        let text = reader.await.unwrap();
        assert_eq!(
            text,
            "the last answerHTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nthe next"
        );
    }

    #[test]
    fn queue_is_bounded() {
        let interim = Informational::default();
        for _ in 0..10_000 {
            interim.send(StatusCode::PROCESSING, &HeaderMap::new());
        }
        assert!(interim.take().len() <= QUEUE_MAX);
    }
}
