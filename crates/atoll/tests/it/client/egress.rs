//! The way out and secrets, by the command line and through a server.

use std::io::{Read, Write};
use std::net::TcpListener;

use atoll_protocol::{CreateSandbox, NetworkPolicy, SandboxName};

use super::{Cli, refused};
use crate::harness::{Home, command};
use crate::server::{Server, sh, wait};

/// A server that answers everything, for as long as the process lives.
fn outside() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                drop(stream.read(&mut buffer));
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\nyes").ok();
            });
        }
    });
    port
}

#[test]
fn rules_are_given_shown_changed_and_outlive_a_stop() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = home.name();
    let port = outside();
    let (rule, loopback) = (format!("a.test:{port}"), format!("127.0.0.1:{port}"));
    cli.ok(&["create", &name, "--allow", &loopback, "--resolve", "a.test=127.0.0.1"]);
    let fetch = format!("curl -sS http://a.test:{port}/");
    let denied = cli.done(&["exec", &name, "--", &fetch]);
    assert_eq!(denied.code, Some(6));
    assert!(denied.stderr().contains("atoll: refused a.test: no rule"), "{}", denied.stderr());
    let shown = cli.ok(&["egress", &name, "allow", &rule, "pypi"]);
    assert!(shown.contains(&format!("allowed      {loopback} {rule} pypi\n")), "{shown}");
    assert_eq!(cli.ok(&["exec", &name, "--", &fetch]), "yes");
    let only = cli.done(&["exec", &name, "--only", "none", "--", &fetch]);
    assert!(only.stderr().contains("command not allowed"), "{}", only.stderr());
    // What was changed is kept, whatever the sandbox was made with.
    cli.ok(&["stop", &name]);
    assert_eq!(cli.ok(&["exec", &name, "--", &fetch]), "yes");
    cli.ok(&["create", &name, "--allow", &loopback, "--resolve", "a.test=127.0.0.1"]);
    let differs = cli.done(&["create", &name, "--allow", "npm", "--json"]);
    assert_eq!(refused(&differs), "SANDBOX_DIFFERS");
    assert!(cli.ok(&["egress", &name, "deny", "pypi"]).contains(&rule));
    assert_eq!(cli.done(&["egress", &name, "deny", "pypi"]).code, Some(125));
    assert!(cli.ok(&["egress", &name, "deny"]).contains("allowed      nothing"));
    assert_eq!(cli.done(&["exec", &name, "--", &fetch]).code, Some(6));
    let bad = cli.done(&["create", "other", "--allow", "*"]);
    assert_eq!(bad.code, Some(125));
    cli.server.end();
}

#[test]
fn events_are_paged_and_followed() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = home.name();
    cli.ok(&["create", &name, "--allow", "a.test"]);
    let mut running = home.atoll(["egress", &name, "events", "-f", "--json"]).start();
    cli.done(&["exec", &name, "--", "getent ahostsv4 b.test"]);
    let first: serde_json::Value = serde_json::from_str(&running.line()).unwrap();
    assert_eq!(
        (&first["kind"], &first["host"], &first["reason"]),
        (&"name_denied".into(), &"b.test".into(), &"no_rule".into())
    );
    drop(running);
    let page = cli.ok(&["egress", &name, "events"]);
    assert!(page.contains("name_denied") && page.contains("b.test") && page.contains("no_rule"), "{page}");
    assert_eq!(cli.ok(&["egress", &name, "events", "--since", "1000"]), "");
    cli.server.end();
}

#[test]
fn a_secret_is_given_and_never_told() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    let file = home.path().join("secret");
    std::fs::write(&file, "the-real-value\n").unwrap();
    let file = file.to_str().unwrap();
    let put = ["secret", &name, "put", "API_KEY", "--host", "api.test", "--header", "x-api-key", "--from-file", file];
    assert_eq!(cli.ok(&put), "API_KEY\n");
    let list = cli.json(&["secret", &name, "list"]);
    assert_eq!((&list[0]["name"], &list[0]["hosts"][0]), (&"API_KEY".into(), &"api.test".into()));
    assert!(!list.to_string().contains("the-real-value"));
    assert!(cli.ok(&["exec", &name, "--", "echo $API_KEY"]).starts_with("atoll-secret-"));
    let bad = cli.done(&["secret", &name, "put", "bad-name", "--host", "api.test", "--from-file", file, "--json"]);
    assert_eq!(bad.code, Some(125));
    cli.ok(&["secret", &name, "rm", "API_KEY"]);
    let gone = cli.done(&["secret", &name, "rm", "API_KEY", "--json"]);
    assert_eq!(refused(&gone), "SECRET_NOT_FOUND");
    cli.server.end();
}

#[test]
fn a_secret_is_in_one_file_and_in_no_log() {
    const VALUE: &str = "sk-live-0123456789abcdef";
    let home = Home::new();
    let server = Server::start_with(&home, "127.0.0.1:0".parse().unwrap(), &[], &[("RUST_LOG", "trace")]);
    let client = server.client();
    let name = wait(client.create_sandbox(&server.asked())).unwrap().name;
    let inside = client.inside(&name);
    let network = r#"{"allow":[{"domain":"api.test","ports":["443"]}],"hosts":{"api.test":["192.0.2.1"]}}"#;
    wait(inside.set_network(&serde_json::from_str(network).unwrap())).unwrap();
    let secret = format!(r#"{{"value":"{VALUE}","hosts":["api.test"]}}"#);
    wait(inside.put_secret("API_KEY", &serde_json::from_str(&secret).unwrap())).unwrap();
    // One that is refused, one that fails outside, and one that is wrong.
    let fetch = "curl -sS -m 3 -H \"Authorization: Bearer $API_KEY\" https://api.test/ https://other.test/; true";
    wait(sh(&client, &name, fetch));
    let short = secret.replace("api.test", "*");
    let refused = wait(inside.put_secret("OTHER", &serde_json::from_str(&short).unwrap())).unwrap_err();
    assert!(!format!("{refused:?} {refused}").contains(VALUE));
    wait(client.stop_sandbox(&name)).unwrap();
    let found = command("grep").args(["-rlaF", VALUE]).arg(home.path()).output().unwrap();
    let found = String::from_utf8(found.stdout).unwrap();
    let files: Vec<&str> = found.lines().collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let mode = std::fs::metadata(files[0]).unwrap().permissions();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600, "{files:?}");
    wait(client.remove_sandbox(&name)).unwrap();
    server.signal(crate::harness::Signal::TERM);
    let done = server.done();
    assert!(done.stderr().contains("answered") && !done.stderr().contains(VALUE), "it logs, and not that");
}

#[test]
fn what_goes_out_is_counted_for_all_sandboxes_and_beyond_their_end() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let port = outside();
    let (rule, loopback) = (format!("a.test:{port}"), format!("127.0.0.1:{port}"));
    for _ in 0..2 {
        let name = home.name();
        cli.ok(&["create", &name, "--allow", &rule, "--allow", &loopback, "--resolve", "a.test=127.0.0.1"]);
        let fetch = format!("curl -sS http://a.test:{port}/; curl -s http://b.test/ || true");
        let done = cli.done(&["exec", &name, "--", &fetch]);
        done.assert(0, "yes", "atoll: refused b.test: no rule\n");
    }
    let counted = |line: &str| {
        let (name, token) =
            ("/metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ", &cli.server.token);
        let text = cli.server.raw(&format!("GET {name}{token}\r\n\r\n"));
        let value = text.lines().find_map(|found| found.strip_prefix(line)?.trim().parse::<u64>().ok());
        value.unwrap_or_else(|| panic!("{line}: {text}"))
    };
    for _ in 0..2 {
        assert_eq!(counted("atoll_egress_connections_total{decision=\"allowed\"}"), 2);
        assert!(counted("atoll_egress_names_total{decision=\"denied\"}") >= 2);
        assert!(counted("atoll_egress_bytes_total{direction=\"out\"}") > 100);
        assert!(counted("atoll_egress_bytes_total{direction=\"in\"}") > 100);
        for sandbox in wait(cli.server.client().list_sandboxes(&Default::default(), None)).unwrap().sandboxes {
            wait(cli.server.client().remove_sandbox(&sandbox.name)).unwrap();
        }
    }
    cli.server.end();
}

#[test]
fn a_command_of_a_session_may_have_less() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = home.name();
    let port = outside();
    let (rule, loopback) = (format!("a.test:{port}"), format!("127.0.0.1:{port}"));
    cli.ok(&["create", &name, "--allow", &rule, "--allow", &loopback, "--resolve", "a.test=127.0.0.1"]);
    let fetch = format!("curl -sS http://a.test:{port}/");
    cli.ok(&["session", "create", &name, "main"]);
    assert_eq!(cli.ok(&["session", "exec", &name, "main", "--", &fetch]), "yes");
    let only = cli.done(&["session", "exec", &name, "main", "--only", "none", "--", &fetch]);
    assert!(only.stderr().contains("command not allowed"), "{}", only.stderr());
    assert_eq!(cli.ok(&["session", "exec", &name, "main", "--", &fetch]), "yes");
    cli.server.end();
}

#[test]
fn to_change_rules_is_to_decide_over_the_sandbox() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    let token = cli.ok(&["token", "create", "--scope", &format!("{name}:read,exec")]);
    let client = cli.server.client().with_token(token.trim()).unwrap();
    let name = SandboxName::new(name).unwrap();
    let inside = client.inside(&name);
    assert!(!wait(inside.network()).unwrap().open);
    let refused = wait(inside.set_network(&NetworkPolicy::default())).unwrap_err();
    assert_eq!(refused.code(), Some(atoll_protocol::ErrorCode::Forbidden));
    let secret = serde_json::from_str(r#"{"value":"the-real-value","hosts":["a.test"]}"#).unwrap();
    assert_eq!(wait(inside.put_secret("KEY", &secret)).unwrap_err().code(), Some(atoll_protocol::ErrorCode::Forbidden));
    assert_eq!(wait(inside.remove_secret("KEY")).unwrap_err().code(), Some(atoll_protocol::ErrorCode::Forbidden));
    // And what cannot be meant is refused before anything is made.
    let network = Some(serde_json::from_str(r#"{"allow":[{"domain":"*"}]}"#).unwrap());
    let asked = CreateSandbox { name: SandboxName::new(home.name()).ok(), network, ..CreateSandbox::default() };
    let refused = wait(cli.server.client().create_sandbox(&asked)).unwrap_err();
    assert_eq!(refused.code(), Some(atoll_protocol::ErrorCode::ValidationFailed));
    assert!(wait(cli.server.client().find_sandbox(&asked.name.unwrap())).is_err());
    cli.server.end();
}
