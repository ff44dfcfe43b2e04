//! A program's connection on which a request that is none is refused by us: hyper would answer it by itself, without a
//! reason, and tell us of it when the connection is over.
//!
//! hyper writes only what was given to it, but for that answer. So what it writes between a whole answer and the next
//! request is that answer: it is told before it is written, and ours is written in its place.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use hyper::body::{Body, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// All that was to be said is said: hyper waits for a request.
    Idle,
    /// A request is being answered.
    Busy,
    /// Its answer was given to hyper, and may yet have to be written.
    Answered,
    /// What follows is no longer HTTP.
    Changed,
    /// It was refused.
    Refused,
}

/// Tells of the refusal, and says what the program is told.
type Refuse = Box<dyn Fn() -> String + Send + Sync>;

/// What is said on a connection, as its both sides see it.
pub(crate) struct Talk {
    state: Mutex<State>,
    refuse: Refuse,
}

impl Talk {
    pub(crate) fn new(refuse: impl Fn() -> String + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State::Idle), refuse: Box::new(refuse) })
    }

    /// Goes on from one of these.
    fn turn(&self, from: &[State], to: State) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let can = from.contains(&state);
        if can {
            *state = to;
        }
        can
    }

    /// A request has come.
    pub(crate) fn asked(&self) {
        self.turn(&[State::Idle, State::Answered], State::Busy);
    }

    /// What follows the answer is no longer HTTP.
    pub(crate) fn changes(&self) {
        self.turn(&[State::Busy], State::Changed);
    }

    /// Whether it was refused, and that was told.
    pub(crate) fn is_refused(&self) -> bool {
        self.turn(&[State::Refused], State::Refused)
    }
}

/// An answer, which is over when hyper lets go of it.
pub(crate) struct Answering<B> {
    body: B,
    talk: Arc<Talk>,
}

impl<B> Answering<B> {
    pub(crate) fn new(body: B, talk: &Arc<Talk>) -> Self {
        Self { body, talk: Arc::clone(talk) }
    }
}

impl<B> Drop for Answering<B> {
    fn drop(&mut self) {
        self.talk.turn(&[State::Busy], State::Answered);
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Answering<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// See the module.
pub(crate) struct Refusing<S> {
    stream: S,
    talk: Arc<Talk>,
    /// What is said in the place of hyper's answer.
    ours: Bytes,
}

impl<S: AsyncWrite + Unpin> Refusing<S> {
    pub(crate) fn new(stream: S, talk: &Arc<Talk>) -> Self {
        Self { stream, talk: Arc::clone(talk), ours: Bytes::new() }
    }

    /// Whether hyper's own answer is on its way, in whose place ours goes.
    fn poll_refused(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        if self.talk.turn(&[State::Idle], State::Refused) {
            self.ours = (self.talk.refuse)().into();
        }
        ready!(self.poll_ours(cx))?;
        Poll::Ready(Ok(self.talk.is_refused()))
    }

    fn poll_ours(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.ours.is_empty() {
            match ready!(Pin::new(&mut self.stream).poll_write(cx, &self.ours))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.ours.advance(written),
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Refusing<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Refusing<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if ready!(self.poll_refused(cx))? {
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if ready!(self.poll_refused(cx))? {
            return Poll::Ready(Ok(pieces.iter().map(|piece| piece.len()).sum()));
        }
        Pin::new(&mut self.stream).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_ours(cx))?;
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        // hyper flushes when it has nothing more to write.
        self.talk.turn(&[State::Answered], State::Idle);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_ours(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn only_what_nobody_gave_to_be_written_is_replaced() {
        let (ours, mut theirs) = tokio::io::duplex(1024);
        let talk = Talk::new(|| "refused".to_owned());
        let mut stream = Refusing::new(ours, &talk);
        for _ in 0..2 {
            talk.asked();
            stream.flush().await.unwrap();
            // Its answer is in hyper's buffer when the body is let go of.
            drop(Answering::new(http_body_util::Empty::<Bytes>::new(), &talk));
            stream.write_all(b"an").await.unwrap();
            stream.write_all(b"swer ").await.unwrap();
            stream.flush().await.unwrap();
        }
        stream.write_all(b"HTTP/1.1 400 Bad Request").await.unwrap();
        stream.shutdown().await.unwrap();
        assert!(talk.is_refused());
        let mut text = String::new();
        theirs.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "answer answer refused");
    }

    #[tokio::test]
    async fn what_is_no_longer_http_passes() {
        let (ours, mut theirs) = tokio::io::duplex(1024);
        let talk = Talk::new(|| "refused".to_owned());
        let mut stream = Refusing::new(ours, &talk);
        talk.asked();
        talk.changes();
        drop(Answering::new(http_body_util::Empty::<Bytes>::new(), &talk));
        stream.write_all(b"switched ").await.unwrap();
        stream.flush().await.unwrap();
        stream.write_all(b"frames").await.unwrap();
        drop(stream);
        let mut text = String::new();
        theirs.read_to_string(&mut text).await.unwrap();
        assert_eq!((text.as_str(), talk.is_refused()), ("switched frames", false));
    }
}
