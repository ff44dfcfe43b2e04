//! Terminals: with an id and without, what came before and what comes.

use futures_util::{SinkExt, StreamExt};
use hyper::Method;
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::ask;
use crate::harness::Home;
use crate::server::{Server, wait};

type Socket = WebSocketStream<TcpStream>;

async fn open(server: &Server<'_>, name: &str, query: &str) -> Result<Socket, u16> {
    let url = format!("ws://{}/v1/sandbox/{name}/pty{query}", server.address);
    let mut request = url.into_client_request().unwrap();
    request.headers_mut().insert("authorization", format!("Bearer {}", server.token).parse().unwrap());
    let stream = TcpStream::connect(server.address).await.unwrap();
    match tokio_tungstenite::client_async(request, stream).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(response)) => Err(response.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

/// Until a text frame of this kind; what was printed before it, and the frame.
async fn until(socket: &mut Socket, kind: &str) -> (String, serde_json::Value) {
    let mut printed = Vec::new();
    while let Some(message) = socket.next().await {
        match message.unwrap() {
            Message::Binary(bytes) => printed.extend_from_slice(&bytes),
            Message::Text(text) => {
                let frame: serde_json::Value = serde_json::from_str(&text).unwrap();
                if frame["type"] == kind {
                    return (String::from_utf8_lossy(&printed).into_owned(), frame);
                }
            }
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_) => {}
        }
    }
    panic!("no {kind} came: {}", String::from_utf8_lossy(&printed));
}

/// Until this was printed.
async fn sees(socket: &mut Socket, words: &str) {
    let mut printed = Vec::new();
    while !String::from_utf8_lossy(&printed).contains(words) {
        match socket.next().await.unwrap().unwrap() {
            Message::Binary(bytes) => printed.extend_from_slice(&bytes),
            Message::Text(text) => panic!("{text}"),
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_) => {}
        }
    }
}

async fn types(socket: &mut Socket, keys: &str) {
    socket.send(Message::Binary(keys.to_owned().into())).await.unwrap();
}

async fn terminals(server: &Server<'_>, name: &str) -> usize {
    let list = ask(server, Method::GET, format!("/v1/sandboxes/{name}/terminals")).done().await.json();
    list["terminals"].as_array().unwrap().len()
}

#[test]
fn one_without_an_id_is_the_connections_own() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let name = home.name();
        let mut socket = open(&server, &name, "?cols=100&rows=30").await.unwrap();
        until(&mut socket, "ready").await;
        types(&mut socket, "stty size; echo $((6*7))-typed\n").await;
        sees(&mut socket, "42-typed").await;
        socket.send(Message::text(r#"{"type":"resize","cols":77,"rows":7}"#)).await.unwrap();
        types(&mut socket, "until [ \"$(stty size)\" = '7 77' ]; do sleep 0.01; done; echo re''sized\n").await;
        sees(&mut socket, "resized").await;
        for nonsense in ["nonsense", r#"{"type":"resize","cols":0,"rows":1}"#, r#"{"type":"kill"}"#] {
            socket.send(Message::text(nonsense)).await.unwrap();
            assert!(!until(&mut socket, "error").await.1["message"].as_str().unwrap().is_empty());
        }
        assert_eq!(terminals(&server, &name).await, 1);
        types(&mut socket, "exit 5\n").await;
        let (_, exit) = until(&mut socket, "exit").await;
        assert_eq!(exit, serde_json::json!({ "type": "exit", "code": 5 }));
        let mut left = open(&server, &name, "").await.unwrap();
        until(&mut left, "ready").await;
        types(&mut left, "sleep 1000\n").await;
        // Gone without a word, in the middle of a command.
        drop((socket, left));
        while terminals(&server, &name).await > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    });
    server.end();
}

#[test]
fn one_with_an_id_can_be_come_back_to() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let name = home.name();
        let mut socket = open(&server, &name, "?terminalId=t1&shell=sh&cwd=/tmp").await.unwrap();
        until(&mut socket, "ready").await;
        types(&mut socket, "A=first; echo $PWD-$A\n").await;
        sees(&mut socket, "/tmp-first").await;
        drop(socket);
        let mut socket = open(&server, &name, "?terminal=t1").await.unwrap();
        let (before, _) = until(&mut socket, "ready").await;
        assert!(before.contains("/tmp-first"), "what was printed comes before ready: {before}");
        types(&mut socket, "echo $A-again; exit 0\n").await;
        let (printed, exit) = until(&mut socket, "exit").await;
        assert!(printed.contains("first-again") && exit["code"] == 0, "{printed}");
        // Its program is over: the id means a new one.
        let mut socket = open(&server, &name, "?terminalId=t1").await.unwrap();
        until(&mut socket, "ready").await;
        types(&mut socket, "echo [$A]\n").await;
        sees(&mut socket, "[]").await;
        assert_eq!(open(&server, &name, "?terminalId=t1&shell=sh").await.err(), Some(409), "it runs something else");
        for (query, status) in [
            ("?cols=wide", 400),
            ("?cols=0", 400),
            ("?terminal=..", 400),
            ("?session=s", 400),
            ("?color=red", 400),
            ("?cwd=/not/there", 404),
            ("?shell=no-such-shell", 404),
        ] {
            assert_eq!(open(&server, &name, query).await.err(), Some(status), "{query}");
        }
        assert_eq!(terminals(&server, &name).await, 1, "what was refused has left none");
    });
    server.end();
}
