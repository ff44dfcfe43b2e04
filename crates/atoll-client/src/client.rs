//! The client: sends requests and decodes responses. The methods are in one file per subject.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper_util::client::legacy::Client as Http;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::DuplexStream;

use crate::Error;
use crate::connection::{Address, Dialer, InProcess};
use crate::tls::Tls;

/// Path at which an agent serves its sandbox; a gateway serves many sandboxes below other paths.
const BASE: &str = "/v1";

/// How long a stream tries to reconnect to a server.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long an idle connection is pooled. Shorter than the server's idle timeout (30 s), so that a request does not
/// meet a connection that is just being closed.
const IDLE_MAX: Duration = Duration::from_secs(15);

/// A request body.
pub(crate) type Body = UnsyncBoxBody<Bytes, std::io::Error>;

/// A client of one sandbox. Cheap to clone; clones share the connection pool.
#[derive(Debug, Clone)]
pub struct Client {
    http: Http<Dialer, Body>,
    address: Address,
    base: String,
    token: Option<HeaderValue>,
    patience: Duration,
}

impl Client {
    /// Creates a client of the server at a unix socket.
    pub fn unix(path: impl AsRef<Path>) -> Self {
        Self::new(Address::Unix(path.as_ref().to_owned()), None)
    }

    /// Creates a client of the server at `host:port`, with its token.
    pub fn tcp(address: impl Into<String>, token: &str) -> Result<Self, Error> {
        let mut value = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| Error::invalid("the token has characters that are not allowed in a header"))?;
        value.set_sensitive(true);
        Ok(Self::new(Address::Tcp(address.into()), Some(value)))
    }

    /// Creates a client of the server at `host:port` without a token; [`Self::with_token`] adds one.
    pub fn tcp_without_token(address: impl Into<String>) -> Self {
        Self::new(Address::Tcp(address.into()), None)
    }

    /// Creates a client of the server at `host:port` over TLS. Its certificate must have that name and be signed by a
    /// CA in the file `trusted`, or by one that the system trusts if no file is given. [`Self::with_token`] adds a
    /// token.
    pub fn tls(address: impl Into<String>, trusted: Option<&Path>) -> Result<Self, Error> {
        let address = address.into();
        let tls = Tls::new(&address, trusted)?;
        Ok(Self::new(Address::Tls(address, tls), None))
    }

    /// Creates a client of a server in the same process, which receives its end of each connection through `take`.
    /// [`Self::with_token`] adds a token.
    pub fn in_process(take: impl Fn(DuplexStream) + Send + Sync + 'static) -> Self {
        Self::new(Address::InProcess(InProcess(Arc::new(take))), None)
    }

    fn new(address: Address, token: Option<HeaderValue>) -> Self {
        let http = Http::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_MAX)
            .build(Dialer(address.clone()));
        Self { http, address, base: BASE.to_owned(), token, patience: PATIENCE }
    }

    /// Sets the base path of the sandbox, instead of `/v1`: `/v1/sandboxes/NAME`.
    #[must_use]
    pub fn below(mut self, base: impl Into<String>) -> Self {
        self.base = base.into().trim_end_matches('/').to_owned();
        self
    }

    /// Sets how long streams try to reconnect before they fail.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Builds a URI from `scheme`, a path below the base, and query parameters.
    pub(crate) fn uri(&self, scheme: &str, path: &str, query: &[(&str, String)]) -> Result<Uri, Error> {
        let (authority, base) = (self.address.authority(), &self.base);
        let mut uri = format!("{scheme}://{authority}{base}{path}");
        if !query.is_empty() {
            // The path may already have a query.
            uri.push(if path.contains('?') { '&' } else { '?' });
            uri.push_str(&serde_urlencoded::to_string(query).map_err(Error::invalid)?);
        }
        Uri::try_from(uri).map_err(Error::invalid)
    }

    /// Creates a request with the token, without a body.
    pub(crate) fn request(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<RequestBuilder<'_>, Error> {
        let mut request = Request::builder().method(method).uri(self.uri("http", path, query)?);
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token);
        }
        Ok(RequestBuilder { client: self, request })
    }

    pub(crate) fn set_token(&mut self, token: HeaderValue) {
        self.token = Some(token);
    }

    pub(crate) fn token(&self) -> Option<&HeaderValue> {
        self.token.as_ref()
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, String)]) -> Result<T, Error> {
        self.request(Method::GET, path, query)?.send(empty()).await?.json().await
    }

    pub(crate) async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, Error> {
        self.request(Method::POST, path, &[])?.send_json(body).await?.json().await
    }

    pub(crate) async fn delete(&self, path: &str, query: &[(&str, String)]) -> Result<Answer, Error> {
        self.request(Method::DELETE, path, query)?.send(empty()).await
    }
}

/// A request builder.
#[derive(Debug)]
pub(crate) struct RequestBuilder<'a> {
    client: &'a Client,
    request: http::request::Builder,
}

impl RequestBuilder<'_> {
    pub(crate) fn header(mut self, name: &'static str, value: String) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    pub(crate) fn accept_events(mut self) -> Self {
        self.request = self.request.header(ACCEPT, "text/event-stream");
        self
    }

    pub(crate) async fn send_json(mut self, body: &impl Serialize) -> Result<Answer, Error> {
        let text = serde_json::to_vec(body).map_err(Error::invalid)?;
        self.request = self.request.header(CONTENT_TYPE, "application/json");
        self.send(full(text.into())).await
    }

    /// Sends the request. An error response becomes an [`Error`].
    pub(crate) async fn send(self, body: Body) -> Result<Answer, Error> {
        let request = self.request.body(body).map_err(Error::invalid)?;
        let response = self.client.http.request(request).await.map_err(|error| failed(self.client, &error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(Answer { response });
        }
        let body = response.into_body().collect().await.map(http_body_util::Collected::to_bytes);
        Err(Error::refused(status, &body.unwrap_or_default()))
    }
}

/// A successful response.
#[derive(Debug)]
pub(crate) struct Answer {
    response: Response<Incoming>,
}

impl Answer {
    pub(crate) async fn json<T: DeserializeOwned>(self) -> Result<T, Error> {
        let body = self.response.into_body().collect().await.map_err(Error::broken)?;
        serde_json::from_slice(&body.to_bytes()).map_err(Error::invalid_response)
    }

    pub(crate) fn into_parts(self) -> (http::HeaderMap, Incoming) {
        let (parts, body) = self.response.into_parts();
        (parts.headers, body)
    }

    pub(crate) fn into_body(self) -> Incoming {
        self.response.into_body()
    }
}

fn failed(client: &Client, error: &hyper_util::client::legacy::Error) -> Error {
    let mut why = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(unreachable) = cause.downcast_ref::<Error>() {
            return unreachable.clone();
        }
        why = cause.to_string();
        source = cause.source();
    }
    if error.is_connect() {
        return Error::Unreachable { address: client.address.to_string(), why };
    }
    Error::broken(why)
}

pub(crate) fn empty() -> Body {
    full(Bytes::new())
}

pub(crate) fn full(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

/// Creates a body that is sent piece by piece as the stream produces it.
pub(crate) fn streamed(pieces: impl Stream<Item = std::io::Result<Bytes>> + Send + 'static) -> Body {
    use futures_util::StreamExt;
    StreamBody::new(pieces.map(|piece| piece.map(Frame::data))).boxed_unsync()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn uris_are_below_the_base_path() {
        let query = [("label", "a=b c".to_owned())];
        let agent = Client::unix("/run/box.sock").uri("http", "/processes", &query).unwrap();
        assert_eq!(agent.to_string(), "http://localhost/v1/processes?label=a%3Db+c");
        let gateway = Client::tcp("example.org:80", "token").unwrap().below("/v1/sandboxes/box/");
        let uri = gateway.uri("ws", "/terminals/t/attach", &[]).unwrap();
        assert_eq!(uri.to_string(), "ws://example.org:80/v1/sandboxes/box/terminals/t/attach");
        assert!(!format!("{gateway:?}").contains("token\""), "Debug hides the token");
        assert!(Client::tcp("example.org:80", "a\nb").is_err());
    }
}
