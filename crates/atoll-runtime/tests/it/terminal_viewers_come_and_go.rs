//! Many may look at a terminal, from anywhere in its output; nobody who looks or leaves changes anything.

use std::fmt::Write;

use atoll_protocol::{EndReason, EndRecord, WindowSize};
use atoll_runtime::{Access, Attach, Error, Terminal, TerminalEvent, Viewer, ViewerOptions};
use bytes::Bytes;

use crate::harness::{Fixture, all_shown, shown, soon, terminal, type_in};

in_every_mode! {
    many_threads {
        two_see_the_same_bytes,
        leaving_and_resuming_loses_nothing,
        a_slow_one_slows_nobody,
    }
    one_thread {
        at_a_cursor_with_the_tail_or_now,
        the_exit_is_told_to_all_and_to_late_ones,
        read_only_may_only_look,
        sizes_are_told_in_their_place,
        what_is_left_behind_is_heard_after_the_exit,
    }
}

/// Lines that no two are alike, so that what is missing or twice is seen.
const LINES: usize = 400_000;

fn expected() -> Vec<u8> {
    let mut text = String::new();
    for number in 1..=LINES {
        write!(text, "{number}\r\n").unwrap();
    }
    text.into_bytes()
}

fn from(from: Attach) -> ViewerOptions {
    ViewerOptions { from, access: Access::ReadWrite }
}

/// What a viewer sees up to the exit, with every cursor checked.
async fn follow(viewer: &mut Viewer) -> (Vec<u8>, EndRecord) {
    let mut seen = Vec::new();
    let mut next = viewer.cursor();
    loop {
        match soon(viewer.next()).await.unwrap() {
            TerminalEvent::Output { cursor, bytes } => {
                assert_eq!(cursor, next, "a gap or a repetition");
                next += bytes.len() as u64;
                seen.extend_from_slice(&bytes);
            }
            TerminalEvent::Exit(end) => return (seen, *end),
            TerminalEvent::Resized(_) => {}
            TerminalEvent::Truncated { from, to } => panic!("{from} to {to} are missing"),
        }
    }
}

async fn two_see_the_same_bytes(f: &Fixture) {
    let terminal = terminal(f, "read x; seq 1 20000; echo $x").await;
    let (mut one, mut two) = (terminal.attach(from(Attach::Tail)), terminal.attach(from(Attach::Cursor(0))));
    assert_eq!(terminal.info().viewers, 2);
    soon(one.write(Bytes::from_static(b"from one\n"))).await.unwrap();
    let ((first, _), (second, _)) = tokio::join!(follow(&mut one), follow(&mut two));
    assert!(first.ends_with(b"20000\r\nfrom one\r\n"));
    assert!(first == second && first == all_shown(&terminal).await);
    drop(one);
    assert_eq!(terminal.info().viewers, 1);
}

async fn leaving_and_resuming_loses_nothing(f: &Fixture) {
    let terminal = terminal(f, &format!("seq 1 {LINES}; exit 7")).await;
    let mut seen = Vec::new();
    let mut cursor = 0;
    let mut exit = None;
    for round in 1.. {
        let mut viewer = terminal.attach(from(Attach::Cursor(cursor)));
        for _ in 0..round {
            match soon(viewer.next()).await.unwrap() {
                TerminalEvent::Output { bytes, .. } => seen.extend_from_slice(&bytes),
                TerminalEvent::Exit(end) => {
                    exit = Some(end);
                    break;
                }
                TerminalEvent::Resized(_) => {}
                TerminalEvent::Truncated { .. } => panic!("something is missing"),
            }
        }
        cursor = viewer.cursor();
        if exit.is_some() {
            break;
        }
    }
    assert_eq!(exit.unwrap().code, Some(7));
    assert!(seen == expected(), "{} bytes of {}", seen.len(), expected().len());
}

async fn a_slow_one_slows_nobody(f: &Fixture) {
    let terminal = terminal(f, &format!("seq 1 {LINES}")).await;
    let mut slow = terminal.attach(from(Attach::Cursor(0)));
    let first = soon(slow.next()).await.unwrap();
    assert!(matches!(first, TerminalEvent::Resized(_)));
    assert!(soon(terminal.ended()).await.unwrap().success());
    let (seen, _) = follow(&mut slow).await;
    assert!(seen == expected());
}

async fn at_a_cursor_with_the_tail_or_now(f: &Fixture) {
    let terminal = terminal(f, "seq 1 20000; read x; echo end").await;
    shown(&terminal, "\n20000\r\n").await;
    let end = terminal.log().end();
    let mut now = terminal.attach(from(Attach::Now));
    let mut tail = terminal.attach(from(Attach::Tail));
    let mut cursor = terminal.attach(from(Attach::Cursor(end - 7)));
    // A place that is not there yet is the end.
    let mut beyond = terminal.attach(from(Attach::Cursor(end + 1000)));
    assert_eq!((now.cursor(), tail.cursor(), beyond.cursor()), (end, end - 64 * 1024, end));
    type_in(&terminal, "\n").await;
    let all = all_shown(&terminal).await;
    let at = usize::try_from(end).unwrap();
    assert_eq!(follow(&mut now).await.0, &all[at..]);
    assert_eq!(follow(&mut beyond).await.0, &all[at..]);
    assert!(follow(&mut tail).await.0 == all[at - 64 * 1024..]);
    assert_eq!(follow(&mut cursor).await.0, b"20000\r\n\r\nend\r\n");
}

async fn the_exit_is_told_to_all_and_to_late_ones(f: &Fixture) {
    let terminal = terminal(f, "read x; exit 9").await;
    let mut present = terminal.attach(ViewerOptions::default());
    type_in(&terminal, "\n").await;
    let (_, end) = follow(&mut present).await;
    assert_eq!((end.reason, end.code), (EndReason::Exited, Some(9)));
    assert_eq!(soon(present.next()).await, None);
    soon(terminal.gone()).await.unwrap();
    for late in [Attach::Tail, Attach::Now, Attach::Cursor(0)] {
        let mut viewer = terminal.attach(from(late));
        assert_eq!(follow(&mut viewer).await.1, end);
        assert_eq!(soon(viewer.next()).await, None);
    }
}

async fn read_only_may_only_look(f: &Fixture) {
    let terminal = terminal(f, "cat").await;
    let viewer = terminal.attach(ViewerOptions { from: Attach::Tail, access: Access::ReadOnly });
    let refused = soon(viewer.write(Bytes::from_static(b"x"))).await.unwrap_err();
    assert!(matches!(refused, Error::TerminalReadOnly { .. }), "{refused:?}");
    assert_eq!(refused.code().status(), 403);
    assert!(soon(viewer.resize(WindowSize::default(), "x")).await.is_err());
    type_in(&terminal, "seen\n").await;
    shown(&terminal, "seen\r\nseen\r\n").await;
}

async fn sizes_are_told_in_their_place(f: &Fixture) {
    let terminal = terminal(f, "stty -echo; echo a; read x; echo b; read x; echo c").await;
    shown(&terminal, "a\r\n").await;
    let mut live = terminal.attach(from(Attach::Cursor(0)));
    soon(terminal.resize(WindowSize::new(100, 30).unwrap(), "ann")).await.unwrap();
    type_in(&terminal, "\n").await;
    shown(&terminal, "b\r\n").await;
    soon(live.resize(WindowSize::new(101, 31).unwrap(), "bob")).await.unwrap();
    type_in(&terminal, "\n").await;
    soon(terminal.gone()).await.unwrap();
    let told = ["80x24", "a", "100x30 ann", "b", "101x31 bob", "c", "exit"];
    assert_eq!(tell(&mut live).await, told);
    assert_eq!(tell(&mut terminal.attach(from(Attach::Cursor(0)))).await, told);
    assert_eq!(tell(&mut terminal.attach(from(Attach::Cursor(3)))).await, told[2..]);
}

/// Everything that a viewer is told, for comparing; output in lines.
async fn tell(viewer: &mut Viewer) -> Vec<String> {
    let mut told = Vec::new();
    while let Some(event) = soon(viewer.next()).await {
        match event {
            TerminalEvent::Output { bytes, .. } => {
                let text = String::from_utf8(bytes.to_vec()).unwrap();
                told.extend(text.split_whitespace().map(str::to_owned));
            }
            TerminalEvent::Resized(change) => {
                let by = change.by.map(|by| format!(" {by}")).unwrap_or_default();
                told.push(format!("{}x{}{by}", change.size.cols(), change.size.rows()));
            }
            TerminalEvent::Exit(_) => told.push("exit".to_owned()),
            TerminalEvent::Truncated { from, to } => panic!("{from} to {to} are missing"),
        }
    }
    told
}

async fn what_is_left_behind_is_heard_after_the_exit(f: &Fixture) {
    f.say("mkfifo go").await;
    let terminal: Terminal = terminal(f, "trap '' HUP; (read x < go; echo late) & echo main").await;
    let mut viewer = terminal.attach(ViewerOptions::default());
    let (seen, end) = follow(&mut viewer).await;
    assert_eq!((seen.as_slice(), end.survivors), (&b"main\r\n"[..], 1));
    f.say("echo > go").await;
    let late = soon(viewer.next()).await;
    assert_eq!(late, Some(TerminalEvent::Output { cursor: 6, bytes: Bytes::from_static(b"late\r\n") }));
    assert_eq!(soon(viewer.next()).await, None);
}
