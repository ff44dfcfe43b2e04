//! Standard input: none, given bytes, or a pipe that is written to at offsets.

use std::time::Duration;

use atoll_protocol::{ErrorCode, Signal};
use atoll_runtime::{Command, Error, Process, ProcessSpec, SignalScope, Stdin};
use bytes::Bytes;

use crate::harness::{Fixture, Random, assert_exited, log_text, out, printed, read_log, soon};

in_every_mode! {
    one_thread {
        without_any_a_reader_is_at_the_end_at_once,
        given_bytes_arrive_exactly,
        given_bytes_need_not_be_read,
        a_pipe_is_written_at_offsets,
        a_pipe_carries_every_byte,
        there_is_nothing_to_write_to_after_the_close,
        there_is_nothing_to_write_to_after_the_end,
        only_a_pipe_can_be_written_to,
        a_large_write_waits_for_its_reader_and_holds_up_nothing,
        a_write_that_nobody_will_read_is_told,
        a_write_into_a_closed_pipe_is_told,
    }
}

async fn piped(f: &Fixture, script: &str) -> Process {
    let mut command = Command::shell(script);
    command.stdin = Stdin::Pipe;
    f.start_command(command).await
}

fn noise(length: usize) -> Bytes {
    let mut random = Random(7);
    let words = (0..length.div_ceil(8)).flat_map(|_| random.next().to_ne_bytes());
    words.take(length).collect()
}

async fn without_any_a_reader_is_at_the_end_at_once(f: &Fixture) {
    let output = f.sh("cat; echo $?; read x || echo nothing").await;
    assert_eq!(out(&output), "0\nnothing\n");
    assert_exited(&f.sh("exec cat").await, 0);
}

async fn given_bytes_arrive_exactly(f: &Fixture) {
    for bytes in [Bytes::new(), Bytes::from_static(b"no newline"), noise(100_000), noise(5_000_000)] {
        let mut command = Command::argv(["cat"]);
        command.stdin = Stdin::Bytes(bytes.clone());
        let output = soon(f.sandbox.exec_with(ProcessSpec::new(command), bytes.len() + 2)).await.unwrap();
        assert_exited(&output, 0);
        assert!(output.stdout.head == bytes, "{} bytes differ", bytes.len());
    }
}

/// A program that reads nothing must not hold up the start or the end.
async fn given_bytes_need_not_be_read(f: &Fixture) {
    let mut command = Command::shell("head -c 3; exit 5");
    command.stdin = Stdin::Bytes(noise(1_000_000));
    let output = soon(f.sandbox.exec(command)).await.unwrap();
    assert_exited(&output, 5);
    assert_eq!(output.stdout.head, noise(3));
}

async fn a_pipe_is_written_at_offsets(f: &Fixture) {
    let process = piped(f, "cat").await;
    let write = |offset, text: &'static str| soon(process.write_stdin(offset, Bytes::from_static(text.as_bytes())));
    assert_eq!(write(0, "hello").await.unwrap(), 5);
    assert_eq!(write(0, "hello").await.unwrap(), 5, "a repetition is ignored");
    assert_eq!(write(2, "llo").await.unwrap(), 5, "the end of one as well");
    assert_eq!(write(3, "lo, world").await.unwrap(), 12, "what overlaps is written once");
    assert_eq!(write(12, "").await.unwrap(), 12);
    let gap = write(13, "x").await.unwrap_err();
    assert!(matches!(gap, Error::StdinGap { offset: 13, expected: 12 }), "{gap:?}");
    assert_eq!(gap.code(), ErrorCode::StdinGap);
    assert_eq!(write(12, "\n").await.unwrap(), 13, "a refusal changes nothing");
    printed(&process, "hello, world\n").await;
    soon(process.close_stdin()).await.unwrap();
    assert!(soon(process.ended()).await.unwrap().success());
    assert_eq!(log_text(&process).await, "hello, world\n");
}

async fn a_pipe_carries_every_byte(f: &Fixture) {
    let process = piped(f, "cat").await;
    let bytes = noise(3_000_000);
    let mut offset = 0;
    for piece in bytes.chunks(700_001) {
        offset = soon(process.write_stdin(offset, Bytes::copy_from_slice(piece))).await.unwrap();
    }
    assert_eq!(offset, 3_000_000);
    soon(process.close_stdin()).await.unwrap();
    assert!(soon(process.ended()).await.unwrap().success());
    let (stdout, _) = read_log(process.log(), 0).await;
    assert!(stdout == bytes, "bytes differ");
}

async fn there_is_nothing_to_write_to_after_the_close(f: &Fixture) {
    let process = piped(f, "cat; mkfifo go; echo closed; read x < go").await;
    soon(process.close_stdin()).await.unwrap();
    printed(&process, "closed").await;
    let refused = soon(process.write_stdin(0, Bytes::from_static(b"x"))).await.unwrap_err();
    assert!(matches!(refused, Error::StdinNotOpen { .. }), "{refused:?}");
    let refused = soon(process.close_stdin()).await.unwrap_err();
    assert!(matches!(refused, Error::StdinNotOpen { .. }), "{refused:?}");
    soon(process.kill(Duration::ZERO)).await.unwrap();
}

async fn there_is_nothing_to_write_to_after_the_end(f: &Fixture) {
    let process = piped(f, "exit 0").await;
    soon(process.gone()).await.unwrap();
    for refused in
        [soon(process.write_stdin(0, Bytes::from_static(b"x"))).await.map(drop), soon(process.close_stdin()).await]
    {
        assert!(matches!(refused, Err(Error::ProcessEnded { .. })), "{refused:?}");
    }
}

async fn only_a_pipe_can_be_written_to(f: &Fixture) {
    let process = f.start("sleep 300").await;
    let refused = soon(process.write_stdin(0, Bytes::from_static(b"x"))).await.unwrap_err();
    assert!(matches!(refused, Error::StdinNotOpen { .. }), "{refused:?}");
    soon(process.kill(Duration::ZERO)).await.unwrap();
}

async fn a_large_write_waits_for_its_reader_and_holds_up_nothing(f: &Fixture) {
    f.say("mkfifo go").await;
    let script = "trap 'echo signalled' USR1; echo up; cat go & until wait $!; do :; done; exec wc -c";
    let process = piped(f, script).await;
    printed(&process, "up").await;
    let bytes = noise(2_000_000);
    let write = tokio::spawn({
        let process = process.clone();
        async move { process.write_stdin(0, bytes).await }
    });
    for _ in 0..3 {
        let usr1 = Signal::from_number(10).unwrap();
        let since = process.log().end();
        let pattern = atoll_runtime::LogPattern::Text("signalled\n".to_owned());
        // Bash overlooks a signal that comes in the instant before it waits.
        let told = async || {
            soon(process.signal(usr1, SignalScope::Main)).await.unwrap();
            process.wait_log(&pattern, since, Some(Duration::from_secs(1))).await
        };
        soon(async { while told().await.is_err() {} }).await;
    }
    assert!(!write.is_finished(), "nobody has read 2 MB yet");
    f.say("echo -n > go").await;
    assert_eq!(soon(write).await.unwrap().unwrap(), 2_000_000);
    soon(process.close_stdin()).await.unwrap();
    assert!(soon(process.ended()).await.unwrap().success());
    assert!(log_text(&process).await.ends_with("\n2000000\n"));
}

async fn a_write_that_nobody_will_read_is_told(f: &Fixture) {
    let process = piped(f, "echo up; sleep 300").await;
    printed(&process, "up").await;
    let write = tokio::spawn({
        let process = process.clone();
        async move { process.write_stdin(0, noise(1_000_000)).await }
    });
    tokio::task::yield_now().await;
    assert_eq!(soon(process.kill(Duration::ZERO)).await.unwrap().survivors, 0);
    let told = soon(write).await.unwrap();
    assert!(matches!(told, Err(Error::ProcessEnded { .. })), "{told:?}");
}

/// The pipe is closed on the inside while the process lives on.
async fn a_write_into_a_closed_pipe_is_told(f: &Fixture) {
    let process = piped(f, "exec 0<&-; echo up; sleep 300").await;
    printed(&process, "up").await;
    // Who started it may hold the other end for a moment longer.
    let mut offset = 0;
    while let Ok(next) = soon(process.write_stdin(offset, Bytes::from_static(b"x"))).await {
        assert!(next < 10_000);
        offset = next;
    }
    let told = soon(process.write_stdin(offset, Bytes::from_static(b"x"))).await.unwrap_err();
    assert!(matches!(told, Error::StdinNotOpen { .. }), "{told:?}");
    assert_eq!(soon(process.kill(Duration::ZERO)).await.unwrap().survivors, 0);
}
