//! TLS: the same sandboxes, for curl, for the library and for the command; and nobody is believed who cannot prove a name.

use std::time::Duration;

use atoll_client::{Client, TerminalEvent, Until};
use atoll_protocol::{StartRequest, TerminalId};

use super::{Server, sh, state, wait};
use crate::harness::{Home, Signal, command, need};

/// A certificate of its own for this name, and its key.
fn certificate(home: &Home, file: &str, name: &str) -> (String, String) {
    let path = |kind: &str| home.path().join(format!("{file}.{kind}")).to_str().unwrap().to_owned();
    let (key, cert) = (path("key"), path("cert"));
    let made = command("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=localhost", "-addext", &format!("subjectAltName={name}")])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", &key, "-out", &cert])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    (cert, key)
}

/// By the unix socket, which has no TLS: the usual end of a test asks over TCP without it.
fn end(server: Server<'_>) {
    let home = server.home;
    wait(async {
        let client = Client::unix(state(home).join("server.sock")).with_token(&server.token).unwrap();
        for sandbox in client.list_sandboxes(&Default::default(), None).await.unwrap().sandboxes {
            client.remove_sandbox(&sandbox.name).await.unwrap();
        }
    });
    server.signal(Signal::TERM);
    assert_eq!(server.done().code, Some(0));
    home.assert_nothing_left();
}

#[test]
fn the_library_and_the_command_speak_it() {
    need!("openssl");
    let home = Home::new();
    let (cert, key) = certificate(&home, "server", "IP:127.0.0.1");
    let server = Server::start(&home, &["--tls-cert", &cert, "--tls-key", &key]);
    let client = Client::tls(server.address.to_string(), Some(cert.as_ref())).unwrap();
    let client = client.with_token(&server.token).unwrap().with_patience(Duration::from_secs(20));
    let name = wait(async {
        let name = client.create_sandbox(&server.asked()).await.unwrap().name;
        assert_eq!(sh(&client, &name, "echo $((6 * 7))").await, "42\n");
        let inside = client.inside(&name);
        let process = inside.start(&StartRequest::shell("echo followed")).await.unwrap();
        assert_eq!(inside.follow(&process.id, 0, Until::End).collect().await.unwrap().0, b"followed\n");
        let mut attached = inside.attach_terminal(&TerminalId::new("t").unwrap(), Default::default());
        attached.write("echo $((6 * 7))-typed; exit\n".into()).await.unwrap();
        let mut seen = Vec::new();
        while let Some(event) = attached.next().await.unwrap() {
            if let TerminalEvent::Output { bytes, .. } = event {
                seen.extend_from_slice(&bytes);
            }
        }
        assert!(String::from_utf8_lossy(&seen).contains("42-typed"), "a WebSocket goes through too");
        name
    });
    let url = format!("https://{}", server.address);
    let token = state(&home).join("root-token");
    let there = ["--server", &url, "--ca-file", &cert, "--token-file", token.to_str().unwrap()];
    let done = home.atoll([&["exec"], &there[..], &[name.as_str(), "--", "echo from the command"]].concat()).done();
    done.assert(0, "from the command\n", "");
    let made = home.atoll([&["token", "create", "--scope", "*:read"], &there[..]].concat()).done();
    assert!(made.code == Some(0) && made.stdout().starts_with("atoll_"), "{made:?}");
    let config = format!("server = {url}\nca_file = {cert}\ntoken_file = {}\n", token.display());
    std::fs::write(home.path().join("config"), config).unwrap();
    let listed = home.atoll(["ls", "--json"]).done();
    assert!(listed.stdout().contains(name.as_str()), "{listed:?}");
    std::fs::remove_file(home.path().join("config")).unwrap();
    end(server);
}

#[test]
fn who_cannot_prove_the_name_is_not_believed() {
    need!("openssl");
    let home = Home::new();
    let (other, other_key) = certificate(&home, "other", "DNS:other.example.org");
    let (cert, _) = certificate(&home, "server", "IP:127.0.0.1");
    let server = Server::start(&home, &["--tls-cert", &other, "--tls-key", &other_key]);
    let url = format!("https://{}", server.address);
    for (trusted, why) in [(&cert, "certificate"), (&other, "name")] {
        let refused = home.atoll(["ls", "--server", &url, "--ca-file", trusted, "--json"]).done();
        assert_eq!(refused.code, Some(125), "{refused:?}");
        let error = &refused.json()["error"];
        assert_eq!(error["code"], "SERVER_UNREACHABLE", "{error}");
        assert!(error["message"].as_str().unwrap().contains(why), "{error}");
    }
    // Without TLS it is not spoken to either.
    let refused = home.atoll(["ls", "--server", &format!("http://{}", server.address)]).done();
    assert_eq!(refused.code, Some(125), "{refused:?}");
    let refused = home.atoll(["ls", "--server", &url, "--ca-file", "/no/such/file"]).done();
    assert!(refused.stderr().contains("cannot use /no/such/file"), "{refused:?}");
    end(server);
}

#[test]
fn tls_and_http2_lead_to_the_same_sandbox() {
    need!("openssl", "curl");
    let home = Home::new();
    let (cert, key) = certificate(&home, "server", "IP:127.0.0.1");
    let server = Server::start(&home, &["--tls-cert", &cert, "--tls-key", &key]);
    let unix = Client::unix(state(&home).join("server.sock")).with_token(&server.token).unwrap();
    let name = wait(unix.create_sandbox(&server.asked())).unwrap().name;
    for version in ["--http1.1", "--http2"] {
        let answer = command("curl")
            .args(["-sS", "--max-time", "20", "--cacert", &cert, version])
            .args(["-w", "\n%{http_version}", "-H", "content-type: application/json"])
            .args(["-H", &format!("authorization: Bearer {}", server.token)])
            .args(["-d", r#"{"command":"echo $((6*7))"}"#])
            .arg(format!("https://{}/v1/sandboxes/{name}/exec", server.address))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&answer.stdout);
        assert!(text.contains(r#""data":"42\n""#), "{answer:?}");
        assert!(text.ends_with(if version == "--http2" { "\n2" } else { "\n1.1" }), "{text}");
    }
    end(server);
}
