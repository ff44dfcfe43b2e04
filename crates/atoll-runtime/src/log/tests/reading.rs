//! What a reader may count on: any cursor, any runtime, any moment to go away.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use atoll_protocol::Stream;
use bytes::Bytes;
use regex::bytes::Regex;

use super::support::{TINY, Truth, drain, runtime};
use crate::log::limits::EVENT_BYTES;
use crate::log::reader::TryNext;
use crate::log::{Event, Limits, Log, Matcher, Pattern, ReadPage, Store};

fn log_in(dir: &tempfile::TempDir, limits: Limits) -> Log {
    Log::new(Store::Unlinked(dir.path().to_owned()), limits)
}

fn in_memory() -> Log {
    Log::new(Store::Unlinked("/nonexistent".into()), Limits::default())
}

fn append(log: &Log, text: &'static str) {
    let bytes = Bytes::from_static(text.as_bytes());
    log.append(Stream::Stdout, bytes, SystemTime::now()).unwrap();
}

/// Polls once and drops, as a `select!` does with the branch that loses.
fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn any_cursor_of_a_large_file_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let log = log_in(&dir, Limits::default());
    let mut truth = Truth::default();
    for round in 0..400 {
        truth.append(&log, Stream::Stdout, 11_000 + round);
        truth.append(&log, Stream::Stderr, 7);
    }
    let end = log.end();
    runtime().block_on(async {
        for part in 0..60 {
            let since = end * part / 60 + 1;
            let event = log.reader(since).next().await.unwrap();
            truth.check(since, &event);
            assert!(event.into_output().is_some(), "a gap at {since}");
        }
    });
}

#[test]
fn events_are_never_larger_than_their_cap() {
    let dir = tempfile::tempdir().unwrap();
    let log = log_in(&dir, Limits::default());
    let mut truth = Truth::default();
    truth.append(&log, Stream::Stdout, 20 * EVENT_BYTES + 1);
    log.close();
    runtime().block_on(async {
        let mut reader = log.reader(0);
        while let Some(event) = reader.next().await {
            assert!(event.into_output().unwrap().bytes.len() <= EVENT_BYTES);
        }
        assert_eq!(drain(&truth, &mut log.reader(5)).await, 0);
    });
}

#[test]
fn a_reader_past_the_end_waits_for_its_cursor() {
    let log = in_memory();
    let mut reader = log.reader(3);
    append(&log, "ab");
    assert_eq!(reader.try_next(), TryNext::Empty);
    append(&log, "cdef");
    let chunk = runtime().block_on(reader.next()).unwrap().into_output().unwrap();
    assert_eq!((chunk.cursor, &chunk.bytes[..]), (3, &b"def"[..]));
    log.close();
    assert_eq!(reader.try_next(), TryNext::Closed);
    assert_eq!(log.reader(99).try_next(), TryNext::Closed);
}

#[test]
fn a_closed_log_takes_nothing_more() {
    let log = in_memory();
    append(&log, "ab");
    log.close();
    let late = log.append(Stream::Stdout, Bytes::from_static(b"c"), SystemTime::now());
    assert_eq!(late.unwrap_err().to_string(), "the output log is closed");
    assert_eq!(log.end(), 2);
}

#[test]
fn a_reader_dropped_at_every_await_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let log = log_in(&dir, TINY);
    let mut truth = Truth::default();
    for _ in 0..60 {
        truth.append(&log, Stream::Stdout, 33);
    }
    runtime().block_on(async {
        let mut reader = log.reader(0);
        let mut cursor = 0;
        while cursor < truth.len() {
            match poll_once(reader.next()) {
                Poll::Ready(event) => cursor = truth.check(cursor, &event.unwrap()),
                Poll::Pending => tokio::task::yield_now().await,
            }
        }
        assert!(poll_once(reader.next()).is_pending());
        truth.append(&log, Stream::Stderr, 1);
        truth.check(cursor, &reader.next().await.unwrap());
    });
}

#[test]
fn a_page_ends_at_its_limit_and_the_next_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let log = log_in(&dir, TINY);
    let mut truth = Truth::default();
    for _ in 0..40 {
        truth.append(&log, Stream::Stdout, 30);
    }
    log.close();
    runtime().block_on(async {
        let mut cursor = 0;
        loop {
            let page = log.read(cursor, 70, None).await;
            let after = page.events.iter().fold(cursor, |at, event| truth.check(at, event));
            assert_eq!(page.next_cursor, after);
            assert!(after - cursor == 70 || page.closed);
            cursor = after;
            if page.closed {
                break;
            }
        }
        assert_eq!(cursor, truth.len());
    });
}

#[test]
fn a_page_waits_only_if_asked_and_only_for_the_first_bytes() {
    let log = in_memory();
    let empty = ReadPage { events: Vec::new(), next_cursor: 0, closed: false };
    runtime().block_on(async {
        assert_eq!(log.read(0, 100, None).await, empty);
        assert_eq!(log.read(0, 100, Some(Duration::ZERO)).await, empty);
        let read = log.read(0, 100, Some(Duration::from_secs(3600)));
        let (page, ()) = tokio::join!(read, async { append(&log, "now") });
        assert_eq!((page.next_cursor, page.closed), (3, false));
        let read = log.read(3, 100, Some(Duration::from_secs(3600)));
        let (page, ()) = tokio::join!(read, async { log.close() });
        assert_eq!(page, ReadPage { next_cursor: 3, closed: true, ..empty });
    });
}

#[test]
fn a_search_follows_the_log_until_it_finds() {
    let log = in_memory();
    let pattern = Pattern::Regex(Regex::new("^listening on [0-9]+").unwrap());
    let (mut matcher, mut reader) = (Matcher::new(pattern), log.reader(0));
    let found = runtime().block_on(async {
        let write = async {
            append(&log, "starting\nlisten");
            tokio::task::yield_now().await;
            append(&log, "ing on 80");
        };
        tokio::join!(matcher.search(&mut reader), write).0
    });
    assert_eq!(found.unwrap().line, b"listening on 80");
    log.close();
    let absent = &mut Matcher::new(Pattern::Text(b"absent".to_vec()));
    assert_eq!(runtime().block_on(absent.search(&mut log.reader(0))), None);
}

#[test]
fn a_live_reader_sees_both_streams_in_their_order() {
    let log = in_memory();
    let mut reader = log.reader(0);
    for (stream, text) in [(Stream::Stdout, "a"), (Stream::Stderr, "b"), (Stream::Stdout, "c")] {
        log.append(stream, Bytes::from_static(text.as_bytes()), SystemTime::now()).unwrap();
        let TryNext::Event(Event::Output(chunk)) = reader.try_next() else {
            panic!("no output");
        };
        assert_eq!((chunk.stream, &chunk.bytes[..]), (stream, text.as_bytes()));
    }
}
