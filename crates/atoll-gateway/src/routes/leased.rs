//! The layer that ends a request with its token, before and during its response.

use std::pin::pin;
use std::task::Poll;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::observe::RequestInfo;
use crate::lease::Lease;
use crate::placement::BoxFuture;
use crate::{Error, bridge};

/// Runs the route while the caller's token is valid. Dropping the route closes its connection to the agent, as a client
/// that disconnects does. Must be below `atoll_http::drain_request_body`, which drains the remainder of the request's body.
pub(super) async fn end_with_token(request: Request, next: Next) -> Response {
    let seen = request.extensions().get::<RequestInfo>().cloned().unwrap_or_default();
    let is_bridge = bridge::owns(request.uri().path());
    let answered = {
        let mut route = pin!(next.run(request));
        let mut lease: Option<Lease> = None;
        let mut ended: Option<BoxFuture<'static, ()>> = None;
        std::future::poll_fn(|context| {
            if let Poll::Ready(response) = route.as_mut().poll(context) {
                return Poll::Ready(Some(response));
            }
            // Known after the extractor of the caller has run, in the first poll.
            if lease.is_none() {
                lease = seen.lease();
                ended = lease.clone().filter(Lease::can_end).map(|lease| Box::pin(lease.ended()) as _);
            }
            match &mut ended {
                Some(ended) => ended.as_mut().poll(context).map(|()| None),
                None => Poll::Pending,
            }
        })
        .await
    };
    match (answered, seen.lease()) {
        (Some(response), Some(lease)) => lease.bound(response),
        (Some(response), None) => response,
        (None, _) => {
            let error = Error::Unauthorized { why: "the token was revoked or has expired" };
            if is_bridge { bridge::refused(error) } else { error.into_response() }
        }
    }
}
