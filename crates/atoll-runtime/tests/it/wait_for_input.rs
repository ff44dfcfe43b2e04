//! Waits until a process blocks on reading its standard input: told when it does, and not while it computes.

use std::time::{Duration, Instant};

use atoll_protocol::ProcessState;
use atoll_runtime::{Command, Error, Process, Stdin};
use bytes::Bytes;

use crate::harness::{AT_ONCE, Fixture, log_text, printed, skip, soon};

in_every_mode! {
    one_thread {
        cat_with_an_open_pipe,
        read_in_bash,
        input_in_python,
        a_child_that_reads,
        not_while_it_computes_or_sleeps,
        not_while_it_reads_something_else,
        not_without_a_pipe,
        the_process_ends_first,
    }
}

const SHORT: Duration = Duration::from_millis(300);

async fn piped(f: &Fixture, command: Command) -> Process {
    let mut command = command;
    command.stdin = Stdin::Pipe;
    f.start_command(command).await
}

async fn wants_input(process: &Process) {
    process.wait_input(Some(AT_ONCE)).await.unwrap();
}

async fn wants_none(process: &Process) {
    let error = process.wait_input(Some(SHORT)).await.unwrap_err();
    assert!(matches!(error, Error::WaitTimeout { millis: 300, .. }), "{error:?}");
    assert_eq!(process.state(), ProcessState::Running);
}

async fn cat_with_an_open_pipe(f: &Fixture) {
    let process = piped(f, Command::argv(["cat"])).await;
    wants_input(&process).await;
    let next = soon(process.write_stdin(0, Bytes::from_static(b"hello\n"))).await.unwrap();
    printed(&process, "hello").await;
    wants_input(&process).await;
    soon(process.write_stdin(next, Bytes::from_static(b"again\n"))).await.unwrap();
    printed(&process, "again").await;
    soon(process.close_stdin()).await.unwrap();
    assert!(soon(process.ended()).await.unwrap().success());
}

async fn read_in_bash(f: &Fixture) {
    let process =
        piped(f, Command::shell("read -p 'name? ' name; echo \"hi $name\"; read -r other; echo $other")).await;
    wants_input(&process).await;
    let next = soon(process.write_stdin(0, Bytes::from_static(b"Ann\n"))).await.unwrap();
    printed(&process, "hi Ann").await;
    wants_input(&process).await;
    soon(process.write_stdin(next, Bytes::from_static(b"Bob\n"))).await.unwrap();
    assert!(soon(process.ended()).await.unwrap().success());
    assert_eq!(log_text(&process).await, "hi Ann\nBob\n");
}

async fn input_in_python(f: &Fixture) {
    if !f.has("/usr/bin/python3").await {
        return skip("no python3 inside");
    }
    let program = "name = input('name? ')\nprint('hi', name, flush=True)\nimport select, sys\nselect.select([sys.stdin], [], [])\nprint(input())";
    let process = piped(f, Command::argv(["/usr/bin/python3", "-c", program])).await;
    wants_input(&process).await;
    let next = soon(process.write_stdin(0, Bytes::from_static(b"Ann\n"))).await.unwrap();
    printed(&process, "hi Ann").await;
    wants_input(&process).await;
    soon(process.write_stdin(next, Bytes::from_static(b"Bob\n"))).await.unwrap();
    assert!(soon(process.ended()).await.unwrap().success());
}

/// Not the main process, but one below it.
async fn a_child_that_reads(f: &Fixture) {
    let process = piped(f, Command::shell("echo start; bash -c 'setsid cat; true'; echo end")).await;
    wants_input(&process).await;
    soon(process.close_stdin()).await.unwrap();
    assert!(soon(process.ended()).await.unwrap().success());
}

async fn not_while_it_computes_or_sleeps(f: &Fixture) {
    let process = piped(f, Command::shell("echo up; while :; do :; done")).await;
    printed(&process, "up").await;
    wants_none(&process).await;
    soon(process.kill(Duration::ZERO)).await.unwrap();
    let process = piped(f, Command::argv(["sleep", "300"])).await;
    wants_none(&process).await;
}

/// A read from something else is no wait for us.
async fn not_while_it_reads_something_else(f: &Fixture) {
    let process = piped(f, Command::shell("mkfifo other; echo up; exec cat other")).await;
    printed(&process, "up").await;
    wants_none(&process).await;
}

async fn not_without_a_pipe(f: &Fixture) {
    let process = f.start("sleep 300").await;
    wants_none(&process).await;
}

async fn the_process_ends_first(f: &Fixture) {
    f.say("mkfifo go").await;
    let process = piped(f, Command::shell("read x < go")).await;
    let began = Instant::now();
    let (ended, ()) = tokio::join!(process.wait_input(Some(Duration::from_secs(300))), async {
        f.say("echo > go").await;
    });
    assert!(matches!(ended, Err(Error::EndedWhileWaiting { .. })), "{ended:?}");
    assert!(began.elapsed() < AT_ONCE);
    let ended = soon(process.wait_input(None)).await;
    assert!(matches!(ended, Err(Error::EndedWhileWaiting { .. })), "{ended:?}");
}
