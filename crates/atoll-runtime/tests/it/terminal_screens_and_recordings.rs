//! What a terminal shows now, and what it showed: the screen that programs have drawn, and recordings.

use atoll_protocol::{CastEvent, CastHeader, WindowSize};
use atoll_runtime::{Attach, Invocation, Screen, Terminal, TerminalEvent, TerminalSpec, ViewerOptions};

use crate::harness::{AT_ONCE, Fixture, all_shown, shown, skip, soon, terminal, terminal_of, type_in};

in_every_mode! {
    one_thread {
        an_editor_is_drawn,
        a_pager_is_drawn,
        a_list_of_processes_is_drawn,
        a_character_in_two_pieces_is_drawn,
        a_late_viewer_goes_on_from_the_screen,
        a_recording_holds_everything,
        a_recording_can_begin_anywhere,
    }
}

/// Looks whenever something was printed, until it looks right.
async fn screen_of(terminal: &Terminal, what: &str, right: impl Fn(&Screen) -> bool) -> Screen {
    let mut viewer = terminal.attach(ViewerOptions { from: Attach::Now, ..ViewerOptions::default() });
    loop {
        let screen = soon(terminal.screen()).await;
        if right(&screen) {
            return screen;
        }
        let event = tokio::time::timeout(AT_ONCE, viewer.next()).await;
        let told = event.ok().flatten().filter(|event| !matches!(event, TerminalEvent::Exit(_)));
        assert!(told.is_some(), "never was on the screen: {what}\n{}", screen.text);
    }
}

async fn program(f: &Fixture, words: &[&str], cols: u16, rows: u16) -> Terminal {
    let mut spec = TerminalSpec::new(Invocation::Argv(words.iter().map(Into::into).collect()));
    spec.size = WindowSize::new(cols, rows).unwrap();
    terminal_of(f, spec).await
}

async fn an_editor_is_drawn(f: &Fixture) {
    if !f.sh("vim --version").await.end.success() {
        return skip("no vim inside");
    }
    f.say("printf 'first line\\nsecond line\\n' > text").await;
    let terminal = program(f, &["vim", "-u", "NONE", "-i", "NONE", "-N", "text"], 60, 12).await;
    let screen = screen_of(&terminal, "the file", |screen| {
        screen.text.starts_with("first line\nsecond line\n~\n~\n") && screen.cursor_at == (0, 0) && screen.alternate
    })
    .await;
    assert!(screen.whole && screen.text.contains("text"), "{}", screen.text);
    type_in(&terminal, "Gothird \u{20ac}\x1b").await;
    screen_of(&terminal, "what was typed", |screen| screen.text.contains("second line\nthird \u{20ac}\n~")).await;
    soon(terminal.resize(WindowSize::new(40, 6).unwrap(), "test")).await.unwrap();
    screen_of(&terminal, "the smaller window", |screen| {
        screen.size.rows() == 6 && screen.text.starts_with("first line\nsecond line\nthird \u{20ac}\n~\n~")
    })
    .await;
    type_in(&terminal, "\x1b:wq\r").await;
    assert!(soon(terminal.ended()).await.unwrap().success());
    let screen = soon(terminal.screen()).await;
    assert!(!screen.alternate);
    assert_eq!(f.say("cat text").await, "first line\nsecond line\nthird \u{20ac}\n");
}

async fn a_pager_is_drawn(f: &Fixture) {
    if !f.sh("less --version").await.end.success() {
        return skip("no less inside");
    }
    f.say("seq 1 1000 > numbers").await;
    let terminal = program(f, &["less", "numbers"], 20, 6).await;
    screen_of(&terminal, "the first page", |screen| screen.text.starts_with("1\n2\n3\n4\n5\nnumbers")).await;
    type_in(&terminal, " ").await;
    screen_of(&terminal, "the second page", |screen| screen.text.starts_with("6\n7\n8\n9\n10\n:")).await;
    type_in(&terminal, "G").await;
    screen_of(&terminal, "the end", |screen| screen.text.contains("999\n1000\n(END)")).await;
    type_in(&terminal, "q").await;
    assert!(soon(terminal.ended()).await.unwrap().success());
}

async fn a_list_of_processes_is_drawn(f: &Fixture) {
    if !f.sh("top -v || top -V").await.end.success() {
        return skip("no top inside");
    }
    let terminal = program(f, &["top"], 100, 20).await;
    let screen = screen_of(&terminal, "the table", |screen| {
        screen.text.contains("PID USER") && screen.text.contains("load average") && screen.text.contains("top")
    })
    .await;
    assert!(screen.text.lines().count() <= 20);
    type_in(&terminal, "q").await;
    assert!(soon(terminal.ended()).await.unwrap().success());
}

async fn a_character_in_two_pieces_is_drawn(f: &Fixture) {
    let terminal = terminal(f, r"stty -echo; printf 'a\342\202'; read x; printf '\254b'; read x").await;
    soon(terminal.wait_input(None)).await.unwrap();
    assert_eq!(soon(terminal.screen()).await.text, "a");
    type_in(&terminal, "\n").await;
    screen_of(&terminal, "the whole of it", |screen| screen.text == "a\u{20ac}b").await;
}

async fn a_late_viewer_goes_on_from_the_screen(f: &Fixture) {
    let terminal = terminal(f, "stty -echo; seq 1 100; read x; printf '\\033[31mred'").await;
    shown(&terminal, "100\r\n").await;
    let screen = soon(terminal.screen()).await;
    assert!(screen.text.starts_with("78\n79\n") && screen.text.ends_with("99\n100"), "{}", screen.text);
    assert_eq!(screen.cursor_at, (23, 0));
    let mut viewer = terminal.attach(ViewerOptions { from: Attach::Cursor(screen.cursor), ..ViewerOptions::default() });
    type_in(&terminal, "\n").await;
    assert!(matches!(soon(viewer.next()).await, Some(TerminalEvent::Resized(_))));
    let Some(TerminalEvent::Output { cursor, bytes }) = soon(viewer.next()).await else {
        panic!("no output");
    };
    assert_eq!((cursor, &bytes[..]), (screen.cursor, &b"\x1b[31mred"[..]));
}

async fn recorded(terminal: &Terminal, since: u64) -> (CastHeader, Vec<CastEvent>) {
    let mut recording = terminal.recording(since);
    let mut lines = Vec::new();
    while let Some(line) = soon(recording.next()).await.unwrap() {
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        lines.push(line);
    }
    let header = serde_json::from_slice(&lines[0]).unwrap();
    (header, lines[1..].iter().map(|line| serde_json::from_slice(line).unwrap()).collect())
}

fn output(events: &[CastEvent]) -> String {
    events.iter().filter_map(CastEvent::as_output).collect()
}

async fn a_recording_holds_everything(f: &Fixture) {
    let text = r"stty -echo; printf 'a\342\202'; read x; printf '\254\377'; seq 1 30000; read x; printf 'end\342'";
    let terminal = terminal(f, text).await;
    soon(terminal.wait_input(None)).await.unwrap();
    type_in(&terminal, "\n").await;
    shown(&terminal, "30000\r\n").await;
    soon(terminal.resize(WindowSize::new(100, 30).unwrap(), "test")).await.unwrap();
    type_in(&terminal, "\n").await;
    let all = all_shown(&terminal).await;
    let (header, events) = recorded(&terminal, 0).await;
    assert_eq!((header.version, header.width, header.height), (2, 80, 24));
    assert_eq!(header.env["TERM"], "xterm-256color");
    assert_eq!(header.timestamp, terminal.info().started_at.as_millis() / 1000);
    assert!(output(&events) == String::from_utf8_lossy(&all));
    let kinds: Vec<_> = events.iter().map(CastEvent::kind).collect();
    let resize = kinds.iter().position(|kind| *kind == "r").unwrap();
    assert!(resize > 0 && events[resize + 1].as_output().unwrap().starts_with("end"));
    assert!(events.is_sorted_by(|a, b| a.seconds() <= b.seconds()));
}

async fn a_recording_can_begin_anywhere(f: &Fixture) {
    let terminal = terminal(f, "stty -echo; echo one; read x; echo two").await;
    shown(&terminal, "one\r\n").await;
    let (_, so_far) = recorded(&terminal, 0).await;
    assert_eq!(output(&so_far), "one\r\n");
    soon(terminal.resize(WindowSize::new(100, 30).unwrap(), "test")).await.unwrap();
    type_in(&terminal, "\n").await;
    soon(terminal.ended()).await.unwrap();
    let (header, rest) = recorded(&terminal, 5).await;
    assert_eq!((header.width, output(&rest).as_str()), (100, "two\r\n"));
    assert!(rest[0].seconds() < 0.001, "it begins with the first thing that it shows");
}
