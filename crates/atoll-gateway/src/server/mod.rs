//! Listening, connections and their limits, and the end.
//!
//! When the server is asked to end, it takes no new connections, ends streams that would go on for ever (their clients
//! come back and go on by cursor), lets other requests end, and leaves every agent alone.

mod connection;
mod listen;
mod steady;
mod tls;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use connection::{Connection, Front, Watch};
pub use listen::PreviewListen;
pub(crate) use listen::{Listeners, bind};
pub use tls::TlsFiles;

use crate::app::App;
use crate::face::Face;
use crate::metrics::Metrics;

/// What clients may use of the server.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Connections at once. More wait in the kernel's queue.
    pub connections: usize,
    /// Bytes of a JSON body for the gateway itself. What goes through to a sandbox is not limited here.
    pub json_bytes: usize,
    /// Bytes of a request's head.
    pub head_bytes: usize,
    /// Bytes that are read at once of what goes through.
    pub buffer_bytes: usize,
    /// Headers of a request.
    pub headers: usize,
    /// How long a client may take for a request's head, and for the handshake before.
    pub head_within: Duration,
    /// Requests of one connection at once (HTTP/2).
    pub streams: u32,
    /// How long requests may go on when the server is asked to end.
    pub drain_within: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4096,
            json_bytes: 1024 * 1024,
            head_bytes: 64 * 1024,
            buffer_bytes: 64 * 1024,
            headers: 100,
            head_within: Duration::from_secs(10),
            streams: 256,
            drain_within: Duration::from_secs(10),
        }
    }
}

/// Bytes that are read at once for previews, through which large things go.
const PREVIEW_BUFFER: usize = 256 * 1024;

/// Everything that connections work with.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) router: Router,
    pub(crate) app: App,
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) draining: watch::Sender<bool>,
    pub(crate) faces: Vec<Arc<dyn Face>>,
}

/// How soon a failed accept is tried again: for want of descriptors, as a rule, and somebody must close one first.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

impl Server {
    /// Serves until `end` is ready and what was begun is done.
    pub(crate) async fn run(self, listeners: Listeners, end: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
        let Listeners { tcp, previews, unix, tls } = listeners;
        let make = |front, limits: &Limits| {
            let (limits, metrics, tls) = (limits.clone(), Arc::clone(&self.metrics), tls.clone());
            Arc::new(Connection { front: Arc::new(front), limits, metrics, tls })
        };
        let api = make(Front::Api(self.router), &self.limits);
        let seen = make(Front::Previews(self.app), &Limits { buffer_bytes: PREVIEW_BUFFER, ..self.limits.clone() });
        // Each has places of its own: whoever fills one leaves the other alone.
        tokio::select! {
            () = take(&api, &tcp, Some(&unix), &graceful) => {}
            () = take(&seen, &previews, None, &graceful) => {}
            () = end => {}
        }
        tracing::info!("asked to end: no new connections, streams are sent away, sandboxes go on");
        drop((tcp, previews, unix));
        self.draining.send_replace(true);
        let closing = async {
            for face in self.faces {
                face.close().await;
            }
            graceful.shutdown().await;
        };
        if timeout(self.limits.drain_within, closing).await.is_err() {
            tracing::warn!("some requests did not end in time");
        }
    }
}

/// Takes connections, as many at once as there may be, for as long as it is polled.
async fn take(
    connection: &Arc<Connection>,
    tcp: &[TcpListener],
    unix: Option<&UnixListener>,
    graceful: &GracefulShutdown,
) {
    let places = Arc::new(Semaphore::new(connection.limits.connections));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let watch: Watch = Box::new(graceful.watcher());
        begin(connection, accept(tcp, unix).await, place, watch).await;
    }
}

/// What came in.
enum Accepted {
    Tcp(tokio::net::TcpStream),
    Unix(tokio::net::UnixStream),
}

async fn accept(tcp: &[TcpListener], unix: Option<&UnixListener>) -> io::Result<Accepted> {
    let any_tcp = std::future::poll_fn(|context| {
        for listener in tcp {
            if let std::task::Poll::Ready(accepted) = listener.poll_accept(context) {
                return std::task::Poll::Ready(accepted);
            }
        }
        std::task::Poll::Pending
    });
    let any_unix = async {
        match unix {
            Some(unix) => unix.accept().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        accepted = any_tcp => accepted.map(|(stream, _): (_, SocketAddr)| Accepted::Tcp(stream)),
        accepted = any_unix => accepted.map(|(stream, _)| Accepted::Unix(stream)),
    }
}

async fn begin(
    connection: &Arc<Connection>,
    accepted: io::Result<Accepted>,
    place: OwnedSemaphorePermit,
    watch: Watch,
) {
    let connection = Arc::clone(connection);
    match accepted {
        Ok(Accepted::Tcp(stream)) => {
            // Small answers at once; it only fails on a connection that is gone.
            drop(stream.set_nodelay(true));
            tokio::spawn(async move {
                connection.tcp(stream, watch).await;
                drop(place);
            });
        }
        Ok(Accepted::Unix(stream)) => {
            tokio::spawn(async move {
                connection.unix(stream, watch).await;
                drop(place);
            });
        }
        Err(error) => {
            tracing::warn!(%error, "a connection could not be taken");
            sleep(ACCEPT_AGAIN).await;
        }
    }
}
