//! Drains request bodies that a route has left unread when it responds.
//!
//! Unread body bytes precede the next request on the connection. A small remainder is read and discarded. With a
//! larger one, the server closes the connection after the response and says so with `connection: close`: a client that
//! reuses connections must know before it sends the next request, which would be lost. Closing while the client still
//! writes would reset the connection and lose the response itself.

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

use crate::splice::SpliceHandle;

/// Largest remainder that is read and discarded, and the time limit for it.
const DRAIN_MAX: usize = 256 * 1024;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Middleware: reads what the route has left of the request body, or sets `connection: close` on the response.
pub async fn drain_request_body(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (sender, mut left) = oneshot::channel();
    let watched = |body| Body::new(Watched { body, left: Some(sender) });
    let splice = request.extensions().get::<Arc<SpliceHandle>>().cloned();
    let mut response = next.run(request.map(watched)).await;
    let is_read = match left.try_recv() {
        // The body was spliced: hyper reads no further request from this connection.
        _ if splice.is_some_and(|splice| splice.is_reading_paused()) => false,
        Ok(Unread::Nothing) => true,
        Ok(Unread::Rest(body)) => drained(body).await,
        // A task still reads the body.
        Err(_) => false,
    };
    if !is_read && response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

async fn drained(body: Body) -> bool {
    matches!(timeout(DRAIN_TIMEOUT, Limited::new(body, DRAIN_MAX).collect()).await, Ok(Ok(_)))
}

/// What a route has left of a request body.
enum Unread {
    Nothing,
    Rest(Body),
}

/// A request body that is sent back through a channel when its reader drops it.
struct Watched {
    body: Body,
    left: Option<oneshot::Sender<Unread>>,
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
            // The middleware may have been dropped.
            drop(left.send(Unread::Nothing));
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
            drop(left.send(Unread::Rest(std::mem::take(&mut self.body))));
        }
    }
}
