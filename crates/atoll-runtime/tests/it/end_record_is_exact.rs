//! The end record says how a command ended, and nothing that is not known.

use std::time::SystemTime;

use atoll_protocol::{EndReason, Signal, Timestamp};
use atoll_runtime::Command;

use crate::harness::{Fixture, assert_exited, out, soon};

in_every_mode! {
    one_thread {
        codes_are_those_of_the_program,
        signals_are_told_as_signals,
        a_crash_is_a_signal,
        a_shells_own_128_plus_n_is_a_code,
        a_busy_loop_costs_user_time,
        children_count,
        the_largest_resident_set_is_told,
        times_are_in_order,
        survivors_are_counted_at_the_end,
        an_exec_and_its_process_have_the_same_record,
    }
}

async fn codes_are_those_of_the_program(f: &Fixture) {
    for code in [0, 1, 2, 3, 42, 100, 125, 126, 127, 128, 129, 137, 143, 200, 254, 255] {
        let output = f.sh(&format!("exit {code}")).await;
        assert_exited(&output, code);
        assert_eq!(output.end.success(), code == 0);
    }
    let output = soon(f.sandbox.exec(Command::argv(["false"]))).await.unwrap();
    assert_exited(&output, 1);
}

/// All but QUIT, which bash ignores.
async fn signals_are_told_as_signals(f: &Fixture) {
    for number in [1, 2, 6, 9, 11, 15, 34, 64] {
        let output = f.sh(&format!("kill -{number} $$; sleep 300")).await;
        let end = &output.end;
        assert_eq!(end.reason, EndReason::Signaled, "{number}");
        assert_eq!((end.code, end.signal), (None, Signal::from_number(number)));
        assert!(!end.timed_out && !end.oom_killed && !end.success());
    }
}

/// A crash, not a signal that somebody sent.
async fn a_crash_is_a_signal(f: &Fixture) {
    if !f.has("perl").await {
        return crate::harness::skip("no perl inside");
    }
    let command = Command::argv(["perl", "-e", "unpack 'p', pack 'Q', 1; $x = unpack 'p', pack 'Q', 1; print $x"]);
    let output = soon(f.sandbox.exec(command)).await.unwrap();
    assert_eq!((output.end.reason, output.end.signal), (EndReason::Signaled, Signal::from_number(11)));
}

async fn a_shells_own_128_plus_n_is_a_code(f: &Fixture) {
    let output = f.sh(r#"bash -c 'kill -9 $$'; exit $?"#).await;
    assert_exited(&output, 137);
    let output = f.sh(r#"bash -c 'kill -TERM $$'; echo "saw $?"; false || exit"#).await;
    assert_eq!(out(&output), "saw 143\n");
    assert_exited(&output, 1);
}

async fn a_busy_loop_costs_user_time(f: &Fixture) {
    let output = f.sh("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done").await;
    let end = &output.end;
    let user = end.cpu_user_ms.unwrap();
    assert!(user > 0, "{end:?}");
    assert!(user + end.cpu_system_ms.unwrap() <= end.duration_ms + 50, "{end:?}");
}

/// Children that it waited for count.
async fn children_count(f: &Fixture) {
    let output = f.sh("bash -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; true").await;
    assert!(output.end.cpu_user_ms.unwrap() > 0, "{:?}", output.end);
    let output = f.sh("head -c 3000000000 /dev/zero > /dev/null; true").await;
    assert!(output.end.cpu_system_ms.unwrap() > 0, "{:?}", output.end);
}

async fn the_largest_resident_set_is_told(f: &Fixture) {
    // Holds 40 MB in a variable of the shell itself.
    let output = f.sh("x=$(head -c 40000000 /dev/zero | tr '\\0' x); echo ${#x}").await;
    assert_eq!(out(&output), "40000000\n");
    let large = output.end.max_rss_bytes.unwrap();
    assert!(large > 40_000_000, "{large}");
    let small = f.sh("true").await.end.max_rss_bytes.unwrap();
    assert!((500_000..30_000_000).contains(&small), "{small}");
}

async fn times_are_in_order(f: &Fixture) {
    let before = Timestamp::from(SystemTime::now());
    let output = f.sh("sleep 0.3").await;
    let after = Timestamp::from(SystemTime::now());
    let end = &output.end;
    assert!(before <= end.started_at && end.started_at < end.ended_at && end.ended_at <= after);
    assert!((300..15_000).contains(&end.duration_ms), "{end:?}");
    let wall = end.ended_at.as_millis() - end.started_at.as_millis();
    assert!(wall.abs_diff(end.duration_ms) < 100, "{end:?}");
}

/// The end of the main process counts, not that of what it left behind.
async fn survivors_are_counted_at_the_end(f: &Fixture) {
    let output = f.sh("for i in 1 2 3; do sleep 300 & done; exit 4").await;
    let end = &output.end;
    assert_eq!((end.reason, end.code, end.survivors), (EndReason::Exited, Some(4), 3));
}

async fn an_exec_and_its_process_have_the_same_record(f: &Fixture) {
    let spec = crate::harness::named("same", Command::shell("exit 6"));
    let output = soon(f.sandbox.exec_with(spec, 100)).await.unwrap();
    let process = f.sandbox.process(&output.id).unwrap();
    assert_eq!(process.end().as_ref(), Some(&output.end));
    assert_eq!(process.info().end.as_ref(), Some(&output.end));
    assert_eq!(soon(process.wait_exit(None)).await.unwrap(), output.end);
}
