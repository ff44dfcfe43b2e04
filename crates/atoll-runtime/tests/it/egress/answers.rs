//! Answers of hosts that have secrets: no value comes back, whatever a request or a host does to cut or encode it.

use atoll_protocol::{DenialReason, EgressProtocol, EgressRule, NetworkPolicy, PutSecret};
use atoll_runtime::{Command, ExecOutput, ProcessSpec};

use super::outside::{Authority, Server};
use super::secrets::{VALUE, World, secret};
use super::{assert_denied, domain, loopback, policy, python, reasons, sh, with};
use crate::harness::{Fixture, assert_exited, err, out, printed};

in_every_mode! {
    isolated {
        a_value_that_the_host_kept_is_found_in_later_answers,
        an_answer_in_parts_is_neither_requested_nor_accepted,
        the_head_of_an_answer_is_searched_as_a_whole,
        common_encodings_are_found,
        web_socket_frames_are_searched,
        other_ports_and_ways_to_the_host_are_searched,
        connections_from_before_the_first_secret_are_closed,
    }
}

/// Python that asks the host by TLS, one request per connection, and prints everything that comes back.
fn ask(world: &World, path: &str, headers: &[&str]) -> String {
    let headers: String = headers.iter().map(|header| format!("{header}\\r\\n")).collect();
    format!(
        "import os, socket, ssl\nkey = os.environ['API_KEY']\n\
         s = ssl.create_default_context().wrap_socket(socket.create_connection(('api.test', {port}), 10), server_hostname='api.test')\n\
         s.settimeout(10)\n\
         s.sendall(f'GET {path} HTTP/1.1\\r\\nHost: api.test:{port}\\r\\n{headers}\\r\\n'.encode())\ngot = b''\n\
         while True:\n  try: piece = s.recv(4096)\n  except OSError: break\n  if not piece: break\n  got += piece\n\
         print(got.decode('latin-1'))",
        port = world.api.port
    )
}

const CLOSE: &str = "Connection: close";

/// A world whose host has seen the value, and keeps it.
async fn told(f: &Fixture) -> World {
    let world = World::new(f).await;
    assert_exited(&world.curl("-H \"x-api-key: $API_KEY\" $API/").await, 0);
    assert!(world.api.heard()[0].contains(VALUE));
    world
}

fn stars() -> String {
    "*".repeat(VALUE.len())
}

/// Nothing of the value but its first bytes, which say nothing.
fn assert_clean(output: &ExecOutput) {
    let shown = out(output);
    assert!(!shown.contains(&VALUE[8..]) && !shown.contains(&VALUE[..9]), "{shown}");
}

async fn a_value_that_the_host_kept_is_found_in_later_answers(f: &Fixture) {
    let world = told(f).await;
    let another = PutSecret { value: "another-value/1234".to_owned(), ..secret(world.api.port) };
    world.sandbox.put_secret("SECOND", another).await.unwrap();
    // Without any stand-in; then with that of another secret of the host.
    assert_eq!(out(&world.curl("$API/kept").await), format!("kept {}.", stars()));
    assert_eq!(out(&world.curl("-H \"authorization: $SECOND\" $API/kept").await), format!("kept {}.", stars()));
    assert_eq!(out(&world.curl("-H \"x-api-key: $SECOND\" $API/kept").await), format!("kept {}.", "*".repeat(18)));
    assert_eq!(out(&world.curl("$API/kept").await), format!("kept {}.", "*".repeat(18)));
}

async fn an_answer_in_parts_is_neither_requested_nor_accepted(f: &Fixture) {
    let world = told(f).await;
    let headers = "-H 'Range: bytes=0-9' -H 'If-Range: x' -H 'TE: gzip' -H 'Want-Digest: crc32c' -H 'A-IM: range'";
    let output = world.curl(&format!("{headers} --compressed $API/range")).await;
    assert_eq!(out(&output), stars(), "{}", err(&output));
    let heard = world.api.heard().pop().unwrap().to_lowercase();
    for name in ["range:", "te:", "digest:", "a-im:", "gzip"] {
        assert!(!heard.contains(name), "{heard}");
    }
    for path in ["/part", "/coded", "/packed"] {
        let output = world.curl(&format!("$API{path}")).await;
        assert_denied(&output, DenialReason::Malformed);
        assert_clean(&output);
    }
    // Hosts without secrets are left alone.
    let output = world.curl("-H 'Range: bytes=0-9' -w '%{http_code}' http://$PLAIN/part").await;
    assert!(out(&output).ends_with("206"), "{}", out(&output));
    assert!(world.plain.heard()[0].contains("Range: bytes=0-9"));
}

async fn the_head_of_an_answer_is_searched_as_a_whole(f: &Fixture) {
    let world = told(f).await;
    for (path, expected) in [
        ("/reason", "HTTP/1.1 401 Unauthorized\r\n"),
        ("/name", "HTTP/1.1 200 OK\r\n"),
        ("/trailer-name", "HTTP/1.1 200 OK\r\n"),
        ("/redirect?https://other.test/KEY", "HTTP/1.1 302 Found\r\n"),
    ] {
        let path = path.replace("KEY", VALUE);
        let output = python(&world.sandbox, &ask(&world, &path, &[CLOSE, "TE: trailers"])).await;
        assert!(out(&output).starts_with(expected), "{path}: {} {}", out(&output), err(&output));
        assert!(!out(&output).to_lowercase().contains(VALUE), "{path}: {}", out(&output));
    }
}

async fn common_encodings_are_found(f: &Fixture) {
    let world = World::new(f).await;
    let value = "sk/live+0123456789abcdef";
    let put = PutSecret { value: value.to_owned(), ..secret(world.api.port) };
    world.sandbox.put_secret("API_KEY", put).await.unwrap();
    assert_exited(&world.curl("-H \"x-api-key: $API_KEY\" $API/").await, 0);
    let encoded = out(&world.curl("$API/base64").await);
    let decoded = sh(&world.sandbox, &format!("printf %s '{encoded}' | tr '*' A | base64 -d")).await;
    assert!(!out(&decoded).contains("live") && !out(&decoded).contains("0123"), "{encoded} {}", out(&decoded));
    let output = world.curl("-i $API/percent").await;
    assert!(out(&output).contains("location: /?key=***"), "{}", out(&output));
    assert!(!out(&output).contains("live"), "{}", out(&output));
}

async fn web_socket_frames_are_searched(f: &Fixture) {
    let world = told(f).await;
    let upgrade = ["Connection: upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: k", "Sec-WebSocket-Version: 13"];
    let offer = [&upgrade[..], &["Sec-WebSocket-Extensions: permessage-deflate"]].concat();
    let output = python(&world.sandbox, &ask(&world, "/frames", &offer)).await;
    let shown = out(&output);
    assert!(shown.starts_with("HTTP/1.1 101 "), "{shown} {}", err(&output));
    assert!(!world.api.heard().pop().unwrap().to_lowercase().contains("sec-websocket-extensions"));
    assert_clean(&output);
    // The message in fragments is whole, and the ping between them arrived.
    assert!(shown.contains("ping") && shown.contains('<') && shown.contains('>'), "{shown}");
    // Fragments, ping, close; and at least the second of two messages.
    assert!(shown.matches('*').count() >= 3 * VALUE.len() + VALUE.len() / 2, "{shown}");
    assert_eq!(reasons(&output), []);
    let output = python(&world.sandbox, &ask(&world, "/packed-frames", &upgrade)).await;
    assert!(out(&output).starts_with("HTTP/1.1 101 ") && !out(&output).contains("behind."), "{}", out(&output));
    assert_clean(&output);
    assert_denied(&output, DenialReason::Malformed);
}

async fn other_ports_and_ways_to_the_host_are_searched(f: &Fixture) {
    let authority = Authority::new();
    let api = Server::https(&authority, &["api.test"]).await;
    let second = Server::https(&authority, &["api.test"]).await;
    let plain = Server::http().await;
    let ports = [api.port, second.port, plain.port];
    let rules = vec![domain("api.test", &ports), loopback(&ports)];
    let given = NetworkPolicy { trust: Some(authority.pem.clone()), ..policy(rules, &["api.test"]) };
    let sandbox = with(f, given).await;
    sandbox.put_secret("API_KEY", secret(api.port)).await.unwrap();
    let tls = second.port;
    // The hosts behind other ports may know the value: here they are told it by a request that contains it.
    for url in [
        format!("https://api.test:{tls}/echo"),
        format!("http://api.test:{}/echo", plain.port),
        format!("-x http://198.18.0.1:3128 https://api.test:{tls}/echo"),
        format!("-x http://198.18.0.1:3128 http://api.test:{}/echo", plain.port),
    ] {
        let output = sh(&sandbox, &format!("curl -sS -H 'x-own: {VALUE}' -H \"x-api-key: $API_KEY\" {url}")).await;
        assert!(out(&output).contains(&format!("x-own: {}", stars())), "{url}: {} {}", out(&output), err(&output));
        // It is put in at the port that it is for.
        assert!(out(&output).contains("x-api-key: atoll-secret-"), "{url}: {}", out(&output));
    }
    // At the port of the secret nothing else is spoken than what can be read.
    let tcp = EgressRule { protocols: Some(vec![EgressProtocol::Tcp]), ..domain("api.test", &[plain.port]) };
    sandbox.set_network(policy(vec![tcp, loopback(&ports)], &["api.test"])).await.unwrap();
    sandbox.put_secret("API_KEY", secret(plain.port)).await.unwrap();
    let raw = format!("exec 3<>/dev/tcp/api.test/{}; printf 'get / HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3", plain.port);
    assert_denied(&sh(&sandbox, &raw).await, DenialReason::ProtocolNotAllowed);
}

async fn connections_from_before_the_first_secret_are_closed(f: &Fixture) {
    let outside = Server::echo().await;
    let port = outside.port;
    let tcp = |name: &str| EgressRule { protocols: Some(vec![EgressProtocol::Tcp]), ..domain(name, &[port]) };
    let rules = vec![tcp("api.test"), tcp("b.test"), loopback(&[port])];
    let sandbox = with(f, policy(rules, &["api.test", "b.test"])).await;
    let talk = |name: &str| {
        let text =
            format!("exec 3<>/dev/tcp/{name}/{port}; while read -u 3 x; do echo got $x; done; echo over; read y");
        Command { stdin: atoll_runtime::Stdin::Pipe, ..Command::shell(text) }
    };
    let cut = sandbox.start(ProcessSpec::new(talk("api.test"))).await.unwrap();
    let stays = sandbox.start(ProcessSpec::new(talk("b.test"))).await.unwrap();
    printed(&cut, "got hello").await;
    printed(&stays, "got hello").await;
    sandbox.put_secret("API_KEY", secret(443)).await.unwrap();
    printed(&cut, "over").await;
    assert!(!crate::harness::log_text(&stays).await.contains("over"));
    for process in [cut, stays] {
        process.kill(std::time::Duration::ZERO).await.unwrap();
    }
}
