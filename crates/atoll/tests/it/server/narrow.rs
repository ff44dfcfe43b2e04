//! Tokens with narrow scopes, and requests that try to exceed them by odd spellings.

use atoll_protocol::{CreateToken, SandboxName, Scope, Verb};

use super::{Server, sh, wait};
use crate::harness::Home;

/// The status and text of a request with this token.
fn send(server: &Server<'_>, token: &str, method: &str, path: &str, more: &str, body: &str) -> (u16, String) {
    let head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n{more}");
    let response = server.raw(&format!("{head}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()));
    let status = response.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("{method} {path}: {response:?}")), response)
}

fn token(server: &Server<'_>, name: &SandboxName, verbs: &[Verb]) -> String {
    let scopes = vec![Scope { sandboxes: name.to_string(), verbs: verbs.to_vec() }];
    let request = CreateToken { name: "narrow".to_owned(), scopes, expires_in_ms: None };
    wait(server.client().create_token(&request)).unwrap().token
}

#[test]
fn a_narrow_token_reaches_no_other_sandbox_however_its_path_is_written() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let (mine, other) = wait(async { (server.sandbox().await, server.sandbox().await) });
    wait(sh(&server.client(), &other, "echo not-yours > /workspace/file"));
    let token = token(&server, &mine, &[Verb::Read, Verb::Exec, Verb::Admin]);
    let rest = "files/content?path=/workspace/file";
    for path in [
        format!("/v1/sandboxes/{other}/{rest}"),
        format!("/v1/sandboxes/{mine}/../{other}/{rest}"),
        format!("/v1/sandboxes/{mine}%2f..%2f{other}/{rest}"),
        format!("/v1/sandboxes/{mine}/%2e%2e/{other}/{rest}"),
        format!("/v1/sandboxes/{mine};/../{other}/{rest}"),
        format!("/v1/sandboxes/{mine}/./../{other}/{rest}"),
        format!("/v1/sandboxes//{other}/{rest}"),
        format!("//v1/sandboxes/{other}/{rest}"),
        format!("/v1/sandboxes/{mine}\\..\\{other}/{rest}"),
        format!("/v1/sandboxes/{other}%00/{rest}"),
        format!("/v1/sandboxes/{}/{rest}", other.to_string().to_uppercase()),
        format!("/V1/sandboxes/{other}/{rest}"),
        format!("/v1/%73andboxes/{other}/{rest}"),
        format!("/v1/sandboxes/{mine}/{rest}#/{other}"),
        format!("http://localhost/v1/sandboxes/{other}/{rest}"),
        format!("/v1/sandbox/{other}/file/workspace/file"),
        format!("/v1/sandbox/{mine}/../{other}/file/workspace/file"),
        format!("/v1/sandbox/{mine}%2f..%2f{other}/file/workspace/file"),
        format!("/v1/sandbox/{other}%2ffile/workspace/file"),
    ] {
        let (status, response) = send(&server, &token, "GET", &path, "", "");
        assert!((400..500).contains(&status) && !response.contains("not-yours"), "{path}: {response}");
    }
    for header in ["x-original-url", "x-rewrite-url", "x-forwarded-prefix", "x-atoll-caller", "x-http-method-override"]
    {
        let more = format!("{header}: /v1/sandboxes/{other}/{rest}\r\n");
        let (status, response) = send(&server, &token, "GET", &format!("/v1/sandboxes/{other}/{rest}"), &more, "");
        assert!(status == 403 && !response.contains("not-yours"), "{header}: {response}");
    }
    // By MCP, in a header and as an argument of a call.
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"/workspace/file"}}}"#;
    let more = format!(
        "atoll-sandbox: {other}\r\nmcp-protocol-version: 2026-07-28\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n"
    );
    let (_, response) = send(&server, &token, "POST", "/mcp", &more, call);
    assert!(!response.contains("not-yours"), "{response}");
    server.end();
}

#[test]
fn verbs_do_not_include_each_other() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let name = wait(server.sandbox());
    let json = "content-type: application/json\r\n";
    let (read, exec) = (token(&server, &name, &[Verb::Read]), token(&server, &name, &[Verb::Exec]));
    let socket = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
                  sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for (method, rest, more, body) in [
        ("POST", "exec", json, r#"{"command":"true"}"#),
        ("POST", "processes", json, r#"{"command":"true"}"#),
        ("POST", "sessions", json, "{}"),
        ("GET", "sessions/s/snapshot", "", ""),
        ("POST", "terminals", json, "{}"),
        ("GET", "terminals/t/attach", socket, ""),
        ("PUT", "files/content?path=/workspace/x", "", "x"),
        ("DELETE", "files?path=/workspace/x", "", ""),
        ("POST", "files/edit", json, "{}"),
        ("POST", "git/status", json, "{}"),
        ("GET", "ports/80/connect", "connection: upgrade\r\nupgrade: tcp\r\n", ""),
        ("GET", "previews", "", ""),
        ("POST", "watches", json, r#"{"path":"/workspace"}"#),
    ] {
        let (status, response) = send(&server, &read, method, &format!("/v1/sandboxes/{name}/{rest}"), more, body);
        assert_eq!(status, 403, "{method} {rest}: {response}");
    }
    for (method, rest) in [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("PUT", ""),
        ("POST", "/stop"),
        ("POST", "/start"),
        ("POST", "/pause"),
        ("PUT", "/network"),
        ("PUT", "/secrets/KEY"),
        ("PUT", "/previews/80"),
        ("POST", "/previews/80/rotate"),
        ("GET", "/processes"),
        ("GET", "/files/content?path=/etc/passwd"),
    ] {
        let (status, response) = send(&server, &exec, method, &format!("/v1/sandboxes/{name}{rest}"), json, "{}");
        assert_eq!(status, 403, "{method} {rest}: {response}");
    }
    for (method, path) in [("GET", "/v1/tokens"), ("POST", "/v1/tokens"), ("GET", "/metrics")] {
        let body = r#"{"name":"x","scopes":[{"sandboxes":"*","verbs":["admin"]}]}"#;
        assert_eq!(send(&server, &exec, method, path, json, body).0, 403, "{method} {path}");
    }
    // An escaped letter must not select a route that needs another verb.
    for rest in ["%6eetwork", "%73ecrets/KEY", "%73andbox", "sessions/s/%73napshot"] {
        let (status, response) = send(&server, &exec, "PUT", &format!("/v1/sandboxes/{name}/{rest}"), json, "{}");
        assert!([404, 405].contains(&status), "{rest}: {response}");
    }
    server.end();
}

#[test]
fn deeply_nested_json_is_refused() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let name = wait(server.sandbox());
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = format!(r#"{{"labels":{deep}}}"#);
    let json = "content-type: application/json\r\n";
    let token = server.token.clone();
    for (method, path) in [
        ("POST", "/v1/sandboxes".to_owned()),
        ("POST", "/v1/tokens".to_owned()),
        ("POST", format!("/v1/sandboxes/{name}/exec")),
        ("POST", format!("/v1/sandbox/{name}/exec")),
    ] {
        for body in [&deep, &nested] {
            let (status, response) = send(&server, &token, method, &path, json, body);
            assert!((400..500).contains(&status), "{path}: {response}");
        }
    }
    assert_eq!(wait(sh(&server.client(), &name, "echo unharmed")), "unharmed\n");
    server.end();
}
