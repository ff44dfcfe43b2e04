//! A gigabyte on one line: exact, readable from every cursor, in constant memory.

use atoll_protocol::Stream;
use atoll_runtime::{Command, Log, LogEvent, ProcessSpec};

use crate::harness::{Fixture, skip};

in_every_mode! {
    one_thread {
        heavy_random_cursors_of_a_long_log,
    }
    many_threads {
        heavy_one_gigabyte_on_one_line,
    }
}

const TOTAL: u64 = 1_000_000_000;

/// A prime, so that no border of a page or pipe falls on the same place of the pattern twice.
const PERIOD: usize = 977;

/// What one look may cost beyond what the process needed before, in kilobytes.
const GROWTH_KB: u64 = 24 * 1024;

/// Enough repetitions to compare any event with a slice of it.
fn pattern() -> Vec<u8> {
    let letters = b"abcdefghijklmnopqrstuvwxyz0123456789".iter().copied();
    let period: Vec<u8> = letters.cycle().take(PERIOD).collect();
    period.into_iter().cycle().take(1 << 20).collect()
}

fn is_exact(pattern: &[u8], cursor: u64, bytes: &[u8]) -> bool {
    let from = usize::try_from(cursor % PERIOD as u64).unwrap();
    bytes == &pattern[from..from + bytes.len()]
}

/// The most memory this process ever had, in kilobytes.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Follows a log to its end; `true` if every byte came once and in order.
async fn follow(log: Log, pattern: Vec<u8>) -> u64 {
    let mut reader = log.reader(0);
    let mut cursor = 0;
    while let Some(event) = reader.next().await {
        let LogEvent::Output(chunk) = event else {
            panic!("a gap at {cursor}: {event:?}");
        };
        assert_eq!((chunk.cursor, chunk.stream), (cursor, Stream::Stdout));
        assert!(is_exact(&pattern, cursor, &chunk.bytes), "wrong bytes at {cursor}");
        cursor = chunk.end();
    }
    cursor
}

/// Pages through a log by cursor.
async fn page(log: &Log, pattern: &[u8]) -> u64 {
    let mut since = 0;
    loop {
        let page = log.read(since, 1_000_003, None).await;
        for event in page.events {
            let chunk = event.into_output().expect("output, no gap");
            assert_eq!(chunk.cursor, since);
            assert!(is_exact(pattern, since, &chunk.bytes), "wrong bytes at {since}");
            since = chunk.end();
        }
        assert_eq!(page.next_cursor, since);
        if page.closed {
            return since;
        }
    }
}

async fn heavy_one_gigabyte_on_one_line(f: &Fixture) {
    if std::env::var_os("NEXTEST").is_none() {
        return skip("memory is measured, which needs a process of its own: use cargo nextest");
    }
    let pattern = pattern();
    let text = String::from_utf8(pattern[..PERIOD].to_vec()).unwrap();
    let command = Command::shell(format!("yes {text} | tr -d '\\n' | head -c {TOTAL}"));
    let before = peak_kb();
    let spec = crate::harness::named("gigabyte", command);
    let answer = tokio::spawn({
        let (sandbox, spec) = (f.sandbox.clone(), spec.clone());
        async move { sandbox.exec_with(spec, 10_000).await.unwrap() }
    });
    // The same id: finds the command, or is found by the exec; either way there is one.
    let process = f.sandbox.start(spec).await.unwrap();
    let live = tokio::spawn(follow(process.log().clone(), pattern.clone()));
    let output = answer.await.unwrap();
    assert!(output.end.success(), "{:?}", output.end);
    assert_eq!(live.await.unwrap(), TOTAL);
    assert_eq!(page(process.log(), &pattern).await, TOTAL);
    assert_eq!((process.log().end(), output.cursor), (TOTAL, TOTAL));

    let kept = &output.stdout;
    let (head, tail) = (kept.head.len() as u64, kept.tail.len() as u64);
    assert_eq!((head + tail, head + kept.omitted + tail), (10_000, TOTAL));
    assert_eq!(kept.omitted_from, Some(head));
    assert!(is_exact(&pattern, 0, &kept.head));
    assert!(is_exact(&pattern, TOTAL - tail, &kept.tail));

    let grown = peak_kb() - before;
    assert!(grown < GROWTH_KB, "memory grew by {grown} kB");
}

/// Reading at any cursor of a long log is exact too.
async fn heavy_random_cursors_of_a_long_log(f: &Fixture) {
    let pattern = pattern();
    let text = String::from_utf8(pattern[..PERIOD].to_vec()).unwrap();
    let total = 60_000_000;
    let command = Command::shell(format!("yes {text} | tr -d '\\n' | head -c {total}"));
    let process = f.start_command(ProcessSpec::new(command).command).await;
    process.gone().await.unwrap();
    let mut random = crate::harness::Random(3);
    for _ in 0..300 {
        let since = random.next() % total;
        let limit = 1 + random.below(200_000);
        let page = process.log().read(since, limit, None).await;
        let read: u64 = page.events.iter().map(|event| event.next_cursor()).max().unwrap() - since;
        assert_eq!(read, (limit as u64).min(total - since));
        let mut at = since;
        for event in page.events {
            let chunk = event.into_output().unwrap();
            assert_eq!(chunk.cursor, at);
            assert!(is_exact(&pattern, at, &chunk.bytes));
            at = chunk.end();
        }
    }
}
