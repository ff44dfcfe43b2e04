//! What an application says before it answers. `100 Continue` (RFC 9110, 10.1.1): a client's body is not asked for before
//! the application wants it. Everything else is passed on, where it can be.

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

use super::headers::{Outside, to_client};
use super::interim::Interim;
use crate::placement::Promise;

/// An application that knows nothing of it never says so: then the body comes all the same.
const SAYS_SO_WITHIN: Duration = Duration::from_secs(1);

/// A body that waits until it is wanted.
struct Gated {
    body: Body,
    wanted: Option<Promise<'static, ()>>,
}

/// Holds the body back if the client does, until the application has said that it wants it, and passes on what else is
/// said before the answer.
pub(super) fn listen(mut request: Request, passed_on: Option<(Arc<Interim>, Outside)>) -> Request {
    let expects =
        request.headers().get(EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
    request.headers_mut().remove(EXPECT);
    let asked = Arc::new(Notify::new());
    if expects && !request.body().is_end_stream() {
        request.headers_mut().insert(EXPECT, HeaderValue::from_static("100-continue"));
        let waits = Arc::clone(&asked);
        let wanted: Promise<'static, ()> =
            Box::pin(async move { drop(timeout(SAYS_SO_WITHIN, waits.notified()).await) });
        request = request.map(|body| Body::new(Gated { body, wanted: Some(wanted) }));
    }
    hyper::ext::on_informational(&mut request, move |response| match (response.status(), &passed_on) {
        // Said to the client when its body is asked for, and by hyper.
        (StatusCode::CONTINUE, _) => asked.notify_one(),
        (status, Some((interim, outside))) => {
            let mut headers = response.headers().clone();
            to_client(&mut headers, outside, None);
            interim.say(status, &headers);
        }
        (_, None) => {}
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
