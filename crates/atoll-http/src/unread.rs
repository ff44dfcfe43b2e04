//! Answers that come before their request was read.
//!
//! What is left of such a request lies between its answer and the next one. A little is read and thrown away; with more,
//! the connection is closed behind the answer, which says so: a client that keeps connections must know before it sends
//! another request, which would then be lost. Closing while a client still writes would lose the answer itself.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use http::header::CONNECTION;
use http::{HeaderValue, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Frame, SizeHint};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::passage::Passage;

/// The most that is read for nothing, and how long that may take.
const UNREAD_MAX: usize = 256 * 1024;
const READ_WITHIN: Duration = Duration::from_secs(2);

/// Reads what the route did not, or tells that the connection ends here.
pub async fn settle(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (sender, mut left) = oneshot::channel();
    let watched = |body| Body::new(Watched { body, left: Some(sender) });
    let passage = request.extensions().get::<Arc<Passage>>().cloned();
    let mut response = next.run(request.map(watched)).await;
    let is_read = match left.try_recv() {
        // It went past, and so would the next request.
        _ if passage.is_some_and(|passage| passage.is_held()) => false,
        Ok(Left::Nothing) => true,
        Ok(Left::Rest(body)) => is_drained(body).await,
        // Somebody still reads it.
        Err(_) => false,
    };
    if !is_read && response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

async fn is_drained(body: Body) -> bool {
    matches!(timeout(READ_WITHIN, Limited::new(body, UNREAD_MAX).collect()).await, Ok(Ok(_)))
}

/// What a route has left of a body.
enum Left {
    Nothing,
    Rest(Body),
}

/// A body that comes back when nobody reads it any more.
struct Watched {
    body: Body,
    left: Option<oneshot::Sender<Left>>,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let is_over = frame.is_none() || self.body.is_end_stream();
        if let Some(left) = self.left.take_if(|_| is_over) {
            // Who asked for the answer may be gone.
            drop(left.send(Left::Nothing));
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(left) = self.left.take() {
            drop(left.send(Left::Rest(std::mem::take(&mut self.body))));
        }
    }
}
