//! Many readers at once, on several threads, while the log is written.

use std::time::SystemTime;

use atoll_protocol::Stream;
use bytes::Bytes;

use super::support::byte_at;
use crate::log::{Event, Limits, Log, Store};

const READERS: u64 = 50;
const APPENDS: usize = 1500;

/// Reads to the end from `since`, dropping and resuming now and then; returns the end.
async fn follow(log: Log, since: u64, resume_every: u64) -> u64 {
    let mut reader = log.reader(since);
    let mut cursor = since;
    let mut count = 0;
    while let Some(event) = reader.next().await {
        let Event::Output(chunk) = event else {
            panic!("a gap in a log within its caps");
        };
        assert_eq!(chunk.cursor, cursor);
        let first = usize::try_from(cursor).unwrap();
        assert!(chunk.bytes.iter().copied().eq((first..).map(byte_at).take(chunk.bytes.len())));
        cursor = chunk.end();
        count += 1;
        if count % resume_every == 0 {
            reader = log.reader(cursor);
        }
    }
    cursor
}

fn write(log: &Log) -> u64 {
    let mut position = 0;
    for round in 0..APPENDS {
        let stream = if round % 3 == 0 { Stream::Stderr } else { Stream::Stdout };
        let len = (round * 37) % 900 + 1;
        let bytes: Vec<u8> = (position..).map(byte_at).take(len).collect();
        log.append(stream, Bytes::from(bytes), SystemTime::now()).unwrap();
        position += len;
    }
    log.close();
    position as u64
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_readers_each_see_every_byte_once() {
    let dir = tempfile::tempdir().unwrap();
    let limits = Limits { window_bytes: 8 * 1024, disk_bytes: 64 << 20 };
    let log = Log::new(Store::Unlinked(dir.path().to_owned()), limits);
    let readers: Vec<_> =
        (0..READERS).map(|number| tokio::spawn(follow(log.clone(), number * 1000, number + 5))).collect();
    let writer = log.clone();
    let written = tokio::task::spawn_blocking(move || write(&writer)).await.unwrap();
    for reader in readers {
        assert_eq!(reader.await.unwrap(), written);
    }
    assert_eq!(log.totals().dropped, 0);
}

#[tokio::test]
async fn one_thread_serves_writer_and_readers() {
    let dir = tempfile::tempdir().unwrap();
    let limits = Limits { window_bytes: 1024, disk_bytes: 64 << 20 };
    let log = Log::new(Store::Unlinked(dir.path().to_owned()), limits);
    let reader = tokio::spawn(follow(log.clone(), 0, 7));
    tokio::task::yield_now().await;
    let written = write(&log);
    assert_eq!(reader.await.unwrap(), written);
}
