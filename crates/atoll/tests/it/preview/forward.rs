//! Ports of a sandbox as ports of this machine, and what the command line says of ports.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use atoll_protocol::{ProcessId, StartRequest};

use super::SOON;
use crate::client::Cli;
use crate::harness::{Home, Running, Signal, need};
use crate::server::wait;

/// Sends back what it gets, and says something after the other side has said its last; says how connections broke.
const ECHO: &str = "
import socket, threading
server = socket.create_server(('127.0.0.1', 7000))
print('up', flush=True)
def serve(peer):
    try:
        while data := peer.recv(65536):
            peer.sendall(data)
        peer.sendall(b' and out')
        peer.close()
    except ConnectionResetError:
        print('broken off', flush=True)
while True:
    threading.Thread(target=serve, args=(server.accept()[0],)).start()
";

fn echo(cli: &Cli<'_>, name: &str) {
    let inside = cli.server.client().inside(&atoll_protocol::SandboxName::new(name).unwrap());
    let id = Some(ProcessId::new("echo").unwrap());
    let request = StartRequest { id, ..StartRequest::argv(["/usr/bin/python3", "-u", "-c", ECHO]) };
    wait(inside.start(&request)).unwrap();
    cli.ok(&["wait", name, "echo", "--log", "up"]);
}

/// Starts it, and finds the port that was chosen.
fn forward(cli: &Cli<'_>, arguments: &[&str]) -> (Running, u16) {
    let mut running = cli.home.atoll([&["forward"], arguments].concat()).start();
    let line = running.line();
    let (local, _) = line.split_once(" -> ").unwrap();
    let port = local.rsplit_once(':').unwrap().1.parse().unwrap();
    (running, port)
}

fn dial(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    stream
}

#[test]
fn a_port_here_is_a_port_inside_for_many_at_once() {
    need!("python3");
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    echo(&cli, &name);
    let (running, port) = forward(&cli, &[&name, ":7000"]);
    let mut open: Vec<TcpStream> = (0..20).map(|_| dial(port)).collect();
    for (number, stream) in open.iter_mut().enumerate() {
        stream.write_all(format!("in {number}").as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
    }
    for (number, stream) in open.iter_mut().enumerate() {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert_eq!(text, format!("in {number} and out"), "each half ends on its own");
    }
    // Far more than fits on the way, while nobody reads.
    let mut stream = dial(port);
    let sent: Vec<u8> = (0..20_000_000_u32).map(|number| u8::try_from(number % 251).unwrap()).collect();
    let mut writer = stream.try_clone().unwrap();
    let copy = sent.clone();
    let writes = std::thread::spawn(move || {
        writer.write_all(&copy).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let mut back = Vec::new();
    stream.read_to_end(&mut back).unwrap();
    writes.join().unwrap();
    assert!(back == [&sent[..], b" and out"].concat());
    running.signal(Signal::INT);
    let done = running.done();
    assert_eq!((done.code, done.stderr().as_str()), (Some(0), ""));
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "nothing listens any more");
    cli.server.end();
}

#[test]
fn a_connection_that_breaks_here_breaks_inside() {
    need!("python3");
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    echo(&cli, &name);
    let server = format!("http://{}", cli.server.address);
    let (running, port) = forward(&cli, &[&name, "0:7000", "--server", &server]);
    let mut stream = dial(port);
    stream.write_all(b"x").unwrap();
    stream.read_exact(&mut [0]).unwrap();
    rustix::net::sockopt::set_socket_linger(&stream, Some(std::time::Duration::ZERO)).unwrap();
    drop(stream);
    cli.ok(&["wait", &name, "echo", "--log", "broken off", "--timeout", "20s"]);
    running.signal(Signal::TERM);
    assert_eq!(running.done().code, Some(0));
    cli.server.end();
}

#[test]
fn what_cannot_be_forwarded_is_told() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let pair = format!("{}:7000", taken.local_addr().unwrap().port());
    let done = cli.done(&["forward", &name, &pair]);
    assert_eq!(done.code, Some(125));
    assert!(done.stderr().contains("cannot listen on"), "{done:?}");
    assert_eq!(cli.done(&["forward", "nobody", ":7000"]).code, Some(125));
    let (mut running, port) = forward(&cli, &[&name, ":7000"]);
    let mut rest = Vec::new();
    drop(dial(port).read_to_end(&mut rest));
    assert_eq!(running.error_line(), "atoll: nothing listens on port 7000 in the sandbox\n");
    running.signal(Signal::INT);
    assert_eq!(running.done().code, Some(0));
    cli.server.end();
}

#[test]
fn ports_are_listed_followed_exposed_and_closed_again() {
    need!("python3");
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    let mut follows = home.atoll(["ports", &name, "--follow"]).start();
    let mut events = home.atoll(["ports", &name, "--follow", "--json"]).start();
    assert_eq!(events.line(), "{\"event\":\"ports\",\"ports\":[]}\n");
    echo(&cli, &name);
    assert!(follows.line().starts_with("7000 opened /usr/bin/python3"));
    assert!(events.line().starts_with("{\"event\":\"opened\",\"port\":{\"addresses\":[\"127.0.0.1\"]"));
    let url = cli.ok(&["expose", &name, "7000", "--token", "secret", "--name", "echo"]);
    let port = cli.server.previews.port();
    assert_eq!(url, format!("http://7000-{name}-secret.localhost:{port}/\n"));
    let path = cli.ok(&["expose", &name, "7000", "--path", "--private"]);
    assert_eq!(path, format!("http://localhost:{port}/preview/7000-{name}-secret/\n"));
    let listed = cli.ok(&["ports", &name]);
    assert!(listed.contains("7000  127.0.0.1") && listed.ends_with(&url), "{listed}");
    let json = cli.json(&["ports", &name]);
    assert_eq!((&json["ports"][0]["process"], &json["previews"][0]["visibility"]), (&"echo".into(), &"private".into()));
    assert!(cli.ok(&["expose", &name, "7000", "--link", "5m"]).contains("secret.localhost"));
    let rotated = cli.ok(&["expose", &name, "7000", "--rotate"]);
    assert_ne!(rotated, url);
    assert_eq!(cli.ok(&["unexpose", &name, "7000"]), "");
    assert_eq!(cli.json(&["ports", &name])["previews"], serde_json::json!([]));
    cli.ok(&["kill", &name, "echo"]);
    assert_eq!(follows.line(), "7000 closed\n");
    for running in [follows, events] {
        running.signal(Signal::KILL);
    }
    cli.server.end();
}
