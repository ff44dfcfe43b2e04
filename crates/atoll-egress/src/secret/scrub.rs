//! Blotting out: what must not come back is replaced by stars, however the bytes are cut into pieces.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use hyper::body::{Body, Frame, SizeHint};
use memchr::memmem;

/// What a secret becomes. As many of them as it had bytes, so that lengths that were told stay true.
const BLOT: u8 = b'*';

/// Searches a stream for what must not be in it.
#[derive(Debug, Clone)]
pub(crate) struct Scrubber {
    needles: Vec<Vec<u8>>,
    /// The end of what came, if it may be the beginning of a needle.
    held: Vec<u8>,
}

impl Scrubber {
    pub(crate) fn new(needles: Vec<Vec<u8>>) -> Self {
        Self { needles: needles.into_iter().filter(|needle| !needle.is_empty()).collect(), held: Vec::new() }
    }

    /// Takes a piece, gives what is certain. Only what may yet turn out to be a needle is held back, so that a stream of
    /// small events is not held up.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(piece);
        self.blot(&mut bytes);
        let keep = self.beginning(&bytes);
        self.held = bytes.split_off(bytes.len() - keep);
        bytes
    }

    /// What was held back, when nothing more comes.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    fn blot(&self, bytes: &mut [u8]) {
        for needle in &self.needles {
            let found: Vec<usize> = memmem::find_iter(bytes, needle).collect();
            for at in found {
                bytes[at..at + needle.len()].fill(BLOT);
            }
        }
    }

    /// How many of the last bytes could begin a needle.
    fn beginning(&self, bytes: &[u8]) -> usize {
        let longest = |needle: &Vec<u8>| {
            let most = bytes.len().min(needle.len() - 1);
            (1..=most).rev().find(|count| needle.starts_with(&bytes[bytes.len() - count..])).unwrap_or(0)
        };
        self.needles.iter().map(longest).max().unwrap_or(0)
    }

    /// Blots out what is in the values of headers.
    pub(crate) fn headers(&self, headers: &mut HeaderMap) {
        for value in headers.values_mut() {
            let mut bytes = value.as_bytes().to_vec();
            self.blot(&mut bytes);
            if bytes != value.as_bytes()
                && let Ok(clean) = HeaderValue::from_bytes(&bytes)
            {
                *value = clean;
            }
        }
    }
}

/// A body without what must not be in it.
#[derive(Debug)]
pub(crate) struct Scrubbed<B> {
    body: B,
    scrubber: Scrubber,
    trailers: Option<HeaderMap>,
    ended: bool,
}

impl<B> Scrubbed<B> {
    pub(crate) fn new(body: B, scrubber: Scrubber) -> Self {
        Self { body, scrubber, trailers: None, ended: false }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Scrubbed<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        loop {
            if self.ended {
                let trailers = self.trailers.take();
                return Poll::Ready(trailers.map(|trailers| Ok(Frame::trailers(trailers))));
            }
            let frame = match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(Some(Ok(frame))) => Some(frame),
                Poll::Ready(None) => None,
            };
            let clean = match frame.map(Frame::into_data) {
                Some(Ok(data)) => self.scrubber.push(&data),
                // Trailers end a body, as the end does.
                Some(Err(frame)) => {
                    self.ended = true;
                    let mut trailers = frame.into_trailers().unwrap_or_default();
                    self.scrubber.headers(&mut trailers);
                    self.trailers = Some(trailers);
                    self.scrubber.finish()
                }
                None => {
                    self.ended = true;
                    self.scrubber.finish()
                }
            };
            if !clean.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(clean.into()))));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.ended && self.trailers.is_none()
    }

    /// Blots are as long as what they cover.
    fn size_hint(&self) -> SizeHint {
        match self.body.size_hint().exact() {
            Some(rest) => SizeHint::with_exact(rest + self.scrubber.held.len() as u64),
            None => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrub(pieces: &[&[u8]]) -> Vec<u8> {
        let mut scrubber = Scrubber::new(vec![b"secret-value".to_vec(), b"c2Vj".to_vec()]);
        let mut out: Vec<u8> = pieces.iter().flat_map(|piece| scrubber.push(piece)).collect();
        out.extend(scrubber.finish());
        out
    }

    #[test]
    fn it_is_found_however_it_is_cut() {
        let text = b"a secret-value and c2Vj, secret-secret-value-secret";
        let clean = b"a ************ and ****, secret-************-secret";
        for first in 0..text.len() {
            for second in first..text.len() {
                let pieces = [&text[..first], &text[first..second], &text[second..]];
                assert_eq!(scrub(&pieces), clean, "{first} {second}");
            }
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(scrub(&bytes), clean);
    }

    #[test]
    fn what_cannot_be_a_secret_is_not_held_up() {
        let mut scrubber = Scrubber::new(vec![b"secret-value".to_vec()]);
        assert_eq!(scrubber.push(b"data: 1\n\n"), b"data: 1\n\n");
        assert_eq!(scrubber.push(b"the sec"), b"the ");
        assert_eq!(scrubber.push(b"ond"), b"second");
    }
}
