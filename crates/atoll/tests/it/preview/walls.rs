//! Previews and the API have nothing to do with each other, whatever a request says of itself; and a sandbox cannot
//! reach either from inside.

use std::io::{BufReader, Read, Write};

use atoll_protocol::{
    CreateSandbox, DenialReason, EgressRule, ExecRequest, ExposePort, NetworkPolicy, PortCondition, StartRequest,
    Visibility, WaitFor, WaitRequest,
};

use super::{BOTH, Form, public, read_answer, send, show, with_app};
use crate::harness::{Home, Signal, command, need};
use crate::server::{Server, sh, state, wait};

#[test]
fn a_previews_host_never_reaches_the_api_and_the_apis_never_a_preview() {
    with_app(public(), |server, shown| {
        let (host, _) = shown.at(Form::Host, "/");
        for path in
            ["/v1/sandboxes", "/healthz", "/metrics", "/docs", "/preview/x/../../v1/sandboxes", "//v1/sandboxes"]
        {
            // Where previews are, whatever is asked is the program's to answer.
            let token = format!("authorization: Bearer {}", server.token);
            let answer = server.look((host.clone(), path.to_owned()), "GET", &[&token], b"");
            assert_eq!((answer.status, answer.header("x-app")), (200, Some("yes")), "{path}");
            assert_eq!(answer.seen("authorization"), None);
            let answer = server.look(("127.0.0.1".to_owned(), path.to_owned()), "GET", &[&token], b"");
            assert_eq!((answer.status, answer.code().as_str()), (404, "PREVIEW_NOT_FOUND"), "{path}");
            // Where the API is, its host means nothing.
            let answer = server.ask_api(&host, path);
            assert_eq!((answer.status, answer.code().as_str()), (421, "MISDIRECTED"), "{path}");
        }
        let (_, below) = shown.at(Form::Path, "/echo");
        assert_eq!(server.ask_api("127.0.0.1", &below).status, 404);
        // An absolute form (RFC 9112, 3.2.2) that says otherwise than the header is neither.
        let mut stream = server.preview_stream();
        let at = ("127.0.0.1".to_owned(), format!("http://{host}/echo"));
        send(&mut stream, &at, "GET", &["connection: close"], b"");
        assert_eq!(read_answer(&mut BufReader::new(stream), "GET").status, 400);
        let at = (host.clone(), format!("http://{host}/echo"));
        assert_eq!(server.get(at).json()["path"], "/echo");
        let at = (host.clone(), format!("{host}:80"));
        assert_eq!(server.look(at, "CONNECT", &[], b"").status, 405);
    });
}

#[test]
fn dots_in_paths_stay_within_the_program() {
    with_app(public(), |server, shown| {
        let other = wait(show(server, public()));
        let label = other.label();
        for path in
            [format!("/../{label}/echo"), format!("/../../preview/{label}/echo"), "/..%2f..%2fv1/sandboxes".to_owned()]
        {
            for form in BOTH {
                let told = server.get(shown.at(form, &path)).json();
                assert_eq!(told["path"], path, "{form:?}");
            }
        }
    });
}

#[test]
fn a_request_within_a_request_is_the_bodys() {
    with_app(public(), |server, shown| {
        let (host, path) = shown.at(Form::Host, "/upload");
        let inner = format!("GET /v1/sandboxes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\r\n", server.token);
        // Both lengths: the chunks are meant (RFC 9112, 6.3), and the program never sees the other.
        let smuggled = format!(
            "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n\
             {:x}\r\n{inner}\r\n0\r\n\r\n",
            inner.len()
        );
        let mut stream = server.preview_stream();
        stream.write_all(smuggled.as_bytes()).unwrap();
        let answer = read_answer(&mut BufReader::new(stream.try_clone().unwrap()), "POST");
        assert!(answer.status == 400 || answer.json()["bytes"] == inner.len(), "{answer:?}");
        for odd in [
            format!("POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nabcd"),
            format!("POST {path} HTTP/1.1\r\nhost: {host}\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n"),
            format!("POST {path} HTTP/1.1\r\nhost: {host}\r\nhost: other\r\ncontent-length: 0\r\n\r\n"),
            format!("POST {path} HTTP/1.1\r\nhost : {host}\r\ncontent-length: 0\r\n\r\n"),
            format!("GET {path} HTTP/1.1\r\ncontent-length: 0\r\n\r\n"),
        ] {
            let mut stream = server.preview_stream();
            stream.write_all(odd.as_bytes()).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            let mut text = String::new();
            drop(stream.read_to_string(&mut text));
            assert!(text.is_empty() || text.starts_with("HTTP/1.1 400"), "{odd}\n{text}");
        }
    });
}

/// Asks for something at every address by which this machine could be meant, with a token that somebody has lost.
fn attempts(server: &Server<'_>, own: &[String], port: u16) -> Vec<String> {
    let mut hosts: Vec<String> = [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "localhost",
        "x.localhost",
        "rebind.test",
        "169.254.169.254",
    ]
    .map(str::to_owned)
    .into();
    hosts.extend_from_slice(own);
    let token = &server.token;
    let curl = |host: &String| {
        format!("curl -sS -m 5 --noproxy '*' -H 'authorization: Bearer {token}' 'http://{host}:{port}/v1/sandboxes'")
    };
    hosts.iter().map(curl).collect()
}

/// The machine's own addresses on its networks.
fn own_addresses() -> Vec<String> {
    let found = command("ip").args(["-o", "addr", "show", "scope", "global"]).output().unwrap();
    let text = String::from_utf8(found.stdout).unwrap();
    let address = |line: &str| Some(line.split_whitespace().nth(3)?.split('/').next()?.to_owned());
    let bracketed = |ip: String| if ip.contains(':') { format!("[{ip}]") } else { ip };
    text.lines().filter_map(address).map(bracketed).collect()
}

#[test]
fn a_sandbox_reaches_neither_previews_nor_the_api() {
    need!("curl", "ip", "python3");
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let ports = [server.address.port(), server.previews.port()];
    let here = vec!["127.0.0.1".to_owned()];
    let both = ports.map(|port| port.to_string()).to_vec();
    let rule = EgressRule { domain: Some("rebind.test".to_owned()), ports: Some(both), ..EgressRule::default() };
    let network = NetworkPolicy {
        allow: vec![rule],
        hosts: [("rebind.test".to_owned(), here)].into(),
        ..NetworkPolicy::default()
    };
    let client = server.client();
    let closed = wait(server.sandbox());
    let open = wait(client.create_sandbox(&CreateSandbox { network: Some(network), ..server.asked() })).unwrap().name;
    for port in ports {
        for attempt in attempts(&server, &own_addresses(), port) {
            for name in [&closed, &open] {
                let result = wait(client.inside(name).exec(&ExecRequest::shell(attempt.as_str()))).unwrap();
                let said = &result.stdout.data;
                let refused = said.is_empty() || said.contains("EGRESS_DENIED");
                assert!(refused && !said.contains("sandboxes\":"), "{attempt}: {result:?}");
                // What is led out is refused with its reason; the rest is the sandbox's own, where nothing listens.
                if said.contains("EGRESS_DENIED") {
                    let denials = &result.end.denials;
                    assert_eq!(denials[0].reason, DenialReason::AddressNotPublic, "{attempt}: {denials:?}");
                }
            }
        }
    }
    // Nor by their sockets, which are files: of the server, of its own agent, of another's.
    let sockets = "find / -xdev -type s 2> /dev/null; ls -d /run/atoll* /tmp/atoll* 2> /dev/null; \
        grep -c atoll /proc/net/unix || true";
    for name in [&closed, &open] {
        assert_eq!(wait(sh(&client, name, sockets)).trim(), "0");
    }
    server.end();
}

#[test]
fn over_tls_previews_are_secure_and_say_so() {
    need!("openssl", "curl", "python3");
    let home = Home::new();
    let (key, cert) = self_signed(&home);
    let server = Server::start(&home, &["--tls-cert", &cert, "--tls-key", &key]);
    let client = atoll_client::Client::unix(state(&home).join("server.sock")).with_token(&server.token).unwrap();
    let name = wait(client.create_sandbox(&server.asked())).unwrap().name;
    let argv = ["/usr/bin/python3", "-u", "-c", super::APP, "3000"];
    let id = wait(client.inside(&name).start(&StartRequest::argv(argv))).unwrap().id;
    let port = WaitFor::Port(PortCondition { port: 3000, http: None });
    wait(client.inside(&name).wait(&id, &WaitRequest { r#for: port, timeout_ms: Some(20_000) })).unwrap();
    let preview = wait(client.expose(&name, 3000, &public())).unwrap();
    let url = preview.url.unwrap();
    assert!(url.starts_with("https://"), "{url}");
    let curl = |arguments: &[&str]| {
        let output = command("curl").args(["-sS", "-k", "--max-time", "20"]).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for (version, shown) in [("--http1.1", "1.1"), ("--http2", "2")] {
        let text = curl(&[version, "-w", "\n%{http_version}", &format!("{url}echo")]);
        assert!(text.contains(r#"["x-forwarded-proto", "https"]"#) && text.ends_with(&format!("\n{shown}")), "{text}");
        assert!(
            text.contains(&format!(r#"["host", "{}"]"#, url.trim_start_matches("https://").trim_end_matches('/'))),
            "{text}"
        );
    }
    let asked = ExposePort { visibility: Some(Visibility::Private), ..public() };
    wait(client.expose(&name, 3000, &asked)).unwrap();
    let link = wait(client.preview_link(&name, 3000, &Default::default())).unwrap();
    let head = curl(&["-i", &link.url]);
    assert!(head.contains("; Secure\r\n"), "{head}");
    wait(client.remove_sandbox(&name)).unwrap();
    server.signal(Signal::TERM);
    assert_eq!(server.done().code, Some(0));
    home.assert_nothing_left();
}

/// A key and a certificate that vouches for itself.
fn self_signed(home: &Home) -> (String, String) {
    let file = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    let (key, cert) = (file("key.pem"), file("cert.pem"));
    let made = command("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:*.localhost"])
        .args(["-keyout", &key, "-out", &cert])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    (key, cert)
}

#[test]
fn an_upgrade_to_http_is_none() {
    with_app(public(), |server, shown| {
        let head = ["connection: upgrade, http2-settings", "upgrade: h2c", "http2-settings: AAMAAABkAAQAAP__"];
        let mut stream = server.preview_stream();
        send(&mut stream, &shown.at(Form::Host, "/echo"), "GET", &head, b"");
        let answer = read_answer(&mut BufReader::new(stream), "GET");
        assert_eq!((answer.status, answer.seen("upgrade")), (200, None));
    });
}
