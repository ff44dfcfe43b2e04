//! One connection: TLS if there is any, HTTP/1.1 or HTTP/2 by its first bytes, and the limits that keep a client from
//! holding it for nothing.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use atoll_http::{Local, Slipway, Stream};
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
use super::steady::Steady;
use crate::app::App;
use crate::metrics::{Metrics, While};
use crate::preview::{self, Arrival, Interjecting};

/// How often an HTTP/2 client that says nothing is asked whether it is there, and for how long it may not answer.
const ASK_EVERY: Duration = Duration::from_secs(30);
const ANSWERS_WITHIN: Duration = Duration::from_secs(20);

/// What an HTTP/2 client may send ahead in one request: 64 KiB, as the protocol has it, makes a large upload wait for
/// every one of them.
const WINDOW: u32 = 1024 * 1024;

/// What ends a connection in good order when the server ends.
pub(super) type Watch = Box<Watcher>;

/// Who answers what comes over a connection. It is told by where the connection came in, and by nothing that a request
/// says.
pub(super) enum Front {
    Api(Router),
    Previews(App),
}

impl Front {
    async fn answer(&self, arrival: Arrival, request: Request<Incoming>) -> Result<Response, Infallible> {
        let mut request = request.map(Body::new);
        match self {
            Self::Api(router) => {
                if let Some(passage) = arrival.passage {
                    request.extensions_mut().insert(passage);
                }
                router.clone().oneshot(request).await
            }
            Self::Previews(app) => Ok(preview::serve(app, arrival, request).await),
        }
    }
}

/// What every connection works with.
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
            let slipway = Slipway::new(Stream::Tcp(stream));
            let arrival = Arrival { passage: Some(slipway.passage()), ..Arrival::of(peer, "http") };
            return match &*self.front {
                Front::Api(_) => self.plain(slipway, arrival, watch).await,
                Front::Previews(_) => {
                    let (stream, interim) = Interjecting::new(slipway);
                    self.plain(stream, Arrival { interim: Some(interim), ..arrival }, watch).await;
                }
            };
        };
        match timeout(self.limits.head_within, tls.accept(stream)).await {
            Ok(Ok(stream)) => match &*self.front {
                Front::Api(_) => self.plain(stream, Arrival::of(peer, "https"), watch).await,
                Front::Previews(_) => {
                    let (stream, interim) = Interjecting::new(stream);
                    let arrival = Arrival { interim: Some(interim), ..Arrival::of(peer, "https") };
                    self.plain(stream, arrival, watch).await;
                }
            },
            Ok(Err(error)) => tracing::debug!(%error, "a handshake failed"),
            Err(_) => tracing::debug!("a handshake took too long"),
        }
    }

    pub(super) async fn unix(&self, stream: UnixStream, watch: Watch) {
        // It only fails for want of descriptors or memory: nothing could be served.
        let Ok(local) = Local::try_from(stream) else { return };
        let slipway = Slipway::new(Stream::Unix(local));
        let arrival = Arrival { passage: Some(slipway.passage()), ..Arrival::of(None, "http") };
        self.plain(slipway, arrival, watch).await;
    }

    async fn plain(
        &self,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        arrival: Arrival,
        watch: Watch,
    ) {
        let _open = While::new(&self.metrics.connections);
        let asked = Arc::new(AtomicBool::new(false));
        let service = {
            let (front, asked) = (Arc::clone(&self.front), Arc::clone(&asked));
            service_fn(move |request: Request<Incoming>| {
                asked.store(true, Ordering::Relaxed);
                let (front, arrival) = (Arc::clone(&front), arrival.clone());
                async move { front.answer(arrival, request).await }
            })
        };
        let builder = self.builder();
        let serving = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
        let serving = pin!(watch.watch(serving));
        let mut serving = Steady::new(serving);
        // Which version is spoken is told by the first bytes, for which hyper waits without a clock.
        tokio::select! {
            _ = &mut serving => return,
            () = sleep(self.limits.head_within) => {}
        }
        if asked.load(Ordering::Relaxed) {
            // How it ended is the client's business.
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
            .keep_alive_interval(ASK_EVERY)
            .keep_alive_timeout(ANSWERS_WITHIN);
        builder
    }
}
