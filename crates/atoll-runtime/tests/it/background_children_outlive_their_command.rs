//! A command is over when its main process is; what it leaves behind is listed, heard and killable.

use std::time::{Duration, Instant};

use atoll_protocol::{EndReason, ProcessState};
use atoll_runtime::{Background, Command, Filter};

use crate::harness::{AT_ONCE, Fixture, assert_exited, err, eventually, log_text, named, out, printed, soon};

in_every_mode! {
    one_thread {
        the_answer_does_not_wait_for_it,
        it_is_listed_and_killable_with_a_receipt,
        what_it_prints_later_lands_in_its_own_log,
        one_that_floods_does_not_hold_up_the_answer,
        background_kill_ends_it_with_the_command,
        it_may_close_its_outputs_and_is_seen_all_the_same,
        when_it_ends_by_itself_the_command_has_ended,
        a_daemon_is_seen_until_its_end,
    }
}

async fn the_answer_does_not_wait_for_it(f: &Fixture) {
    let began = Instant::now();
    let output = f.sh("sleep 300 & echo x").await;
    assert!(began.elapsed() < AT_ONCE);
    assert_eq!((out(&output).as_str(), err(&output).as_str()), ("x\n", ""));
    assert_eq!((output.end.reason, output.end.code), (EndReason::Exited, Some(0)));
    assert_eq!(output.end.survivors, 1);
}

async fn it_is_listed_and_killable_with_a_receipt(f: &Fixture) {
    let output = f.sh("sleep 300 & sleep 300 & echo x").await;
    let lingering = Filter { state: Some(ProcessState::Lingering), ..Filter::default() };
    let listed = f.sandbox.processes(&lingering);
    assert_eq!(listed.len(), 1);
    let process = &listed[0];
    assert_eq!(process.id(), &output.id);
    assert_eq!(process.end(), Some(output.end.clone()));
    assert_eq!(process.info().pid, None, "its main process is over");
    eventually("both are seen", || f.alive().len() == 2).await;
    let receipt = soon(process.kill(Duration::from_secs(10))).await.unwrap();
    assert_eq!((receipt.signalled, receipt.survivors), (2, 0));
    assert_eq!(f.alive(), [""; 0]);
    soon(process.gone()).await.unwrap();
    assert_eq!(process.state(), ProcessState::Ended);
    assert_eq!(process.end(), Some(output.end), "a record is never changed");
    assert!(process.log().is_closed());
}

async fn what_it_prints_later_lands_in_its_own_log(f: &Fixture) {
    f.say("mkfifo go").await;
    let output = f.sh("(read x < go; echo later; echo too >&2) & echo now").await;
    assert_eq!(out(&output), "now\n");
    let process = f.sandbox.process(&output.id).unwrap();
    // Another command, at the time and afterwards, hears nothing of it.
    assert_eq!(f.say("echo > go; echo other").await, "other\n");
    soon(process.gone()).await.unwrap();
    assert_eq!(f.say("echo after").await, "after\n");
    assert_eq!(log_text(&process).await, "now\nlater\n");
    let info = process.info();
    assert_eq!((info.stdout_bytes, info.stderr_bytes), (10, 4));
    assert_eq!(info.cursor, 14);
}

/// Printing without end, it must not keep the answer from being made.
async fn one_that_floods_does_not_hold_up_the_answer(f: &Fixture) {
    let began = Instant::now();
    let output = f.sh("yes & sleep 0.1; echo done >&2").await;
    assert!(began.elapsed() < AT_ONCE);
    assert_eq!(err(&output), "done\n");
    let process = f.sandbox.process(&output.id).unwrap();
    assert_eq!(soon(process.kill(Duration::ZERO)).await.unwrap().survivors, 0);
}

async fn background_kill_ends_it_with_the_command(f: &Fixture) {
    for script in ["sleep 300 & echo x", "trap '' TERM; (while :; do sleep 1; done) & setsid sleep 300 & echo x"] {
        let mut command = Command::shell(script);
        command.background = Background::Kill;
        command.grace = Duration::from_millis(300);
        let output = soon(f.sandbox.exec(command)).await.unwrap();
        assert_eq!(out(&output), "x\n");
        assert_exited(&output, 0);
        assert_eq!(f.alive(), [""; 0]);
        assert_eq!(f.listed(), []);
    }
}

async fn it_may_close_its_outputs_and_is_seen_all_the_same(f: &Fixture) {
    let output = f.sh("setsid sleep 300 >/dev/null 2>&1 </dev/null & echo x").await;
    assert_eq!(output.end.survivors, 1);
    let process = f.sandbox.process(&output.id).unwrap();
    assert_eq!(process.state(), ProcessState::Lingering);
    assert_eq!(soon(process.kill(Duration::from_secs(10))).await.unwrap().survivors, 0);
}

async fn when_it_ends_by_itself_the_command_has_ended(f: &Fixture) {
    f.say("mkfifo go").await;
    let process = f.start("(read x < go) & echo now").await;
    printed(&process, "now").await;
    let end = soon(process.ended()).await.unwrap();
    assert_eq!(end.survivors, 1);
    assert_eq!(process.state(), ProcessState::Lingering);
    f.say("echo > go").await;
    soon(process.gone()).await.unwrap();
    assert_eq!(process.state(), ProcessState::Ended);
}

/// A grandchild whose parents are long gone.
async fn a_daemon_is_seen_until_its_end(f: &Fixture) {
    f.say("mkfifo go").await;
    let command = Command::shell("setsid bash -c '(read x < go; echo daemon) & exit 0'; echo main");
    let output = soon(f.sandbox.exec_with(named("daemon", command), 1000)).await.unwrap();
    assert_eq!((out(&output).as_str(), output.end.survivors), ("main\n", 1));
    let process = f.sandbox.process(&output.id).unwrap();
    f.say("echo > go").await;
    soon(process.gone()).await.unwrap();
    assert_eq!(log_text(&process).await, "main\ndaemon\n");
}
