//! The journal as a whole: whatever is cut off or changed, what is read was true at some moment.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use atoll_protocol::{EndReason, EndRecord, ProcessId, SessionId, Timestamp};
use proptest::prelude::*;

use super::entry::{Began, EndedEntry, Entry, Made};
use super::frame::{self, Rest, Scan};
use super::note::Note;
use super::past::{Item, Past};
use super::{Fingerprint, restore};
use crate::command::Command;
use crate::log::{Limits, Log, Store};
use crate::process::ProcessSpec;
use crate::session::SessionSpec;

fn end(reason: EndReason, code: Option<i32>) -> EndRecord {
    EndRecord {
        reason,
        code,
        signal: None,
        timed_out: false,
        oom_killed: false,
        duration_ms: 1,
        cpu_user_ms: None,
        cpu_system_ms: None,
        max_rss_bytes: None,
        started_at: Timestamp::from_millis(1),
        ended_at: Timestamp::from_millis(2),
        survivors: 0,
        denials: Vec::new(),
        denials_count: 0,
    }
}

fn ended(code: i32) -> EndedEntry {
    let end = end(EndReason::Exited, Some(code));
    EndedEntry { end, cursor: 0, session_reset: false, log_end: 0, log_stdout: 0 }
}

fn began(number: u64) -> Began {
    Began {
        id: ProcessId::new(format!("p{number}")).unwrap(),
        command: "make".to_owned(),
        labels: BTreeMap::new(),
        session: None,
        fingerprint: Fingerprint::of(&ProcessSpec::new(Command::shell("make"))),
        at: Timestamp::from_millis(number),
        terminal: None,
    }
}

fn entry() -> impl Strategy<Value = Entry> {
    let number = 1..8_u64;
    let at = Timestamp::from_millis(9);
    let made = Made::new(SessionId::new("s").unwrap(), at, &SessionSpec::default());
    prop_oneof![
        4 => number.clone().prop_map(|number| Entry::Began { number, began: began(number) }),
        4 => (number.clone(), 0..9).prop_map(|(number, code)| Entry::Ended { number, ended: ended(code) }),
        1 => (number.clone(), 1..4_u32).prop_map(move |(number, restarts)| Entry::Restarted { number, restarts, at }),
        1 => number.clone().prop_map(move |number| Entry::Session { number, made: made.clone() }),
        1 => number.clone().prop_map(|number| Entry::Died { number, end: end(EndReason::ShellExited, Some(1)) }),
        1 => number.clone().prop_map(|number| Entry::Revived { number }),
        2 => number.prop_map(|number| Entry::Forgotten { number }),
        1 => Just(Entry::Stopped { at }),
    ]
}

fn past_of(entries: &[Entry]) -> Past {
    let mut past = Past::default();
    entries.iter().cloned().for_each(|entry| past.apply(entry));
    past
}

fn bytes_of(entries: &[Entry]) -> Vec<u8> {
    entries.iter().fold(frame::header().to_vec(), |mut bytes, entry| {
        bytes.extend(frame::frame(&serde_json::to_vec(entry).unwrap()).unwrap());
        bytes
    })
}

/// The past that these bytes tell, put into a storage and opened as a sandbox would.
fn opened(dir: &Path, bytes: &[u8]) -> restore::Restored {
    std::fs::write(dir.join("journal"), bytes).unwrap();
    restore::open(dir)
}

/// Ids and ends, as a client would see them.
fn seen(restored: &restore::Restored) -> Vec<(u64, EndReason, Option<i32>)> {
    restored.commands.iter().map(|it| (it.number, it.ended.end.reason, it.ended.end.code)).collect()
}

/// The same of a past, by hand.
fn expected(past: &Past) -> Vec<(u64, EndReason, Option<i32>)> {
    let of = |(number, item): (u64, &Item)| match item {
        Item::Session(_) => None,
        Item::Command(item) => Some(match (&item.ended, item.stopped) {
            (Some(ended), _) => (number, ended.end.reason, ended.end.code),
            (None, Some(_)) => (number, EndReason::SandboxStopped, None),
            (None, None) => (number, EndReason::HostLost, None),
        }),
    };
    past.items().filter_map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_shortened_journal_tells_the_same(entries in proptest::collection::vec(entry(), 0..40)) {
        let past = past_of(&entries);
        let again = past_of(&past.entries());
        let live = |past: &Past| past.items().map(|(number, item)| (number, match item {
            Item::Command(item) => (Some(item.ended.clone()), None),
            Item::Session(item) => (None, Some(item.end.clone())),
        })).collect::<Vec<_>>();
        prop_assert_eq!(live(&past), live(&again));
        prop_assert!(past.entries().len() <= entries.len());
    }

    #[test]
    fn any_cut_or_changed_byte_leaves_what_was_true_before_it(
        entries in proptest::collection::vec(entry(), 1..12),
        at in any::<prop::sample::Index>(),
        flip in proptest::option::of(1..=255_u8),
    ) {
        let mut bytes = bytes_of(&entries);
        let at = at.index(bytes.len());
        match flip {
            Some(flip) => bytes[at] ^= flip,
            None => bytes.truncate(at),
        }
        let whole = (0..=entries.len()).rev().find(|count| bytes_of(&entries[..*count]).len() <= at).unwrap_or(0);
        let dir = tempfile::tempdir().unwrap();
        let first = opened(dir.path(), &bytes);
        prop_assert_eq!(seen(&first), expected(&past_of(&entries[..whole])));
        drop(first);
        let second = restore::open(dir.path());
        prop_assert_eq!(seen(&second), expected(&past_of(&entries[..whole])), "it is as true in the life after");
        prop_assert!(second.fault.is_none());
    }
}

/// A write that a crash cut short, at each place where that can be: everything before it is there, and the next life
/// goes on from it.
#[test]
fn a_tail_that_is_torn_at_any_byte_costs_nothing_before_it() {
    let entries = [
        Entry::Began { number: 1, began: began(1) },
        Entry::Ended { number: 1, ended: ended(7) },
        Entry::Began { number: 2, began: began(2) },
        Entry::Ended { number: 2, ended: ended(0) },
    ];
    let ends: Vec<usize> = (0..=entries.len()).map(|count| bytes_of(&entries[..count]).len()).collect();
    let whole = bytes_of(&entries);
    for cut in 0..=whole.len() {
        let dir = tempfile::tempdir().unwrap();
        let known = ends.iter().rposition(|end| *end <= cut).unwrap_or(0);
        let restored = opened(dir.path(), &whole[..cut]);
        assert_eq!(seen(&restored), expected(&past_of(&entries[..known])), "cut at {cut}");
        let log = Log::lost(crate::log::Length::default(), None);
        Note::new(&restored.journal).begin(|| began(3), &log).unwrap();
        drop(restored);
        let after = restore::open(dir.path());
        assert_eq!(seen(&after).len(), expected(&past_of(&entries[..known])).len() + 1, "cut at {cut}");
        assert!(after.fault.is_none(), "cut at {cut}: {:?}", after.fault);
    }
}

#[test]
fn a_journal_of_another_version_is_put_aside() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = bytes_of(&[Entry::Began { number: 1, began: began(1) }]);
    bytes[8] = 2;
    let restored = opened(dir.path(), &bytes);
    assert!(restored.commands.is_empty());
    assert!(restored.fault.unwrap().contains("version 2"));
    assert_eq!(std::fs::read(dir.path().join("journal.version-2")).unwrap(), bytes);
}

#[test]
fn something_that_is_no_file_is_put_aside() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("journal")).unwrap();
    let restored = restore::open(dir.path());
    assert!(restored.fault.is_some() && dir.path().join("journal").is_file());
}

#[test]
fn a_journal_does_not_grow_without_bound() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
    let longest = runtime.block_on(async {
        let journal = restore::open(dir.path()).journal;
        let mut longest = 0;
        for number in 0..6000 {
            let note = Note::new(&journal);
            let log = Log::new(Store::Dir(note.log_dir()), Limits::default());
            note.begin(|| began(number), &log).unwrap();
            note.ended(ended(0));
            note.forget(&log);
            longest = longest.max(std::fs::metadata(dir.path().join("journal")).unwrap().len());
            tokio::task::yield_now().await;
        }
        // What looks after it runs beside this.
        for _ in 0..500 {
            if std::fs::metadata(dir.path().join("journal")).unwrap().len() < 512 * 1024 {
                break;
            }
            Note::new(&journal).begin(|| began(1), &Log::lost(crate::log::Length::default(), None)).unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        journal.synced().await.unwrap();
        std::fs::metadata(dir.path().join("journal")).unwrap().len()
    });
    assert!(longest < 1024 * 1024, "{longest}");
    assert_eq!(std::fs::read_dir(dir.path().join("logs")).map_or(0, Iterator::count), 0);
}

#[test]
fn nothing_is_written_once_the_storage_may_be_somebody_elses() {
    let dir = tempfile::tempdir().unwrap();
    let journal = restore::open(dir.path()).journal;
    let note = Note::new(&journal);
    let log = Log::lost(crate::log::Length::default(), None);
    note.begin(|| began(1), &log).unwrap();
    journal.stop();
    journal.close();
    let before = std::fs::read(dir.path().join("journal")).unwrap();
    note.ended(ended(0));
    Note::new(&journal).begin(|| began(2), &log).unwrap_err();
    assert_eq!(std::fs::read(dir.path().join("journal")).unwrap(), before);
    let Scan::Frames(payloads, Rest::Clean) = frame::scan(&before) else { panic!("not whole") };
    assert_eq!(payloads.len(), 2);
    drop(Arc::clone(&journal));
}
