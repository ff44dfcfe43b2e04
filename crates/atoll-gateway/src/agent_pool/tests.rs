//! The pool against a fake agent that the tests drive byte by byte.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt;
use hyper::Request;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::{Pool, PoolSlots, PooledConn, SendError};
use crate::placement::Agent;

/// Longer than any test takes.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Buffer size: holds whatever one side writes before the other reads.
const ROOM: usize = 64 * 1024;

fn agent(start: u64) -> Agent {
    Agent { pid: 1, start, address: "somewhere".into() }
}

fn post(path: &str) -> Request<Body> {
    Request::post(path).header("host", "agent").body(Body::from("body")).unwrap()
}

async fn conn() -> (PooledConn, DuplexStream) {
    let (ours, theirs) = duplex(ROOM);
    (PooledConn::over(Box::new(ours)).await.unwrap(), theirs)
}

/// Reads one whole request and returns its path; `None` if the connection closes before that.
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

/// Reads the whole body of a response.
async fn read(conn: &mut PooledConn, body: &mut hyper::body::Incoming) -> String {
    let mut all = Vec::new();
    while let Some(frame) = std::future::poll_fn(|context| conn.frame(body, context)).await {
        all.extend_from_slice(&frame.unwrap().into_data().unwrap());
    }
    String::from_utf8(all).unwrap()
}

#[tokio::test]
async fn conn_is_not_ready_until_its_response_has_ended() {
    let (mut conn, mut theirs) = conn().await;
    assert!(conn.is_ready());
    let (sent, _) = tokio::join!(conn.send(post("/one")), async {
        assert_eq!(hear(&mut theirs).await.as_deref(), Some("/one"));
        theirs.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nha").await.unwrap();
    });
    let mut body = sent.unwrap().into_body();
    let first = std::future::poll_fn(|context| conn.frame(&mut body, context)).await.unwrap().unwrap();
    assert_eq!(first.into_data().unwrap(), "ha");
    assert!(!conn.is_ready(), "half of the response is missing");
    theirs.write_all(b"lf").await.unwrap();
    assert_eq!(read(&mut conn, &mut body).await, "lf");
    assert!(conn.is_ready(), "it is idle again");
}

#[tokio::test]
async fn checkout_returns_a_conn_once_and_only_for_its_own_agent() {
    let conns = Pool::new(PoolSlots::default(), TIMEOUT);
    let (one, _open) = conn().await;
    conns.checkin(one, agent(1));
    assert!(conns.checkout(&agent(2)).is_none(), "it belongs to another agent");
    assert!(conns.checkout(&agent(1)).is_none(), "an unusable one is dropped");
    let (one, _open) = conn().await;
    conns.checkin(one, agent(1));
    assert!(conns.checkout(&agent(1)).is_some());
    assert!(conns.checkout(&agent(1)).is_none(), "it is in use");
}

#[tokio::test]
async fn checkout_skips_a_conn_that_the_agent_has_closed() {
    let conns = Pool::new(PoolSlots::default(), TIMEOUT);
    let (one, theirs) = conn().await;
    conns.checkin(one, agent(1));
    drop(theirs);
    assert!(conns.checkout(&agent(1)).is_none());
}

#[tokio::test]
async fn send_returns_the_request_only_if_no_byte_was_written() {
    // Closed before the first byte.
    let (mut conn, theirs) = conn().await;
    drop(theirs);
    match conn.send(post("/unsent")).await {
        Err(SendError::Unsent(request)) => {
            assert_eq!(request.uri(), "/unsent");
            assert_eq!(request.into_body().collect().await.unwrap().to_bytes(), "body", "whole");
        }
        other => panic!("{other:?}"),
    }
    // Closed after the whole request, after its head, and in the middle of the response's head.
    for (heard, said) in [(usize::MAX, ""), (1, ""), (usize::MAX, "HTTP/1.1 200 O")] {
        let (mut conn, mut theirs) = self::conn().await;
        let (sent, ()) = tokio::join!(conn.send(post("/sent")), async move {
            if heard == usize::MAX {
                hear(&mut theirs).await.unwrap();
            } else {
                theirs.read_exact(&mut [0]).await.unwrap();
            }
            theirs.write_all(said.as_bytes()).await.unwrap();
        });
        assert!(matches!(sent, Err(SendError::Broken(_))), "{heard} {said}: {sent:?}");
    }
}

/// Agents that close at random: silently after a response, in the middle of one, before they read. With the proxy's
/// retry rule, none of them ever sees a request twice.
#[tokio::test]
async fn no_request_is_delivered_twice_however_conns_end() {
    let conns = Pool::new(PoolSlots::default(), TIMEOUT);
    let heard: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
    let (mut answered, mut reused) = (0, 0);
    for number in 0..400_usize {
        let path = format!("/{number}");
        let mut request = post(&path);
        let kept = conns.checkout(&agent(1));
        reused += usize::from(kept.is_some());
        let mut result = None;
        if let Some(mut conn) = kept {
            match conn.send(request).await {
                Ok(response) => {
                    result = Some((conn, response));
                    request = post("/never");
                }
                Err(SendError::Unsent(unsent)) => request = *unsent,
                Err(SendError::Broken(_)) => continue,
            }
        }
        if result.is_none() {
            let (mut conn, theirs) = conn().await;
            tokio::spawn(moody(theirs, number, Arc::clone(&heard)));
            match conn.send(request).await {
                Ok(response) => result = Some((conn, response)),
                Err(_) => continue,
            }
        }
        let (mut conn, response) = result.unwrap();
        let mut body = response.into_body();
        if read(&mut conn, &mut body).await == path {
            answered += 1;
            conns.checkin(conn, agent(1));
        }
        tokio::task::yield_now().await;
    }
    let heard = heard.lock().unwrap();
    assert!(heard.values().all(|count| *count == 1), "{heard:?}");
    assert!(!heard.contains_key("/never"));
    assert!(answered > 100 && reused > 50, "{answered} were answered, {reused} of them on a pooled connection");
}

/// Responds to some requests, then closes: at once, or with the next request unread.
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
