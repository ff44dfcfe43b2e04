//! What goes through a preview: requests and answers as they are, in both forms, and the ends of them.

use std::io::{BufRead, BufReader, Read, Write};
use std::time::Instant;

use atoll_protocol::ExposePort;

use super::{BOTH, Form, printed, public, read_answer, read_head, send, with_app};
use crate::server::wait;

#[test]
fn a_request_arrives_as_it_was_sent_and_says_who_sent_it() {
    with_app(public(), |server, shown| {
        for form in BOTH {
            let (host, path) = shown.at(form, "/a%20b/echo?c=%2F&d");
            let spoofed = [
                "x-forwarded-for: 6.6.6.6",
                "X-Forwarded-Host: evil",
                "forwarded: for=6.6.6.6",
                "x-real-ip: 6.6.6.6",
                "connection: x-mine",
                "x-mine: 1",
                "authorization: Bearer atoll_root_guess",
                "cookie: a=1; atoll_preview=x",
                "x-kept: yes",
            ];
            let answer = server.look((host.clone(), path.clone()), "POST", &spoofed, b"hello");
            assert_eq!((answer.status, answer.header("x-app")), (200, Some("yes")), "{answer:?}");
            let told = answer.json();
            assert_eq!((&told["method"], &told["body"]), (&"POST".into(), &5.into()));
            assert_eq!(told["path"], "/a%20b/echo?c=%2F&d");
            let seen = |name: &str| answer.seen(name);
            assert_eq!(seen("host"), Some(host.clone()));
            assert_eq!(seen("x-forwarded-for").as_deref(), Some("127.0.0.1"));
            assert_eq!(seen("x-forwarded-host"), Some(host.clone()));
            assert_eq!(seen("x-forwarded-proto").as_deref(), Some("http"));
            assert_eq!(seen("forwarded"), Some(format!("for=127.0.0.1;host=\"{host}\";proto=http")));
            assert_eq!(seen("cookie").as_deref(), Some("a=1"));
            assert_eq!(seen("x-kept").as_deref(), Some("yes"));
            for gone in ["x-real-ip", "x-mine", "authorization", "connection"] {
                assert_eq!(seen(gone), None, "{gone}");
            }
            let prefix = (form == Form::Path).then(|| format!("/preview/{}", shown.label()));
            assert_eq!(seen("x-forwarded-prefix"), prefix);
        }
        let own = server.look(shown.at(Form::Host, "/"), "GET", &["authorization: Basic YTpi"], b"");
        assert_eq!(own.seen("authorization").as_deref(), Some("Basic YTpi"), "the application's own passes");
    });
}

#[test]
fn redirects_and_cookies_lead_back_into_the_preview() {
    with_app(public(), |server, shown| {
        let cases = [
            ("/next?x", "/next?x", "P/next?x"),
            ("next", "next", "next"),
            ("https://e.org/a", "https://e.org/a", "https://e.org/a"),
        ];
        for (to, at_host, below) in cases {
            for (form, expected) in BOTH.into_iter().zip([at_host, below]) {
                let answer = server.get(shown.at(form, &format!("/redirect?to={}", to.replace('?', "%3F"))));
                let prefix = format!("/preview/{}", shown.label());
                assert_eq!(answer.status, 302);
                assert_eq!(answer.header("location"), Some(expected.replace('P', &prefix).as_str()), "{form:?} {to}");
                let path = if form == Form::Path { format!("{prefix}/") } else { "/".to_owned() };
                assert_eq!(answer.header("set-cookie"), Some(format!("a=1; Path={path}; HttpOnly").as_str()));
            }
        }
        let bare = server.get(("127.0.0.1".to_owned(), format!("/preview/{}?a=1", shown.label())));
        assert_eq!(bare.header("location"), Some(format!("/preview/{}/?a=1", shown.label()).as_str()));
        let referer = format!("referer: http://127.0.0.1/preview/{}/page", shown.label());
        let strayed = server.look(("127.0.0.1".to_owned(), "/echo?y".to_owned()), "GET", &[&referer], b"");
        assert_eq!(
            (strayed.status, strayed.header("location")),
            (307, Some(format!("/preview/{}/echo?y", shown.label()).as_str()))
        );
        for form in BOTH {
            let passed = server.get(shown.at(form, "/status?code=503"));
            assert_eq!(
                (passed.status, passed.header("x-app"), passed.body.as_slice()),
                (503, Some("yes"), &b"as asked"[..])
            );
        }
    });
}

#[test]
fn a_program_that_knows_its_prefix_gets_paths_whole() {
    with_app(ExposePort { keep_prefix: Some(true), ..public() }, |server, shown| {
        let prefix = format!("/preview/{}", shown.label());
        assert_eq!(server.get(shown.at(Form::Path, "/echo")).json()["path"], format!("{prefix}/echo"));
        assert_eq!(server.get(shown.at(Form::Host, "/echo")).json()["path"], "/echo");
        let answer = server.get(shown.at(Form::Path, "/redirect?to=/x"));
        assert_eq!(answer.header("location"), Some("/x"), "it is right as it is");
    });
}

#[test]
fn connections_are_kept_on_both_sides() {
    with_app(public(), |server, shown| {
        let mut stream = server.preview_stream();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut inside = Vec::new();
        for path in ["/echo", "/sse?count=1&every=0", "/echo", "/status?code=404", "/echo"] {
            send(&mut stream, &shown.at(Form::Host, path), "GET", &[], b"");
            let answer = read_answer(&mut reader, "GET");
            if path == "/echo" {
                inside.push(answer.json()["connection"].clone());
            }
        }
        assert!(inside.iter().all(|port| *port == inside[0]), "one connection inside for all: {inside:?}");
    });
}

#[test]
fn events_come_as_they_are_told_and_stop_when_nobody_listens() {
    with_app(public(), |server, shown| {
        for form in BOTH {
            let mut stream = server.preview_stream();
            send(&mut stream, &shown.at(form, "/sse?every=0.01"), "GET", &["accept: text/event-stream"], b"");
            let mut reader = BufReader::new(stream);
            let (status, _) = read_head(&mut reader);
            assert_eq!(status, 200);
            let mut seen = 0;
            while seen < 5 {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                seen += u32::from(line.starts_with("data: "));
            }
            drop(reader);
            wait(printed(server, &shown.name, &shown.app, "events broke off"));
        }
    });
}

/// A frame of a WebSocket client (RFC 6455, 5.2), with a mask of zeros.
fn frame(code: u8, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x80 | code];
    match u8::try_from(data.len()) {
        Ok(length) if length < 126 => bytes.push(0x80 | length),
        _ => {
            bytes.push(0xfe);
            bytes.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
        }
    }
    bytes.extend([0; 4]);
    bytes.extend(data);
    bytes
}

#[test]
fn web_sockets_carry_frames_both_ways_to_their_last() {
    with_app(public(), |server, shown| {
        for form in BOTH {
            let mut stream = server.preview_stream();
            let head = [
                "connection: keep-alive, Upgrade",
                "upgrade: websocket",
                "sec-websocket-version: 13",
                "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
            ];
            send(&mut stream, &shown.at(form, "/ws"), "GET", &head, b"");
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (status, headers) = read_head(&mut reader);
            let accept = headers.iter().find(|(name, _)| name == "sec-websocket-accept").unwrap();
            assert_eq!((status, accept.1.as_str()), (101, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
            let long = vec![b'x'; 40_000];
            for (code, data) in [(1, &b"text"[..]), (2, &[0, 255, 7]), (2, &long), (8, &4001_u16.to_be_bytes())] {
                stream.write_all(&frame(code, data)).unwrap();
                let mut back = vec![0; if data.len() < 126 { 2 } else { 4 } + data.len()];
                reader.read_exact(&mut back).unwrap();
                assert_eq!((back[0], &back[back.len() - data.len()..]), (0x80 | code, data));
            }
            wait(printed(server, &shown.name, &shown.app, "closed with 4001"));
            let mut rest = Vec::new();
            reader.read_to_end(&mut rest).unwrap();
            assert_eq!(rest, b"");
        }
    });
}

#[test]
fn a_client_that_goes_away_is_gone_for_the_program_too() {
    with_app(public(), |server, shown| {
        let mut stream = server.preview_stream();
        send(&mut stream, &shown.at(Form::Host, "/upload"), "PUT", &["content-length: 1000000"], b"");
        stream.write_all(b"some of it").unwrap();
        wait(printed(server, &shown.name, &shown.app, "upload begins"));
        drop(stream);
        wait(printed(server, &shown.name, &shown.app, "upload broke off"));
        let mut stream = server.preview_stream();
        send(&mut stream, &shown.at(Form::Path, "/download?bytes=10000000000"), "GET", &[], b"");
        let mut some = [0; 4096];
        stream.read_exact(&mut some).unwrap();
        drop(stream);
        wait(printed(server, &shown.name, &shown.app, "download broke off"));
    });
}

#[test]
fn a_sandbox_that_is_deleted_in_the_middle_is_a_clean_error() {
    with_app(public(), |server, shown| {
        let mut begun = server.preview_stream();
        send(&mut begun, &shown.at(Form::Host, "/download?bytes=10000000000"), "GET", &[], b"");
        let mut begun = BufReader::new(begun);
        assert_eq!(read_head(&mut begun).0, 200);
        let mut hangs = server.preview_stream();
        send(&mut hangs, &shown.at(Form::Path, "/hang"), "GET", &["connection: close"], b"");
        wait(printed(server, &shown.name, &shown.app, "hanging"));
        wait(server.client().remove_sandbox(&shown.name)).unwrap();
        let answer = read_answer(&mut BufReader::new(hangs), "GET");
        assert_eq!((answer.status, answer.code().as_str()), (502, "PREVIEW_BROKEN"));
        // What was promised did not come, and the connection says so by its end.
        let deadline = Instant::now() + super::SOON;
        let mut piece = vec![0; 1 << 20];
        while begun.read(&mut piece).is_ok_and(|length| length > 0) {
            assert!(Instant::now() < deadline);
        }
        let gone = server.get(shown.at(Form::Host, "/"));
        assert_eq!((gone.status, gone.code().as_str()), (404, "PREVIEW_NOT_FOUND"));
    });
}

#[test]
fn a_program_that_hangs_up_is_told_apart_from_one_that_does_not_listen() {
    with_app(public(), |server, shown| {
        for form in BOTH {
            let answer = server.get(shown.at(form, "/hangup"));
            assert_eq!((answer.status, answer.code().as_str()), (502, "PREVIEW_BROKEN"));
        }
        let inside = server.client().inside(&shown.name);
        wait(inside.kill(&shown.app, &Default::default())).unwrap();
        for form in BOTH {
            let answer = server.get(shown.at(form, "/"));
            assert_eq!((answer.status, answer.code().as_str()), (502, "PORT_CLOSED"));
            let page = server.look(shown.at(form, "/"), "GET", &["accept: text/html,*/*"], b"");
            assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
            let text = String::from_utf8(page.body).unwrap();
            assert!(text.contains("nothing listens on port 3000") && !text.contains(&shown.preview.token), "{text}");
        }
    });
}

#[test]
fn a_program_gets_no_token_of_ours_and_no_forged_header_in_any_spelling() {
    with_app(public(), |server, shown| {
        let token = server.token.as_str();
        for form in BOTH {
            for carried in [
                format!("authorization: bearer\t{token}"),
                format!("authorization: Bearer \t {token}"),
                format!("authorization: Digest a, Bearer {token}"),
                format!("proxy-authorization: Bearer {token}"),
                format!("x-api-key: {token}"),
                format!("sec-websocket-protocol: app, {token}"),
                format!("cookie: a=1; t={token}"),
                format!("referer: http://x/?token={token}"),
            ] {
                let answer = server.look(shown.at(form, "/echo"), "GET", &[&carried], b"");
                assert_eq!(answer.status, 200, "{carried}");
                assert!(!String::from_utf8_lossy(&answer.body).contains(token), "{carried}");
            }
            let forged = [
                "X_Forwarded_For: 6.6.6.6",
                "x-forwarded_for: 6.6.6.6",
                "X_Real_IP: 6.6.6.6",
                "X.Forwarded.For: 6.6.6.6",
                "X_Atoll_Caller: root",
                "Client_IP: 6.6.6.6",
                "Proxy: http://6.6.6.6",
                "user_id: 7",
            ];
            let response = server.look(shown.at(form, "/echo"), "GET", &forged, b"");
            assert!(!String::from_utf8_lossy(&response.body).contains("6.6.6.6"), "{response:?}");
            assert_eq!((response.seen("x_atoll_caller"), response.seen("user_id").as_deref()), (None, Some("7")));
            let refused = server.get(shown.at(form, &format!("/echo?token={token}")));
            assert_eq!((refused.status, refused.code().as_str()), (400, "VALIDATION_FAILED"));
        }
    });
}
