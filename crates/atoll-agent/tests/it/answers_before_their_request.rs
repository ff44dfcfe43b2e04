//! A request that is answered before it was read: a little of it is read for nothing and the connection goes on; with more
//! the answer says that the connection ends, so that nobody sends another request into it.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::harness::{Fixture, run, soon};

/// There is nothing at this path, so nobody reads the body.
fn unread(length: usize) -> String {
    format!("POST /v1/nothing HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n")
}

async fn connect(f: &Fixture) -> UnixStream {
    UnixStream::connect(f.socket()).await.unwrap()
}

/// Head and body of one answer.
async fn answer(stream: &mut UnixStream) -> String {
    let mut seen = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&seen).to_ascii_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            if body.len() >= length.parse::<usize>().unwrap() {
                return text;
            }
        }
        let mut piece = [0; 4096];
        let count = soon(stream.read(&mut piece)).await.unwrap();
        assert!(count > 0, "the line was closed before the answer was whole: {text}");
        seen.extend_from_slice(&piece[..count]);
    }
}

fn says_that_it_closes(answer: &str) -> bool {
    answer.contains("\r\nconnection: close\r\n")
}

#[test]
fn a_little_is_read_for_nothing_and_the_connection_goes_on() {
    run(async |f| {
        let mut stream = connect(f).await;
        for _ in 0..3 {
            stream.write_all(unread(100_000).as_bytes()).await.unwrap();
            stream.write_all(&vec![b' '; 100_000]).await.unwrap();
            let told = answer(&mut stream).await;
            assert!(told.starts_with("http/1.1 404") && !says_that_it_closes(&told), "{told}");
        }
        let body = r#"{"command":"echo after"}"#;
        let head = format!("POST /v1/exec HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(head.as_bytes()).await.unwrap();
        let told = answer(&mut stream).await;
        assert!(told.contains(r#""data":"after\n""#) && !says_that_it_closes(&told), "{told}");
    });
}

#[test]
fn with_much_the_answer_says_that_the_connection_ends_and_arrives() {
    run(async |f| {
        let (mut reader, mut writer) = connect(f).await.into_split();
        writer.write_all(unread(64 * 1024 * 1024).as_bytes()).await.unwrap();
        // Goes on writing until it is hung up on, as clients do.
        let writing = tokio::spawn(async move { while writer.write_all(&[b' '; 64 * 1024]).await.is_ok() {} });
        let mut seen = Vec::new();
        // However the line ends: the answer came before it.
        soon(reader.read_to_end(&mut seen)).await.ok();
        let told = String::from_utf8_lossy(&seen).to_ascii_lowercase();
        assert!(told.starts_with("http/1.1 404") && says_that_it_closes(&told), "{told}");
        assert!(told.contains("route_not_found"), "{told}");
        writing.abort();
    });
}

#[test]
fn who_does_not_send_the_rest_is_answered_all_the_same() {
    run(async |f| {
        let mut stream = connect(f).await;
        stream.write_all(unread(10).as_bytes()).await.unwrap();
        stream.write_all(b"1").await.unwrap();
        let told = answer(&mut stream).await;
        assert!(told.starts_with("http/1.1 404") && says_that_it_closes(&told), "{told}");
        let mut rest = Vec::new();
        soon(stream.read_to_end(&mut rest)).await.unwrap();
        assert_eq!(rest, b"", "it is closed behind the answer");
    });
}
