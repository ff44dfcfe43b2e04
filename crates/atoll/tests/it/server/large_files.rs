//! Large files, whose bytes go from socket to socket past server and agent: all of them arrive, in order, and what ends in
//! the middle ends as it does with small ones.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use atoll_protocol::SandboxName;

use super::{Server, sh, state, wait};
use crate::harness::Home;

/// More than goes through a pipe at once, many times, and no whole number of anything.
const LENGTH: usize = 40 * 1024 * 1024 + 13;

/// Bytes of which no part is like another.
fn bytes(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_le_bytes()
    };
    (0..length.div_ceil(8)).flat_map(|_| next()).take(length).collect()
}

/// The head of a request.
fn head(server: &Server<'_>, name: &SandboxName, method: &str, path: &str, more: &str) -> String {
    let (token, name) = (&server.token, name.as_str());
    let path = format!("/v1/sandboxes/{name}/files/content?path={path}");
    format!("{method} {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n{more}\r\n")
}

/// A connection on which a request was begun.
fn ask(server: &Server<'_>, name: &SandboxName, method: &str, path: &str, more: &str) -> TcpStream {
    let mut stream = server.connect();
    stream.write_all(head(server, name, method, path, more).as_bytes()).unwrap();
    stream
}

fn put(server: &Server<'_>, name: &SandboxName, path: &str, length: usize) -> TcpStream {
    ask(server, name, "PUT", path, &format!("content-length: {length}\r\n"))
}

/// Head and body of an answer: of a length that it tells.
fn answer(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    (head, body)
}

#[test]
fn every_byte_arrives_both_ways() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let name = wait(server.sandbox());
    let bytes = bytes(LENGTH);
    let mut stream = put(&server, &name, "large", LENGTH);
    // In pieces that end nowhere in particular.
    for piece in bytes.chunks(777_777) {
        stream.write_all(piece).unwrap();
    }
    let (told, _) = answer(&mut stream);
    assert!(told.starts_with("http/1.1 201") && told.contains("\r\nconnection: close\r\n"), "{told}");
    assert_eq!(stream.read(&mut [0]).unwrap(), 0, "it is closed behind the answer");
    let kept = state(&home).join("sandboxes").join(name.as_str()).join("storage/disk/workspace/large");
    assert!(std::fs::read(kept).unwrap() == bytes, "what is on the disk");

    // A connection that carried a large answer carries the next one.
    let mut stream = ask(&server, &name, "GET", "large", "");
    let (told, body) = answer(&mut stream);
    assert!(told.starts_with("http/1.1 200") && body == bytes, "{told}");
    let part = head(&server, &name, "GET", "large", "range: bytes=1234567-39876543\r\n");
    stream.write_all(part.as_bytes()).unwrap();
    let (told, body) = answer(&mut stream);
    assert!(told.starts_with("http/1.1 206") && body == bytes[1_234_567..=39_876_543], "{told}");
    server.end();
}

#[test]
fn who_waits_to_be_told_to_go_on_is_told() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let name = wait(server.sandbox());
    let bytes = bytes(LENGTH);
    let wish = format!("content-length: {LENGTH}\r\nexpect: 100-continue\r\n");
    let mut stream = ask(&server, &name, "PUT", "large", &wish);
    assert!(answer(&mut stream).0.starts_with("http/1.1 100"));
    stream.write_all(&bytes).unwrap();
    assert!(answer(&mut stream).0.starts_with("http/1.1 201"));
    let mut stream = ask(&server, &name, "GET", "large", "");
    assert!(answer(&mut stream).1 == bytes);
    server.end();
}

#[test]
fn a_refusal_in_the_middle_arrives_and_leaves_nothing() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let name = wait(server.sandbox());
    let bytes = bytes(LENGTH);
    // Little fits there.
    for (path, status, code) in [("/dev/large", "507", "no_space"), ("/none/large", "404", "file_not_found")] {
        let mut stream = put(&server, &name, path, LENGTH);
        stream.write_all(&bytes).unwrap();
        let (head, body) = answer(&mut stream);
        let body = String::from_utf8(body).unwrap().to_ascii_lowercase();
        assert!(head.starts_with(&format!("http/1.1 {status}")) && body.contains(code), "{head}{body}");
        assert!(head.contains("\r\nconnection: close\r\n"), "{head}");
    }
    let left = wait(async { sh(&server.client(), &name, "ls -A /dev | grep -c large || true").await });
    assert_eq!(left, "0\n");
    server.end();
}

#[test]
fn what_breaks_off_has_changed_nothing() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let name = wait(server.sandbox());
    wait(async { sh(&server.client(), &name, "echo before > large").await });
    let bytes = bytes(LENGTH);
    for sent in [100, LENGTH / 2, LENGTH - 1] {
        let mut stream = put(&server, &name, "large", LENGTH);
        stream.write_all(&bytes[..sent]).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        // Until the server has understood: nobody is there to be told, but the line ends.
        stream.read_to_end(&mut Vec::new()).ok();
    }
    let there = wait(async { sh(&server.client(), &name, "cat large; ls -A").await });
    assert_eq!(there, "before\nlarge\n");

    // And who stops to read is in nobody's way.
    let mut stream = put(&server, &name, "large", LENGTH);
    stream.write_all(&bytes).unwrap();
    assert!(answer(&mut stream).0.starts_with("http/1.1 200"));
    for read in [1, 3_000_000] {
        let mut stream = ask(&server, &name, "GET", "large", "");
        stream.read_exact(&mut vec![0; read]).unwrap();
    }
    let mut stream = ask(&server, &name, "GET", "large", "");
    assert!(answer(&mut stream).1 == bytes);
    server.end();
}
