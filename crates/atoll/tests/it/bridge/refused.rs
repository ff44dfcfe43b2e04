//! What is refused: before anything is made, and in the shape of a bridge.

use atoll_protocol::{CreateToken, Scope, Verb};
use hyper::Method;

use super::{ask, sh};
use crate::harness::Home;
use crate::server::{Server, wait};

#[test]
fn what_is_malformed_makes_nothing() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let name = home.name();
        let place = format!("/v1/sandbox/{name}");
        for (rest, body, status) in [
            ("exec", "", 400),
            ("exec", "{", 400),
            ("exec", "[]", 400),
            ("exec", r#"{"argv":[]}"#, 400),
            ("exec", r#"{"argv":"ls"}"#, 400),
            ("exec", r#"{"argv":[1]}"#, 400),
            ("exec", r#"{"argv":["ls"],"argv":["rm"]}"#, 400),
            ("exec", r#"{"argv":["ls"],"env":{"A":"1"}}"#, 400),
            ("exec", r#"{"argv":["ls"],"timeout_ms":"soon"}"#, 400),
            ("exec", r#"{"argv":["ls"],"timeout_ms":-1}"#, 400),
            ("exec", r#"{"argv":["ls"]} {}"#, 400),
            ("exec", r#"{"argv":["ls"],"cwd":"/etc"}"#, 403),
            ("exec", r#"{"argv":["ls"],"cwd":"../etc"}"#, 403),
            ("session", r#"{"id":"../x"}"#, 400),
            ("session", r#"{"shell":"zsh"}"#, 400),
            ("hydrate", "", 400),
            ("persist?root=/", "", 400),
            ("persist?excludes=a,../b", "", 400),
            ("mount", r#"{"bucket":"b","mountPath":"rel","options":{}}"#, 400),
            ("mount", r#"{"bucket":"b","mountPath":"/x"}"#, 400),
            ("unmount", "{}", 400),
            ("tunnel/0", "", 400),
            ("tunnel/x", "", 400),
        ] {
            let answer = ask(&server, Method::POST, format!("{place}/{rest}")).body(body).done().await;
            assert_eq!(answer.refusal(), (status, "invalid_request".to_owned()), "{rest} {body}");
        }
        let answer = ask(&server, Method::POST, "/v1/sandbox").body(r#"{"image":"x"}"#).done().await;
        assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()));
        let long = format!(r#"{{"argv":["{}"]}}"#, "x".repeat(2 * 1024 * 1024));
        let answer = ask(&server, Method::POST, format!("{place}/exec")).body(long).done().await;
        assert_eq!(answer.refusal(), (413, "payload_too_large".to_owned()));
        let long = format!(r#"{{"argv":["{}"]}}"#, "x".repeat(200 * 1024));
        assert_eq!(
            ask(&server, Method::GET, format!("/v1/sandboxes/{name}")).done().await.status,
            404,
            "none was made"
        );
        let answer = ask(&server, Method::POST, format!("{place}/exec")).body(long).done().await;
        assert_eq!(answer.refusal(), (413, "payload_too_large".to_owned()), "one word that no program can be given");
    });
    server.end();
}

#[test]
fn what_is_not_there_is_told_in_the_same_shape() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let name = home.name();
        for (method, path, status, code) in [
            (Method::GET, "/v1/sandbox/a/nothing", 404, "route_not_found"),
            (Method::GET, "/v1/sandbox/a/b/c/d", 404, "route_not_found"),
            (Method::GET, "/v1/pool/nothing", 404, "route_not_found"),
            (Method::GET, "/v1/sandbox", 405, "method_not_allowed"),
            (Method::GET, "/v1/sandbox/a/exec", 405, "method_not_allowed"),
            (Method::POST, "/v1/pool/stats", 405, "method_not_allowed"),
            (Method::DELETE, "/v1/sandbox/A", 400, "invalid_request"),
            (Method::DELETE, "/v1/sandbox/-a", 400, "invalid_request"),
            (Method::DELETE, "/v1/sandbox/%2e%2e", 400, "invalid_request"),
            (Method::DELETE, "/v1/sandbox/%ff", 400, "invalid_request"),
            (Method::GET, "/v1/sandbox/a/file/", 400, "invalid_request"),
            (Method::GET, "/v1/sandbox/nobody/file/workspace/x", 404, "workspace_read_not_found"),
            (Method::DELETE, "/v1/sandbox/nobody/session/s", 404, "session_error"),
            (Method::GET, "/v1/sandbox/nobody/pty", 400, "invalid_request"),
        ] {
            let answer = ask(&server, method.clone(), path).done().await;
            assert_eq!(answer.refusal(), (status, code.to_owned()), "{method} {path}");
            assert_eq!(answer.headers.contains_key("allow"), status == 405);
        }
        let long = format!("/v1/sandbox/{}/running", "a".repeat(64));
        assert_eq!(ask(&server, Method::GET, long).done().await.refusal().0, 400);
        assert_eq!(ask(&server, Method::DELETE, "/v1/sandbox/nobody").done().await.status, 204);
        let answer = ask(&server, Method::GET, format!("/v1/sandbox/{name}/running")).done().await;
        assert_eq!(answer.json(), serde_json::json!({ "running": false }), "and none is made to be looked at");
        for (rest, body, code) in [
            ("mount", r#"{"bucket":"b","mountPath":"/workspace/x","options":{"endpoint":"https://x"}}"#, "mount_error"),
            ("unmount", r#"{"mountPath":"/workspace/x"}"#, "unmount_error"),
            ("tunnel/8080", "", "tunnel_error"),
        ] {
            let answer = ask(&server, Method::POST, format!("/v1/sandbox/{name}/{rest}")).body(body).done().await;
            assert_eq!(answer.refusal(), (501, code.to_owned()));
        }
    });
    server.end();
}

#[test]
fn a_token_does_here_what_it_does_elsewhere() {
    let home = Home::new();
    let server = Server::start(&home, &["--max-sandboxes", "1"]);
    wait(async {
        let (name, other) = (home.name(), home.name());
        assert_eq!(sh(&server, &name, "echo x > note").await.last, r#"exit {"exit_code":0}"#);
        let full = ask(&server, Method::POST, format!("/v1/sandbox/{other}/exec")).body(r#"{"argv":["true"]}"#);
        assert_eq!(full.done().await.refusal(), (503, "capacity_exceeded".to_owned()));
        for wrong in ["", "Bearer", "Basic eA==", "Bearer atoll_x_y"] {
            let asked = ask(&server, Method::POST, "/v1/sandbox").header("authorization", wrong);
            let answer = asked.done().await;
            assert_eq!(answer.refusal(), (401, "unauthorized".to_owned()), "{wrong}");
            assert_eq!(answer.headers["www-authenticate"], "Bearer");
        }
        let mut bearers = Vec::new();
        for verbs in [vec![Verb::Read], vec![Verb::Read, Verb::Exec]] {
            let scopes = vec![Scope { sandboxes: format!("{}*", home.tag), verbs }];
            let asked = CreateToken { name: "narrow".to_owned(), scopes, expires_in_ms: None };
            bearers.push(format!("Bearer {}", server.client().create_token(&asked).await.unwrap().token));
        }
        let exec = r#"{"argv":["true"]}"#;
        for (bearer, method, rest, body, status) in [
            (&bearers[0], Method::GET, "/file/workspace/note", "", 200),
            (&bearers[0], Method::POST, "/persist", "", 200),
            (&bearers[0], Method::GET, "/running", "", 200),
            (&bearers[0], Method::PUT, "/file/workspace/note", "y", 403),
            (&bearers[0], Method::POST, "/exec", exec, 403),
            (&bearers[0], Method::POST, "/session", "{}", 403),
            (&bearers[0], Method::DELETE, "", "", 403),
            (&bearers[1], Method::POST, "/exec", exec, 200),
            (&bearers[1], Method::PUT, "/file/workspace/note", "y", 200),
            (&bearers[1], Method::DELETE, "", "", 403),
        ] {
            let asked =
                ask(&server, method.clone(), format!("/v1/sandbox/{name}{rest}")).header("authorization", bearer);
            let answer = asked.body(body).done().await;
            assert_eq!(answer.status, status, "{method} {rest} {answer:?}");
            if status == 403 {
                assert_eq!(answer.refusal().1, "forbidden");
            }
        }
        // To use one that is not there is to make it.
        let asked =
            ask(&server, Method::POST, format!("/v1/sandbox/{other}/exec")).header("authorization", &bearers[1]);
        assert_eq!(asked.body(exec).done().await.refusal(), (403, "forbidden".to_owned()));
        for path in ["/v1/pool/stats", "/v1/sandbox"] {
            let method = if path == "/v1/sandbox" { Method::POST } else { Method::GET };
            let asked = ask(&server, method, path).header("authorization", &bearers[1]);
            assert_eq!(asked.done().await.refusal(), (403, "forbidden".to_owned()), "{path}");
        }
    });
    server.end();
}

#[test]
fn a_header_leads_nowhere_else() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let name = home.name();
        let exec = || ask(&server, Method::POST, format!("/v1/sandbox/{name}/exec")).body(r#"{"argv":["pwd"]}"#);
        for session in ["../../exec", "a/b", "a b", "..", "a?b", "%2e%2e", &"s".repeat(65), ".hidden"] {
            let answer = exec().header("session-id", session).done().await;
            assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{session}");
            let read = ask(&server, Method::GET, format!("/v1/sandbox/{name}/file/workspace/x"));
            assert_eq!(read.header("session-id", session).done().await.status, 400, "{session}");
        }
        for (header, value) in [
            ("accept", "application/json"),
            ("last-event-id", "7"),
            ("x-atoll-user", "root"),
            ("x-forwarded-for", "1.2.3.4"),
            ("content-type", "text/plain"),
            ("session-id", ""),
        ] {
            let answer = exec().header(header, value).done().await;
            assert_eq!(answer.headers["content-type"], "text/event-stream", "{header}");
            assert_eq!(super::ran(&answer.body).stdout, b"/workspace\n", "{header}");
        }
    });
    server.end();
}
