//! Ports inside over HTTP: listed, followed, and connected to, with each half ended on its own.

use atoll_client::PortEvent;
use atoll_protocol::{ErrorCode, ProcessId};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::harness::{Fixture, run, soon};

/// Sends back what it gets, and says something after the other side has said its last.
const ECHO: &str = "
import socket
server = socket.create_server(('127.0.0.1', 7000))
while True:
    peer, _ = server.accept()
    while data := peer.recv(65536):
        peer.sendall(data)
    peer.sendall(b'bye')
    peer.close()
";

/// Breaks off, and says how others did.
const BREAKS: &str = "
import socket, struct
server = socket.create_server(('127.0.0.1', 7001))
peer, _ = server.accept()
peer.recv(1)
peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
peer.close()
print('broke off', flush=True)
";

async fn python(fixture: &Fixture, name: &str, script: &str) -> ProcessId {
    fixture.start(name, &format!("exec /usr/bin/python3 -c \"{script}\"")).await
}

async fn opened(fixture: &Fixture, port: u16) {
    let mut follow = fixture.client.follow_ports();
    loop {
        let open = match soon(follow.next()).await.unwrap() {
            PortEvent::Ports(ports) => ports.iter().any(|info| info.port == port),
            PortEvent::Opened(info) => info.port == port,
            PortEvent::Closed(_) => false,
        };
        if open {
            return;
        }
    }
}

#[test]
fn what_listens_is_listed_followed_and_talked_to() {
    run(async |fixture| {
        assert_eq!(fixture.client.ports().await.unwrap().ports, []);
        let id = python(fixture, "echo", ECHO).await;
        opened(fixture, 7000).await;
        let ports = fixture.client.ports().await.unwrap().ports;
        assert_eq!((ports[0].port, ports[0].process.as_ref()), (7000, Some(&id)));
        let mut follow = fixture.client.follow_ports();
        assert_eq!(soon(follow.next()).await.unwrap(), PortEvent::Ports(ports));
        let stream = soon(fixture.client.connect_port(7000)).await.unwrap();
        let (mut reader, mut writer) = tokio::io::split(stream);
        // More than fits into any buffer on the way, while nobody reads.
        let sent: Vec<u8> = (0..4_000_000_u32).map(|number| u8::try_from(number % 251).unwrap()).collect();
        let copy = sent.clone();
        let writing = tokio::spawn(async move {
            writer.write_all(&copy).await.unwrap();
            writer.shutdown().await.unwrap();
        });
        let mut got = Vec::new();
        soon(reader.read_to_end(&mut got)).await.unwrap();
        soon(writing).await.unwrap();
        assert!(got == [&sent[..], b"bye"].concat(), "{} bytes came back", got.len());
        soon(fixture.client.kill(&id, &Default::default())).await.unwrap();
        assert_eq!(soon(follow.next()).await.unwrap(), PortEvent::Closed(7000));
    });
}

#[test]
fn a_port_that_is_closed_or_none_is_refused() {
    run(async |fixture| {
        let refused = soon(fixture.client.connect_port(7000)).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::PortClosed));
        let refused = soon(fixture.client.connect_port(0)).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::ValidationFailed));
    });
}

#[test]
fn a_connection_that_breaks_inside_breaks_outside() {
    run(async |fixture| {
        let id = python(fixture, "breaks", BREAKS).await;
        opened(fixture, 7001).await;
        let mut stream = soon(fixture.client.connect_port(7001)).await.unwrap();
        stream.write_all(b"x").await.unwrap();
        fixture.printed(&id, "broke off").await;
        let mut rest = Vec::new();
        // Over a unix socket there is no reset; that it is over is told at once.
        drop(soon(stream.read_to_end(&mut rest)).await);
        assert_eq!(rest, b"");
    });
}
