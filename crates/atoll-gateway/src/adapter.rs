//! The interface for protocols other than the API. Adapters are implemented outside of this crate; they receive
//! requests here and call the API like any other client, within the process.

use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::DuplexStream;
use tower::ServiceExt;

/// A request to an adapter.
pub type Request = hyper::Request<Body>;

/// A response of an adapter; see [`body`] for its body.
pub type Response = hyper::Response<Body>;

/// A boxed future.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A protocol that is served beside the API.
pub trait ProtocolAdapter: Send + Sync + std::fmt::Debug {
    /// The path of the protocol. All requests to this path go to the adapter.
    fn path(&self) -> &'static str;

    /// Responds to a request whose token is valid.
    fn handle(self: Arc<Self>, caller: Caller, request: Request) -> BoxFuture<Response>;

    /// Shuts the adapter down. Returns when it has released everything.
    fn close(self: Arc<Self>) -> BoxFuture<()>;
}

/// Converts any HTTP body.
pub fn body<B>(body: B) -> Body
where
    B: hyper::body::Body<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    Body::new(body)
}

/// The authenticated client of a request.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The id of its token.
    pub id: Arc<str>,
    /// Whether the request comes from a page of an origin that the server's configuration allows.
    pub is_allowed_page: bool,
    /// The API. Requests through it need a token like any others.
    pub api: InProcessApi,
}

/// The API, called within this process. Its router is built on first use, since many servers never use it.
#[derive(Debug, Clone)]
pub struct InProcessApi(Arc<LazyLock<Router, MakeRouter>>);

type MakeRouter = Box<dyn FnOnce() -> Router + Send + Sync>;

impl InProcessApi {
    pub(crate) fn new(api: impl FnOnce() -> Router + Send + Sync + 'static) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(api))))
    }

    /// Serves the API over a stream.
    pub fn serve(&self, stream: DuplexStream) {
        let router = Router::clone(&self.0);
        let service =
            service_fn(move |request: hyper::Request<Incoming>| router.clone().oneshot(request.map(Body::new)));
        // The other end sees how the connection ends.
        tokio::spawn(async move { drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await) });
    }
}
