//! Limits on time, silence, output and memory: the tree is gone, the output so far is kept, the reason is told.

use std::time::Duration;

use atoll_protocol::{EndReason, Signal};
use atoll_runtime::{Command, Error, ExecOutput, Limits, ProcessSpec};

use crate::harness::{Fixture, assert_exited, err, named, out, read_log, skip, soon};

in_every_mode! {
    one_thread {
        a_timeout_keeps_the_output_and_says_so,
        a_timeout_ends_the_whole_tree,
        last_words_are_heard,
        a_command_that_is_done_in_time_is_left_alone,
        survivors_are_not_timed,
        silence_for_too_long,
        silence_from_the_beginning,
        too_much_output_keeps_exactly_what_is_allowed,
        too_much_output_counts_both_streams,
        too_much_output_is_told_even_of_one_that_has_exited,
        exactly_the_limit_is_not_too_much,
        what_lingers_is_not_cut,
        a_kill_after_a_timeout_is_a_timeout,
    }
    with_cgroups {
        heavy_out_of_memory_in_a_child,
        heavy_out_of_memory_in_one_command,
        heavy_out_of_memory_in_the_sandbox,
    }
    without_cgroups {
        a_limit_that_cannot_be_kept_is_refused,
    }
}

/// Long enough for a loaded machine to print a line, short enough to wait for.
const LIMIT: Duration = Duration::from_millis(700);

const MEMORY: u64 = 48 << 20;

async fn timed(f: &Fixture, script: &str) -> ExecOutput {
    let mut command = Command::shell(script);
    command.timeout = Some(LIMIT);
    command.grace = Duration::from_millis(200);
    soon(f.sandbox.exec(command)).await.unwrap()
}

async fn a_timeout_keeps_the_output_and_says_so(f: &Fixture) {
    let output = timed(f, "echo before; echo wrong >&2; sleep 300; echo after").await;
    assert_eq!((out(&output).as_str(), err(&output).as_str()), ("before\n", "wrong\n"));
    let end = &output.end;
    assert_eq!((end.reason, end.timed_out), (EndReason::Timeout, true));
    assert_eq!((end.code, end.signal), (None, Some(Signal::TERM)));
    assert!(end.duration_ms >= 700, "{end:?}");
    assert_eq!(end.survivors, 0);
    assert_eq!(f.alive(), [""; 0]);
}

async fn a_timeout_ends_the_whole_tree(f: &Fixture) {
    let output =
        timed(f, "trap '' TERM; setsid sleep 300 & (while :; do sleep 1; done) & echo up; while :; do sleep 1; done")
            .await;
    assert_eq!(out(&output), "up\n");
    assert_eq!((output.end.reason, output.end.signal), (EndReason::Timeout, Some(Signal::KILL)));
    assert_eq!(output.end.survivors, 0);
    assert_eq!(f.alive(), [""; 0]);
}

/// What it says while it is ending belongs to it too.
async fn last_words_are_heard(f: &Fixture) {
    let output = timed(f, "trap 'echo bye; exit 9' TERM; while :; do sleep 0.05; done").await;
    assert_eq!(out(&output), "bye\n");
    assert_eq!((output.end.reason, output.end.code), (EndReason::Timeout, Some(9)));
}

async fn a_command_that_is_done_in_time_is_left_alone(f: &Fixture) {
    let mut command = Command::shell("echo done");
    command.timeout = Some(Duration::from_secs(300));
    command.idle_timeout = Some(Duration::from_secs(300));
    command.max_output_bytes = Some(5);
    let output = soon(f.sandbox.exec(command)).await.unwrap();
    assert_exited(&output, 0);
    assert!(!output.end.timed_out);
}

/// A timeout is for the command; what it leaves behind by permission is not timed.
async fn survivors_are_not_timed(f: &Fixture) {
    let output = timed(f, "sleep 300 & echo x").await;
    assert_eq!((output.end.reason, output.end.survivors), (EndReason::Exited, 1));
    let process = f.sandbox.process(&output.id).unwrap();
    let waited = tokio::time::timeout(2 * LIMIT, process.gone()).await;
    assert!(waited.is_err(), "it was ended");
}

async fn silence_for_too_long(f: &Fixture) {
    // Longer than the limit in all, but never silent for so long.
    let mut command = Command::shell("for i in 1 2 3 4 5 6; do echo $i; sleep 0.3; done; echo quiet >&2; sleep 300");
    command.idle_timeout = Some(Duration::from_millis(1500));
    let output = soon(f.sandbox.exec(command)).await.unwrap();
    assert_eq!((out(&output).as_str(), err(&output).as_str()), ("1\n2\n3\n4\n5\n6\n", "quiet\n"));
    assert_eq!((output.end.reason, output.end.timed_out), (EndReason::IdleTimeout, true));
    assert_eq!(f.alive(), [""; 0]);
}

async fn silence_from_the_beginning(f: &Fixture) {
    let mut command = Command::argv(["sleep", "300"]);
    command.idle_timeout = Some(LIMIT);
    let output = soon(f.sandbox.exec(command)).await.unwrap();
    assert_eq!(output.end.reason, EndReason::IdleTimeout);
    assert_eq!(output.cursor, 0);
}

async fn too_much_output_keeps_exactly_what_is_allowed(f: &Fixture) {
    for limit in [0, 1, 1000, 65_536, 300_001] {
        let mut command = Command::shell("yes abcdefg");
        command.max_output_bytes = Some(limit);
        let name = format!("limit-{limit}");
        let output = soon(f.sandbox.exec_with(named(&name, command), 1 << 20)).await.unwrap();
        assert_eq!(output.end.reason, EndReason::OutputLimit, "{limit}");
        assert!(!output.end.timed_out);
        assert_eq!(output.end.survivors, 0);
        let expected: Vec<u8> = b"abcdefg\n".iter().copied().cycle().take(usize::try_from(limit).unwrap()).collect();
        assert!(output.stdout.head == expected, "{limit}: {} bytes", output.stdout.head.len());
        let process = f.sandbox.process(&output.id).unwrap();
        assert_eq!((output.cursor, process.log().end()), (limit, limit));
        assert_eq!(f.alive(), [""; 0]);
    }
}

/// Both outputs count together.
async fn too_much_output_counts_both_streams(f: &Fixture) {
    let mut command = Command::shell("printf 1234567 >&2; mkfifo never; head -c 100 /dev/zero; read x < never");
    command.max_output_bytes = Some(20);
    let output = soon(f.sandbox.exec(command)).await.unwrap();
    assert_eq!(output.end.reason, EndReason::OutputLimit);
    assert_eq!(output.stdout.head.len() + output.stderr.head.len(), 20);
}

/// Nothing is cut in silence, also if the command was over before anybody could end it.
async fn too_much_output_is_told_even_of_one_that_has_exited(f: &Fixture) {
    for _ in 0..10 {
        let mut command = Command::shell("printf 0123456789");
        command.max_output_bytes = Some(4);
        let output = soon(f.sandbox.exec(command)).await.unwrap();
        assert_eq!(out(&output), "0123");
        assert_eq!(output.end.reason, EndReason::OutputLimit);
    }
}

async fn exactly_the_limit_is_not_too_much(f: &Fixture) {
    let mut command = Command::shell("printf 0123456789");
    command.max_output_bytes = Some(10);
    let output = soon(f.sandbox.exec(command)).await.unwrap();
    assert_eq!(out(&output), "0123456789");
    assert_exited(&output, 0);
}

/// The limit is for the command. What lingers by permission is not limited, and not cut either.
async fn what_lingers_is_not_cut(f: &Fixture) {
    f.say("mkfifo go").await;
    let mut command = Command::shell("(read x < go; echo 0123456789) & printf now");
    command.max_output_bytes = Some(4);
    let output = soon(f.sandbox.exec(command)).await.unwrap();
    assert_eq!((output.end.reason, output.end.survivors), (EndReason::Exited, 1));
    let process = f.sandbox.process(&output.id).unwrap();
    f.say("echo > go").await;
    soon(process.gone()).await.unwrap();
    assert_eq!(read_log(process.log(), 0).await.0, b"now0123456789\n");
}

fn assert_oom(output: &ExecOutput) {
    let end = &output.end;
    assert_eq!((end.reason, end.oom_killed), (EndReason::Oom, true));
    assert_eq!((end.code, end.signal), (None, Some(Signal::KILL)));
}

async fn heavy_out_of_memory_in_the_sandbox(f: &Fixture) {
    if let Some(reason) = f.no_memory_limit() {
        return skip(&reason);
    }
    let limits = Limits { memory_bytes: Some(MEMORY), ..Limits::default() };
    let sandbox = f.another(|options| options.limits = limits).await.unwrap();
    for command in [Command::argv(["tail", "/dev/zero"]), Command::shell("echo x; exec tail /dev/zero")] {
        assert_oom(&soon(sandbox.exec(command)).await.unwrap());
    }
    // It hit that command alone.
    let output = soon(sandbox.exec(Command::shell("echo fine"))).await.unwrap();
    assert_exited(&output, 0);
    assert!(!output.end.oom_killed);
}

async fn heavy_out_of_memory_in_one_command(f: &Fixture) {
    if let Some(reason) = f.no_memory_limit() {
        return skip(&reason);
    }
    let mut command = Command::argv(["tail", "/dev/zero"]);
    command.memory_bytes = Some(MEMORY);
    assert_oom(&soon(f.sandbox.exec(command)).await.unwrap());
    let mut command = Command::shell("echo fine");
    command.memory_bytes = Some(MEMORY);
    let output = soon(f.sandbox.exec(command)).await.unwrap();
    assert_exited(&output, 0);
    assert!(!output.end.oom_killed);
}

/// The shell lived to tell: its own code counts, and the record says what happened below it.
async fn heavy_out_of_memory_in_a_child(f: &Fixture) {
    if let Some(reason) = f.no_memory_limit() {
        return skip(&reason);
    }
    let mut command = Command::shell("tail /dev/zero 2>/dev/null; echo $?; exit 5");
    command.memory_bytes = Some(MEMORY);
    let output = soon(f.sandbox.exec(command)).await.unwrap();
    assert_eq!(out(&output), "137\n");
    assert_exited(&output, 5);
    assert!(output.end.oom_killed);
}

async fn a_limit_that_cannot_be_kept_is_refused(f: &Fixture) {
    let mut command = Command::shell("echo ran > ran");
    command.memory_bytes = Some(MEMORY);
    let refused = soon(f.sandbox.exec(command)).await.unwrap_err();
    assert!(matches!(refused, Error::LimitUnavailable { .. }), "{refused:?}");
    assert_eq!(f.say("ls").await, "");
    let limits = Limits { memory_bytes: Some(MEMORY), ..Limits::default() };
    let refused = f.another(|options| options.limits = limits).await.unwrap_err();
    assert!(matches!(refused, Error::LimitUnavailable { .. }), "{refused:?}");
}

/// The first reason stays.
async fn a_kill_after_a_timeout_is_a_timeout(f: &Fixture) {
    let mut command = Command::shell("trap '' TERM; echo up; while :; do sleep 1; done");
    command.timeout = Some(Duration::from_millis(300));
    command.grace = Duration::from_secs(60);
    let process = soon(f.sandbox.start(ProcessSpec::new(command))).await.unwrap();
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(soon(process.kill(Duration::ZERO)).await.unwrap().survivors, 0);
    assert_eq!(process.end().unwrap().reason, EndReason::Timeout);
    assert_eq!(read_log(process.log(), 0).await.0, b"up\n");
}
