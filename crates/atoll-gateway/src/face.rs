//! Faces: protocols of others that this server speaks as well. What they are is made elsewhere; here is where they come
//! in, and their way back to the API, which is that of any client.

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

/// What comes in.
pub type Request = hyper::Request<Body>;

/// What goes out; any body can be made one.
pub type Response = hyper::Response<Body>;

/// What a face does, whenever it is done.
pub type Doing<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A protocol of others.
pub trait Face: Send + Sync + std::fmt::Debug {
    /// Where it is: every request to this path is its own.
    fn path(&self) -> &'static str;

    /// Answers a request of somebody who has shown a good token.
    fn answer(self: Arc<Self>, visitor: Visitor, request: Request) -> Doing<Response>;

    /// The server ends. Returns when nothing is left to be let go of.
    fn close(self: Arc<Self>) -> Doing<()>;
}

/// A body from any other.
pub fn body<B>(body: B) -> Body
where
    B: hyper::body::Body<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    Body::new(body)
}

/// Who asks.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// Of the token.
    pub id: Arc<str>,
    /// It comes from a page of another origin that the server was told to allow.
    pub is_allowed_page: bool,
    /// The way to the API. A request over it needs a token like any other.
    pub way: Way,
}

/// The way from a face to the API, within this process. Made when it is first used: many servers speak to nobody so.
#[derive(Debug, Clone)]
pub struct Way(Arc<LazyLock<Router, Making>>);

type Making = Box<dyn FnOnce() -> Router + Send + Sync>;

impl Way {
    pub(crate) fn new(api: impl FnOnce() -> Router + Send + Sync + 'static) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(api))))
    }

    /// Serves the API over a connection.
    pub fn serve(&self, stream: DuplexStream) {
        let router = Router::clone(&self.0);
        let service =
            service_fn(move |request: hyper::Request<Incoming>| router.clone().oneshot(request.map(Body::new)));
        // How it ends is the business of whoever has the other end.
        tokio::spawn(async move { drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await) });
    }
}
