//! A slow or dead reader slows neither the process nor other readers, and resumes by cursor.

use std::time::Duration;

use atoll_protocol::Stream;
use atoll_runtime::{Command, Log, LogEvent};

use crate::harness::{Fixture, Random, printed, read_log, soon};

in_every_mode! {
    one_thread {
        a_long_poll_returns_with_the_first_byte_or_when_its_time_is_up,
        a_reader_ahead_of_the_log_waits_for_it,
    }
    many_threads {
        one_that_stopped_reading_holds_up_nothing,
        heavy_fifty_that_come_and_go_see_every_byte_once,
    }
}

const TOTAL: u64 = 20_000_000;

/// Numbers, each on its line, so that every byte can be told from its neighbours.
fn expected(total: u64) -> Vec<u8> {
    let length = usize::try_from(total).unwrap();
    let lines = (0_u32..).flat_map(|number| format!("{number:07}\n").into_bytes());
    lines.take(length).collect()
}

fn script(total: u64) -> String {
    format!("seq -f %07.0f 0 9999999 | head -c {total}")
}

async fn one_that_stopped_reading_holds_up_nothing(f: &Fixture) {
    let process = f.start_command(Command::shell(script(TOTAL))).await;
    let mut stuck = process.log().reader(0);
    let first = soon(stuck.next()).await.unwrap().into_output().unwrap();
    assert_eq!(first.cursor, 0);
    assert!(soon(process.ended()).await.unwrap().success());
    let (stdout, _) = read_log(process.log(), 0).await;
    assert!(stdout == expected(TOTAL), "another reader does not get everything");
    // It can go on from where it was, even now.
    let next = soon(stuck.next()).await.unwrap().into_output().unwrap();
    assert_eq!(next.cursor, first.end());
}

/// Reads it all, leaving and coming back at random: by a new reader, by a page, or by a future that is dropped.
async fn come_and_go(log: Log, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut all = Vec::new();
    loop {
        let since = all.len() as u64;
        if random.below(3) == 0 {
            let wait = Duration::from_millis(random.next() % 50);
            let page = log.read(since, 1 + random.below(100_000), Some(wait)).await;
            for event in page.events {
                take(&mut all, event);
            }
            if page.closed {
                return all;
            }
            continue;
        }
        let mut reader = log.reader(since);
        for _ in 0..random.below(40) {
            let patience = Duration::from_micros(random.next() % 2000);
            match tokio::time::timeout(patience, reader.next()).await {
                Ok(Some(event)) => take(&mut all, event),
                Ok(None) => return all,
                Err(_) => {}
            }
        }
    }
}

fn take(all: &mut Vec<u8>, event: LogEvent) {
    let chunk = event.into_output().expect("output, no gap");
    assert_eq!((chunk.cursor, chunk.stream), (all.len() as u64, Stream::Stdout));
    all.extend_from_slice(&chunk.bytes);
}

async fn heavy_fifty_that_come_and_go_see_every_byte_once(f: &Fixture) {
    const SHARED: u64 = 3_000_000;
    let process = f.start(&script(SHARED)).await;
    let readers: Vec<_> = (0..50).map(|seed| tokio::spawn(come_and_go(process.log().clone(), seed))).collect();
    let expected = expected(SHARED);
    for reader in readers {
        let read = tokio::time::timeout(Duration::from_secs(100), reader).await.unwrap().unwrap();
        assert!(read == expected, "{} of {} bytes", read.len(), expected.len());
    }
}

async fn a_long_poll_returns_with_the_first_byte_or_when_its_time_is_up(f: &Fixture) {
    f.say("mkfifo go").await;
    let process = f.start("echo first; read x < go; echo second").await;
    printed(&process, "first").await;
    let page = soon(process.log().read(6, 100, Some(Duration::from_millis(50)))).await;
    assert_eq!((page.events.len(), page.next_cursor, page.closed), (0, 6, false));
    let poll = tokio::spawn({
        let log = process.log().clone();
        async move { log.read(6, 100, Some(Duration::from_secs(300))).await }
    });
    f.say("echo > go").await;
    let page = soon(poll).await.unwrap();
    assert_eq!(page.next_cursor, 13);
    soon(process.gone()).await.unwrap();
    let page = soon(process.log().read(13, 100, Some(Duration::from_secs(300)))).await;
    assert!(page.events.is_empty() && page.closed, "the end is told at once");
}

async fn a_reader_ahead_of_the_log_waits_for_it(f: &Fixture) {
    f.say("mkfifo go").await;
    let process = f.start("read x < go; printf 0123456789").await;
    let mut reader = process.log().reader(4);
    f.say("echo > go").await;
    let chunk = soon(reader.next()).await.unwrap().into_output().unwrap();
    assert_eq!((chunk.cursor, &chunk.bytes[..]), (4, &b"456789"[..]));
    assert_eq!(soon(reader.next()).await, None);
}
