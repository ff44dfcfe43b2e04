//! Serves one connection: TLS if configured, HTTP/1.1 or HTTP/2 by its first bytes, with limits that stop a client
//! from holding it idle.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use atoll_http::{SpliceStream, Stream, UnixSocket};
use axum::Router;
use axum::body::Body;
use axum::response::Response;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::Watcher;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use super::Limits;
use super::inline_repoll::InlineRepoll;
use crate::app::App;
use crate::metrics::{Metrics, While};
use crate::preview::{self, Arrival, InformationalStream};

/// Interval of HTTP/2 pings to a silent client, and the timeout for its reply.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// HTTP/2 flow-control window of one stream. With the protocol's default of 64 KiB, a large upload stalls at every
/// window.
const WINDOW: u32 = 1024 * 1024;

/// Ends a connection gracefully when the server shuts down.
pub(super) type Watch = Box<Watcher>;

/// The service behind a connection. The listener decides which one, never the content of a request.
pub(super) enum Front {
    Api(Router),
    Previews(App),
}

impl Front {
    async fn answer(&self, arrival: Arrival, request: Request<Incoming>) -> Result<Response, Infallible> {
        let mut request = request.map(Body::new);
        match self {
            Self::Api(router) => {
                if let Some(splice) = arrival.splice {
                    request.extensions_mut().insert(splice);
                }
                router.clone().oneshot(request).await
            }
            Self::Previews(app) => Ok(preview::serve(app, arrival, request).await),
        }
    }
}

/// Everything that serving a connection needs.
pub(super) struct Connection {
    pub(super) front: Arc<Front>,
    pub(super) limits: Limits,
    pub(super) metrics: Arc<Metrics>,
    pub(super) tls: Option<TlsAcceptor>,
}

impl Connection {
    pub(super) async fn tcp(&self, stream: TcpStream, watch: Watch) {
        let peer = stream.peer_addr().ok();
        let Some(tls) = &self.tls else {
            let stream = SpliceStream::new(Stream::Tcp(stream));
            let arrival = Arrival { splice: Some(stream.handle()), ..Arrival::of(peer, "http") };
            return match &*self.front {
                Front::Api(_) => self.plain(stream, arrival, watch).await,
                Front::Previews(_) => {
                    let (stream, interim) = InformationalStream::new(stream);
                    self.plain(stream, Arrival { interim: Some(interim), ..arrival }, watch).await;
                }
            };
        };
        match timeout(self.limits.head_within, tls.accept(stream)).await {
            Ok(Ok(stream)) => match &*self.front {
                Front::Api(_) => self.plain(stream, Arrival::of(peer, "https"), watch).await,
                Front::Previews(_) => {
                    let (stream, interim) = InformationalStream::new(stream);
                    let arrival = Arrival { interim: Some(interim), ..Arrival::of(peer, "https") };
                    self.plain(stream, arrival, watch).await;
                }
            },
            Ok(Err(error)) => tracing::debug!(%error, "TLS handshake failed"),
            Err(_) => tracing::debug!("TLS handshake timed out"),
        }
    }

    pub(super) async fn unix(&self, stream: UnixStream, watch: Watch) {
        // Fails only without free descriptors or memory, in which case nothing could be served.
        let Ok(local) = UnixSocket::try_from(stream) else { return };
        let stream = SpliceStream::new(Stream::Unix(local));
        let arrival = Arrival { splice: Some(stream.handle()), ..Arrival::of(None, "http") };
        self.plain(stream, arrival, watch).await;
    }

    async fn plain(
        &self,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        arrival: Arrival,
        watch: Watch,
    ) {
        let _open = While::new(&self.metrics.connections);
        let has_request = Arc::new(AtomicBool::new(false));
        let service = {
            let (front, has_request) = (Arc::clone(&self.front), Arc::clone(&has_request));
            service_fn(move |request: Request<Incoming>| {
                has_request.store(true, Ordering::Relaxed);
                let (front, arrival) = (Arc::clone(&front), arrival.clone());
                async move { front.answer(arrival, request).await }
            })
        };
        let builder = self.builder();
        let serving = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
        let serving = pin!(watch.watch(serving));
        let mut serving = InlineRepoll::new(serving);
        // hyper detects the HTTP version from the first bytes, and has no timeout for these.
        tokio::select! {
            _ = &mut serving => return,
            () = sleep(self.limits.head_within) => {}
        }
        if has_request.load(Ordering::Relaxed) {
            // How the connection ends concerns the client only.
            drop(serving.await);
        }
    }

    fn builder(&self) -> Builder<TokioExecutor> {
        let limits = &self.limits;
        let mut builder = Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head_within)
            .max_headers(limits.headers)
            .max_buf_size(limits.buffer_bytes.max(limits.head_bytes));
        builder
            .http2()
            .timer(TokioTimer::new())
            .enable_connect_protocol()
            .max_concurrent_streams(limits.streams)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(4 * WINDOW)
            .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
            .keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(PING_TIMEOUT);
        builder
    }
}
