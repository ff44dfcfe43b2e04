//! Answers before the answer: 1xx (RFC 9110, 15.2). hyper reads them from programs, and has no way to write them to clients.
//!
//! So they are written beside hyper, at a moment when it has nothing to write: it flushes a connection only when
//! everything of its own has left. The answer itself waits until they are said. HTTP/1.1 only: over HTTP/2 a stream's
//! frames are hyper's alone.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf, Bytes, BytesMut};
use hyper::{HeaderMap, StatusCode};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that wait to be said. Nobody has to say more before an answer; what does not fit is left out.
const WAITING_MAX: usize = 64 * 1024;

/// What is said on one connection before an answer.
#[derive(Debug, Default)]
pub(crate) struct Interim {
    said: Mutex<Said>,
}

#[derive(Debug, Default)]
struct Said {
    waiting: BytesMut,
    /// Some of it is on its way.
    is_going: bool,
    /// Who waits until all is said.
    waits: Option<Waker>,
}

impl Interim {
    fn state(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be said as soon as it can be.
    pub(super) fn say(&self, status: StatusCode, headers: &HeaderMap) {
        let text = encoded(status, headers);
        let mut state = self.state();
        if state.waiting.len() + text.len() <= WAITING_MAX {
            state.waiting.extend_from_slice(&text);
        }
    }

    /// Returns when everything is said.
    pub(super) async fn all_said(&self) {
        std::future::poll_fn(|context| {
            let mut state = self.state();
            if state.waiting.is_empty() && !state.is_going {
                return Poll::Ready(());
            }
            state.waits = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// What is to be said now.
    fn take(&self) -> Bytes {
        let mut state = self.state();
        let taken = state.waiting.split().freeze();
        state.is_going = !taken.is_empty();
        if !state.is_going
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

/// A client's connection, on which something can be said beside hyper.
#[derive(Debug)]
pub(crate) struct Interjecting<S> {
    stream: S,
    interim: Arc<Interim>,
    going: Bytes,
}

impl<S: AsyncWrite + Unpin> Interjecting<S> {
    pub(crate) fn new(stream: S) -> (Self, Arc<Interim>) {
        let interim = Arc::<Interim>::default();
        (Self { stream, interim: Arc::clone(&interim), going: Bytes::new() }, interim)
    }

    /// What was begun is not broken into.
    fn poll_going(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.going.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, &self.going))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.going.advance(written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Interjecting<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Interjecting<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_going(context))?;
        Pin::new(&mut this.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_going(context))?;
        Pin::new(&mut this.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            ready!(this.poll_going(context))?;
            this.going = this.interim.take();
            if this.going.is_empty() {
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
    async fn what_is_said_stands_between_whole_messages() {
        // Room for less than any of it.
        let (ours, mut theirs) = tokio::io::duplex(7);
        let (mut stream, interim) = Interjecting::new(ours);
        let mut headers = HeaderMap::new();
        headers.insert("link", HeaderValue::from_static("</a.css>"));
        let reader = tokio::spawn(async move {
            let mut text = String::new();
            theirs.read_to_string(&mut text).await.unwrap();
            text
        });
        stream.write_all(b"the last answer").await.unwrap();
        interim.say(StatusCode::EARLY_HINTS, &headers);
        interim.say(StatusCode::PROCESSING, &HeaderMap::new());
        let (flushed, ()) = tokio::join!(stream.flush(), interim.all_said());
        flushed.unwrap();
        stream.write_all(b"the next").await.unwrap();
        interim.all_said().await;
        drop(stream);
        let text = reader.await.unwrap();
        assert_eq!(
            text,
            "the last answerHTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nthe next"
        );
    }

    #[test]
    fn who_says_too_much_is_cut_short() {
        let interim = Interim::default();
        for _ in 0..10_000 {
            interim.say(StatusCode::PROCESSING, &HeaderMap::new());
        }
        assert!(interim.take().len() <= WAITING_MAX);
    }
}
