//! A log that is written through: what a reader is shown is in its files at that moment, and survives us.

use atoll_protocol::Stream;

use super::support::{TINY, Truth, drain, runtime};
use crate::log::{Event, Length, Log, Store};

/// A log as another process would find it now, without what only memory holds.
fn found(dir: &std::path::Path) -> Log {
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    Log::open(copy.path(), TINY).unwrap()
}

#[test]
fn whatever_is_shown_can_be_found_by_the_next_process() {
    let dir = tempfile::tempdir().unwrap();
    let (log, mut truth) = (Log::new(Store::Dir(dir.path().join("log")), TINY), Truth::default());
    truth.append(&log, Stream::Stdout, 10);
    assert!(!log.is_on_disk(), "what was printed before is not written until it must be");
    log.write_through();
    runtime().block_on(async {
        let mut reader = log.reader(0);
        let mut cursor = 0;
        for len in [1, 3, 40, 200, 5, 1] {
            truth.append(&log, if len % 2 == 0 { Stream::Stderr } else { Stream::Stdout }, len);
            while cursor < truth.len() {
                cursor = truth.check(cursor, &reader.next().await.unwrap());
                assert!(found(&dir.path().join("log")).end() >= cursor);
            }
        }
        let found = found(&dir.path().join("log"));
        assert_eq!((found.end(), found.totals().stdout), (log.end(), log.totals().stdout));
        assert_eq!(drain(&truth, &mut found.reader(0)).await, 0);
    });
}

#[test]
fn a_disk_that_fails_hides_nothing_from_readers() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let (log, mut truth) = (Log::new(Store::Dir(dir.path().join("file/log")), TINY), Truth::default());
    log.write_through();
    truth.append(&log, Stream::Stdout, 12);
    assert!(log.degraded().is_some());
    runtime().block_on(async {
        let mut reader = log.reader(0);
        assert_eq!(truth.check(0, &reader.next().await.unwrap()), 12);
        log.close();
        assert_eq!(reader.next().await, None);
    });
}

#[test]
fn what_is_known_to_be_missing_at_the_end_is_a_gap() {
    let dir = tempfile::tempdir().unwrap();
    let (log, mut truth) = (Log::new(Store::Dir(dir.path().to_owned()), TINY), Truth::default());
    log.write_through();
    truth.append(&log, Stream::Stdout, 12);
    log.close();
    let found = Log::reopen(dir.path(), TINY, Length { end: 50, stdout: 45 }).unwrap();
    runtime().block_on(async {
        let mut reader = found.reader(0);
        assert_eq!(truth.check(0, &reader.next().await.unwrap()), 12);
        assert_eq!(reader.next().await, Some(Event::Gap { from: 12, to: 50 }));
        assert_eq!(reader.next().await, None);
    });
    assert_eq!((found.totals().stdout, found.totals().stderr), (45, 5));
}
