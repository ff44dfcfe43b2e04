//! How long a request's streams may stay open: until the credential that opened them is revoked or expires.
//!
//! A token is checked when a request arrives. A terminal, a tunnel or a followed log outlives that moment by hours, so
//! everything that stays open has a [`Lease`] and ends with it. One layer covers all routes (`routes/leased.rs`); upgraded
//! connections wait for [`Lease::ended`] while they copy bytes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use atoll_protocol::Timestamp;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::clock;
use crate::placement::BoxFuture;
use crate::preview::ExposureWatch;
use crate::proxy::is_endless;

/// Longest sleep before the wall clock is read again: it may be set while a timer, which is monotonic, runs.
const CLOCK_INTERVAL: Duration = Duration::from_secs(30);

/// The lifetime of a credential. Cheap to clone: every request has one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lease {
    /// Closed when the token is revoked, which drops its [`Grantor`].
    token: Option<watch::Receiver<()>>,
    expires_at: Option<Timestamp>,
    /// The exposed port that the preview's address names.
    shown: Option<ExposureWatch>,
}

/// The sender side of a token's leases. Dropping it ends all of them.
#[derive(Debug)]
pub(crate) struct Grantor {
    _sender: watch::Sender<()>,
}

impl Lease {
    /// Returns a lease that never ends: for the root token and for servers without tokens.
    pub(crate) fn endless() -> Self {
        Self::default()
    }

    /// Returns a token's lease, and the grantor that ends it early.
    pub(crate) fn of_token(expires_at: Option<Timestamp>) -> (Self, Grantor) {
        let (sender, token) = watch::channel(());
        (Self { token: Some(token), expires_at, shown: None }, Grantor { _sender: sender })
    }

    /// Returns a lease that ends at this time.
    pub(crate) fn until(expires_at: Timestamp) -> Self {
        Self { expires_at: Some(expires_at), ..Self::default() }
    }

    /// Returns a lease that also ends when the exposure of the port changes.
    pub(crate) fn while_shown(self, shown: ExposureWatch) -> Self {
        Self { shown: Some(shown), ..self }
    }

    /// Whether it can end at all.
    pub(crate) fn can_end(&self) -> bool {
        self.token.is_some() || self.expires_at.is_some() || self.shown.is_some()
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.token.as_ref().is_some_and(|token| token.has_changed().is_err())
            || self.expires_at.is_some_and(|expires| expires <= clock::now())
            || self.shown.as_ref().is_some_and(|shown| !shown.holds())
    }

    /// Returns when it ends.
    pub(crate) async fn ended(self) {
        let Self { token, expires_at, shown } = self;
        tokio::select! {
            () = revoked(token) => {}
            () = expired(expires_at) => {}
            () = hidden(shown) => {}
        }
    }

    /// Ends the response's body with the lease. An event stream ends cleanly, as it does when the server drains: its client
    /// reconnects and gets the error. Any other body fails, so that no client takes a part for the whole.
    pub(crate) fn bound(&self, response: Response) -> Response {
        if !self.can_end() || response.body().is_end_stream() {
            return response;
        }
        let is_endless = is_endless(response.headers());
        let (lease, ended) = (self.clone(), None);
        response.map(|body| Body::new(Leased { body: Some(body), lease, ended, is_endless }))
    }
}

async fn revoked(token: Option<watch::Receiver<()>>) {
    match token {
        Some(mut token) => while token.changed().await.is_ok() {},
        None => std::future::pending().await,
    }
}

async fn expired(at: Option<Timestamp>) {
    let Some(at) = at else { return std::future::pending().await };
    loop {
        let left = at.as_millis().saturating_sub(clock::now().as_millis());
        if left == 0 {
            return;
        }
        sleep(Duration::from_millis(left).min(CLOCK_INTERVAL)).await;
    }
}

async fn hidden(shown: Option<ExposureWatch>) {
    match shown {
        Some(shown) => shown.ended().await,
        None => std::future::pending().await,
    }
}

/// A response's body that ends with a lease.
struct Leased {
    /// Dropped at the end, with its connection to the agent.
    body: Option<Body>,
    lease: Lease,
    /// Created when the body is first pending: most bodies never are.
    ended: Option<BoxFuture<'static, ()>>,
    is_endless: bool,
}

impl Leased {
    fn end(&mut self) -> Option<Result<Frame<Bytes>, axum::Error>> {
        self.body = None;
        let error = || io::Error::new(io::ErrorKind::PermissionDenied, "the token was revoked or has expired");
        (!self.is_endless).then(|| Err(axum::Error::new(error())))
    }
}

impl HttpBody for Leased {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        // Checked first: a body that always has a frame is never pending.
        if this.lease.has_ended() {
            return Poll::Ready(this.end());
        }
        if let Poll::Ready(frame) = Pin::new(body).poll_frame(context) {
            return Poll::Ready(frame);
        }
        let ended = this.ended.get_or_insert_with(|| Box::pin(this.lease.clone().ended()));
        ready!(ended.as_mut().poll(context));
        Poll::Ready(this.end())
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, HttpBody::size_hint)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use hyper::header::{CONTENT_TYPE, HeaderValue};

    use super::*;

    fn response(kind: &'static str, chunks: impl futures_util::Stream<Item = Bytes> + Send + 'static) -> Response {
        use futures_util::StreamExt;
        let mut response = Response::new(Body::from_stream(chunks.map(Ok::<_, io::Error>)));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        response
    }

    #[tokio::test]
    async fn pending_body_ends_with_its_token() {
        for (kind, breaks) in [("text/event-stream", false), ("application/octet-stream", true)] {
            let (lease, grantor) = Lease::of_token(None);
            let mut body = lease.bound(response(kind, futures_util::stream::pending())).into_body();
            let ended = tokio::spawn(async move { body.frame().await });
            tokio::task::yield_now().await;
            assert!(!ended.is_finished() && !lease.has_ended());
            drop(grantor);
            let frame = ended.await.unwrap();
            assert_eq!(frame.is_some_and(|frame| frame.is_err()), breaks, "{kind}");
            assert!(lease.has_ended());
        }
    }

    #[tokio::test]
    async fn always_ready_body_ends_with_its_token() {
        let (lease, grantor) = Lease::of_token(None);
        let endless = futures_util::stream::repeat(Bytes::from_static(b"more"));
        let mut body = lease.bound(response("application/octet-stream", endless)).into_body();
        assert!(body.frame().await.unwrap().is_ok());
        drop(grantor);
        assert!(body.frame().await.unwrap().is_err());
        assert!(body.frame().await.is_none());
    }

    #[tokio::test]
    async fn lease_ends_when_it_expires_and_an_endless_one_never() {
        let soon = Timestamp::from_millis(clock::now().as_millis() + 20);
        let (lease, _grantor) = Lease::of_token(Some(soon));
        lease.clone().ended().await;
        assert!(lease.has_ended() && clock::now() >= soon);
        assert!(!Lease::endless().can_end() && !Lease::endless().has_ended());
    }
}
