//! `Expect: 100-continue` (RFC 9110, 10.1.1): a client's body is not asked for before the application wants it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use hyper::header::{EXPECT, HeaderValue};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::placement::Promise;

/// An application that knows nothing of it never says so: then the body comes all the same.
const SAYS_SO_WITHIN: Duration = Duration::from_secs(1);

/// A body that waits until it is wanted.
struct Gated {
    body: Body,
    wanted: Option<Promise<'static, ()>>,
}

/// Holds the body back if the client does, until the application has said that it wants it.
pub(super) fn hold_back(mut request: Request) -> Request {
    let expects =
        request.headers().get(EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
    request.headers_mut().remove(EXPECT);
    if !expects || request.body().is_end_stream() {
        return request;
    }
    request.headers_mut().insert(EXPECT, HeaderValue::from_static("100-continue"));
    let asked = Arc::new(Notify::new());
    let waits = Arc::clone(&asked);
    let wanted: Promise<'static, ()> = Box::pin(async move { drop(timeout(SAYS_SO_WITHIN, waits.notified()).await) });
    let mut request = request.map(|body| Body::new(Gated { body, wanted: Some(wanted) }));
    hyper::ext::on_informational(&mut request, move |response| {
        if response.status() == StatusCode::CONTINUE {
            asked.notify_one();
        }
    });
    request
}

impl HttpBody for Gated {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Some(wanted) = &mut self.wanted {
            ready!(wanted.as_mut().poll(context));
            self.wanted = None;
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
