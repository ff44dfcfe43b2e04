//! What is said before an answer and after it, and sockets over HTTP/2: all that is more than a head and a body.

use std::io::{BufReader, Read, Write};

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http_body_util::Empty;
use hyper::client::conn::http2;
use hyper::ext::Protocol;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::uploads::{bash, url};
use super::{BOTH, Form, printed, public, read_answer, read_head, send, with_app};
use crate::harness::need;
use crate::server::wait;

#[test]
fn what_a_program_says_before_its_answer_is_passed_on() {
    with_app(public(), |server, shown| {
        for form in BOTH {
            let mut stream = server.preview_stream();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            // Twice on one connection, with an ordinary answer in between.
            for path in ["/hints", "/echo", "/hints"] {
                send(&mut stream, &shown.at(form, path), "GET", &[], b"");
                if path == "/hints" {
                    let (status, headers) = read_head(&mut reader);
                    let links: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                    assert_eq!(status, 103);
                    assert_eq!(
                        links,
                        [("link", "</a.css>; rel=preload"), ("link", "</b.js>")],
                        "none of one connection"
                    );
                    assert_eq!(read_head(&mut reader), (102, Vec::new()));
                }
                assert_eq!(read_answer(&mut reader, "GET").json()["method"], "GET");
            }
        }
        // A client of HTTP/1.0 would take it for the answer.
        let (host, path) = shown.at(Form::Host, "/hints");
        let mut stream = server.preview_stream();
        stream.write_all(format!("GET {path} HTTP/1.0\r\nhost: {host}\r\n\r\n").as_bytes()).unwrap();
        assert_eq!(read_head(&mut BufReader::new(stream)).0, 200);
    });
}

#[test]
fn a_body_is_not_asked_for_before_the_program_wants_it() {
    with_app(public(), |server, shown| {
        let head = ["expect: 100-continue", "content-length: 5", "connection: close"];
        for form in BOTH {
            let mut stream = server.preview_stream();
            send(&mut stream, &shown.at(form, "/echo"), "POST", &head, b"");
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            assert_eq!(read_head(&mut reader).0, 100);
            wait(printed(server, &shown.name, &shown.app, "wants the body"));
            stream.write_all(b"hello").unwrap();
            assert_eq!(read_answer(&mut reader, "POST").json()["body"], 5);

            let mut stream = server.preview_stream();
            send(&mut stream, &shown.at(form, "/refuse"), "POST", &head, b"");
            let refused = read_answer(&mut BufReader::new(stream), "POST");
            assert_eq!(refused.status, 417, "nothing but the refusal: {refused:?}");
        }
    });
}

#[test]
fn trailers_go_both_ways() {
    need!("curl");
    with_app(public(), |server, shown| {
        for form in BOTH {
            let mut stream = server.preview_stream();
            send(&mut stream, &shown.at(form, "/trailers"), "GET", &["te: trailers", "connection: te, close"], b"");
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            assert!(text.contains("trailer: x-sum\r\n") && text.ends_with("0\r\nx-sum: 42\r\n\r\n"), "{text}");

            let mut stream = server.preview_stream();
            let head =
                ["transfer-encoding: chunked", "trailer: x-sum, x_forwarded_for, x-real-ip", "connection: close"];
            send(&mut stream, &shown.at(form, "/upload"), "PUT", &head, b"");
            // Forwarding headers are removed from trailers as well.
            let trailers =
                "x-sum: 42\r\nx_forwarded_for: 6.6.6.6\r\nx-real-ip: 6.6.6.6\r\nx-forwarded-for: 6.6.6.6\r\n";
            stream.write_all(format!("4\r\nbody\r\n0\r\n{trailers}\r\n").as_bytes()).unwrap();
            let told = read_answer(&mut BufReader::new(stream), "PUT").json();
            assert_eq!((&told["bytes"], &told["trailers"]), (&4.into(), &serde_json::json!(["x-sum: 42"])));

            let at = url(server, shown.at(form, "/trailers"));
            let told = bash(server, &format!("curl -sS --http2-prior-knowledge -D - -H 'te: trailers' '{at}'"));
            let told = told.to_lowercase();
            assert!(told.starts_with("http/2 200") && told.contains("x-sum: 42"), "{told}");
        }
    });
}

/// As a browser asks for a socket of a page that it got over HTTP/2 (RFC 8441).
fn asked((host, path): (String, String), protocol: &'static str) -> Request<Empty<Bytes>> {
    Request::builder()
        .method(Method::CONNECT)
        .uri(format!("http://{host}{path}"))
        .header("sec-websocket-version", "13")
        .extension(Protocol::from_static(protocol))
        .body(Empty::new())
        .unwrap()
}

#[test]
fn a_stream_of_http2_can_be_a_web_socket() {
    with_app(public(), |server, shown| {
        wait(async {
            let stream = tokio::net::TcpStream::connect(server.previews).await.unwrap();
            let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
            let connection = tokio::spawn(connection);
            sender.ready().await.unwrap();
            for form in BOTH {
                let response = sender.send_request(asked(shown.at(form, "/ws"), "websocket")).await.unwrap();
                assert_eq!(response.status(), StatusCode::OK, "{response:?}");
                assert!(response.headers().get("sec-websocket-accept").is_none(), "{response:?}");
                let io = TokioIo::new(hyper::upgrade::on(response).await.unwrap());
                let mut socket = WebSocketStream::from_raw_socket(io, Role::Client, None).await;
                socket.send(Message::text("over two")).await.unwrap();
                assert_eq!(socket.next().await.unwrap().unwrap().into_text().unwrap(), "over two");
                socket.close(None).await.unwrap();
                while socket.next().await.is_some() {}
            }
            let refused = sender.send_request(asked(shown.at(Form::Host, "/ws"), "connect-udp")).await.unwrap();
            assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
            let nobody = ("3000-nobody-aaaaaaaaaaaaaaaa.localhost".to_owned(), "/ws".to_owned());
            let refused = sender.send_request(asked(nobody, "websocket")).await.unwrap();
            assert_eq!(refused.status(), StatusCode::NOT_FOUND);
            drop(sender);
            connection.abort();
        });
    });
}
