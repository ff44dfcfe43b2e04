//! What clients may use of the server, and where it may listen.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use super::{Server, sh, wait};
use crate::harness::{Home, need};

#[test]
fn a_client_that_dawdles_is_sent_away() {
    let home = Home::new();
    let server = Server::start(&home, &["--head-timeout", "300ms"]);
    let starts = ["", "G", "PRI * HT", "GET /healthz HTTP/1.1\r\nhost: x\r\n", "GET /healthz HTTP/1.1\r\nhost: x\r\na"];
    let mut dawdlers: Vec<_> = starts
        .iter()
        .map(|start| {
            let mut stream = server.connect();
            stream.write_all(start.as_bytes()).unwrap();
            (start, stream)
        })
        .collect();
    assert_eq!(server.status("GET", "/v1/sandboxes"), 200, "others are served meanwhile");
    for (start, stream) in &mut dawdlers {
        let began = Instant::now();
        let mut rest = Vec::new();
        // Closed or reset: it is over.
        drop(stream.read_to_end(&mut rest));
        assert!(began.elapsed() < Duration::from_secs(10), "{start:?}");
        assert!(!rest.starts_with(b"HTTP/1.1 200"), "{start:?}");
    }
    // The same after a request that was answered.
    let mut idle = server.connect();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut answer = String::new();
    idle.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    server.end();
}

#[test]
fn an_ordinary_user_can_serve() {
    need!("setpriv");
    let home = Home::ordinary();
    let server = Server::start(&home, &[]);
    wait(async {
        let client = server.client();
        let name = match client.create_sandbox(&server.asked()).await {
            Ok(record) => record.name,
            Err(error) => return crate::harness::skip(&error.to_string()),
        };
        sh(&client, &name, "echo kept > note; echo kept > /etc/kept; mkdir -m 0 closed").await;
        client.stop_sandbox(&name).await.unwrap();
        assert_eq!(sh(&client, &name, "cat note /etc/kept").await, "kept\nkept\n");
    });
    server.end();
}

#[test]
fn a_thousand_idle_connections_are_in_nobodys_way() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let idle: Vec<_> = (0..1000).map(|_| server.connect()).collect();
    wait(async {
        let name = server.sandbox().await;
        assert_eq!(sh(&server.client(), &name, "echo served").await, "served\n");
    });
    drop(idle);
    server.end();
}

#[test]
fn a_token_that_asks_too_often_is_told_when_to_come_back() {
    let home = Home::new();
    let server = Server::start(&home, &["--rate", "1"]);
    let statuses: Vec<u16> = (0..20).map(|_| server.status("GET", "/v1/tokens")).collect();
    assert!(statuses[..10].iter().all(|status| *status == 200), "{statuses:?}");
    assert!(statuses.contains(&429), "{statuses:?}");
    let token = &server.token;
    let head =
        format!("GET /v1/tokens HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n");
    let refused = server.raw(&head).to_ascii_lowercase();
    assert!(refused.contains("retry-after: ") && refused.contains("rate_limited"), "{refused}");
    assert_eq!(
        server.raw("GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").split(' ').nth(1),
        Some("200")
    );
    server.signal(crate::harness::Signal::TERM);
    assert_eq!(server.done().code, Some(0));
}

#[test]
fn heads_and_bodies_have_a_size() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let token = &server.token;
    let head =
        format!("POST /v1/sandboxes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\nconnection: close\r\n");
    let large = " ".repeat(2 * 1024 * 1024);
    let refused = server.raw(&format!("{head}content-length: {}\r\n\r\n{large}", large.len()));
    assert!(refused.is_empty() || refused.contains("413"), "{refused}");
    let long = format!("{head}x-long: {}\r\n\r\n", "a".repeat(100_000));
    assert!(["", "431"].iter().any(|status| server.raw(&long).contains(status)));
    let many: String = (0..200).map(|number| format!("x-{number}: 1\r\n")).collect();
    assert!(server.raw(&format!("{head}{many}\r\n")).contains("431"));
    let wrong = server.raw(&format!("{head}content-length: 8\r\nx-request-id: my-own.id\r\n\r\nno json!"));
    assert!(wrong.contains("400") && wrong.contains("VALIDATION_FAILED"), "{wrong}");
    assert!(wrong.contains("x-request-id: my-own.id"), "{wrong}");
    server.end();
}

#[test]
fn a_refusal_before_the_whole_request_says_that_the_connection_ends() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let refused = server.raw("POST /v1/tokens HTTP/1.1\r\nhost: x\r\ncontent-length: 8\r\n\r\nhalf");
    assert!(refused.contains("401") && refused.contains("connection: close"), "{refused}");
    server.end();
}

#[test]
fn it_listens_to_others_only_with_tls_or_when_told_so() {
    let home = Home::new();
    let refused = home.atoll(["serve", "--listen", "0.0.0.0:0"]).done();
    assert_eq!(refused.code, Some(125));
    assert!(refused.stderr().contains("there is no TLS"), "{refused:?}");
    let refused = home.atoll(["serve", "--listen", "0.0.0.0:0", "--allow-plaintext", "--no-auth"]).done();
    assert!(refused.stderr().contains("--no-auth is for loopback"), "{refused:?}");
    let server = Server::start(&home, &[]);
    let second = home.atoll(["serve", "--listen", "127.0.0.1:0"]).done();
    assert!(second.stderr().contains("another server uses"), "{second:?}");
    server.end();
}
