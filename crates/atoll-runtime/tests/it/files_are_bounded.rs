//! What files cost: nothing for holes, the same memory for little and for much, and nothing at all when nobody asks.
//!
//! `ATOLL_FILES_MB` makes the large file larger.

use std::time::{Duration, Instant};

use atoll_files::ask::{Condition, Range, WriteOptions};
use atoll_protocol::{EditRequest, EditText, ErrorCode, PackOptions, SearchRequest, UnpackOptions};
use atoll_runtime::Error;
use atoll_runtime::files::{Files, Naming, ReadOptions, Reading};

use crate::harness::{Fixture, skip, soon};

in_every_mode! {
    isolated {
        five_gigabytes_of_nothing_cost_nothing,
        memory_does_not_grow_with_files,
        a_worker_that_nobody_needs_ends,
    }
}

const GIGABYTES: u64 = 5 * 1024 * 1024 * 1024;

async fn five_gigabytes_of_nothing_cost_nothing(f: &Fixture) {
    let files = f.sandbox.files(None);
    f.say("mkdir t; truncate -s 5G t/sparse; printf end | dd of=t/sparse bs=1 seek=4G conv=notrunc 2>/dev/null").await;
    assert_eq!(soon(files.stat(b"t/sparse", true)).await.unwrap().size, GIGABYTES);
    let part = ReadOptions {
        range: Some(Range::Between { start: GIGABYTES - GIGABYTES / 5 - 1, last: GIGABYTES - GIGABYTES / 5 + 3 }),
        ..ReadOptions::default()
    };
    let Reading::Open(mut content) = soon(files.read(b"t/sparse", part)).await.unwrap() else { panic!("not open") };
    assert_eq!(soon(content.next()).await.unwrap().unwrap(), &b"\0end\0"[..]);
    drop(content);
    assert_eq!(soon(files.copy(b"t/sparse", b"copied", false, Naming::default())).await.unwrap(), 1);
    // As an archive it is as short as what is in it, and comes out as it was.
    let mut packing = soon(files.pack(b"t", &PackOptions::default())).await.unwrap();
    let mut archive = Vec::new();
    while let Some(piece) = soon(packing.next()).await.unwrap() {
        archive.extend_from_slice(&piece);
    }
    assert!(archive.len() < 1024 * 1024, "{} bytes", archive.len());
    let mut sending = soon(files.unpack(b"out", &UnpackOptions::default())).await.unwrap();
    soon(sending.send(&archive)).await.unwrap();
    soon(sending.finish()).await.unwrap();
    for copy in [&b"copied"[..], b"out/sparse"] {
        let facts = soon(files.stat(copy, true)).await.unwrap();
        assert!(facts.size == GIGABYTES && facts.allocated < 1024 * 1024, "{facts:?}");
        let end = ReadOptions { range: Some(Range::From { start: 4 << 30 }), ..ReadOptions::default() };
        let Reading::Open(mut content) = soon(files.read(copy, end)).await.unwrap() else { panic!("not open") };
        assert!(soon(content.next()).await.unwrap().unwrap().starts_with(b"end"));
    }
    // What is held in memory is refused by its size, before it is read.
    let text = EditText { old: "end".to_owned(), new: "start".to_owned(), count: None, all: false };
    let edited = soon(files.edit(b"t/sparse", &EditRequest { edits: vec![text], ..EditRequest::default() })).await;
    assert_eq!(edited.unwrap_err().code(), ErrorCode::FileTooLarge);
    // Both together are gone with what they are in.
    assert_eq!(soon(files.move_to(b"copied", b"out/moved", Naming::default())).await.unwrap().size, GIGABYTES);
    assert_eq!(soon(files.remove(b"out", true, false, Condition::Any)).await.unwrap(), 3);
}

async fn memory_does_not_grow_with_files(f: &Fixture) {
    let megabytes = std::env::var("ATOLL_FILES_MB").ok().and_then(|text| text.parse().ok()).unwrap_or(192);
    let files = f.sandbox.files(None);
    let mut peaks = Vec::new();
    for size in [1, megabytes] {
        // A peak is that of the work from here on (proc(5)).
        if std::fs::write("/proc/self/clear_refs", "5").is_err() {
            return skip("peaks of memory cannot be reset");
        }
        work(&files, size * 1024 * 1024).await.unwrap();
        let own = std::fs::read_to_string("/proc/self/status").unwrap();
        let Some(worker) = worker(f).await else { return skip("a worker's memory is not told inside") };
        peaks.push((peak(&own).unwrap(), worker));
    }
    let [(own, worker), (own_large, worker_large)] = peaks[..] else { panic!("{peaks:?}") };
    // In KiB. The worker has one buffer for whatever it does; here pieces are on the way between tasks.
    assert!(worker_large <= worker + 2048, "the worker: {worker} KiB, then {worker_large}");
    assert!(own_large <= own + 16 * 1024, "the agent: {own} KiB, then {own_large}");
}

/// In, out, searched, packed, unpacked, copied.
async fn work(files: &Files, size: u64) -> Result<(), Error> {
    const PIECE: usize = 256 * 1024;
    let mut upload = files.write(b"file", WriteOptions::default()).await?;
    // Lines, so that a search has something to do.
    let piece: Vec<u8> = b"nothing to be found in this line\n".iter().copied().cycle().take(PIECE).collect();
    for _ in 0..size / PIECE as u64 {
        upload.send(&piece).await?;
    }
    upload.finish().await?;
    if let Reading::Open(mut content) = files.read(b"file", ReadOptions::default()).await? {
        while content.next().await?.is_some() {}
    }
    let request = SearchRequest { pattern: "needle".to_owned(), ..SearchRequest::default() };
    let mut found = files.search(b".", &request).await?;
    while found.next().await?.is_some() {}
    files.copy(b"file", b"copy", false, Naming { replace: true, parents: false }).await?;
    let mut packing = files.pack(b"file", &PackOptions::default()).await?;
    let mut sending = files.unpack(b"out", &UnpackOptions::default()).await?;
    while let Some(piece) = packing.next().await? {
        sending.send(&piece).await?;
    }
    sending.finish().await?;
    files.remove(b"out", true, false, Condition::Any).await.map(drop)
}

fn peak(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// The peak of the worker, as is told inside, where it has a name of its own.
async fn worker(f: &Fixture) -> Option<u64> {
    let look = "for p in /proc/[0-9]*; do read -r name < $p/comm; case $name in atoll-files|3) cat $p/status;; esac; \
                done 2>/dev/null; true";
    peak(&f.say(look).await)
}

async fn a_worker_that_nobody_needs_ends(f: &Fixture) {
    let files = f.sandbox.files(None);
    soon(files.stat(b".", true)).await.unwrap();
    assert!(worker(f).await.is_some(), "it is there");
    let deadline = Instant::now() + Duration::from_secs(120);
    while worker(f).await.is_some() {
        assert!(Instant::now() < deadline, "it is still there");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    // And comes again.
    soon(files.stat(b".", true)).await.unwrap();
    assert!(worker(f).await.is_some());
}
