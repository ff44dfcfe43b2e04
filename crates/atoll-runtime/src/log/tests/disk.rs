//! What a log does with files: none for little output, bounded for much, honest when they fail.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::SystemTime;

use atoll_protocol::Stream;
use bytes::Bytes;

use super::support::{TINY, Truth, drain, runtime};
use crate::log::event::Totals;
use crate::log::limits::WINDOW_BYTES;
use crate::log::store::segment_paths;
use crate::log::{Event, Limits, Log, Store};

#[test]
fn a_log_that_fits_in_memory_makes_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("never");
    let log = Log::new(Store::Dir(path.clone()), Limits::default());
    let mut truth = Truth::default();
    for _ in 0..WINDOW_BYTES / 256 {
        truth.append(&log, Stream::Stdout, 256);
    }
    log.close();
    assert_eq!(runtime().block_on(drain(&truth, &mut log.reader(0))), 0);
    assert!(!path.exists());
}

#[test]
fn files_are_for_their_owner_only_and_survive() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let log = Log::new(Store::Dir(path.clone()), TINY);
    let mut truth = Truth::default();
    truth.append(&log, Stream::Stdout, 100);
    truth.append(&log, Stream::Stderr, 3);
    log.flush().unwrap();
    for segment in segment_paths(&path).unwrap() {
        let mode = fs::metadata(segment).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let reopened = Log::open(&path, TINY).unwrap();
    assert_eq!(reopened.totals(), log.totals());
    assert_eq!(runtime().block_on(drain(&truth, &mut reopened.reader(0))), 0);
}

#[test]
fn a_directory_holds_one_log() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::Dir(dir.path().to_owned());
    let append = |log: &Log| {
        let bytes = Bytes::from_static(b"some output");
        log.append(Stream::Stdout, bytes, SystemTime::now()).unwrap();
        log.flush()
    };
    append(&Log::new(store.clone(), TINY)).unwrap();
    let error = append(&Log::new(store, TINY)).unwrap_err();
    assert!(error.to_string().contains("already holds an output log"));
}

#[test]
fn totals_of_both_streams_survive_a_dropped_middle() {
    let dir = tempfile::tempdir().unwrap();
    let log = Log::new(Store::Dir(dir.path().to_owned()), TINY);
    let mut truth = Truth::default();
    for _ in 0..2000 {
        truth.append(&log, Stream::Stdout, 20);
        truth.append(&log, Stream::Stderr, 10);
    }
    log.flush().unwrap();
    let totals = log.totals();
    assert_eq!((totals.stdout, totals.stderr), (40_000, 20_000));
    assert!(totals.dropped > 0);
    assert_eq!(Log::open(dir.path(), TINY).unwrap().totals(), totals);
}

#[test]
fn the_first_quarter_is_never_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let limits = Limits { window_bytes: 1024, disk_bytes: 1 << 18 };
    let log = Log::new(Store::Unlinked(dir.path().to_owned()), limits);
    let mut truth = Truth::default();
    for _ in 0..5000 {
        truth.append(&log, Stream::Stdout, 200);
    }
    log.close();
    let gap = runtime().block_on(async {
        let mut reader = log.reader(0);
        while let Some(event) = reader.next().await {
            if let Event::Gap { from, to } = event {
                return from..to;
            }
        }
        panic!("nothing was dropped");
    });
    assert!(gap.start >= limits.disk_bytes / 5, "head ends at {}", gap.start);
    assert!(truth.len() - gap.end >= limits.disk_bytes / 2, "tail begins at {}", gap.end);
}

#[test]
fn a_failing_disk_makes_a_gap_and_never_silence() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    fs::write(&path, "in the way").unwrap();
    let log = Log::new(Store::Dir(path.clone()), TINY);
    let mut truth = Truth::default();
    for _ in 0..50 {
        truth.append(&log, Stream::Stdout, 10);
    }
    let message = log.degraded().unwrap();
    assert!(message.starts_with("failed to write output to"), "{message}");
    let lost = log.totals().dropped;
    assert!((500 - 64..500).contains(&lost), "{lost} bytes lost");

    fs::remove_file(&path).unwrap();
    for _ in 0..50 {
        truth.append(&log, Stream::Stderr, 10);
    }
    log.flush().unwrap();
    log.close();
    let gaps = runtime().block_on(drain(&truth, &mut log.reader(0)));
    assert_eq!(gaps, log.totals().dropped);
    assert!(gaps < lost + 64, "writing was taken up again");
    assert_eq!(log.degraded(), Some(message));
}

#[test]
fn an_append_says_that_the_disk_failed() {
    let store = Store::Unlinked("/nonexistent/atoll".into());
    let log = Log::new(store, TINY);
    let append = |len| log.append(Stream::Stdout, Bytes::from(vec![1; len]), SystemTime::now());
    append(60).unwrap();
    append(60).unwrap_err();
    append(60).unwrap_err();
    let expected = Totals { stdout: 180, stderr: 0, dropped: 120 };
    assert_eq!(log.totals(), expected);
}

#[test]
fn a_file_that_cannot_be_read_is_a_gap() {
    let dir = tempfile::tempdir().unwrap();
    let log = Log::new(Store::Dir(dir.path().to_owned()), TINY);
    let mut truth = Truth::default();
    for _ in 0..30 {
        truth.append(&log, Stream::Stdout, 50);
    }
    log.close();
    let first = segment_paths(dir.path()).unwrap().remove(0);
    fs::write(first, vec![0; 4096]).unwrap();
    let mut reader = log.reader(0);
    assert!(runtime().block_on(drain(&truth, &mut reader)) > 0);
    assert_eq!(reader.cursor(), truth.len());
    assert!(log.degraded().unwrap().starts_with("failed to read output at cursor 0"));
}

#[test]
fn a_log_of_another_version_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut header = *b"ATOLLLOG\x07\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let sum = header[..32]
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    header[32..].copy_from_slice(&sum.to_le_bytes());
    fs::write(dir.path().join("output-00000000000000000000.log"), header).unwrap();
    let error = Log::open(dir.path(), TINY).unwrap_err();
    assert!(error.to_string().ends_with("output log version 7 is not supported"));
}
