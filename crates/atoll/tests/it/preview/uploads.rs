//! Large things, up and down: whole, in order, and ended when either side ends.

use std::io::{BufReader, Read, Write};

use super::{BOTH, Form, printed, public, read_answer, read_head, send, with_app};
use crate::harness::need;
use crate::server::{Server, wait};

/// What goes up and down in the large test; the soak is 2 GiB.
fn large() -> u64 {
    let megabytes = std::env::var("ATOLL_PREVIEW_MB").ok().and_then(|text| text.parse().ok()).unwrap_or(64);
    megabytes * 1024 * 1024
}

/// What the program sends, made on this side: so many pieces, to standard output or as their sum.
const PIECES: &str = "import hashlib, sys
piece, sum = bytes(range(256)) * 1024, hashlib.sha256()
for _ in range(int(sys.argv[2]) // len(piece)):
    sys.stdout.buffer.write(piece) if sys.argv[1] == 'out' else sum.update(piece)
if sys.argv[1] == 'sum': print(sum.hexdigest())";

#[test]
fn heavy_large_things_go_up_and_down_and_come_whole() {
    need!("curl");
    with_app(public(), |server, shown| {
        std::fs::write(server.home.cwd().join("pieces.py"), PIECES).unwrap();
        // In chunks it is copied; of a length that is known it goes past the server.
        for (version, length, bytes) in [
            ("--http1.1", "", large()),
            ("--http1.1", "-H 'transfer-encoding:' -H 'content-length: BYTES'", large()),
            ("--http2-prior-knowledge", "", 64 * 1024 * 1024),
        ] {
            let length = length.replace("BYTES", &bytes.to_string());
            let sum = bash(server, &format!("python3 pieces.py sum {bytes}")).trim().to_owned();
            let curl = format!("curl -sS {version} --max-time 600");
            for form in BOTH {
                let up = url(server, shown.at(form, "/upload"));
                let sent = format!("python3 pieces.py out {bytes} | {curl} -H 'expect:' {length} -T - '{up}'");
                let told: serde_json::Value = serde_json::from_str(&bash(server, &sent)).unwrap();
                let expected = (&bytes.into(), &sum.clone().into());
                assert_eq!((&told["bytes"], &told["sha256"]), expected, "{form:?} {version} {length}");
                let down = url(server, shown.at(form, &format!("/download?bytes={bytes}")));
                let found = bash(server, &format!("{curl} '{down}' | sha256sum"));
                assert_eq!(found.split(' ').next(), Some(sum.as_str()), "{form:?} {version}");
            }
        }
    });
}

/// A URL that needs no name to be resolved, and the header that names the preview.
pub(super) fn url(server: &Server<'_>, (host, path): (String, String)) -> String {
    format!("http://{}:{}{path}", host, server.previews.port())
}

pub(super) fn bash(server: &Server<'_>, script: &str) -> String {
    let mut command = crate::harness::command("bash");
    let output = command.args(["-c", script]).current_dir(server.home.cwd()).output().unwrap();
    assert!(output.status.success(), "{script}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// More than is copied.
const PAST: usize = 12 * 1024 * 1024;

fn content_length() -> String {
    format!("content-length: {PAST}")
}

#[test]
fn a_large_upload_is_whole_however_it_is_cut() {
    with_app(public(), |server, shown| {
        let body: Vec<u8> = (0..PAST).map(|at| u8::try_from(at % 251).unwrap()).collect();
        std::fs::write(server.home.cwd().join("body"), &body).unwrap();
        let sum = bash(server, "sha256sum body").split(' ').next().unwrap().to_owned();
        // How much comes with the head, and in what pieces the rest comes.
        for (form, first, piece) in
            [(Form::Host, 0, PAST), (Form::Path, 1, 64 * 1024), (Form::Host, 300_000, 7_777), (Form::Path, PAST, 1)]
        {
            let mut stream = server.preview_stream();
            let (host, path) = shown.at(form, "/upload");
            let head = format!("PUT {path} HTTP/1.1\r\nhost: {host}\r\n{}\r\n\r\n", content_length());
            stream.write_all(&[head.as_bytes(), &body[..first]].concat()).unwrap();
            body[first..].chunks(piece).for_each(|piece| stream.write_all(piece).unwrap());
            let answer = read_answer(&mut BufReader::new(&stream), "PUT");
            assert_eq!(answer.json()["sha256"], sum, "{first} {piece}");
            // What hyper has not seen of a request it cannot go on behind.
            assert_eq!(answer.header("connection"), Some("close"), "{first} {piece}");
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).unwrap();
            assert_eq!(rest, b"");
        }
        // With permission first.
        let mut stream = server.preview_stream();
        let head = ["expect: 100-continue", &content_length()];
        send(&mut stream, &shown.at(Form::Host, "/upload"), "PUT", &head, b"");
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        assert_eq!(read_head(&mut reader).0, 100);
        stream.write_all(&body).unwrap();
        assert_eq!(read_answer(&mut reader, "PUT").json()["sha256"], sum);
    });
}

#[test]
fn who_goes_away_during_a_large_upload_or_after_it_is_gone_for_the_program() {
    with_app(public(), |server, shown| {
        for form in BOTH {
            let mut stream = server.preview_stream();
            send(&mut stream, &shown.at(form, "/upload"), "PUT", &[&content_length()], b"");
            stream.write_all(&vec![1; PAST / 2]).unwrap();
            drop(stream);
            wait(printed(server, &shown.name, &shown.app, "upload broke off"));
            let mut stream = server.preview_stream();
            send(&mut stream, &shown.at(form, "/upload?then_hang=1"), "PUT", &[&content_length()], b"");
            stream.write_all(&vec![1; PAST]).unwrap();
            wait(printed(server, &shown.name, &shown.app, "upload is here"));
            drop(stream);
            wait(printed(server, &shown.name, &shown.app, "nobody waits"));
        }
    });
}

#[test]
fn a_program_that_wants_no_more_of_an_upload_says_so() {
    with_app(public(), |server, shown| {
        for form in BOTH {
            let mut stream = server.preview_stream();
            send(&mut stream, &shown.at(form, "/refuse_body"), "PUT", &[&content_length()], b"");
            let answer = read_answer(&mut BufReader::new(&stream), "PUT");
            assert_eq!((answer.status, answer.header("connection")), (413, Some("close")));
            // And one that hangs up.
            let mut stream = server.preview_stream();
            send(&mut stream, &shown.at(form, "/hangup"), "PUT", &[&content_length()], b"");
            let answer = read_answer(&mut BufReader::new(&stream), "PUT");
            assert_eq!((answer.status, answer.code().as_str()), (502, "PREVIEW_BROKEN"));
        }
    });
}
