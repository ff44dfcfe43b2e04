//! Waits for the end and for output: with a time of their own that never touches the process, and ended early with
//! their own error when the process ends.

use std::time::{Duration, Instant};

use atoll_protocol::{ErrorCode, ProcessState, Stream};
use atoll_runtime::{Error, LogPattern, Process};

use crate::harness::{AT_ONCE, Fixture, printed, soon};

in_every_mode! {
    one_thread {
        the_end_in_time_and_not,
        text_that_was_printed_before,
        text_that_comes_in_pieces,
        text_over_lines_but_not_over_streams,
        text_far_back_in_a_long_log,
        a_line_by_regex,
        a_regex_sees_bytes_that_are_no_text,
        a_pattern_that_cannot_be_right,
        the_end_comes_before_the_text,
        last_words_are_found,
        survivors_are_not_waited_for,
    }
    many_threads {
        many_wait_for_one_end,
    }
}

/// A limit that is meant to run out.
const SHORT: Duration = Duration::from_millis(150);

fn text(text: &str) -> LogPattern {
    LogPattern::Text(text.to_owned())
}

fn regex(text: &str) -> LogPattern {
    LogPattern::Regex(text.to_owned())
}

/// A process that prints its second part when told.
async fn in_two_parts(f: &Fixture, first: &str, second: &str) -> Process {
    f.say("mkfifo go").await;
    f.start(&format!("{first}; read x < go; {second}; sleep 300")).await
}

#[track_caller]
fn assert_timeout(result: Result<impl std::fmt::Debug, Error>, process: &Process) {
    let error = result.unwrap_err();
    assert!(matches!(error, Error::WaitTimeout { millis: 150, .. }), "{error:?}");
    assert_eq!((error.code(), error.code().status()), (ErrorCode::WaitTimeout, 408));
    assert_eq!(process.state(), ProcessState::Running, "a wait never touches the process");
    assert_eq!(process.end(), None);
}

#[track_caller]
fn assert_ended(result: Result<impl std::fmt::Debug, Error>, process: &Process) {
    let error = result.unwrap_err();
    assert!(matches!(&error, Error::EndedWhileWaiting { id, .. } if id == process.id().as_str()), "{error:?}");
    assert_eq!(error.code(), ErrorCode::ProcessEnded);
}

async fn the_end_in_time_and_not(f: &Fixture) {
    f.say("mkfifo go").await;
    let process = f.start("read x < go; exit 3").await;
    assert_timeout(process.wait_exit(Some(SHORT)).await, &process);
    f.say("echo > go").await;
    assert_eq!(process.wait_exit(Some(AT_ONCE)).await.unwrap().code, Some(3));
    assert_eq!(process.wait_exit(Some(Duration::ZERO)).await.unwrap().code, Some(3), "and again");
}

async fn many_wait_for_one_end(f: &Fixture) {
    f.say("mkfifo go").await;
    let process = f.start("read x < go; exit 3").await;
    let waits: Vec<_> = (0..100)
        .map(|_| {
            let process = process.clone();
            tokio::spawn(async move { process.wait_exit(None).await })
        })
        .collect();
    f.say("echo > go").await;
    for wait in waits {
        assert_eq!(soon(wait).await.unwrap().unwrap().code, Some(3));
    }
}

async fn text_that_was_printed_before(f: &Fixture) {
    let process = f.start("printf 'one two\\nthree'; printf 'oops\\n' >&2; sleep 300").await;
    printed(&process, "oops").await;
    let found = soon(process.wait_log(&text("two"), 0, None)).await.unwrap();
    assert_eq!(found.stream, Stream::Stdout);
    assert!(String::from_utf8(found.line).unwrap().starts_with("one two"));
    let found = soon(process.wait_log(&text("oops"), 0, None)).await.unwrap();
    assert_eq!(found.stream, Stream::Stderr);
    // Only what comes from the cursor on counts.
    assert_timeout(process.wait_log(&text("two"), process.log().end(), Some(SHORT)).await, &process);
}

async fn text_that_comes_in_pieces(f: &Fixture) {
    let process = in_two_parts(f, "printf 'listening on po'", "printf 'rt 8080'").await;
    printed(&process, "listening on po").await;
    let pattern = text("on port 80");
    assert_timeout(process.wait_log(&pattern, 0, Some(SHORT)).await, &process);
    let wait = process.wait_log(&pattern, 0, None);
    let (found, ()) = soon(async { tokio::join!(wait, async { drop(f.say("echo > go").await) }) }).await;
    assert!(found.unwrap().cursor <= process.log().end());
}

/// Text may span lines; the two outputs are two texts.
async fn text_over_lines_but_not_over_streams(f: &Fixture) {
    let process = f.start("printf 'a\\nb'; printf 'c\\n' >&2; printf 'd\\n'; echo end; sleep 300").await;
    printed(&process, "end").await;
    soon(process.wait_log(&text("a\nbd"), 0, None)).await.unwrap();
    assert_timeout(process.wait_log(&text("bc"), 0, Some(SHORT)).await, &process);
}

async fn text_far_back_in_a_long_log(f: &Fixture) {
    let process = f.start("echo needle; seq 1 300000; echo last; sleep 300").await;
    printed(&process, "\nlast\n").await;
    let found = soon(process.wait_log(&text("needle"), 0, None)).await.unwrap();
    assert_eq!(found.cursor, 6);
}

async fn a_line_by_regex(f: &Fixture) {
    let process =
        in_two_parts(f, "printf 'port: 80'", "printf '81 open\\nnext\\n' >&2; printf '81 open\\nnext\\n'").await;
    let pattern = regex(r"^port: (\d+) open$");
    let wait = process.wait_log(&pattern, 0, None);
    let (found, ()) = soon(async { tokio::join!(wait, async { drop(f.say("echo > go").await) }) }).await;
    let found = found.unwrap();
    assert_eq!((found.stream, &found.line[..]), (Stream::Stdout, &b"port: 8081 open"[..]));
    // A regular expression is for one line.
    assert_timeout(process.wait_log(&regex(r"open\s+next"), 0, Some(SHORT)).await, &process);
}

async fn a_regex_sees_bytes_that_are_no_text(f: &Fixture) {
    let process = f.start("printf 'a\\377b ready\\n'; sleep 300").await;
    soon(process.wait_log(&regex("ready$"), 0, None)).await.unwrap();
    soon(process.wait_log(&text("b ready"), 0, None)).await.unwrap();
}

async fn a_pattern_that_cannot_be_right(f: &Fixture) {
    let process = f.start("sleep 300").await;
    for pattern in [regex("(unclosed"), regex("a{999999}{999999}"), text("")] {
        let refused = soon(process.wait_log(&pattern, 0, None)).await.unwrap_err();
        assert!(matches!(refused, Error::Invalid { .. }), "{refused:?}");
        assert_eq!(refused.code(), ErrorCode::ValidationFailed);
    }
    assert_eq!(process.state(), ProcessState::Running);
}

async fn the_end_comes_before_the_text(f: &Fixture) {
    f.say("mkfifo go").await;
    let process = f.start("echo almost; read x < go").await;
    let began = Instant::now();
    let (pattern, other) = (text("never"), regex("^never$"));
    let waits = async {
        tokio::join!(
            process.wait_log(&pattern, 0, Some(Duration::from_secs(300))),
            process.wait_log(&other, 0, None),
            async { drop(f.say("echo > go").await) },
        )
    };
    let (by_text, by_regex, ()) = soon(waits).await;
    assert_ended(by_text, &process);
    assert_ended(by_regex, &process);
    assert!(began.elapsed() < AT_ONCE);
    // Long after the end as well.
    assert_ended(soon(process.wait_log(&pattern, 0, None)).await, &process);
}

/// A race that the text must win: it was printed.
async fn last_words_are_found(f: &Fixture) {
    for _ in 0..20 {
        let process = f.start("printf 'bye'").await;
        soon(process.wait_log(&text("bye"), 0, None)).await.unwrap();
        soon(process.wait_log(&regex("^bye$"), 0, None)).await.unwrap();
    }
}

/// The main process is over: what its survivors may print later is not waited for.
async fn survivors_are_not_waited_for(f: &Fixture) {
    let process = f.start("sleep 300 & echo x").await;
    assert_ended(soon(process.wait_log(&text("never"), 0, None)).await, &process);
    assert_eq!(process.state(), ProcessState::Lingering);
}
