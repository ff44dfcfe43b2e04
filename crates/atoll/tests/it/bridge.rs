//! The bridge as plain HTTP: what no client of it sends in good faith, and what one cannot see. The client that it is made
//! for is in `tests/bridge`, and run by `scripts/bridge`. The behaviours are in the files below `bridge/`.

mod exec;
mod files;
mod pty;
mod refused;
mod whole;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::server::Server;

/// One request, with a connection for itself.
pub(crate) struct Ask<'a> {
    server: &'a Server<'a>,
    method: Method,
    path: String,
    headers: Vec<(String, String)>,
    body: Bytes,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    headers: hyper::HeaderMap,
    body: Bytes,
}

pub(crate) fn ask<'a>(server: &'a Server<'a>, method: Method, path: impl Into<String>) -> Ask<'a> {
    let headers = vec![("authorization".to_owned(), format!("Bearer {}", server.token))];
    Ask { server, method, path: path.into(), headers, body: Bytes::new() }
}

impl Ask<'_> {
    /// In place of one of this name.
    fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(other, _)| other != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// As far as its head.
    async fn begin(self) -> Response<Incoming> {
        let stream = TcpStream::connect(self.server.address).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let mut request = Request::builder().method(self.method).uri(self.path).header("host", "x");
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        sender.send_request(request.body(Full::new(self.body)).unwrap()).await.unwrap()
    }

    async fn done(self) -> Answer {
        let (parts, body) = self.begin().await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status, headers: parts.headers, body }
    }
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The status and the code of an error, which has the shape of a bridge's and no other.
    fn refusal(&self) -> (u16, String) {
        let body = self.json();
        let names: Vec<&String> = body.as_object().unwrap().keys().collect();
        assert_eq!(names, ["code", "error"], "{self:?}");
        assert!(!body["error"].as_str().unwrap().is_empty() && self.headers["content-type"] == "application/json");
        (self.status.as_u16(), body["code"].as_str().unwrap().to_owned())
    }
}

/// Of a stream: what was printed, and the last event.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ran {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    last: String,
}

fn ran(stream: &[u8]) -> Ran {
    let mut ran = Ran::default();
    for event in str::from_utf8(stream).unwrap().split_terminator("\n\n").filter(|event| !event.starts_with(':')) {
        let (name, data) = event.split_once('\n').unwrap();
        let (name, data) = (name.strip_prefix("event: ").unwrap(), data.strip_prefix("data: ").unwrap());
        assert_eq!(ran.last, "", "nothing comes behind the end");
        match name {
            "stdout" => ran.stdout.extend(STANDARD.decode(data).unwrap()),
            "stderr" => ran.stderr.extend(STANDARD.decode(data).unwrap()),
            _ => ran.last = format!("{name} {data}"),
        }
    }
    ran
}

/// What a shell string does inside.
async fn sh(server: &Server<'_>, name: &str, text: &str) -> Ran {
    let body = serde_json::json!({ "argv": ["sh", "-c", text] }).to_string();
    let answer = ask(server, Method::POST, format!("/v1/sandbox/{name}/exec")).body(body).done().await;
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    ran(&answer.body)
}
