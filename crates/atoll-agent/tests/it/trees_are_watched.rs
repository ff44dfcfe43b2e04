//! Watches: nothing that happens is lost, readers come and go, and who comes too late is told.

use std::time::Duration;

use atoll_client::Client;
use atoll_protocol::{ErrorCode, ExecRequest, WatchChange, WatchEvent, WatchId, WatchRequest};

use crate::harness::{AT_ONCE, run, soon};
use crate::raw::{ask, get};

async fn shell(client: &Client, command: &str) {
    let result = soon(client.exec(&ExecRequest::shell(command))).await.unwrap();
    assert_eq!(result.end.code, Some(0), "{command}: {result:?}");
}

fn directory(path: &str) -> WatchRequest {
    WatchRequest { path: Some(path.into()), ..WatchRequest::default() }
}

/// `created a/b`, `renamed a > b`.
fn words(events: &[WatchEvent]) -> Vec<String> {
    events
        .iter()
        .map(|event| {
            let from = event.from.as_ref().map(|from| format!("{from} > ")).unwrap_or_default();
            format!("{:?} {from}{}", event.change, event.path).to_lowercase()
        })
        .collect()
}

#[test]
fn what_happens_is_told_in_order_to_whoever_reads() {
    run(async |f| {
        shell(&f.client, "mkdir -p src/old").await;
        let watch = soon(f.client.watch(&directory("src"))).await.unwrap();
        assert_eq!((watch.path.as_str(), watch.ended), ("/workspace/src", false));
        shell(&f.client, "cd src && mkdir -p a/b/c && echo x > a/b/c/file && mv old new && rm a/b/c/file").await;
        let mut watching = f.client.watching(&watch.id, 0);
        let mut seen = Vec::new();
        while !words(&seen).contains(&"removed a/b/c/file".to_owned()) {
            seen.push(soon(watching.next()).await.unwrap().unwrap());
        }
        let told = words(&seen);
        for expected in ["created a", "created a/b/c", "created a/b/c/file", "renamed old > new"] {
            assert!(told.contains(&expected.to_owned()), "{expected}: {told:?}");
        }
        let cursors: Vec<u64> = seen.iter().map(|event| event.cursor).collect();
        assert!(cursors.iter().copied().eq(0..u64::try_from(cursors.len()).unwrap()), "{cursors:?}");
        // The same by page, from the middle.
        let page = soon(f.client.changes(&watch.id, 2, None)).await.unwrap();
        assert_eq!(&page.events[..seen.len() - 2], &seen[2..]);
        // Nothing new: a wait ends when something happens.
        let waiting = f.client.changes(&watch.id, page.next_cursor, Some(AT_ONCE));
        let (waited, ()) = tokio::join!(waiting, shell(&f.client, "touch src/late"));
        assert_eq!(waited.unwrap().events[0].path, "late");
        soon(f.client.delete_watch(&watch.id)).await.unwrap();
        let gone = soon(f.client.find_watch(&watch.id)).await.unwrap_err();
        assert_eq!(gone.code(), Some(ErrorCode::WatchNotFound));
    });
}

#[test]
fn a_directory_that_goes_ends_its_watch_and_what_cannot_be_watched_is_refused() {
    run(async |f| {
        shell(&f.client, "mkdir d; touch plain").await;
        let watch = soon(f.client.watch(&directory("d"))).await.unwrap();
        shell(&f.client, "rmdir d").await;
        let mut watching = f.client.watching(&watch.id, 0);
        let mut last = None;
        while let Some(event) = soon(watching.next()).await.unwrap() {
            last = Some(event.change);
        }
        assert_eq!(last, Some(WatchChange::Gone));
        let code = async |request: &WatchRequest| soon(f.client.watch(request)).await.unwrap_err().code().unwrap();
        assert_eq!(code(&directory("none")).await, ErrorCode::FileNotFound);
        assert_eq!(code(&directory("plain")).await, ErrorCode::NotDirectory);
        assert_eq!(code(&WatchRequest::default()).await, ErrorCode::ValidationFailed);
        let glob = WatchRequest { include: vec!["a[".into()], ..directory(".") };
        assert_eq!(code(&glob).await, ErrorCode::ValidationFailed);
        shell(&f.client, "mkdir -p many/{1..20}").await;
        let few = WatchRequest { directories: Some(10), ..directory("many") };
        assert_eq!(code(&few).await, ErrorCode::FileLimit);
        let named = WatchRequest { id: Some(WatchId::new("mine").unwrap()), ..directory("many") };
        soon(f.client.watch(&named)).await.unwrap();
        assert_eq!(code(&named).await, ErrorCode::WatchAlreadyExists);
    });
}

#[test]
fn who_comes_too_late_is_told_so() {
    run(async |f| {
        let watch = soon(f.client.watch(&directory("."))).await.unwrap();
        // More than is kept: created and written, each.
        shell(&f.client, "mkdir many; for n in $(seq 40000); do : > many/$n; done; touch last").await;
        let mut cursor = 0;
        let oldest = loop {
            match soon(f.client.changes(&watch.id, cursor, Some(Duration::from_secs(5)))).await {
                Ok(page) => {
                    assert!(!page.events.is_empty(), "nothing was forgotten after {cursor}");
                    // A reader that falls behind.
                    cursor = 0;
                }
                Err(error) => {
                    assert_eq!(error.code(), Some(ErrorCode::CursorTooOld));
                    let answer = ask(&f.socket(), get(&format!("/v1/watches/{}/events", watch.id)), "").await;
                    break answer.json()["error"]["details"]["oldest_cursor"].as_u64().unwrap();
                }
            }
        };
        assert!(soon(f.client.changes(&watch.id, oldest + 10_000, None)).await.is_ok());
    });
}

#[test]
fn a_websocket_tells_the_same_as_a_stream() {
    use atoll_protocol::WatchFrame;
    use futures_util::StreamExt;
    use tokio_tungstenite::tungstenite::Message;
    run(async |f| {
        shell(&f.client, "mkdir src").await;
        let watch = soon(f.client.watch(&directory("src"))).await.unwrap();
        shell(&f.client, "cd src && mkdir -p a/b && echo x > a/b/file && mv a/b/file a/c").await;
        let stream = tokio::net::UnixStream::connect(f.socket()).await.unwrap();
        let url = format!("ws://localhost/v1/watches/{}/attach?since=1", watch.id);
        let (mut socket, _) = soon(tokio_tungstenite::client_async(url, stream)).await.unwrap();
        shell(&f.client, "rm -r src").await;
        let (mut seen, mut last) = (Vec::new(), None);
        while let Message::Text(text) = soon(socket.next()).await.unwrap().unwrap() {
            match serde_json::from_str(&text).unwrap() {
                WatchFrame::Change(event) => seen.push(event),
                end @ (WatchFrame::End(_) | WatchFrame::Error(_)) => last = Some(end),
            }
        }
        let page = soon(f.client.changes(&watch.id, 1, None)).await.unwrap();
        assert_eq!(seen, page.events);
        assert!(matches!(&last, Some(WatchFrame::End(end)) if end.cursor == page.next_cursor), "{last:?}");
        // What cannot be told is refused before the connection changes over.
        for (path, code) in [("nobody", 404), (watch.id.as_str(), 426)] {
            let answer = ask(&f.socket(), get(&format!("/v1/watches/{path}/attach")), "").await;
            assert_eq!(answer.refusal().0, code, "{path}");
        }
    });
}
