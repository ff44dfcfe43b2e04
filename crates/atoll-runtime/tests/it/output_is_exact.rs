//! Standard output and standard error are separate, binary-exact and complete.

use atoll_protocol::Encoding;
use atoll_runtime::{Command, ProcessSpec, Stdin};
use bytes::Bytes;

use crate::harness::{Fixture, assert_exited, err, out, read_log, soon};

in_every_mode! {
    one_thread {
        every_byte_value_on_both_streams,
        odd_bytes_are_not_touched,
        text_that_is_no_utf8_says_so_and_base64_is_exact,
        first_one_stream_then_the_other,
        the_log_orders_what_was_apart_in_time,
        an_answer_that_is_cut_says_where_to_read_on,
        a_whole_answer_leaves_no_record,
    }
    many_threads {
        much_on_both_streams_at_once,
    }
}

async fn every_byte_value_on_both_streams(f: &Fixture) {
    let forward: Vec<u8> = (0..=255).collect();
    let backward: Vec<u8> = (0..=255).rev().collect();
    let mut command = Command::shell("cat > both; head -c 256 both; tail -c 256 both >&2");
    command.stdin = Stdin::Bytes(Bytes::from([forward.clone(), backward.clone()].concat()));
    let output = soon(f.sandbox.exec(command)).await.unwrap();
    assert_exited(&output, 0);
    assert_eq!(output.stdout.head, forward);
    assert_eq!(output.stderr.head, backward);
    assert!(output.is_whole());
    assert_eq!(output.cursor, 512);
}

async fn odd_bytes_are_not_touched(f: &Fixture) {
    for (script, expected) in [
        (r"printf '\0'", &b"\0"[..]),
        (r"printf 'a\0b\0\0'", b"a\0b\0\0"),
        (r"printf '\377\376\200'", b"\xff\xfe\x80"),
        // A character cut short, and one that is half of a pair.
        (r"printf 'x\303'", b"x\xc3"),
        (r"printf '\355\240\200'", b"\xed\xa0\x80"),
        ("printf 'no newline'", b"no newline"),
        (r"printf 'a\r\nb\rc\n\r'", b"a\r\nb\rc\n\r"),
        (r"printf '\n\n'", b"\n\n"),
        (r"printf '\033[31mred\033[0m\007'", b"\x1b[31mred\x1b[0m\x07"),
        ("true", b""),
    ] {
        let output = f.sh(&format!("{script}; {script} >&2")).await;
        assert_eq!(output.stdout.head, expected, "{script}");
        assert_eq!(output.stderr.head, expected, "{script}");
    }
}

async fn text_that_is_no_utf8_says_so_and_base64_is_exact(f: &Fixture) {
    let output = f.sh(r"printf 'a\377b'; printf plain >&2").await;
    let text = output.result(Encoding::Utf8);
    assert!(text.stdout.replaced && !text.stderr.replaced);
    assert_eq!((text.stdout.data.as_str(), text.stdout.bytes), ("a\u{fffd}b", 3));
    assert_eq!(text.stderr.data, "plain");
    let exact = output.result(Encoding::Base64);
    assert_eq!((exact.stdout.data.as_str(), exact.stdout.replaced), ("Yf9i", false));
    assert_eq!(exact.stdout.truncated, None);
}

/// Neither pipe may fill up while the other is read.
async fn much_on_both_streams_at_once(f: &Fixture) {
    const EACH: usize = 8_000_000;
    let script = format!("head -c {EACH} /dev/zero | tr '\\0' o & head -c {EACH} /dev/zero | tr '\\0' e >&2; wait");
    let spec = ProcessSpec::new(Command::shell(script));
    let output = soon(f.sandbox.exec_with(spec, 2 * EACH)).await.unwrap();
    assert_exited(&output, 0);
    assert!(output.is_whole());
    assert!(output.stdout.head == vec![b'o'; EACH], "stdout differs");
    assert!(output.stderr.head == vec![b'e'; EACH], "stderr differs");
    assert_eq!(output.cursor, 2 * EACH as u64);
}

/// One process that fills one pipe before it touches the other.
async fn first_one_stream_then_the_other(f: &Fixture) {
    let output = f.sh("for i in 1 2 3; do head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; done").await;
    assert_eq!((output.stdout.head.len(), output.stderr.head.len()), (900_000, 900_000));
}

async fn the_log_orders_what_was_apart_in_time(f: &Fixture) {
    let script = "mkfifo first second; echo one; read x < first; echo two >&2; read x < second; echo three";
    let process = f.start(script).await;
    for (text, expected, step) in [("one", "one\n", "first"), ("two", "one\ntwo\n", "second")] {
        crate::harness::printed(&process, text).await;
        let page = process.log().read(0, 1000, None).await;
        let all: Vec<u8> = page.events.into_iter().flat_map(|event| event.into_output().unwrap().bytes).collect();
        assert_eq!(String::from_utf8(all).unwrap(), expected);
        f.say(&format!("echo > {step}")).await;
    }
    assert!(soon(process.ended()).await.unwrap().success());
    let (stdout, stderr) = read_log(process.log(), 0).await;
    assert_eq!((&stdout[..], &stderr[..]), (&b"one\nthree\n"[..], &b"two\n"[..]));
}

async fn an_answer_that_is_cut_says_where_to_read_on(f: &Fixture) {
    let script = "i=0; while [ $i -lt 2000 ]; do printf %05d $i; i=$((i+1)); done; printf E >&2";
    let spec = ProcessSpec::new(Command::shell(script));
    let output = soon(f.sandbox.exec_with(spec, 1001)).await.unwrap();
    let whole: String = (0..2000).map(|number| format!("{number:05}")).collect();
    let (head, tail) = (output.stdout.head.clone(), output.stdout.tail.clone());
    assert_eq!(head.len() + tail.len(), 1001);
    assert_eq!(output.stdout.omitted, 10_000 - 1001);
    assert!(whole.as_bytes().starts_with(&head) && whole.as_bytes().ends_with(&tail));
    assert_eq!(output.stdout.omitted_from, Some(head.len() as u64));
    assert_eq!(err(&output), "E");
    // What was left out can be had under its id.
    let process = f.sandbox.process(&output.id).unwrap();
    let (stdout, _) = read_log(process.log(), output.stdout.omitted_from.unwrap()).await;
    let wanted = &whole.as_bytes()[head.len()..];
    assert_eq!(stdout, wanted);
}

async fn a_whole_answer_leaves_no_record(f: &Fixture) {
    assert_eq!(out(&f.sh("echo hi").await), "hi\n");
    assert_eq!(f.listed(), []);
}
