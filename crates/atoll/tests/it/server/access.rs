//! Who may do what, and what nobody may.

use std::time::Duration;

use atoll_protocol::{
    CreateSandbox, CreateToken, ErrorCode, ExecRequest, Isolation, SandboxName, Scope, SessionId, Verb,
};

use super::{Server, sh, state, wait};
use crate::harness::Home;

fn scope(sandboxes: impl Into<String>, verbs: &[Verb]) -> Scope {
    Scope { sandboxes: sandboxes.into(), verbs: verbs.to_vec() }
}

#[test]
fn a_token_is_good_for_its_own_sandboxes_and_verbs_only() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    wait(async {
        let root = server.client();
        let (mine, other) = (server.sandbox().await, server.sandbox().await);
        let asked = CreateToken {
            name: "test".to_owned(),
            scopes: vec![
                scope(mine.as_str(), &[Verb::Read, Verb::Exec]),
                scope("other-*", &[Verb::Read]),
                scope("own-*", &[Verb::Admin]),
            ],
            expires_in_ms: None,
        };
        let made = root.create_token(&asked).await.unwrap();
        let client = server.client_with(&made.token);
        assert_eq!(sh(&client, &mine, "echo mine").await, "mine\n");
        let forbidden = |done: Result<(), atoll_client::Error>| {
            assert_eq!(done.unwrap_err().code(), Some(ErrorCode::Forbidden));
        };
        forbidden(client.inside(&other).exec(&ExecRequest::shell("true")).await.map(drop));
        forbidden(client.find_sandbox(&other).await.map(drop));
        forbidden(client.remove_sandbox(&mine).await);
        forbidden(client.stop_sandbox(&mine).await.map(drop));
        forbidden(client.create_sandbox(&CreateSandbox { name: Some(other), ..Default::default() }).await.map(drop));
        forbidden(client.create_sandbox(&CreateSandbox::default()).await.map(drop));
        let unwalled = CreateSandbox {
            name: Some(SandboxName::new("own-1").unwrap()),
            isolation: Some(Isolation::None),
            ..Default::default()
        };
        forbidden(client.create_sandbox(&unwalled).await.map(drop));
        forbidden(client.create_token(&asked).await.map(drop));
        let session = SessionId::new("s").unwrap();
        forbidden(client.inside(&SandboxName::new("other-1").unwrap()).session_snapshot(&session).await.map(drop));
        forbidden(client.tokens().await.map(drop));
        let seen = client.list_sandboxes(&Default::default(), None).await.unwrap().sandboxes;
        assert_eq!(seen.iter().map(|sandbox| &sandbox.name).collect::<Vec<_>>(), [&mine]);
        root.revoke_token(&made.info.id).await.unwrap();
        let refused = client.find_sandbox(&mine).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::Unauthorized));
    });
    server.end();
}

#[test]
fn wrong_tokens_are_refused_and_no_secret_is_kept_or_logged() {
    let home = Home::new();
    let server = Server::start(&home, &["--log", "json"]);
    let secret = server.token.rsplit('_').next().unwrap().to_owned();
    let made = wait(async {
        let (first, last) = server.token.split_at(server.token.len() - 1);
        let wrong = format!("{first}{}", if last == "0" { "1" } else { "0" });
        for token in ["x", "atoll_root_", "atoll_nobody_x", wrong.as_str()] {
            let refused = server.client_with(token).tokens().await.unwrap_err();
            assert_eq!(refused.code(), Some(ErrorCode::Unauthorized), "{token}");
        }
        let brief =
            CreateToken { name: String::new(), scopes: vec![scope("*", &[Verb::Admin])], expires_in_ms: Some(1) };
        let made = server.client().create_token(&brief).await.unwrap();
        tokio::time::sleep(Duration::from_millis(5)).await;
        let refused = server.client_with(&made.token).tokens().await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::Unauthorized), "its time is up");
        let name = server.sandbox().await;
        sh(&server.client(), &name, "echo hush-hush").await;
        made
    });
    for path in ["/healthz", "/readyz"] {
        assert!(server.raw(&format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).contains("200 OK"));
    }
    assert!(server.raw("GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").contains("401"));
    assert_eq!(server.status("GET", "/metrics"), 200);
    let kept = std::fs::read(state(&home).join("registry.db-wal")).unwrap();
    wait(async {
        for sandbox in server.client().list_sandboxes(&Default::default(), None).await.unwrap().sandboxes {
            server.client().remove_sandbox(&sandbox.name).await.unwrap();
        }
    });
    server.signal(crate::harness::Signal::TERM);
    let log = server.done().stderr();
    let made = made.token.rsplit('_').next().unwrap().to_owned();
    for hidden in [secret.as_str(), made.as_str(), "hush-hush", home.tag.as_str()] {
        let in_names = hidden == home.tag;
        assert!(in_names || !log.contains(hidden), "{hidden} in {log}");
        assert!(in_names || !kept.windows(hidden.len()).any(|window| window == hidden.as_bytes()), "{hidden}");
    }
    assert!(log.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{log}");
    home.assert_nothing_left();
}

#[test]
fn what_was_answered_last_is_in_the_log() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    for number in 0..3 {
        let id = format!("x-request-id: last-words-{number}");
        assert!(
            server
                .raw(&format!("GET /healthz HTTP/1.1\r\nhost: x\r\n{id}\r\nconnection: close\r\n\r\n"))
                .contains("200")
        );
    }
    server.signal(crate::harness::Signal::TERM);
    let log = server.done().stderr();
    let ids: Vec<&str> =
        log.lines().filter_map(|line| line.split("last-words-").nth(1)).map(|rest| &rest[..1]).collect();
    assert_eq!(ids, ["0", "1", "2"], "each once, in their order: {log}");
    home.assert_nothing_left();
}

#[test]
fn tricks_with_paths_lead_nowhere() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let name = wait(server.sandbox());
    for path in [
        "/v1/sandboxes/..",
        "/v1/sandboxes/%2e%2e",
        "/v1/sandboxes/..%2f..%2fetc",
        "/v1/sandboxes/a%00b",
        "/v1/sandboxes/A",
        "/v1/sandboxes/a.b",
        "/v1/sandboxes/%ff",
    ] {
        assert_eq!(server.status("PUT", path), 400, "{path}");
        assert!([400, 404].contains(&server.status("GET", path)), "{path}");
    }
    for rest in ["../other/exec", "processes/%2e%2e/%2e%2e/sandbox", "processes//x", "%2fsandbox", "./sandbox"] {
        assert_eq!(server.status("GET", &format!("/v1/sandboxes/{name}/{rest}")), 400, "{rest}");
    }
    for (method, rest) in [("GET", "sandbox"), ("DELETE", "sandbox"), ("POST", "sandbox/pause")] {
        assert_eq!(server.status(method, &format!("/v1/sandboxes/{name}/{rest}")), 404, "{method} {rest}");
    }
    assert_eq!(server.status("GET", "/v1/nothing"), 404);
    assert_eq!(server.status("DELETE", "/v1/sandboxes"), 405);
    assert_eq!(wait(sh(&server.client(), &name, "echo unharmed")), "unharmed\n");
    server.end();
}

#[test]
fn a_key_makes_one_sandbox_however_often_it_is_sent() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let send = |key: &str, body: &str| {
        let (token, length) = (&server.token, body.len());
        let head = format!("POST /v1/sandboxes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n");
        let head = format!("{head}idempotency-key: {key}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
        server.raw(&format!("{head}{body}"))
    };
    let name = |answer: &str| {
        let body: serde_json::Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        SandboxName::new(body["name"].as_str().unwrap()).unwrap()
    };
    let tag = &home.tag;
    let body = format!(r#"{{"env":{{"ATOLL_IT":"{tag}"}}}}"#);
    let (first, second, third) = (send("one", &body), send("one", &body), send("two", &body));
    assert!(first.contains("201 Created") && second.contains("200 OK"), "{first} {second}");
    assert_eq!(name(&first), name(&second));
    assert_ne!(name(&first), name(&third));
    assert!(send("one", "{}").contains("IDEMPOTENCY_CONFLICT"));
    server.end();
}

#[test]
fn tokens_are_made_listed_and_revoked_by_the_command() {
    let home = Home::new();
    let absent = home.atoll(["token", "list"]).done();
    assert_eq!(absent.code, Some(125));
    assert!(absent.stderr().contains("atoll serve"), "{absent:?}");
    let server = Server::start(&home, &[]);
    let made = home.atoll(["token", "create", "--scope", "ci-*:read,exec", "--name", "ci"]).done();
    assert_eq!(made.code, Some(0), "{made:?}");
    let token = made.stdout().trim().to_owned();
    let id = token.split('_').nth(1).unwrap().to_owned();
    let listed = home.atoll(["token", "list"]).done().stdout();
    assert_eq!(listed, format!("{id}\tci-*:read,exec\tci\texpires never\n"));
    assert!(wait(server.client_with(&token).list_sandboxes(&Default::default(), None)).is_ok());
    assert_eq!(home.atoll(["token", "revoke", &id]).done().code, Some(0));
    assert_eq!(home.atoll(["token", "revoke", &id]).done().code, Some(125));
    assert!(wait(server.client_with(&token).list_sandboxes(&Default::default(), None)).is_err());
    server.end();
}

#[test]
fn pages_of_other_origins_may_use_the_api_only_if_they_are_named() {
    let home = Home::new();
    let ask = |server: &Server<'_>, method: &str, origin: &str, more: &str| {
        server.raw(&format!(
            "{method} /v1/sandboxes HTTP/1.1\r\nhost: x\r\norigin: {origin}\r\n{more}connection: close\r\n\r\n"
        ))
    };
    let beforehand = "access-control-request-method: PUT\r\naccess-control-request-private-network: true\r\n";
    let server = Server::start(&home, &[]);
    let told = ask(&server, "OPTIONS", "https://app.test", beforehand);
    assert!(told.contains(" 405 ") && !told.contains("access-control-allow"), "{told}");
    server.end();
    let server = Server::start(&home, &["--allow-origin", "https://app.test", "--allow-origin", "http://localhost:1"]);
    for origin in ["https://app.test", "http://localhost:1"] {
        let told = ask(&server, "OPTIONS", origin, beforehand);
        assert!(
            told.contains(" 204 ") && told.contains(&format!("access-control-allow-origin: {origin}\r\n")),
            "{told}"
        );
        assert!(told.contains("authorization") && told.contains("allow-private-network: true"), "{told}");
        // A page that may ask is told why it is refused, too; and without a token it is.
        let told = ask(&server, "GET", origin, "");
        assert!(
            told.contains(" 401 ") && told.contains(&format!("access-control-allow-origin: {origin}\r\n")),
            "{told}"
        );
        assert!(told.contains("access-control-expose-headers: ") && !told.contains("credentials"), "{told}");
    }
    // The pages that may use the API may speak MCP, and others may not.
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"page","version":"1"}}}"#;
    for (origin, status) in [("https://app.test", " 200 "), ("https://evil.test", " 403 ")] {
        let (token, length) = (&server.token, hello.len());
        let told = server.raw(&format!(
            "POST /mcp HTTP/1.1\r\nhost: x\r\norigin: {origin}\r\nauthorization: Bearer {token}\r\n\
             accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n{hello}"
        ));
        assert!(told.contains(status), "{origin}: {told}");
    }
    for origin in ["https://app.test:444", "http://app.test", "https://app.test.evil.test", "null", "https://APP.test"]
    {
        for method in ["OPTIONS", "GET"] {
            let told = ask(&server, method, origin, beforehand);
            assert!(!told.contains("access-control-allow") && told.contains("vary: origin"), "{origin}: {told}");
        }
    }
    server.end();
    for options in [&["--allow-origin", "*"][..], &["--allow-origin", "https://a.test", "--no-auth"]] {
        let refused = home.atoll([&["serve", "--listen", "127.0.0.1:0"], options].concat()).done();
        assert_ne!(refused.code, Some(0), "{options:?}");
    }
}
