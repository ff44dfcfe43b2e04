//! Signals by name or number, to the main process or to the whole tree.

use std::time::Duration;

use atoll_protocol::{EndReason, Signal};
use atoll_runtime::{Error, SignalScope};

use crate::harness::{Fixture, eventually, log_text, printed, printed_times, soon};

in_every_mode! {
    one_thread {
        the_main_process_by_name_and_number,
        every_process_of_the_tree,
        the_main_process_alone,
        stop_and_go_on,
        survivors_can_be_reached,
        nobody_is_left_to_signal,
    }
}

/// Says which signal came, and goes on. `wait` returns at once when a trapped signal comes.
const LISTENER: &str = "for s in HUP INT QUIT USR1 USR2 TERM WINCH RTMIN+3; do trap \"echo $s\" $s; done; \
    sleep 300 & child=$!; echo up; while kill -0 $child 2>/dev/null; do wait $child; done; echo over";

async fn the_main_process_by_name_and_number(f: &Fixture) {
    let process = f.start(LISTENER).await;
    printed(&process, "up").await;
    for (given, heard) in [
        ("HUP", "HUP"),
        ("SIGINT", "INT"),
        ("quit", "QUIT"),
        ("10", "USR1"),
        ("sigusr2", "USR2"),
        ("15", "TERM"),
        ("WINCH", "WINCH"),
        ("RTMIN+3", "RTMIN+3"),
    ] {
        let signal: Signal = given.parse().unwrap();
        assert_eq!(soon(process.signal(signal, SignalScope::Main)).await.unwrap(), 1);
        printed(&process, &format!("{heard}\n")).await;
    }
    let expected = "up\nHUP\nINT\nQUIT\nUSR1\nUSR2\nTERM\nWINCH\nRTMIN+3\n";
    assert_eq!(log_text(&process).await, expected);
    soon(process.kill(Duration::ZERO)).await.unwrap();
}

async fn every_process_of_the_tree(f: &Fixture) {
    let one = "trap 'echo heard' USR1; echo up; while :; do sleep 0.05; done";
    let process = f.start(&format!("({one}) & setsid bash -c \"{one}\" & ( ({one}) & ); trap 'echo main' USR1; echo up; while :; do sleep 0.05; done")).await;
    printed_times(&process, "up\n", 4).await;
    let signal: Signal = "USR1".parse().unwrap();
    let reached = soon(process.signal(signal, SignalScope::Tree)).await.unwrap();
    assert!(reached >= 4, "{reached}");
    printed_times(&process, "heard\n", 3).await;
    printed(&process, "main\n").await;
    assert_eq!(soon(process.kill(Duration::ZERO)).await.unwrap().survivors, 0);
}

async fn the_main_process_alone(f: &Fixture) {
    let process = f.start("sleep 300 & echo up; wait; echo never").await;
    printed(&process, "up").await;
    soon(process.signal(Signal::TERM, SignalScope::Main)).await.unwrap();
    let end = soon(process.ended()).await.unwrap();
    // Sent through the API, but it is no kill: the process might have lived on.
    assert_eq!((end.reason, end.signal), (EndReason::Signaled, Some(Signal::TERM)));
    assert_eq!(end.survivors, 1);
}

async fn stop_and_go_on(f: &Fixture) {
    let process = f.start("echo up; i=0; while :; do i=$((i+1)); done").await;
    printed(&process, "up").await;
    soon(process.signal(Signal::STOP, SignalScope::Main)).await.unwrap();
    let stopped = || f.alive().iter().all(|line| state(line) == Some('T'));
    eventually("it is stopped", stopped).await;
    soon(process.signal(Signal::CONT, SignalScope::Tree)).await.unwrap();
    eventually("it goes on", || !stopped()).await;
    soon(process.kill(Duration::ZERO)).await.unwrap();
}

/// The kernel's letter for what a listed process does.
fn state(line: &str) -> Option<char> {
    let pid = line.split(':').next()?;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next()?.chars().next()
}

async fn survivors_can_be_reached(f: &Fixture) {
    let output = f.sh("(trap 'echo heard; exit' USR1; echo up; while :; do sleep 0.05; done) & sleep 0.2").await;
    let process = f.sandbox.process(&output.id).unwrap();
    let usr1: Signal = "USR1".parse().unwrap();
    let error = soon(process.signal(usr1, SignalScope::Main)).await.unwrap_err();
    assert!(matches!(error, Error::ProcessEnded { .. }), "{error:?}");
    printed_times(&process, "up\n", 1).await;
    soon(process.signal(usr1, SignalScope::Tree)).await.unwrap();
    soon(process.gone()).await.unwrap();
    assert!(log_text(&process).await.starts_with("up\n"));
}

async fn nobody_is_left_to_signal(f: &Fixture) {
    let process = f.start("true").await;
    soon(process.gone()).await.unwrap();
    for scope in [SignalScope::Main, SignalScope::Tree] {
        let error = soon(process.signal(Signal::TERM, scope)).await.unwrap_err();
        assert!(matches!(error, Error::ProcessEnded { .. }), "{error:?}");
    }
}
