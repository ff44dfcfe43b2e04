//! Blotting out: what must not come back is replaced by stars, in whatever pieces the bytes arrive.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use hyper::body::{Body, Frame, SizeHint};
use memchr::{memchr_iter, memmem};
use tokio::sync::watch;

use super::VALUE_MIN;
use crate::name::Name;
use crate::shared::Force;

/// What each byte of a secret becomes. The length stays, so that lengths that were announced stay true.
const BLOT: u8 = b'*';

/// Bytes at the end of a body or message that are blotted out if a value begins with them: the rest of it may come in the
/// next one. No text ends with that many by chance.
const PARTIAL_MIN: usize = VALUE_MIN;

/// Searches a stream for the values that must not be in it.
#[derive(Clone)]
pub(crate) struct Scrubber {
    needles: Vec<memmem::Finder<'static>>,
    host: Option<Host>,
    /// The end of the stream, as it arrived, if a needle may begin there; and the same bytes, blotted out.
    held: Vec<u8>,
    clean: Vec<u8>,
    /// How many of the held bytes were returned already, at the end of a message.
    sent: usize,
}

/// The host whose answer is searched: values that it gets while the answer arrives count as well.
#[derive(Clone)]
struct Host {
    force: watch::Receiver<Force>,
    name: Name,
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scrubber").field("needles", &self.needles.len()).finish_non_exhaustive()
    }
}

impl Scrubber {
    /// Searches for these.
    pub(crate) fn new(needles: Vec<Vec<u8>>) -> Self {
        let mut scrubber = Self { needles: Vec::new(), host: None, held: Vec::new(), clean: Vec::new(), sent: 0 };
        scrubber.add(needles);
        scrubber
    }

    /// Searches for these and for every value that the host has, now or later.
    pub(crate) fn of_host(needles: Vec<Vec<u8>>, mut force: watch::Receiver<Force>, name: Name) -> Self {
        let held = force.borrow_and_update().secrets.needles(&name);
        let mut scrubber = Self { host: Some(Host { force, name }), ..Self::new(needles) };
        scrubber.add(held);
        scrubber
    }

    fn add(&mut self, needles: Vec<Vec<u8>>) {
        for needle in needles {
            if !needle.is_empty() && !self.needles.iter().any(|known| known.needle() == needle) {
                self.needles.push(memmem::Finder::new(&needle).into_owned());
            }
        }
    }

    /// Adds the values that the host was given since the last look. Values that it no longer has stay.
    fn refresh(&mut self) {
        let Some(host) = &mut self.host else { return };
        if host.force.has_changed().unwrap_or(false) {
            let needles = host.force.borrow_and_update().secrets.needles(&host.name);
            self.add(needles);
        }
    }

    /// Takes a piece, returns what is certain. Holds back only bytes with which a needle may begin, so that a stream of
    /// small events is not delayed.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.refresh();
        self.held.extend_from_slice(piece);
        self.clean.extend_from_slice(piece);
        blot(&self.needles, &self.held, &mut self.clean);
        let certain = self.held.len() - self.beginning(&self.held);
        self.held.drain(..certain);
        let rest = self.clean.split_off(certain);
        let mut out = std::mem::replace(&mut self.clean, rest);
        out.drain(..self.sent.min(certain));
        self.sent = self.sent.saturating_sub(certain);
        out
    }

    /// Returns the bytes that are held back, at the end of a body or message. What follows is searched as if it came
    /// right behind.
    pub(crate) fn flush(&mut self) -> Vec<u8> {
        if self.held.len() >= PARTIAL_MIN {
            self.clean[self.sent..].fill(BLOT);
        }
        let out = self.clean[self.sent..].to_vec();
        self.sent = self.held.len();
        out
    }

    /// How many of the last bytes could begin a needle.
    fn beginning(&self, bytes: &[u8]) -> usize {
        let longest = |needle: &[u8]| {
            let tail = &bytes[bytes.len() - bytes.len().min(needle.len() - 1)..];
            let at = memchr_iter(needle[0], tail).find(|at| needle.starts_with(&tail[*at..]));
            at.map_or(0, |at| tail.len() - at)
        };
        self.needles.iter().map(|needle| longest(needle.needle())).max().unwrap_or(0)
    }

    /// Blots out what is in the values of headers, and removes headers whose names hold any of it: names are compared
    /// without regard to case, as that is how they are read.
    pub(crate) fn headers(&mut self, headers: &mut HeaderMap) {
        self.refresh();
        let lower: Vec<Vec<u8>> = self.needles.iter().map(|needle| needle.needle().to_ascii_lowercase()).collect();
        let names =
            |name: &HeaderName| lower.iter().any(|needle| memmem::find(name.as_str().as_bytes(), needle).is_some());
        let bad: Vec<HeaderName> = headers.keys().filter(|name| names(name)).cloned().collect();
        for name in bad {
            headers.remove(name);
        }
        for value in headers.values_mut() {
            let mut clean = value.as_bytes().to_vec();
            blot(&self.needles, value.as_bytes(), &mut clean);
            if clean != value.as_bytes()
                && let Ok(clean) = HeaderValue::from_bytes(&clean)
            {
                *value = clean;
            }
        }
    }
}

/// Blots out in `clean` what is found in `raw`, of which it is a copy. Occurrences may overlap.
fn blot(needles: &[memmem::Finder<'static>], raw: &[u8], clean: &mut [u8]) {
    for needle in needles {
        let (length, mut from) = (needle.needle().len(), 0);
        while let Some(at) = needle.find(&raw[from..]) {
            clean[from + at..from + at + length].fill(BLOT);
            from += at + 1;
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
                    self.scrubber.flush()
                }
                None => {
                    self.ended = true;
                    self.scrubber.flush()
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
            Some(rest) => SizeHint::with_exact(rest + (self.scrubber.held.len() - self.scrubber.sent) as u64),
            None => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::secret::Secrets;

    fn scrub(pieces: &[&[u8]]) -> Vec<u8> {
        let mut scrubber = Scrubber::new(vec![b"secret-value".to_vec(), b"c2Vj".to_vec()]);
        let mut out: Vec<u8> = pieces.iter().flat_map(|piece| scrubber.push(piece)).collect();
        out.extend(scrubber.flush());
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
    fn longer_and_overlapping_needles_are_covered_whole() {
        let needles = vec![b"aba-aba".to_vec(), b"12345678".to_vec(), b"xx12345678yy".to_vec()];
        for text in [&b"aba-aba-aba"[..], b"xx12345678yy"] {
            for first in 0..text.len() {
                let mut scrubber = Scrubber::new(needles.clone());
                let out = [scrubber.push(&text[..first]), scrubber.push(&text[first..]), scrubber.flush()].concat();
                assert_eq!(out, vec![BLOT; text.len()], "{first}");
            }
        }
    }

    #[test]
    fn a_value_over_several_messages_shows_less_than_eight_bytes() {
        let value = b"secret-value-of-some-length";
        for step in 1..value.len() {
            let mut scrubber = Scrubber::new(vec![value.to_vec()]);
            let mut out = Vec::new();
            for message in value.chunks(step) {
                out.extend(scrubber.push(message));
                out.extend(scrubber.flush());
            }
            let shown = out.iter().position(|byte| *byte == BLOT).unwrap();
            assert!(out.len() == value.len() && shown < PARTIAL_MIN, "{step}: {}", out.escape_ascii());
            assert!(out[shown..].iter().all(|byte| *byte == BLOT), "{step}: {}", out.escape_ascii());
        }
    }

    #[test]
    fn a_value_that_the_host_gets_later_counts_too() {
        let secrets = Arc::new(Secrets::default());
        let force = Force { policy: Arc::default(), secrets, client: crate::tls::client(None).unwrap() };
        let (sender, receiver) = watch::channel(force);
        let mut scrubber = Scrubber::of_host(Vec::new(), receiver, Name::new(b"api.test").unwrap());
        assert_eq!(scrubber.push(b"real-value-1."), b"real-value-1.");
        for value in ["real-value-1", "real-value-2"] {
            let given = serde_json::json!({ "value": value, "hosts": ["api.test:8443"] });
            let secrets = Secrets::default().with("KEY", serde_json::from_value(given).unwrap()).unwrap();
            sender.send_modify(|force| force.secrets = Arc::new(secrets));
            assert_eq!(scrubber.push(format!("{value}.").as_bytes()), b"************.");
        }
        assert_eq!(scrubber.push(b"real-value-1."), b"************.", "the old value may still be good");
    }

    #[test]
    fn names_of_headers_are_searched_without_regard_to_case() {
        let mut scrubber = Scrubber::new(vec![b"Secret-Value".to_vec()]);
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_bytes(b"x-SECRET-value-1").unwrap(), HeaderValue::from_static("1"));
        headers.insert("x-other", HeaderValue::from_static("a Secret-Value b"));
        scrubber.headers(&mut headers);
        assert_eq!(headers.len(), 1);
        assert_eq!(headers["x-other"], "a ************ b");
    }

    #[test]
    fn what_cannot_be_a_secret_is_not_held_up() {
        let mut scrubber = Scrubber::new(vec![b"secret-value".to_vec()]);
        assert_eq!(scrubber.push(b"data: 1\n\n"), b"data: 1\n\n");
        assert_eq!(scrubber.push(b"the sec"), b"the ");
        assert_eq!(scrubber.push(b"ond"), b"second");
    }
}
