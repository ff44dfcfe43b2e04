//! Files and archives: where they may be, and how large.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Method;

use super::{ask, sh};
use crate::harness::Home;
use crate::server::{Server, wait};

/// Of one file; `ATOLL_BRIDGE_MB` for more.
const MEGABYTES: usize = 128;

/// What the server may need for it: some buffers.
const NEEDED_KB: u64 = 48 * 1024;

#[test]
fn a_path_stays_in_the_workspace() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let name = home.name();
        let file = |path: &str| format!("/v1/sandbox/{name}/file/{path}");
        sh(
            &server,
            &name,
            "mkdir d; echo a > d/a; ln -s /etc/hostname link; mkfifo fifo; printf x > \"$(printf 'caf\\351')\"",
        )
        .await;
        for path in [
            "etc/passwd",
            "workspace/../etc/passwd",
            "workspace/%2e%2e/etc/passwd",
            "workspace%2F..%2Fetc%2Fpasswd",
            "..%2f..%2fetc/passwd",
            "workspacefoo/x",
            "%2e%2e/workspace/../etc/passwd",
        ] {
            for method in [Method::GET, Method::PUT] {
                let answer = ask(&server, method.clone(), file(path)).body("x").done().await;
                assert_eq!(answer.refusal(), (403, "invalid_request".to_owned()), "{method} {path}");
            }
        }
        for (path, status, code) in [
            ("workspace/nothing", 404, "workspace_read_not_found"),
            ("workspace/d", 400, "workspace_archive_read_error"),
            ("workspace/fifo", 400, "workspace_archive_read_error"),
            ("workspace/a%00b", 400, "invalid_request"),
        ] {
            assert_eq!(
                ask(&server, Method::GET, file(path)).done().await.refusal(),
                (status, code.to_owned()),
                "{path}"
            );
        }
        for (path, content) in [
            ("workspace/d/a", "a\n"),
            ("workspace//d/./b/../a", "a\n"),
            ("workspace/caf%E9", "x"),
            // As a bridge has it: what a link inside leads to is inside.
            ("workspace/link", &format!("{name}\n")),
        ] {
            let answer = ask(&server, Method::GET, file(path)).done().await;
            assert_eq!((answer.status.as_u16(), &*answer.body), (200, content.as_bytes()), "{path}");
            assert_eq!(answer.headers["content-length"], content.len().to_string());
        }
        let write = ask(&server, Method::PUT, file("workspace/d/a/below")).body("x").done().await;
        assert_eq!(write.refusal(), (400, "workspace_archive_write_error".to_owned()));
    });
    server.end();
}

/// The most memory that the server ever had.
fn peak_kb(server: &Server<'_>) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn what_is_large_goes_through_without_being_held() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let (one, other) = (home.name(), home.name());
        sh(&server, &one, "true").await;
        sh(&server, &other, "true").await;
        let megabytes = std::env::var("ATOLL_BRIDGE_MB").ok().and_then(|given| given.parse().ok()).unwrap_or(MEGABYTES);
        let content = Bytes::from(b"0123456789abcdef".repeat(megabytes * 64 * 1024));
        let before = peak_kb(&server);
        let file = |name: &str| format!("/v1/sandbox/{name}/file/workspace/large");
        let answer = ask(&server, Method::PUT, file(&one)).body(content.clone()).done().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let archive = ask(&server, Method::POST, format!("/v1/sandbox/{one}/persist")).done().await;
        assert!(archive.status == 200 && archive.body.len() > content.len());
        let hydrated =
            ask(&server, Method::POST, format!("/v1/sandbox/{other}/hydrate")).body(archive.body).done().await;
        assert_eq!(hydrated.json(), serde_json::json!({ "ok": true }));
        let mut body = ask(&server, Method::GET, file(&other)).begin().await.into_body();
        let mut at = 0;
        while let Some(frame) = body.frame().await {
            let piece = frame.unwrap().into_data().unwrap();
            assert_eq!(piece, content[at..at + piece.len()]);
            at += piece.len();
        }
        assert_eq!(at, content.len());
        let grown = peak_kb(&server) - before;
        assert!(grown < NEEDED_KB, "{grown} KiB more for {megabytes} MiB");
    });
    server.end();
}

#[test]
fn an_archive_is_unpacked_whole_or_says_where_it_ended() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let name = home.name();
        sh(&server, &name, "mkdir -p a/b; echo 1 > a/b/c; ln -s c a/b/l").await;
        let persist = |rest: &str| ask(&server, Method::POST, format!("/v1/sandbox/{name}/persist{rest}"));
        let archive = persist("").done().await;
        assert_eq!(archive.headers["content-type"], "application/octet-stream");
        let without = persist("?excludes=./a/b/l").done().await.body;
        let holds = |archive: &[u8], name: &[u8]| archive.windows(name.len()).any(|window| window == name);
        assert!(holds(&archive.body, b"a/b/l\0") && !holds(&without, b"a/b/l\0") && holds(&without, b"a/b/c\0"));
        let hydrate = || ask(&server, Method::POST, format!("/v1/sandbox/{name}/hydrate"));
        for broken in [&b"no archive"[..], &archive.body[..archive.body.len() / 2 - 700], &[7; 4096]] {
            let answer = hydrate().body(broken.to_vec()).done().await;
            assert_eq!(answer.refusal(), (409, "workspace_archive_write_error".to_owned()), "{}", broken.len());
        }
        sh(&server, &name, "rm -rf a; echo mine > other").await;
        assert_eq!(hydrate().body(archive.body).done().await.status, 200);
        assert_eq!(sh(&server, &name, "cat a/b/l other").await.stdout, b"1\nmine\n");
    });
    server.end();
}
