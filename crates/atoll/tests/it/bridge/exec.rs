//! Commands: bytes as they were printed, and what becomes of one whose caller or server goes.

use http_body_util::BodyExt;
use hyper::Method;

use super::{Ran, ask, ran, sh};
use crate::harness::{Home, Signal};
use crate::server::{Server, wait};

#[test]
fn output_is_bytes() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let name = home.name();
        let all: Vec<u8> = (0..=255).collect();
        let path = format!("/v1/sandbox/{name}/file/workspace/all");
        let answer = ask(&server, Method::PUT, path).body(all.repeat(1000)).done().await;
        assert_eq!(answer.json(), serde_json::json!({ "ok": true }));
        let told = sh(&server, &name, "cat all; cat all >&2; exit 9").await;
        let last = r#"exit {"exit_code":9}"#.to_owned();
        assert_eq!(told, Ran { stdout: all.repeat(1000), stderr: all.repeat(1000), last });
        let body = r#"{"argv":["sh","-c","echo begun; sleep 100"],"timeout_ms":300}"#;
        let answer = ask(&server, Method::POST, format!("/v1/sandbox/{name}/exec")).body(body).done().await;
        let told = ran(&answer.body);
        assert_eq!((told.stdout, told.last), (b"begun\n".to_vec(), r#"exit {"exit_code":124}"#.to_owned()));
        // The first word may be the shell's own; nothing in a word is read by it.
        let body = r#"{"argv":["printf","%s\n","$HOME","a;b","`id`"],"cwd":"./"}"#;
        let answer = ask(&server, Method::POST, format!("/v1/sandbox/{name}/exec")).body(body).done().await;
        assert_eq!(ran(&answer.body).stdout, b"$HOME\na;b\n`id`\n");
        let body = r#"{"argv":["pwd"],"cwd":"not/there"}"#;
        let answer = ask(&server, Method::POST, format!("/v1/sandbox/{name}/exec")).body(body).done().await;
        assert_eq!(answer.refusal(), (404, "exec_transport_error".to_owned()));
    });
    server.end();
}

/// A command that goes on until it is ended, of which the first output has come.
async fn begun<'a>(
    server: &'a Server<'a>,
    name: &str,
    more: &[(&str, &str)],
) -> hyper::Response<hyper::body::Incoming> {
    let body = r#"{"argv":["sh","-c","echo begun; exec sleep 1000"]}"#;
    let mut asked = ask(server, Method::POST, format!("/v1/sandbox/{name}/exec")).body(body);
    for (header, value) in more {
        asked = asked.header(header, value);
    }
    let mut response = asked.begin().await;
    let first = response.body_mut().frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(first.starts_with(b"event: stdout\n"), "{first:?}");
    response
}

#[test]
fn a_caller_that_goes_takes_its_command_along() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let name = home.name();
        for more in [&[][..], &[("session-id", "s")]] {
            drop(begun(&server, &name, more).await);
            let gone = sh(&server, &name, "while grep -qsz '^sleep$' /proc/[0-9]*/cmdline; do sleep 0.01; done").await;
            assert_eq!(gone.last, r#"exit {"exit_code":0}"#);
        }
        // The session itself has stayed.
        let asked = ask(&server, Method::POST, format!("/v1/sandbox/{name}/exec")).header("session-id", "s");
        let answer = asked.body(r#"{"argv":["echo","here"]}"#).done().await;
        assert_eq!(ran(&answer.body).stdout, b"here\n");
    });
    server.end();
}

#[test]
fn a_server_that_ends_says_that_the_end_is_not_known() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let (address, name) = (server.address, home.name());
    wait(async {
        let response = begun(&server, &name, &[]).await;
        server.signal(Signal::TERM);
        let rest = response.into_body().collect().await.unwrap().to_bytes();
        let told = ran(&rest);
        assert!(told.last.starts_with("error {") && told.last.contains("exec_transport_error"), "{told:?}");
    });
    assert_eq!(server.done().code, Some(0));
    Server::start_at(&home, address, &[]).end();
}

#[test]
fn a_sandbox_that_is_deleted_ends_its_commands() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let name = home.name();
        let response = begun(&server, &name, &[]).await;
        let deleted = ask(&server, Method::DELETE, format!("/v1/sandbox/{name}")).done().await;
        assert_eq!(deleted.status, 204);
        let told = ran(&response.into_body().collect().await.unwrap().to_bytes());
        assert_ne!(told.last, r#"exit {"exit_code":0}"#);
        assert!(!told.last.is_empty(), "it is told that it ended");
    });
    server.end();
}
