//! Lines against an agent that is played by hand, byte by byte.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use http_body_util::BodyExt;
use hyper::Request;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::{Line, Lines, NotSent, Places};
use crate::placement::Agent;

/// Room for whatever one side writes before the other reads.
const ROOM: usize = 64 * 1024;

fn agent(start: u64) -> Agent {
    Agent { pid: 1, start, address: "somewhere".into() }
}

fn ask(path: &str) -> Request<Body> {
    Request::post(path).header("host", "agent").body(Body::from("body")).unwrap()
}

async fn line() -> (Line, DuplexStream) {
    let (ours, theirs) = duplex(ROOM);
    (Line::over(Box::new(ours)).await.unwrap(), theirs)
}

/// One whole request: its path. `None` if the line is closed before it is whole.
async fn hear(stream: &mut DuplexStream) -> Option<String> {
    let mut seen = Vec::new();
    while !seen.ends_with(b"\r\n\r\nbody") {
        let mut piece = [0; 1024];
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => seen.extend_from_slice(&piece[..count]),
        }
    }
    String::from_utf8(seen).unwrap().split(' ').nth(1).map(str::to_owned)
}

async fn answer(stream: &mut DuplexStream, text: &str) {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{text}", text.len());
    stream.write_all(head.as_bytes()).await.unwrap();
}

/// The whole body of an answer.
async fn read(line: &mut Line, body: &mut hyper::body::Incoming) -> String {
    let mut all = Vec::new();
    while let Some(frame) = std::future::poll_fn(|context| line.frame(body, context)).await {
        all.extend_from_slice(&frame.unwrap().into_data().unwrap());
    }
    String::from_utf8(all).unwrap()
}

#[tokio::test]
async fn a_line_is_not_ready_while_its_answer_is_on_the_way() {
    let (mut line, mut theirs) = line().await;
    assert!(line.is_ready());
    let (sent, _) = tokio::join!(line.send(ask("/one")), async {
        assert_eq!(hear(&mut theirs).await.as_deref(), Some("/one"));
        theirs.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nha").await.unwrap();
    });
    let mut body = sent.unwrap().into_body();
    let first = std::future::poll_fn(|context| line.frame(&mut body, context)).await.unwrap().unwrap();
    assert_eq!(first.into_data().unwrap(), "ha");
    assert!(!line.is_ready(), "half an answer is missing");
    theirs.write_all(b"lf").await.unwrap();
    assert_eq!(read(&mut line, &mut body).await, "lf");
    assert!(line.is_ready(), "it is free again");
}

#[tokio::test]
async fn a_line_that_waits_is_taken_by_one_alone_and_only_for_its_own_agent() {
    let lines = Lines::new(Places::default());
    let (one, _open) = line().await;
    lines.give_back(one, agent(1));
    assert!(lines.take(&agent(2)).is_none(), "another agent has another line");
    assert!(lines.take(&agent(1)).is_none(), "one that is of no use is not kept");
    let (one, _open) = line().await;
    lines.give_back(one, agent(1));
    assert!(lines.take(&agent(1)).is_some());
    assert!(lines.take(&agent(1)).is_none(), "it is taken");
}

#[tokio::test]
async fn a_line_that_the_agent_has_closed_is_not_taken() {
    let lines = Lines::new(Places::default());
    let (one, theirs) = line().await;
    lines.give_back(one, agent(1));
    drop(theirs);
    assert!(lines.take(&agent(1)).is_none());
}

#[tokio::test]
async fn a_request_comes_back_only_if_nothing_of_it_has_left() {
    // Closed before the first byte.
    let (mut line, theirs) = line().await;
    drop(theirs);
    match line.send(ask("/unsent")).await {
        Err(NotSent::Unsent(request)) => {
            assert_eq!(request.uri(), "/unsent");
            assert_eq!(request.into_body().collect().await.unwrap().to_bytes(), "body", "whole");
        }
        other => panic!("{other:?}"),
    }
    // Closed after the whole request, after its head, and in the middle of an answer's head.
    for (heard, said) in [(usize::MAX, ""), (1, ""), (usize::MAX, "HTTP/1.1 200 O")] {
        let (mut line, mut theirs) = self::line().await;
        let (sent, ()) = tokio::join!(line.send(ask("/sent")), async move {
            if heard == usize::MAX {
                hear(&mut theirs).await.unwrap();
            } else {
                theirs.read_exact(&mut [0]).await.unwrap();
            }
            theirs.write_all(said.as_bytes()).await.unwrap();
        });
        assert!(matches!(sent, Err(NotSent::Broken(_))), "{heard} {said}: {sent:?}");
    }
}

/// Agents that hang up whenever they like: after an answer without a word, in the middle of one, before they read.
/// What the proxy does with lines then never shows any of them a request for the second time.
#[tokio::test]
async fn no_request_is_heard_twice_however_lines_end() {
    let lines = Lines::new(Places::default());
    let heard: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
    let (mut answered, mut reused) = (0, 0);
    for number in 0..400_usize {
        let path = format!("/{number}");
        let mut request = ask(&path);
        let kept = lines.take(&agent(1));
        reused += usize::from(kept.is_some());
        let mut result = None;
        if let Some(mut line) = kept {
            match line.send(request).await {
                Ok(response) => {
                    result = Some((line, response));
                    request = ask("/never");
                }
                Err(NotSent::Unsent(unsent)) => request = *unsent,
                Err(NotSent::Broken(_)) => continue,
            }
        }
        if result.is_none() {
            let (mut line, theirs) = line().await;
            tokio::spawn(moody(theirs, number, Arc::clone(&heard)));
            match line.send(request).await {
                Ok(response) => result = Some((line, response)),
                Err(_) => continue,
            }
        }
        let (mut line, response) = result.unwrap();
        let mut body = response.into_body();
        if read(&mut line, &mut body).await == path {
            answered += 1;
            lines.give_back(line, agent(1));
        }
        tokio::task::yield_now().await;
    }
    let heard = heard.lock().unwrap();
    assert!(heard.values().all(|count| *count == 1), "{heard:?}");
    assert!(!heard.contains_key("/never"));
    assert!(answered > 100 && reused > 50, "{answered} were answered, {reused} of them on a line that had waited");
}

/// Answers some requests, then leaves: at once, or with the next one unread.
async fn moody(mut stream: DuplexStream, seed: usize, heard: Arc<Mutex<BTreeMap<String, usize>>>) {
    for turn in 0.. {
        let Some(path) = hear(&mut stream).await else { return };
        *heard.lock().unwrap().entry(path.clone()).or_default() += 1;
        if (seed + turn) % 7 == 6 {
            return;
        }
        answer(&mut stream, &path).await;
        if (seed + turn) % 5 == 4 {
            return;
        }
    }
}
