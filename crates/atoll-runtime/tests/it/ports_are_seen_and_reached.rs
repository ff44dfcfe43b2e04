//! Ports inside: listed with who listens, told of when they open and close, and reached from outside wherever they are
//! bound, with nothing that listens on the host.

use std::io::{Read, Write};
use std::time::Duration;

use atoll_runtime::{Command, Error, PortChange, PortEvents, Process};

use crate::harness::{Fixture, Mode, printed, random, skip, soon};

in_every_mode! {
    one_thread {
        a_port_is_listed_with_who_listens,
        a_port_is_told_of_when_it_opens_and_closes,
        a_port_is_reached_wherever_it_is_bound,
        nothing_listens,
    }
    isolated {
        two_sandboxes_have_the_same_port,
    }
}

/// Echoes one connection after the other, each to its end, on an address.
const ECHO: &str = "
import socket, sys
address, port = sys.argv[1], int(sys.argv[2])
family = socket.AF_INET6 if ':' in address else socket.AF_INET
server = socket.socket(family)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind((address, port))
server.listen()
print('up', flush=True)
while True:
    peer, _ = server.accept()
    while data := peer.recv(65536):
        peer.sendall(data)
    peer.sendall(b' and out')
    peer.close()
";

fn some_port() -> u16 {
    30_000 + u16::try_from(random() % 10_000).unwrap()
}

async fn has_python(f: &Fixture) -> bool {
    let found = f.has("/usr/bin/python3").await;
    if !found {
        skip("no python3 inside");
    }
    found
}

async fn echo(f: &Fixture, address: &str, port: u16) -> Process {
    let server = f.start_command(Command::argv(["/usr/bin/python3", "-c", ECHO, address, &port.to_string()])).await;
    printed(&server, "up").await;
    server
}

async fn a_port_is_listed_with_who_listens(f: &Fixture) {
    if !has_python(f).await {
        return;
    }
    let port = some_port();
    let server = echo(f, "127.0.0.1", port).await;
    let ports = soon(f.sandbox.ports()).await.unwrap();
    let found = ports.iter().find(|info| info.port == port).unwrap_or_else(|| panic!("{ports:?}"));
    assert_eq!(found.addresses, ["127.0.0.1"]);
    assert!(found.command.as_ref().unwrap().contains("python3"), "{found:?}");
    assert_eq!(found.process.as_ref(), Some(server.id()));
    if f.mode != Mode::Unisolated {
        assert_eq!(ports.len(), 1, "nobody else is in there: {ports:?}");
    }
}

async fn next(events: &mut PortEvents) -> PortChange {
    soon(events.next()).await.unwrap()
}

async fn a_port_is_told_of_when_it_opens_and_closes(f: &Fixture) {
    if !has_python(f).await {
        return;
    }
    let (before, mut events) = soon(f.sandbox.port_events()).await.unwrap();
    assert_eq!(before, []);
    let port = some_port();
    let server = echo(f, "0.0.0.0", port).await;
    // On the host itself others open ports too; they are none of the sandbox's.
    let PortChange::Opened(info) = next(&mut events).await else { panic!("nothing was open") };
    assert_eq!((info.port, info.addresses.as_slice()), (port, &["0.0.0.0".to_owned()][..]));
    server.kill(Duration::ZERO).await.unwrap();
    assert_eq!(next(&mut events).await, PortChange::Closed(port));
}

/// Says something, ends its half, and reads the rest: the other half must still work.
async fn talk(f: &Fixture, port: u16) -> String {
    let mut stream = soon(f.sandbox.connect(port)).await.unwrap();
    let talked = tokio::task::spawn_blocking(move || {
        stream.set_nonblocking(false).unwrap();
        stream.write_all(b"in").unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    });
    soon(talked).await.unwrap()
}

async fn a_port_is_reached_wherever_it_is_bound(f: &Fixture) {
    if !has_python(f).await {
        return;
    }
    let six = f.sh("test -s /proc/net/if_inet6").await.end.success();
    for address in ["0.0.0.0", "127.0.0.1", "127.0.0.9", "::1", "::"] {
        if address.contains(':') && !six {
            continue;
        }
        let port = some_port();
        let server = echo(f, address, port).await;
        assert_eq!(talk(f, port).await, "in and out", "{address}");
        let check = atoll_runtime::PortCheck { port, http: None };
        soon(server.wait_port(&check, None)).await.unwrap();
    }
}

async fn nothing_listens(f: &Fixture) {
    let error = soon(f.sandbox.connect(1)).await.unwrap_err();
    assert!(matches!(error, Error::PortClosed { port: 1 }), "{error:?}");
    let error = soon(f.sandbox.connect(0)).await.unwrap_err();
    assert!(matches!(error, Error::Invalid { .. }), "{error:?}");
}

async fn two_sandboxes_have_the_same_port(f: &Fixture) {
    if !has_python(f).await {
        return;
    }
    let other = f.another(|_| {}).await.unwrap();
    echo(f, "127.0.0.1", 8080).await;
    assert_eq!(talk(f, 8080).await, "in and out");
    assert_eq!(soon(other.ports()).await.unwrap(), []);
    assert!(matches!(soon(other.connect(8080)).await, Err(Error::PortClosed { .. })));
}
