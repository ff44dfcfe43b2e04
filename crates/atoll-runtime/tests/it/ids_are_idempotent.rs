//! A start that is repeated under its id finds the first one, running or ended, and never runs twice.

use std::time::Duration;

use atoll_protocol::{ErrorCode, ProcessId, ProcessState};
use atoll_runtime::{Command, Error};

use crate::harness::{Fixture, id, log_text, named, out, soon};

in_every_mode! {
    one_thread {
        a_finished_one_is_returned_again,
        a_repeated_exec_gets_the_same_answer,
        a_repeated_exec_does_not_hear_what_came_later,
        a_different_command_under_the_id_is_refused,
        a_failed_start_frees_its_id,
        unknown_ids_are_not_found,
        made_up_ids_differ,
    }
    many_threads {
        twenty_at_once_run_once,
        twenty_execs_at_once_get_the_same_answer,
    }
}

async fn twenty_at_once_run_once(f: &Fixture) {
    f.say("mkfifo go").await;
    let script = "echo ran >> ran; echo hello; read x < go";
    let starts: Vec<_> = (0..20)
        .map(|_| {
            let sandbox = f.sandbox.clone();
            tokio::spawn(async move { sandbox.start(named("one", Command::shell(script))).await })
        })
        .collect();
    let mut pids = Vec::new();
    for start in starts {
        let process = soon(start).await.unwrap().unwrap();
        assert_eq!(process.id(), &id("one"));
        pids.push(process.info().pid.unwrap());
    }
    pids.dedup();
    assert_eq!(pids.len(), 1);
    assert_eq!(f.listed(), [id("one")]);
    f.say("echo > go").await;
    let process = f.sandbox.process(&id("one")).unwrap();
    assert!(soon(process.ended()).await.unwrap().success());
    assert_eq!(f.say("cat ran").await, "ran\n");
    assert_eq!(log_text(&process).await, "hello\n");
}

async fn twenty_execs_at_once_get_the_same_answer(f: &Fixture) {
    let execs: Vec<_> = (0..20)
        .map(|_| {
            let sandbox = f.sandbox.clone();
            let command = Command::shell("echo ran >> ran; echo hello; echo oh >&2; exit 3");
            tokio::spawn(async move { sandbox.exec_with(named("one", command), 1000).await })
        })
        .collect();
    let mut ends = Vec::new();
    for exec in execs {
        let output = soon(exec).await.unwrap().unwrap();
        assert_eq!(out(&output), "hello\n");
        assert_eq!(output.stderr.head, b"oh\n");
        assert_eq!(output.cursor, 9);
        ends.push(output.end);
    }
    assert!(ends.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(f.say("cat ran").await, "ran\n");
}

async fn a_finished_one_is_returned_again(f: &Fixture) {
    let spec = || named("one", Command::shell("echo ran >> ran; exit 7"));
    let first = soon(f.sandbox.start(spec())).await.unwrap();
    let end = soon(first.ended()).await.unwrap();
    soon(first.gone()).await.unwrap();
    let second = soon(f.sandbox.start(spec())).await.unwrap();
    assert_eq!(second.end(), Some(end));
    assert_eq!(second.state(), ProcessState::Ended);
    assert_eq!(f.say("cat ran").await, "ran\n");
    // Once it is removed, the id is free.
    f.sandbox.remove_process(&id("one")).unwrap();
    let third = soon(f.sandbox.start(spec())).await.unwrap();
    assert_eq!(soon(third.ended()).await.unwrap().code, Some(7));
    assert_eq!(f.say("cat ran").await, "ran\nran\n");
}

async fn a_repeated_exec_gets_the_same_answer(f: &Fixture) {
    let spec = || named("one", Command::shell("echo ran >> ran; seq 1 5000; exit 4"));
    let first = soon(f.sandbox.exec_with(spec(), 1000)).await.unwrap();
    let second = soon(f.sandbox.exec_with(spec(), 1000)).await.unwrap();
    assert_eq!(
        (first.end, first.stdout, first.stderr, first.cursor),
        (second.end, second.stdout, second.stderr, second.cursor)
    );
    assert_eq!(f.say("cat ran").await, "ran\n");
}

/// The answer is what the command had printed when it ended, then as now.
async fn a_repeated_exec_does_not_hear_what_came_later(f: &Fixture) {
    f.say("mkfifo go").await;
    let spec = || named("one", Command::shell("(read x < go; echo later) & echo now"));
    let first = soon(f.sandbox.exec_with(spec(), 1000)).await.unwrap();
    f.say("echo > go").await;
    let process = f.sandbox.process(&id("one")).unwrap();
    soon(process.gone()).await.unwrap();
    assert_eq!(log_text(&process).await, "now\nlater\n");
    let second = soon(f.sandbox.exec_with(spec(), 1000)).await.unwrap();
    assert_eq!((out(&first).as_str(), first.cursor), ("now\n", 4));
    assert_eq!((out(&second).as_str(), second.cursor), ("now\n", 4));
}

async fn a_different_command_under_the_id_is_refused(f: &Fixture) {
    let process = soon(f.sandbox.start(named("one", Command::shell("sleep 300")))).await.unwrap();
    let mut other_env = Command::shell("sleep 300");
    other_env.env.insert("A".into(), Some("1".into()));
    let mut other_cwd = Command::shell("sleep 300");
    other_cwd.cwd = Some("/".into());
    for command in [Command::shell("echo ran > ran"), Command::argv(["sleep", "300"]), other_env, other_cwd] {
        let refused = soon(f.sandbox.start(named("one", command.clone()))).await.unwrap_err();
        assert!(matches!(&refused, Error::ProcessAlreadyExists { id } if id == "one"), "{refused:?}");
        assert_eq!((refused.code(), refused.code().status()), (ErrorCode::ProcessAlreadyExists, 409));
        assert!(refused.hint().is_some());
        let refused = soon(f.sandbox.exec_with(named("one", command), 10)).await.unwrap_err();
        assert!(matches!(refused, Error::ProcessAlreadyExists { .. }), "{refused:?}");
    }
    assert_eq!(process.state(), ProcessState::Running);
    assert_eq!(f.say("ls").await, "");
    soon(process.kill(Duration::ZERO)).await.unwrap();
    // Ended is not gone: its result is still known by the id.
    let refused = soon(f.sandbox.start(named("one", Command::shell("true")))).await.unwrap_err();
    assert!(matches!(refused, Error::ProcessAlreadyExists { .. }), "{refused:?}");
}

/// What never ran does not hold its id.
async fn a_failed_start_frees_its_id(f: &Fixture) {
    let refused = soon(f.sandbox.start(named("one", Command::argv(["/no/such"])))).await.unwrap_err();
    assert!(matches!(refused, Error::CommandNotFound { .. }), "{refused:?}");
    let output = soon(f.sandbox.exec_with(named("one", Command::shell("echo ok")), 100)).await.unwrap();
    assert_eq!(out(&output), "ok\n");
}

async fn unknown_ids_are_not_found(f: &Fixture) {
    let missing = f.sandbox.process(&id("nobody")).unwrap_err();
    assert!(matches!(&missing, Error::ProcessNotFound { id } if id == "nobody"), "{missing:?}");
    let missing = f.sandbox.remove_process(&id("nobody")).unwrap_err();
    assert!(matches!(missing, Error::ProcessNotFound { .. }), "{missing:?}");
}

#[test]
fn ids_that_break_the_rules_are_refused() {
    let long = "x".repeat(65);
    for bad in ["", ".", "..", "-x", "_x", "a b", "a/b", "a\0", "\u{e4}", "a\n", long.as_str()] {
        let refused = ProcessId::new(bad).unwrap_err().to_string();
        assert!(refused.contains("is not a valid process id"), "{refused}");
    }
    let longest = "x".repeat(64);
    for good in ["a", "0", "A.b_c-d:e", longest.as_str()] {
        assert_eq!(ProcessId::new(good).unwrap().as_str(), good);
    }
}

async fn made_up_ids_differ(f: &Fixture) {
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(f.start("true").await.id().clone());
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 20);
}
