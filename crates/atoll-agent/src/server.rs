//! Serving: connections in, requests to the routes, and an orderly end. HTTP/1.1 and h2c alike, by their first bytes.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use atoll_http::{SpliceHandle, SpliceStream, Stream};
use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::{Request, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tower_service::Service;

use crate::agent::Agent;
use crate::app;
use crate::listen::{Listener, Socket};

/// Connections at once. Each costs some memory and a descriptor; clients beyond wait to be accepted.
const CONNECTIONS_MAX: usize = 4096;

/// How long a client may take to send the head of a request.
const HEAD_WITHIN: Duration = Duration::from_secs(30);

/// How long answers that are on their way may take when the sandbox has ended.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// A pause after a failed accept, which is mostly for want of descriptors: the next one would fail as well.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves the sandbox until it is stopped ([`Agent::stop`], or `DELETE /v1/sandbox`).
pub async fn serve(agent: Agent, listeners: Vec<Listener>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut doors = JoinSet::new();
    for listener in listeners {
        doors.spawn(keep_open(agent.clone(), listener.socket, Arc::clone(&room)));
    }
    while doors.join_next().await.is_some() {}
}

/// Accepts at one place until the sandbox is stopped, then waits for the last answers.
async fn keep_open(agent: Agent, socket: Socket, room: Arc<Semaphore>) {
    let router = match &socket {
        Socket::Unix { .. } => app::router(agent.clone()),
        Socket::Tcp { token, .. } => app::router_behind(token.clone(), agent.clone()),
    };
    let mut connections = JoinSet::new();
    loop {
        // Those that are over are let go of.
        while connections.try_join_next().is_some() {}
        let accepted = tokio::select! {
            () = agent.stopped() => break,
            accepted = next(&socket, &room) => accepted,
        };
        let Some((connection, place)) = accepted else { continue };
        let (agent, router) = (agent.clone(), router.clone());
        connections.spawn(async move {
            talk(SpliceStream::new(connection), router, agent).await;
            drop(place);
        });
    }
    drop(socket);
    drop(timeout(LAST_ANSWERS, async { while connections.join_next().await.is_some() {} }).await);
}

async fn next(socket: &Socket, room: &Arc<Semaphore>) -> Option<(Stream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(room).acquire_owned().await.ok()?;
    match socket.accept().await {
        Ok(connection) => Some((connection, place)),
        Err(_) => {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

/// One connection, until the client leaves or the sandbox is stopped and the answer on its way is told.
async fn talk(stream: SpliceStream, router: Router, agent: Agent) {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
    builder.http2().timer(TokioTimer::new());
    let splice = stream.handle();
    let service = service_fn(move |request| answer(router.clone(), Arc::clone(&splice), request));
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        // A client that breaks off is no event of ours.
        _ = connection.as_mut() => return,
        () = agent.stopped() => connection.as_mut().graceful_shutdown(),
    }
    drop(connection.await);
}

/// Answers one request. Over HTTP/2 a connection is shared, and bodies cannot go past us on it.
fn answer(
    mut router: Router,
    splice: Arc<SpliceHandle>,
    request: Request<Incoming>,
) -> impl Future<Output = Result<Response, Infallible>> {
    let mut request = request.map(Body::new);
    if request.version() == Version::HTTP_11 {
        request.extensions_mut().insert(splice);
    }
    router.call(request)
}
