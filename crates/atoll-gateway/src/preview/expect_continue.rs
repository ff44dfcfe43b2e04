//! Responses before the final one. `100 Continue` (RFC 9110, 10.1.1): the client's body is requested only when the
//! application wants it. Other informational responses are forwarded where possible.

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

use super::headers::{PublicUrl, to_client};
use super::informational::Informational;
use crate::placement::BoxFuture;

/// How long to wait for `100 Continue`. Applications that do not implement it never send it; the body is then sent
/// anyway.
const CONTINUE_TIMEOUT: Duration = Duration::from_secs(1);

/// A request body that waits until the application wants it.
struct DeferredBody {
    body: Body,
    wanted: Option<BoxFuture<'static, ()>>,
}

/// Defers the body if the client sent `Expect: 100-continue`, and forwards other informational responses.
pub(super) fn apply(mut request: Request, passed_on: Option<(Arc<Informational>, PublicUrl)>) -> Request {
    let expects =
        request.headers().get(EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
    request.headers_mut().remove(EXPECT);
    let continued = Arc::new(Notify::new());
    if expects && !request.body().is_end_stream() {
        request.headers_mut().insert(EXPECT, HeaderValue::from_static("100-continue"));
        let waits = Arc::clone(&continued);
        let wanted: BoxFuture<'static, ()> =
            Box::pin(async move { drop(timeout(CONTINUE_TIMEOUT, waits.notified()).await) });
        request = request.map(|body| Body::new(DeferredBody { body, wanted: Some(wanted) }));
    }
    hyper::ext::on_informational(&mut request, move |response| match (response.status(), &passed_on) {
        // hyper sends it to the client when the body is first polled.
        (StatusCode::CONTINUE, _) => continued.notify_one(),
        (status, Some((interim, url))) => {
            let mut headers = response.headers().clone();
            to_client(&mut headers, url, None);
            interim.send(status, &headers);
        }
        (_, None) => {}
    });
    request
}

impl HttpBody for DeferredBody {
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
