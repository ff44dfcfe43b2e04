//! Many at once, and some that stall: each sandbox has places of its own.

use std::io::{BufReader, Read};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;

use super::{Form, Shown, public, read_answer, read_head, send, show};
use crate::harness::{Home, need};
use crate::server::{Server, wait};

/// Places for requests of one sandbox.
const PLACES: usize = 512;

#[test]
fn a_sandbox_whose_clients_stall_harms_no_other() {
    need!("python3");
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let (stalled, other) = wait(async { (show(&server, public()).await, show(&server, public()).await) });
    // Each asks for more than fits on the way, and reads none of it.
    let held: Vec<TcpStream> = (0..PLACES)
        .map(|_| {
            let mut stream = server.preview_stream();
            send(&mut stream, &stalled.at(Form::Host, "/download?bytes=10000000000"), "GET", &[], b"");
            stream
        })
        .collect();
    for stream in &held {
        let mut byte = [0];
        stream.peek(&mut byte).unwrap();
    }
    let busy = server.get(stalled.at(Form::Path, "/echo"));
    assert_eq!((busy.status, busy.code().as_str()), (503, "PREVIEW_BUSY"));
    assert!(busy.header("retry-after").is_some());
    for form in super::BOTH {
        assert_eq!(server.get(other.at(form, "/echo")).status, 200);
    }
    let running = wait(server.client().find_sandbox(&stalled.name)).unwrap();
    assert!(running.live.is_some(), "the API goes on");
    drop(held);
    crate::harness::until("places to be free again", || {
        (server.get(stalled.at(Form::Host, "/echo")).status == 200).then_some(())
    });
    server.end();
}

/// So many sandboxes, and so many connections to all of them: 50 and 1000 in the soak.
fn crowd() -> (usize, usize) {
    let number = |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    (number("ATOLL_PREVIEW_SANDBOXES", 4), number("ATOLL_PREVIEW_CONNECTIONS", 80))
}

#[test]
fn heavy_connections_to_many_sandboxes_are_all_answered() {
    need!("python3");
    let (sandboxes, connections) = crowd();
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let all: Vec<Arc<Shown>> = wait(async {
        let mut all = Vec::new();
        for _ in 0..sandboxes {
            all.push(Arc::new(show(&server, public()).await));
        }
        all
    });
    // All of them open at the same time, half of them streams; one in ten reads nothing until the others are done.
    let mut open: Vec<(usize, TcpStream)> = Vec::new();
    for number in 0..connections {
        let shown = &all[number % sandboxes];
        let form = if number % 3 == 0 { Form::Path } else { Form::Host };
        let path = if number % 2 == 0 { "/download?bytes=300000" } else { "/sse?count=20&every=0.05" };
        let mut stream = server.preview_stream();
        send(&mut stream, &shown.at(form, path), "GET", &["connection: close"], b"");
        open.push((number, stream));
    }
    let (late, prompt): (Vec<_>, Vec<_>) = open.into_iter().partition(|(number, _)| number % 10 == 0);
    let read_all = |streams: Vec<(usize, TcpStream)>| {
        thread::scope(|threads| {
            let readers: Vec<_> = streams
                .into_iter()
                .map(|(number, stream)| {
                    let read = move || {
                        let answer = read_answer(&mut BufReader::new(stream), "GET");
                        assert_eq!(answer.status, 200, "{number}: {answer:?}");
                        let whole = answer.body.len() == 300_000 || answer.body.ends_with(b"data: 19\n\n");
                        assert!(whole, "{number}: {} bytes", answer.body.len());
                    };
                    thread::Builder::new().stack_size(256 * 1024).spawn_scoped(threads, read).unwrap()
                })
                .collect();
            for reader in readers {
                reader.join().unwrap();
            }
        });
    };
    read_all(prompt);
    read_all(late);
    // Afterwards everything is as before.
    for shown in &all {
        let mut stream = server.preview_stream();
        send(&mut stream, &shown.at(Form::Host, "/echo"), "GET", &["connection: close"], b"");
        let mut reader = BufReader::new(stream);
        assert_eq!(read_head(&mut reader).0, 200);
        let mut rest = Vec::new();
        reader.read_to_end(&mut rest).unwrap();
    }
    server.end();
}
