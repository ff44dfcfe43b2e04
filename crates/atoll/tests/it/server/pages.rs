//! `--no-auth` and web pages: every route and every HTTP version refuses a request that a page made.

use bytes::Bytes;
use http_body_util::Empty;
use hyper::client::conn::http2;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use atoll_protocol::SandboxState;

use super::{Server, wait};
use crate::harness::Home;

/// Headers that browsers add to requests of pages, and host names of DNS rebinding.
const OF_A_PAGE: [&str; 8] = [
    "host: localhost\r\norigin: http://localhost",
    "host: localhost\r\nsec-fetch-site: cross-site",
    "host: localhost\r\nsec-fetch-site: same-site\r\nsec-fetch-mode: navigate",
    "host: localhost\r\nsec-fetch-site: none\r\nsec-fetch-site: cross-site",
    "host: evil.test",
    "host: localhost\r\nhost: evil.test",
    "host: localhost.evil.test",
    "host: localhost\r\nreferer: https://evil.test/",
];

#[test]
fn a_server_without_tokens_refuses_pages_everywhere() {
    let home = Home::new();
    let server = Server::start(&home, &["--no-auth"]);
    let name = wait(async {
        let name = server.sandbox().await;
        server.client().stop_sandbox(&name).await.unwrap();
        name
    });
    let files = format!("/v1/sandboxes/{name}/files/content?path=/etc/hostname");
    let running = format!("/v1/sandbox/{name}/running");
    let status = |target: &str, headers: &str| {
        let response = server.raw(&format!("GET {target} HTTP/1.1\r\n{headers}\r\nconnection: close\r\n\r\n"));
        response.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok()).unwrap_or_default()
    };
    for path in [files.as_str(), &running, "/v1/sandboxes", "/v1/tokens", "/metrics", "/mcp"] {
        for headers in OF_A_PAGE {
            // hyper may refuse duplicate headers itself.
            assert!([400, 401].contains(&status(path, headers)), "{path} {headers}");
        }
        let elsewhere = format!("http://evil.test{path}");
        assert_eq!(status(&elsewhere, "host: localhost"), 401, "{path}: the target counts (RFC 9112, 3.2.2)");
    }
    let now = || wait(server.client().find_sandbox(&name)).unwrap().state;
    assert_eq!(now(), SandboxState::Stopped, "none of it started anything");
    for headers in ["host: localhost", "host: 127.0.0.1:7070\r\nsec-fetch-site: none", "host: [::1]"] {
        assert_eq!(status("/v1/sandboxes", headers), 200, "{headers}");
    }
    assert_eq!(status("http://localhost/v1/sandboxes", "host: localhost"), 200);
    server.end();
}

#[test]
fn a_server_without_tokens_looks_at_the_authority_of_http2() {
    let home = Home::new();
    let server = Server::start(&home, &["--no-auth"]);
    wait(async {
        let stream = TcpStream::connect(server.address).await.unwrap();
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(connection);
        for (authority, more, status) in [
            ("evil.test", None, StatusCode::UNAUTHORIZED),
            ("evil.test", Some(("host", "localhost")), StatusCode::UNAUTHORIZED),
            ("localhost", Some(("host", "evil.test")), StatusCode::UNAUTHORIZED),
            ("localhost", Some(("sec-fetch-site", "cross-site")), StatusCode::UNAUTHORIZED),
            ("localhost", None, StatusCode::OK),
            ("127.0.0.1:7070", None, StatusCode::OK),
        ] {
            sender.ready().await.unwrap();
            let mut request = Request::builder().uri(format!("http://{authority}/v1/sandboxes"));
            if let Some((name, value)) = more {
                request = request.header(name, value);
            }
            let answer = sender.send_request(request.body(Empty::<Bytes>::new()).unwrap()).await.unwrap();
            assert_eq!(answer.status(), status, "{authority} {more:?}");
        }
        drop(sender);
        connection.abort();
    });
    server.end();
}
