//! Bytes in and out.

use std::time::Duration;

use atoll_protocol::EndReason;
use atoll_runtime::{Command, Error, ProcessSpec, Session, SessionSpec, Stdin};
use bytes::Bytes;

use super::{Case, play, quiet, run, works};
use crate::harness::{Fixture, Random, read_log, soon};

in_every_mode! {
    one_thread {
        streams_are_two_and_whole,
        every_byte_comes_out_as_it_was,
        input_comes_in_as_it_was,
        a_hundred_megabytes_come_through,
        a_directory_that_is_not_there_is_said_before,
    }
}

const STREAMS: &[Case] = &[
    ("both", &[run("echo a; echo b >&2; echo c", "a\nc\n").err("b\n")]),
    ("no newline at the end", &[run("printf abc; printf def >&2", "abc").err("def")]),
    ("one line in pieces", &[run("printf a; printf b; printf 'c\\n'", "abc\n")]),
    ("carriage returns", &[run("printf 'a\\r\\nb\\rc'", "a\r\nb\rc")]),
    (
        "no input: nobody waits for any",
        &[run("cat; read x; echo $?; grep x; echo $?; read -t 5 x; echo $?", "1\n1\n1\n")],
    ),
    ("input for one call", &[run("read a; cat", "two\n").input("one\ntwo\n"), run("echo $a; cat", "one\n")]),
    ("input for a child first", &[run("head -c 2; echo; cat", "ab\ncd").input("abcd")]),
    ("input that nobody reads", &[run("echo a", "a\n").input("unread"), quiet("cat")]),
    ("a program that reads while another prints", &[run("tr a-z A-Z | rev", "CBA").input("abc")]),
    (
        "a child that prints later prints to its own command",
        &[
            run("mkfifo gate; { read x <gate; echo late; } & echo now", "now\n"),
            run("echo on; jobs | wc -l; kill %1 2>/dev/null; wait; true", "on\n1\n"),
        ],
    ),
];

async fn streams_are_two_and_whole(f: &Fixture) {
    play(f, STREAMS).await;
}

async fn session(f: &Fixture) -> Session {
    let session = soon(f.sandbox.create_session(SessionSpec::default())).await.unwrap();
    soon(session.exec(Command::shell("keep=kept"))).await.unwrap();
    session
}

async fn every_byte_comes_out_as_it_was(f: &Fixture) {
    let session = session(f).await;
    let each = "for i in {0..255}; do printf \"\\\\x$(printf %x $i)\"; done";
    let output = soon(session.exec(Command::shell(format!("{each}; {{ {each}; }} >&2")))).await.unwrap();
    let all: Vec<u8> = (0..=255).collect();
    assert_eq!((output.stdout.head, output.stderr.head), (all.clone(), all));
    // What some decoders take for a mark of another encoding.
    let output = soon(session.exec(Command::shell("printf '\\xff\\xfea\\0b'"))).await.unwrap();
    assert_eq!(output.stdout.head, b"\xff\xfea\0b");
    works(&session).await.unwrap();
    soon(session.delete()).await.unwrap();
}

async fn input_comes_in_as_it_was(f: &Fixture) {
    let session = session(f).await;
    let mut random = Random(7);
    let megabyte: Vec<u8> = (0..1 << 20).map(|_| random.next().to_le_bytes()[0]).collect();
    for input in [&b""[..], b"\0", b"\xff\xfe\n", &megabyte] {
        let mut command = Command::shell("cat");
        command.stdin = Stdin::Bytes(Bytes::copy_from_slice(input));
        let output = soon(session.exec_with(ProcessSpec::new(command), 2 << 20)).await.unwrap();
        assert!(output.stdout.head == input, "{} bytes came in as {}", input.len(), output.stdout.head.len());
    }
    works(&session).await.unwrap();
    soon(session.delete()).await.unwrap();
}

async fn a_hundred_megabytes_come_through(f: &Fixture) {
    let session = session(f).await;
    let text = "head -c 100000000 /dev/zero | tr '\\0' x; echo end >&2";
    let process = soon(session.begin(ProcessSpec::new(Command::shell(text)))).await.unwrap();
    let end = tokio::time::timeout(Duration::from_secs(60), process.ended()).await.unwrap().unwrap();
    assert_eq!((end.reason, end.code), (EndReason::Exited, Some(0)));
    assert_eq!(process.log().end(), 100_000_000 + 4);
    let (stdout, stderr) = read_log(process.log(), 99_999_990).await;
    assert_eq!(stdout.len() + stderr.len(), 14);
    works(&session).await.unwrap();
    soon(session.delete()).await.unwrap();
}

async fn a_directory_that_is_not_there_is_said_before(f: &Fixture) {
    let session = session(f).await;
    for cwd in ["/nowhere", "nowhere", "/etc/passwd"] {
        let mut command = Command::shell("touch ran");
        command.cwd = Some(cwd.into());
        command.env.insert("keep".into(), Some("changed".into()));
        match soon(session.exec(command)).await {
            Err(Error::CwdNotFound { cwd: named, .. }) => assert_eq!(named, cwd),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(soon(session.exec(Command::shell("ls ran"))).await.unwrap().end.code, Some(2));
    works(&session).await.unwrap();
    soon(session.delete()).await.unwrap();
}
