//! Listeners, connections with their limits, and graceful shutdown.
//!
//! On shutdown, the server refuses new connections, ends streams that have no end of their own (their clients
//! reconnect and continue from their cursor), lets other requests finish, and leaves all agents running.

mod connection;
mod inline_repoll;
mod listen;
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

use crate::adapter::ProtocolAdapter;
use crate::app::App;
use crate::metrics::Metrics;

/// Limits on connections and requests.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Concurrent connections. Further ones wait in the kernel's queue.
    pub connections: usize,
    /// Bytes of a JSON body for the gateway itself. Bodies that are forwarded to a sandbox are not limited here.
    pub json_bytes: usize,
    /// Bytes of a request's head.
    pub head_bytes: usize,
    /// Bytes that are read at once of forwarded bodies.
    pub buffer_bytes: usize,
    /// Number of headers in a request.
    pub headers: usize,
    /// Timeout for a request's head, and for the TLS handshake.
    pub head_within: Duration,
    /// Concurrent requests per HTTP/2 connection.
    pub streams: u32,
    /// How long open requests may take when the server shuts down.
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

/// Read buffer of preview connections, which carry large bodies.
const PREVIEW_BUFFER: usize = 256 * 1024;

/// The server, ready to run.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) router: Router,
    pub(crate) app: App,
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) draining: watch::Sender<bool>,
    pub(crate) adapters: Vec<Arc<dyn ProtocolAdapter>>,
}

/// Pause after a failed accept. It mostly fails for want of descriptors, until another connection closes.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

impl Server {
    /// Serves until `end` completes and open requests have ended.
    pub(crate) async fn run(self, listeners: Listeners, end: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
        let Listeners { tcp, previews, unix, tls } = listeners;
        let make = |front, limits: &Limits| {
            let (limits, metrics, tls) = (limits.clone(), Arc::clone(&self.metrics), tls.clone());
            Arc::new(Connection { front: Arc::new(front), limits, metrics, tls })
        };
        let api = make(Front::Api(self.router), &self.limits);
        let previews_front =
            make(Front::Previews(self.app), &Limits { buffer_bytes: PREVIEW_BUFFER, ..self.limits.clone() });
        // Each has its own connection limit: clients that exhaust one do not block the other.
        tokio::select! {
            () = accept_loop(&api, &tcp, Some(&unix), &graceful) => {}
            () = accept_loop(&previews_front, &previews, None, &graceful) => {}
            () = end => {}
        }
        tracing::info!("shutting down: refusing connections, closing streams; sandboxes keep running");
        drop((tcp, previews, unix));
        self.draining.send_replace(true);
        let closing = async {
            for adapter in self.adapters {
                adapter.close().await;
            }
            graceful.shutdown().await;
        };
        if timeout(self.limits.drain_within, closing).await.is_err() {
            tracing::warn!("some requests did not end before the shutdown timeout");
        }
    }
}

/// Accepts connections up to the limit, for as long as it is polled.
async fn accept_loop(
    connection: &Arc<Connection>,
    tcp: &[TcpListener],
    unix: Option<&UnixListener>,
    graceful: &GracefulShutdown,
) {
    let permits = Arc::new(Semaphore::new(connection.limits.connections));
    while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
        let watch: Watch = Box::new(graceful.watcher());
        spawn(connection, accept(tcp, unix).await, permit, watch).await;
    }
}

/// An accepted connection.
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

async fn spawn(
    connection: &Arc<Connection>,
    accepted: io::Result<Accepted>,
    permit: OwnedSemaphorePermit,
    watch: Watch,
) {
    let connection = Arc::clone(connection);
    match accepted {
        Ok(Accepted::Tcp(stream)) => {
            // Sends small responses at once. Fails only on a closed connection.
            drop(stream.set_nodelay(true));
            tokio::spawn(async move {
                connection.tcp(stream, watch).await;
                drop(permit);
            });
        }
        Ok(Accepted::Unix(stream)) => {
            tokio::spawn(async move {
                connection.unix(stream, watch).await;
                drop(permit);
            });
        }
        Err(error) => {
            tracing::warn!(%error, "cannot accept a connection");
            sleep(ACCEPT_RETRY).await;
        }
    }
}
