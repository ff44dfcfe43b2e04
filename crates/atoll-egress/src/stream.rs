//! Byte streams on both sides: what was read ahead goes on first, what passes is counted.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use crate::hello::{self, Hello};

/// Bytes read ahead to know what is spoken.
const AHEAD_MAX: usize = 40 * 1024;

/// How long a refused program may take to say something, so that it can be told in its own language.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// How much of it is read so that what it is told is not lost: a close with bytes unread is a reset.
const DRAIN_MAX: usize = 256 * 1024;

/// Anything that can be read and written.
pub(crate) trait Io: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Io for T {}

/// The side within.
pub(crate) enum Side {
    /// A connection as it was accepted.
    Tcp(TcpStream),
    /// One that was asked for within another (CONNECT).
    Within(Box<dyn Io>),
}

/// The side within, and what was read of it ahead.
pub(crate) struct Client {
    pub(crate) side: Side,
    pub(crate) ahead: Vec<u8>,
}

/// What a program speaks, by its first words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Words {
    Tls(Hello),
    Http,
    Other,
    /// It waits for the other side to begin, or has gone.
    Silent,
}

impl Client {
    pub(crate) fn new(side: Side) -> Self {
        Self { side, ahead: Vec::new() }
    }

    /// Reads until it is clear what is spoken.
    pub(crate) async fn words(&mut self, patience: Duration) -> Words {
        let deadline = Instant::now() + patience;
        loop {
            match classify(&self.ahead) {
                Some(words) => return words,
                None if self.ahead.len() >= AHEAD_MAX => return Words::Other,
                None => {}
            }
            let Self { side, ahead } = self;
            match timeout_at(deadline, side.read_buf(ahead)).await {
                Ok(Ok(1..)) => {}
                Ok(Ok(0) | Err(_)) | Err(_) => return Words::Silent,
            }
        }
    }

    /// Says a last word to a program that is refused, in its own language if it has said anything. Without one the
    /// connection is reset, which is what it would see of a closed port.
    pub(crate) async fn refuse(mut self, http: &str) {
        let words = match classify(&self.ahead) {
            Some(words) => words,
            None => self.words(LAST_WORDS).await,
        };
        // RFC 8446, section 6: a fatal alert, `access_denied`.
        let alert: &[u8] = &[21, 3, 3, 0, 2, 2, 49];
        let last = match words {
            Words::Http => http.as_bytes(),
            Words::Tls(_) => alert,
            Words::Other | Words::Silent => return self.reset(),
        };
        let told = async {
            self.side.write_all(last).await?;
            self.side.shutdown().await?;
            let (mut buffer, mut drained) = (vec![0; 16 * 1024], 0);
            while drained < DRAIN_MAX {
                match self.side.read(&mut buffer).await? {
                    0 => break,
                    count => drained += count,
                }
            }
            io::Result::Ok(())
        };
        drop(timeout(LAST_WORDS, told).await);
    }

    pub(crate) fn reset(self) {
        if let Side::Tcp(stream) = &self.side {
            reset_on_close(stream);
        }
    }

    /// As one stream again.
    pub(crate) fn rewound(self) -> Rewound {
        Rewound { ahead: self.ahead.into(), side: self.side }
    }
}

/// A close is a reset from now on.
pub(crate) fn reset_on_close(stream: &TcpStream) {
    // Without it the close is an orderly one, which is as final.
    rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO)).ok();
}

/// `None`: more is needed.
fn classify(bytes: &[u8]) -> Option<Words> {
    match bytes.first()? {
        22 => Some(hello::read(bytes)).filter(|hello| *hello != Hello::Incomplete).map(Words::Tls),
        b'A'..=b'Z' => {
            // A method and a space. The preface of HTTP/2 in the clear begins like one.
            let method = bytes.iter().take(24).position(|byte| !byte.is_ascii_uppercase() && *byte != b'-');
            match method {
                Some(at) if bytes[at] == b' ' && !bytes.starts_with(b"PRI ") => Some(Words::Http),
                Some(_) => Some(Words::Other),
                None if bytes.len() < 24 => None,
                None => Some(Words::Other),
            }
        }
        _ => Some(Words::Other),
    }
}

/// A stream whose beginning was read ahead.
pub(crate) struct Rewound {
    ahead: bytes::Bytes,
    side: Side,
}

impl AsyncRead for Rewound {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.ahead.is_empty() {
            return Pin::new(&mut self.side).poll_read(cx, buffer);
        }
        let count = self.ahead.len().min(buffer.remaining());
        buffer.put_slice(&self.ahead.split_to(count));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Rewound {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.side).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.side).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.side).poll_shutdown(cx)
    }
}

impl AsyncRead for Side {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Within(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Side {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Within(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Self::Within(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Within(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

/// Bytes that passed, as the side without saw them.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) out: AtomicU64,
    pub(crate) back: AtomicU64,
}

/// The side without.
pub(crate) struct Counted {
    stream: TcpStream,
    counts: Arc<Counts>,
}

impl Counted {
    pub(crate) fn new(stream: TcpStream, counts: Arc<Counts>) -> Self {
        Self { stream, counts }
    }

    pub(crate) fn into_parts(self) -> (TcpStream, Arc<Counts>) {
        (self.stream, self.counts)
    }
}

impl AsyncRead for Counted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        self.counts.back.fetch_add((buffer.filled().len() - before) as u64, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let count = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.counts.out.fetch_add(count as u64, Ordering::Relaxed);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_tell_what_is_spoken() {
        assert_eq!(classify(b""), None);
        assert_eq!(classify(b"GET"), None);
        assert_eq!(classify(b"GET /"), Some(Words::Http));
        assert_eq!(classify(b"CONNECT a.test:443 HTTP/1.1\r\n"), Some(Words::Http));
        assert_eq!(classify(b"M-SEARCH * HTTP/1.1\r\n"), Some(Words::Http));
        for other in [
            &b"SSH-2.0-x"[..],
            b"PRI * HTTP/2.0",
            b"\x05\x01\x00",
            b"get / HTTP/1.1",
            b"AAAAAAAAAAAAAAAAAAAAAAAAA",
            b"\0",
        ] {
            assert_eq!(classify(other), Some(Words::Other), "{}", other.escape_ascii());
        }
        assert_eq!(classify(&[22, 3, 1]), None);
        assert_eq!(classify(&[22, 9, 9, 9, 9, 9]), Some(Words::Tls(Hello::Malformed)));
    }
}
