//! What is spoken through: WebSockets, trailers, both by interception and by way of the proxy.

use atoll_runtime::Sandbox;

use super::outside::Server;
use super::{domain, loopback, policy, python, with};
use crate::harness::{Fixture, err, eventually, out};

in_every_mode! {
    isolated {
        web_sockets_pass,
        trailers_come_back,
    }
}

async fn world(f: &Fixture) -> (Server, Sandbox) {
    let outside = Server::http().await;
    let port = outside.port;
    let sandbox = with(f, policy(vec![domain("a.test", &[port]), loopback(&[port])], &["a.test"])).await;
    (outside, sandbox)
}

/// Says this to a host (as python writes it), then this when that was read, and prints everything.
fn talk(host: &str, port: u16, first: &str, until: &str, then: &str, last: &str) -> String {
    format!(
        "import socket\ns = socket.create_connection(('{host}', {port}), 10)\ns.settimeout(10)\ns.sendall(b'{first}')\ngot = b''\n\
         def until(what):\n  global got\n  while what not in got:\n    piece = s.recv(4096)\n    assert piece, got\n    got += piece\n\
         until(b'{until}')\ns.sendall(b'{then}')\nuntil(b'{last}')\nprint(got.decode('latin-1'))"
    )
}

async fn web_sockets_pass(f: &Fixture) {
    let (outside, sandbox) = world(f).await;
    let port = outside.port;
    let upgrade = "Connection: keep-alive, Upgrade\\r\\nUpgrade: websocket\\r\\nSec-WebSocket-Key: k\\r\\n\\r\\n";
    let direct = format!("GET /ws HTTP/1.1\\r\\nHost: a.test:{port}\\r\\n{upgrade}");
    let by_proxy = format!("GET http://a.test:{port}/ws HTTP/1.1\\r\\nHost: a.test:{port}\\r\\n{upgrade}");
    for (host, at, first) in [("a.test", port, direct), ("198.18.0.1", 3128, by_proxy)] {
        let output = python(&sandbox, &talk(host, at, &first, "||", "frames there", "frames there")).await;
        let shown = out(&output);
        assert!(shown.starts_with("HTTP/1.1 101 "), "{shown} {}", err(&output));
        assert!(shown.contains("GET /ws HTTP/1.1|") && shown.contains("Sec-WebSocket-Key: k|"), "{shown}");
        assert!(shown.ends_with("frames there\n"), "{shown}");
    }
    // By CONNECT, as browsers do behind a proxy.
    let connect = format!("CONNECT a.test:{port} HTTP/1.1\\r\\nHost: a.test:{port}\\r\\n\\r\\n");
    let then = format!("GET /ws HTTP/1.1\\r\\nHost: a.test:{port}\\r\\n{upgrade}");
    let output = python(&sandbox, &talk("198.18.0.1", 3128, &connect, "\\r\\n\\r\\n", &then, "||")).await;
    assert!(out(&output).contains("HTTP/1.1 101 "), "{} {}", out(&output), err(&output));
    assert_eq!(outside.heard().len(), 3);
    eventually("all are over", || sandbox.network().totals.open == 0).await;
    assert!(sandbox.network().totals.bytes_in > 100);
}

async fn trailers_come_back(f: &Fixture) {
    let (outside, sandbox) = world(f).await;
    let port = outside.port;
    let first =
        format!("GET /trailers HTTP/1.1\\r\\nHost: a.test:{port}\\r\\nTE: trailers\\r\\nConnection: TE\\r\\n\\r\\n");
    let output = python(&sandbox, &talk("a.test", port, &first, "|\\r\\n\\r\\n", "", "")).await;
    assert!(out(&output).contains("x-seen: GET /trailers"), "{} {}", out(&output), err(&output));
    assert!(outside.heard()[0].to_lowercase().contains("te: trailers\r\n"), "{:?}", outside.heard());
}
