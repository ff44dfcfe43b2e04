//! WebSockets through the server: over HTTP/1.1 as ever, over HTTP/2 as one of its streams (RFC 8441), and who asks for
//! neither is told what to ask for.

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http_body_util::Empty;
use hyper::client::conn::http2;
use hyper::ext::Protocol;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::{Server, wait};
use crate::harness::Home;

fn asked(server: &Server<'_>, path: &str, protocol: &'static str) -> Request<Empty<Bytes>> {
    Request::builder()
        .method(Method::CONNECT)
        .uri(format!("http://{}{path}", server.address))
        .header("authorization", format!("Bearer {}", server.token))
        .header("sec-websocket-version", "13")
        .extension(Protocol::from_static(protocol))
        .body(Empty::new())
        .unwrap()
}

#[test]
fn a_stream_of_http2_can_be_one() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let name = server.sandbox().await;
        let stream = TcpStream::connect(server.address).await.unwrap();
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(connection);
        sender.ready().await.unwrap();
        let path = format!("/v1/sandboxes/{name}/terminals/t/attach");
        let response = sender.send_request(asked(&server, &path, "websocket")).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{response:?}");
        let io = TokioIo::new(hyper::upgrade::on(response).await.unwrap());
        let mut socket = WebSocketStream::from_raw_socket(io, Role::Client, None).await;
        socket.send(Message::Binary("echo $((6 * 7))-typed; exit 5\n".into())).await.unwrap();
        let (mut seen, mut exit) = (Vec::new(), None);
        while let Some(message) = socket.next().await {
            let message = message.unwrap();
            if let Message::Binary(bytes) = &message {
                seen.extend_from_slice(bytes);
            }
            if let Message::Text(text) = message
                && text.contains("\"exit\"")
            {
                exit = Some(text.to_string());
            }
        }
        assert!(String::from_utf8_lossy(&seen).contains("42-typed"));
        assert!(exit.unwrap().contains("\"code\":5"));
        for (path, protocol, status) in [
            (path.as_str(), "connect-udp", StatusCode::BAD_REQUEST),
            ("/v1/sandboxes/nobody/terminals/t/attach", "websocket", StatusCode::NOT_FOUND),
            ("/v1/tokens", "websocket", StatusCode::METHOD_NOT_ALLOWED),
        ] {
            let refused = sender.send_request(asked(&server, path, protocol)).await.unwrap();
            assert_eq!(refused.status(), status, "{path} {protocol}");
        }
        drop(sender);
        connection.abort();
    });
    server.end();
}

#[test]
fn who_asks_for_none_is_told_what_to_ask_for() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let name = wait(server.sandbox());
    let token = &server.token;
    let head = format!("host: x\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n");
    let told = server.raw(&format!("GET /v1/sandboxes/{name}/terminals/t/attach HTTP/1.1\r\n{head}")).to_lowercase();
    assert!(told.starts_with("http/1.1 426") && told.contains("\r\nupgrade: websocket\r\n"), "{told}");
    assert!(told.contains("upgrade_required"), "{told}");
    server.end();
}
