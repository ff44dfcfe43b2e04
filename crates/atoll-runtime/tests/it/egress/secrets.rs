//! Secrets that commands use and never see.

use atoll_protocol::{DenialReason, NetworkPolicy, PutSecret};
use atoll_runtime::{Sandbox, SandboxOptions, SessionSpec, Storage};
use base64::Engine as _;

use super::outside::{Authority, Server};
use super::{assert_denied, domain, loopback, policy, python, reasons, sh, with};
use crate::harness::{Fixture, alive, assert_exited, err, out};

in_every_mode! {
    isolated {
        the_real_value_reaches_the_named_host_alone,
        it_is_put_into_named_headers_only_however_they_are_cut,
        basic_credentials_are_made_anew,
        what_comes_back_is_searched,
        a_packed_answer_is_refused,
        it_comes_back_neither_behind_a_body_nor_in_a_socket,
        what_is_packed_goes_out_as_it_is,
        it_is_nowhere_inside_and_nowhere_told,
        a_server_that_cannot_prove_its_name_gets_nothing,
        it_can_be_changed_and_taken_away,
        it_outlives_the_sandbox_where_storage_is_kept,
    }
}

pub(super) const VALUE: &str = "sk-live-0123456789abcdef";

/// A sandbox with a secret for `api.test`, which may also reach `other.test` (by TLS) and `plain.test` (in the clear).
pub(super) struct World {
    pub(super) api: Server,
    other: Server,
    pub(super) plain: Server,
    pub(super) sandbox: Sandbox,
}

impl World {
    pub(super) async fn new(f: &Fixture) -> Self {
        let authority = Authority::new();
        let api = Server::https(&authority, &["api.test"]).await;
        let other = Server::https(&authority, &["other.test"]).await;
        let plain = Server::http().await;
        let ports = [api.port, other.port, plain.port];
        let rules = vec![
            domain("api.test", &[api.port, plain.port]),
            domain("other.test", &[other.port]),
            domain("plain.test", &[plain.port]),
            loopback(&ports),
        ];
        let given = NetworkPolicy {
            trust: Some(authority.pem.clone()),
            ..policy(rules, &["api.test", "other.test", "plain.test"])
        };
        let sandbox = with(f, given).await;
        sandbox.put_secret("API_KEY", secret(api.port)).await.unwrap();
        Self { api, other, plain, sandbox }
    }

    pub(super) async fn curl(&self, arguments: &str) -> atoll_runtime::ExecOutput {
        let Self { api, other, plain, sandbox } = self;
        let ports = format!(
            "API=https://api.test:{}; OTHER=https://other.test:{}; PLAIN=plain.test:{};",
            api.port, other.port, plain.port
        );
        sh(sandbox, &format!("{ports} curl -sS {arguments}")).await
    }

    /// What anybody but the one host was told.
    fn leaked(&self) -> Vec<String> {
        let heard = [self.other.heard(), self.plain.heard()].concat();
        heard.into_iter().filter(|head| head.contains(VALUE)).collect()
    }
}

pub(super) fn secret(port: u16) -> PutSecret {
    PutSecret {
        value: VALUE.to_owned(),
        hosts: vec![format!("api.test:{port}")],
        headers: vec!["authorization".to_owned(), "x-api-key".to_owned()],
    }
}

async fn the_real_value_reaches_the_named_host_alone(f: &Fixture) {
    let world = World::new(f).await;
    let output = world.curl("-H \"Authorization: Bearer $API_KEY\" $API/").await;
    assert_eq!(out(&output), "welcome\n", "{}", err(&output));
    assert!(world.api.heard()[0].contains(&format!("Authorization: Bearer {VALUE}\r\n")), "{:?}", world.api.heard());
    // Another host, the same one in the clear, and one to which the first leads.
    world.curl("-k -H \"Authorization: Bearer $API_KEY\" $OTHER/").await;
    world.curl("-H \"x-api-key: $API_KEY\" http://$PLAIN/").await;
    let port = world.plain.port;
    world.curl(&format!("-H \"x-api-key: $API_KEY\" http://api.test:{port}/")).await;
    world.curl("-kL --location-trusted -H \"Authorization: Bearer $API_KEY\" \"$API/redirect?$OTHER/stolen\"").await;
    let output =
        world.curl("-L --location-trusted -H \"x-api-key: $API_KEY\" \"$API/redirect?http://$PLAIN/stolen\"").await;
    assert_exited(&output, 0);
    assert_eq!((world.other.heard().len(), world.plain.heard().len()), (2, 3));
    assert!(world.other.heard()[1].contains("/stolen") && world.other.heard()[1].contains("atoll-secret-"));
    assert_eq!(world.leaked(), Vec::<String>::new());
}

async fn it_is_put_into_named_headers_only_however_they_are_cut(f: &Fixture) {
    let world = World::new(f).await;
    let output = world
        .curl("-H \"X-Other: $API_KEY\" -H \"X-Api-Key: $API_KEY\" --data-raw \"key=$API_KEY\" \"$API/?key=$API_KEY\"")
        .await;
    assert_exited(&output, 0);
    let head = &world.api.heard()[0];
    assert_eq!(head.matches(VALUE).count(), 1, "{head}");
    assert!(head.contains(&format!("X-Api-Key: {VALUE}\r\n")), "{head}");
    // A byte at a time, with a body in chunks.
    let output = python(
        &world.sandbox,
        &format!(
            "import os, socket, ssl\nkey = os.environ['API_KEY']\n\
             s = ssl.create_default_context().wrap_socket(socket.create_connection(('api.test', {port})), server_hostname='api.test')\n\
             text = f'POST /cut HTTP/1.1\\r\\nHost: api.test:{port}\\r\\nX-Api-Key: {{key}}\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n'\n\
             for b in text.encode(): s.send(bytes([b]))\n\
             for c in key: s.send(f'1\\r\\n{{c}}\\r\\n'.encode())\n\
             s.send(b'0\\r\\n\\r\\n')\nprint(s.recv(15))",
            port = world.api.port
        ),
    )
    .await;
    assert!(out(&output).contains("HTTP/1.1 200 OK"), "{} {}", out(&output), err(&output));
    let heard = world.api.heard();
    assert!(heard[1].contains(&format!("X-Api-Key: {VALUE}")) && heard[1].matches(VALUE).count() == 1, "{}", heard[1]);
}

async fn basic_credentials_are_made_anew(f: &Fixture) {
    let world = World::new(f).await;
    let output = world.curl("-u \"me:$API_KEY\" $API/echo").await;
    assert_exited(&output, 0);
    let encoded = base64::engine::general_purpose::STANDARD.encode(format!("me:{VALUE}"));
    assert!(world.api.heard()[0].contains(&format!("Authorization: Basic {encoded}")), "{:?}", world.api.heard());
    // Nor does it come back in that form.
    assert!(!out(&output).contains(&encoded) && out(&output).contains("Basic ****"), "{}", out(&output));
}

async fn what_comes_back_is_searched(f: &Fixture) {
    let world = World::new(f).await;
    let output = world.curl("-i -H \"x-api-key: $API_KEY\" $API/echo").await;
    assert_exited(&output, 0);
    assert!(world.api.heard()[0].contains(VALUE));
    let shown = out(&output);
    assert!(!shown.contains(VALUE) && !shown.contains("0123456789abcdef"), "{shown}");
    let stars = "*".repeat(VALUE.len());
    // Once in a header, once in the body, which is as long as it was said to be.
    assert_eq!(shown.matches(&stars).count(), 2, "{shown}");
    // Without a secret in the request nothing is touched.
    assert!(out(&world.curl("-H 'x-api-key: own' $API/echo").await).contains("x-api-key: own"));
}

async fn a_packed_answer_is_refused(f: &Fixture) {
    let world = World::new(f).await;
    let output = world.curl("--compressed -H \"x-api-key: $API_KEY\" $API/packed").await;
    assert_denied(&output, DenialReason::Malformed);
    assert!(world.api.heard()[0].to_lowercase().contains("accept-encoding: identity"));
    // Whatever the request contained: the host may have kept the value.
    assert_denied(&world.curl("$API/packed").await, DenialReason::Malformed);
    assert_eq!(reasons(&world.curl("$OTHER/packed").await), []);
}

async fn it_comes_back_neither_behind_a_body_nor_in_a_socket(f: &Fixture) {
    let world = World::new(f).await;
    let port = world.api.port;
    let talk = |path: &str, more: &str, then: &str| {
        format!(
            "import os, socket, ssl\nkey = os.environ['API_KEY']\n\
             s = ssl.create_default_context().wrap_socket(socket.create_connection(('api.test', {port})), server_hostname='api.test')\n\
             s.sendall(f'GET {path} HTTP/1.1\\r\\nHost: api.test:{port}\\r\\nX-Api-Key: {{key}}\\r\\n{more}\\r\\n'.encode())\n\
             got = b''\nwhile b'{then}' not in got:\n  piece = s.recv(4096)\n  if not piece: break\n  got += piece\nprint(got.decode('latin-1'))"
        )
    };
    let trailers = python(&world.sandbox, &talk("/trailers", "TE: trailers\\r\\n", "|\\r\\n\\r\\n")).await;
    let upgrade = "Connection: upgrade\\r\\nUpgrade: websocket\\r\\n";
    let socket = python(&world.sandbox, &talk("/ws", upgrade, "||")).await;
    assert_eq!(world.api.heard().iter().filter(|head| head.contains(VALUE)).count(), 2, "{:?}", world.api.heard());
    for output in [trailers, socket] {
        let shown = out(&output);
        assert!(shown.contains(&"*".repeat(VALUE.len())), "{shown} {}", err(&output));
        assert!(!shown.contains(VALUE), "{shown}");
    }
}

async fn what_is_packed_goes_out_as_it_is(f: &Fixture) {
    let world = World::new(f).await;
    let port = world.api.port;
    // A body is not looked into, packed or not; a stand-in within it stays one.
    let output = sh(
        &world.sandbox,
        &format!(
            "printf '{{\"key\": \"%s\"}}' $API_KEY | gzip > body.gz; \
             curl -sS -H 'Content-Encoding: gzip' -H \"x-api-key: $API_KEY\" --data-binary @body.gz https://api.test:{port}/"
        ),
    )
    .await;
    assert_eq!(out(&output), "welcome\n", "{}", err(&output));
    let heard = &world.api.heard()[0];
    assert!(heard.contains("Content-Encoding: gzip") && heard.matches(VALUE).count() == 1, "{heard}");
}

async fn it_is_nowhere_inside_and_nowhere_told(f: &Fixture) {
    let world = World::new(f).await;
    world.curl("-H \"x-api-key: $API_KEY\" $API/echo -o echo").await;
    let output = sh(
        &world.sandbox,
        "env; cat /proc/*/environ; cat /workspace/* /etc/atoll* /etc/resolv.conf; cat /proc/1/environ 2>&1",
    )
    .await;
    assert!(out(&output).contains("API_KEY=atoll-secret-") && !out(&output).contains(VALUE));
    let told = format!(
        "{:?} {:?} {:?} {:?}",
        world.sandbox.secrets(),
        world.sandbox.egress_events().since(0, 1000),
        world.sandbox.network(),
        world.sandbox
    );
    assert!(!told.contains(VALUE));
    let used =
        world.sandbox.egress_events().since(0, 1000).events.iter().filter_map(|event| event.secrets_used).sum::<u64>();
    assert_eq!(used, 1);
    // On the host's side: not in any command line or environment, nor in files that the sandbox can see.
    assert_eq!(alive(VALUE), Vec::<String>::new());
    for entry in walk(&f.sandboxes()) {
        let bytes = std::fs::read(&entry).unwrap_or_default();
        assert!(!bytes.windows(VALUE.len()).any(|window| window == VALUE.as_bytes()), "{}", entry.display());
    }
}

fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(walk(&entry.path())),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
    found
}

async fn a_server_that_cannot_prove_its_name_gets_nothing(f: &Fixture) {
    let (known, stranger) = (Authority::new(), Authority::new());
    let outside = Server::https(&stranger, &["api.test"]).await;
    let wrong = Server::https(&known, &["evil.test"]).await;
    for server in [&outside, &wrong] {
        let port = server.port;
        let rules = vec![domain("api.test", &[port]), loopback(&[port])];
        let sandbox = with(f, NetworkPolicy { trust: Some(known.pem.clone()), ..policy(rules, &["api.test"]) }).await;
        sandbox.put_secret("API_KEY", secret(port)).await.unwrap();
        let output =
            sh(&sandbox, &format!("curl -sS -w '%{{http_code}}' -H \"x-api-key: $API_KEY\" https://api.test:{port}/"))
                .await;
        assert_denied(&output, DenialReason::Untrusted);
        assert!(out(&output).ends_with("502"), "{}", out(&output));
        assert!(server.heard().is_empty());
    }
}

async fn it_can_be_changed_and_taken_away(f: &Fixture) {
    let world = World::new(f).await;
    let session = world.sandbox.create_session(SessionSpec::default()).await.unwrap();
    let port = world.api.port;
    let fetch = format!("curl -sS -o /dev/null -H \"x-api-key: $API_KEY\" https://api.test:{port}/");
    session.exec(atoll_runtime::Command::shell(fetch.as_str())).await.unwrap();
    assert!(world.api.heard()[0].contains(VALUE));
    // The stand-in stays, so what runs need not know.
    world
        .sandbox
        .put_secret("API_KEY", PutSecret { value: "sk-live-another".to_owned(), ..secret(port) })
        .await
        .unwrap();
    session.exec(atoll_runtime::Command::shell(fetch.as_str())).await.unwrap();
    assert!(world.api.heard()[1].contains("sk-live-another") && !world.api.heard()[1].contains(VALUE));
    world.sandbox.remove_secret("API_KEY").await.unwrap();
    assert!(world.sandbox.remove_secret("API_KEY").await.is_err() && world.sandbox.secrets().is_empty());
    assert_eq!(out(&sh(&world.sandbox, "echo [$API_KEY]").await), "[]\n");
    for bad in [
        PutSecret { hosts: Vec::new(), ..secret(1) },
        PutSecret { value: "short".to_owned(), ..secret(1) },
        PutSecret { headers: vec!["host".to_owned()], ..secret(1) },
    ] {
        let error = world.sandbox.put_secret("KEY", bad).await.unwrap_err().to_string();
        assert!(!error.contains(VALUE), "{error}");
    }
}

async fn it_outlives_the_sandbox_where_storage_is_kept(f: &Fixture) {
    let authority = Authority::new();
    let api = Server::https(&authority, &["api.test"]).await;
    let storage = tempfile::tempdir().unwrap();
    let rules = vec![domain("api.test", &[api.port]), loopback(&[api.port])];
    let given = NetworkPolicy { trust: Some(authority.pem.clone()), ..policy(rules, &["api.test"]) };
    let kept = || Storage::Kept(storage.path().join("kept"));
    let start = async |network| {
        let options = SandboxOptions { storage: kept(), network: Some(network), ..f.options() };
        f.host.create(options).await.unwrap()
    };
    let first = start(given).await;
    first.put_secret("API_KEY", secret(api.port)).await.unwrap();
    let placeholder = out(&sh(&first, "echo $API_KEY").await);
    first.destroy().await.unwrap();
    drop(first);
    // Other rules are asked for; those that were in force count.
    let second = start(NetworkPolicy::default()).await;
    assert_eq!(out(&sh(&second, "echo $API_KEY").await), placeholder);
    let output = sh(&second, &format!("curl -sS -H \"x-api-key: $API_KEY\" https://api.test:{}/", api.port)).await;
    assert_eq!(out(&output), "welcome\n", "{}", err(&output));
    assert!(api.heard()[0].contains(VALUE));
    assert_eq!(out(&sh(&second, "grep -c 'Atoll: end' /etc/ssl/certs/ca-certificates.crt").await), "1\n");
    second.destroy().await.unwrap();
}
