//! A program in a terminal finds what it would find in any other: size, name, control, keys that are signals.

use std::time::Duration;

use atoll_protocol::{EndReason, ProcessState, Signal, WindowSize};
use atoll_runtime::{Error, Invocation, SignalScope, Terminal, TerminalSpec};
use bytes::Bytes;

use crate::harness::{
    AT_ONCE, Fixture, all_shown, eventually, shown, shown_since, skip, soon, terminal, terminal_of, type_in,
};

in_every_mode! {
    four_modes {
        it_has_the_size_it_was_made_with_and_is_given,
        it_is_told_of_a_new_size,
        all_three_descriptors_are_the_terminal,
        control_c_interrupts,
        control_d_is_the_end_of_input,
        jobs_are_stopped_and_continued,
        a_background_child_delays_nothing,
        a_kill_ends_everything,
    }
    one_thread {
        the_default_is_an_interactive_shell,
        environment_directory_and_term_are_as_asked,
        what_cannot_be_started_is_an_error,
        its_own_user_owns_it,
        bytes_are_bytes,
        typing_waits_for_nobody_else,
        it_waits_for_input_when_it_reads,
        it_waits_for_input_behind_dev_tty,
        it_does_not_wait_while_it_computes,
        output_after_closing_its_descriptors_is_seen,
        signals_reach_it,
        an_ended_one_takes_nothing,
    }
}

fn argv(words: &[&str]) -> TerminalSpec {
    TerminalSpec::new(Invocation::Argv(words.iter().map(Into::into).collect()))
}

/// An interactive shell whose prompt is known, whatever the host's files say.
async fn shell(f: &Fixture) -> Terminal {
    let mut spec = argv(&["bash", "--norc", "-i"]);
    spec.env.insert("PS1".into(), Some("ready> ".into()));
    let terminal = terminal_of(f, spec).await;
    shown(&terminal, "ready> ").await;
    terminal
}

fn size(cols: u16, rows: u16) -> WindowSize {
    WindowSize::new(cols, rows).unwrap()
}

async fn it_has_the_size_it_was_made_with_and_is_given(f: &Fixture) {
    let mut spec =
        TerminalSpec::new(Invocation::Shell("stty -echo; stty size; while read x; do stty size; done".into()));
    spec.size = size(101, 37);
    let terminal = terminal_of(f, spec).await;
    shown(&terminal, "37 101\r\n").await;
    let info = terminal.info();
    assert_eq!((info.size, info.resized_by), (size(101, 37), None));
    for (cols, rows, who) in [(132, 50, "ann"), (90, 20, "bob")] {
        soon(terminal.resize(size(cols, rows), who)).await.unwrap();
        type_in(&terminal, "\n").await;
        shown(&terminal, &format!("{rows} {cols}\r\n")).await;
        let info = terminal.info();
        assert_eq!((info.size, info.resized_by.as_deref()), (size(cols, rows), Some(who)));
    }
}

async fn it_is_told_of_a_new_size(f: &Fixture) {
    let terminal = terminal(f, "trap 'echo now $(stty size)' WINCH; echo up; while :; do sleep 0.05; done").await;
    shown(&terminal, "up").await;
    soon(terminal.resize(size(132, 50), "test")).await.unwrap();
    shown(&terminal, "now 50 132").await;
}

async fn all_three_descriptors_are_the_terminal(f: &Fixture) {
    let terminal =
        terminal(f, "tty; test -t 0 -a -t 1 -a -t 2 && echo yes; echo on stderr >&2; ps -o tty= -p $$").await;
    let text = String::from_utf8(all_shown(&terminal).await).unwrap();
    let lines: Vec<_> = text.split("\r\n").collect();
    assert!(lines[0].starts_with("/dev/pts/"), "{text:?}");
    assert_eq!(&lines[1..3], ["yes", "on stderr"], "{text:?}");
    assert_eq!(format!("/dev/{}", lines[3].trim()), lines[0], "it controls the program");
    assert!(soon(terminal.ended()).await.unwrap().success());
}

async fn control_c_interrupts(f: &Fixture) {
    let terminal = terminal_of(f, argv(&["sleep", "300"])).await;
    type_in(&terminal, "\x03").await;
    let end = soon(terminal.ended()).await.unwrap();
    assert_eq!((end.reason, end.signal), (EndReason::Signaled, Some(Signal::INT)));
}

async fn control_d_is_the_end_of_input(f: &Fixture) {
    let terminal = terminal_of(f, argv(&["cat"])).await;
    type_in(&terminal, "hello\n").await;
    shown(&terminal, "hello\r\nhello\r\n").await;
    type_in(&terminal, "\x04").await;
    assert!(soon(terminal.ended()).await.unwrap().success());
    assert_eq!(all_shown(&terminal).await, b"hello\r\nhello\r\n");
}

/// The job tells by itself that it goes on: a key before that would be the shell's.
async fn jobs_are_stopped_and_continued(f: &Fixture) {
    let terminal = shell(f).await;
    let job = "trap \"echo again\\$((4 + 5))\" CONT; echo up$((1 + 1)); while :; do sleep 0.05; done";
    // Not sh: dash uses vfork, and a stop in the middle of one holds both halves for ever.
    type_in(&terminal, &format!("bash -c '{job}'\n")).await;
    let mut at = shown(&terminal, "up2").await;
    type_in(&terminal, "\x1a").await;
    at = shown_since(&terminal, "Stopped", at).await;
    at = shown_since(&terminal, "ready> ", at).await;
    type_in(&terminal, "sleep 200 & fg %1\n").await;
    at = shown_since(&terminal, "again9", at).await;
    type_in(&terminal, "\x03").await;
    at = shown_since(&terminal, "ready> ", at).await;
    type_in(&terminal, "kill %2; echo done$((3 + 4)); exit 5\n").await;
    shown_since(&terminal, "done7", at).await;
    assert_eq!(soon(terminal.ended()).await.unwrap().code, Some(5));
}

/// What it leaves behind holds the terminal open, and is still heard.
async fn a_background_child_delays_nothing(f: &Fixture) {
    f.say("mkfifo go").await;
    let terminal = terminal(f, "trap '' HUP; (read x < go; echo late; exec sleep 300) & echo main; exit 3").await;
    let end = soon(terminal.ended()).await.unwrap();
    assert_eq!((end.reason, end.code, end.survivors), (EndReason::Exited, Some(3), 1));
    assert_eq!(terminal.state(), ProcessState::Lingering);
    f.say("echo > go").await;
    let mut reader = terminal.log().reader(0);
    let mut all = Vec::new();
    while !String::from_utf8_lossy(&all).contains("late\r\n") {
        let event = soon(reader.next()).await.unwrap();
        all.extend_from_slice(&event.into_output().unwrap().bytes);
    }
    assert_eq!(all, b"main\r\nlate\r\n");
    let receipt = soon(terminal.kill(Duration::ZERO)).await.unwrap();
    assert_eq!(receipt.survivors, 0);
    soon(terminal.gone()).await.unwrap();
    assert_eq!(f.alive(), [""; 0]);
}

async fn a_kill_ends_everything(f: &Fixture) {
    let terminal = shell(f).await;
    type_in(&terminal, "sleep 300 & setsid sleep 300 & (trap '' HUP TERM; sleep 300) & echo all$((1 + 1))\n").await;
    shown(&terminal, "all2").await;
    let receipt = soon(terminal.kill(Duration::from_millis(200))).await.unwrap();
    assert!(receipt.signalled >= 1, "{receipt:?}");
    assert_eq!(receipt.survivors, 0);
    let end = soon(terminal.ended()).await.unwrap();
    assert_eq!(end.reason, EndReason::Killed);
    assert_eq!(f.alive(), [""; 0]);
}

async fn the_default_is_an_interactive_shell(f: &Fixture) {
    let terminal = terminal_of(f, TerminalSpec::default()).await;
    soon(terminal.wait_input(None)).await.unwrap();
    type_in(&terminal, "echo \"<$-> <$BASH_VERSION>\"; exit 4\n").await;
    let end = soon(terminal.ended()).await.unwrap();
    let text = String::from_utf8(all_shown(&terminal).await).unwrap();
    assert_eq!(end.code, Some(4), "{text}");
    let (options, _) = text.rsplit_once("> <5.").unwrap();
    assert!(options.rsplit('<').next().unwrap().contains('i'), "{text}");
}

async fn environment_directory_and_term_are_as_asked(f: &Fixture) {
    let mut spec = TerminalSpec::new(Invocation::Shell("echo $TERM-$A-$(pwd)-${LANG-unset}".into()));
    spec.env = [("A".into(), Some("1".into())), ("LANG".into(), None)].into();
    spec.cwd = Some("/tmp".into());
    spec.term = "vt220".into();
    let terminal = terminal_of(f, spec).await;
    assert_eq!(all_shown(&terminal).await, b"vt220-1-/tmp-unset\r\n");
    let plain = crate::harness::terminal(f, "echo $TERM").await;
    assert_eq!(all_shown(&plain).await, b"xterm-256color\r\n");
}

async fn what_cannot_be_started_is_an_error(f: &Fixture) {
    let error = soon(f.sandbox.open_terminal(argv(&["no-such-program"]))).await.unwrap_err();
    assert!(matches!(error, Error::CommandNotFound { .. }), "{error:?}");
    let spec = TerminalSpec { cwd: Some("/no/such/place".into()), ..TerminalSpec::default() };
    let error = soon(f.sandbox.open_terminal(spec)).await.unwrap_err();
    assert!(matches!(error, Error::CwdNotFound { .. }), "{error:?}");
    assert_eq!(f.sandbox.terminals().len(), 0);
}

async fn its_own_user_owns_it(f: &Fixture) {
    if f.sh("su user -c true || id nobody").await.end.code != Some(0) {
        return skip("there is no other user");
    }
    let user = if f.mode.isolated() { "user" } else { "nobody" };
    let mut spec = TerminalSpec::new(Invocation::Shell("stat -c %U $(tty); echo again > $(tty)".into()));
    spec.user = Some(user.to_owned());
    spec.cwd = Some("/".into());
    match soon(f.sandbox.open_terminal(spec)).await {
        Err(Error::UserNotFound { .. }) => skip("without privileges there is only root"),
        other => assert_eq!(all_shown(&other.unwrap()).await, format!("{user}\r\nagain\r\n").as_bytes()),
    }
}

async fn bytes_are_bytes(f: &Fixture) {
    let terminal = terminal(f, r"stty raw -echo; printf '\0\001\377\200\n\r\342\202'; head -c 4 | od -An -tx1").await;
    shown(&terminal, "\n\r").await;
    soon(terminal.write(Bytes::from_static(b"\x00\x03\xff\x04"))).await.unwrap();
    let all = all_shown(&terminal).await;
    assert_eq!(&all[..8], b"\x00\x01\xff\x80\n\r\xe2\x82");
    assert_eq!(String::from_utf8_lossy(&all[8..]).trim(), "00 03 ff 04");
}

/// The program does not read: what does not fit waits, and nothing else does.
async fn typing_waits_for_nobody_else(f: &Fixture) {
    f.say("mkfifo go").await;
    let terminal = terminal(f, "stty raw -echo; echo up; read x < go; head -c 200000 | md5sum").await;
    shown(&terminal, "up").await;
    let typed = Bytes::from(vec![b'k'; 200_000]);
    let writing = tokio::spawn({
        let (terminal, typed) = (terminal.clone(), typed.clone());
        async move { terminal.write(typed).await }
    });
    soon(terminal.resize(size(70, 30), "test")).await.unwrap();
    assert_eq!(terminal.size(), size(70, 30));
    assert!(!writing.is_finished());
    f.say("echo > go").await;
    soon(writing).await.unwrap().unwrap();
    let sum = f.say("head -c 200000 /dev/zero | tr '\\0' k | md5sum").await;
    assert!(String::from_utf8_lossy(&all_shown(&terminal).await).contains(sum.trim()));
}

async fn it_waits_for_input_when_it_reads(f: &Fixture) {
    let terminal = terminal(f, "read -p 'name? ' x; echo hi $x; read -p 'more? ' -n 1 y; echo bye $y").await;
    soon(terminal.wait_input(Some(AT_ONCE))).await.unwrap();
    assert!(soon(terminal.waiting_for_input()).await.unwrap());
    // Half a line is not yet something that it can read.
    type_in(&terminal, "An").await;
    assert!(soon(terminal.waiting_for_input()).await.unwrap());
    type_in(&terminal, "n\n").await;
    shown(&terminal, "more? ").await;
    soon(terminal.wait_input(Some(AT_ONCE))).await.unwrap();
    type_in(&terminal, "y").await;
    assert!(soon(terminal.ended()).await.unwrap().success());
    assert!(!soon(terminal.waiting_for_input()).await.unwrap());
    let prompt = shell(f).await;
    soon(prompt.wait_input(Some(AT_ONCE))).await.unwrap();
}

async fn it_waits_for_input_behind_dev_tty(f: &Fixture) {
    let terminal = terminal(f, "sh -c 'read x < /dev/tty; echo got $x' < /dev/null").await;
    soon(terminal.wait_input(Some(AT_ONCE))).await.unwrap();
    type_in(&terminal, "it\n").await;
    shown(&terminal, "got it").await;
}

async fn it_does_not_wait_while_it_computes(f: &Fixture) {
    let busy = terminal(f, "echo up; while :; do :; done").await;
    shown(&busy, "up").await;
    let waited = busy.wait_input(Some(Duration::from_millis(300))).await;
    assert!(matches!(waited, Err(Error::WaitTimeout { .. })), "{waited:?}");
    let other = terminal(f, "mkfifo other; echo up; exec cat other").await;
    shown(&other, "up").await;
    assert!(!soon(other.waiting_for_input()).await.unwrap());
}

/// For a moment nobody inside has the terminal open; that is not its end.
async fn output_after_closing_its_descriptors_is_seen(f: &Fixture) {
    let text = "name=$(tty); echo before; exec < /dev/null > /dev/null 2>&1; sleep 0.1; echo after > $name";
    let terminal = terminal(f, text).await;
    assert_eq!(all_shown(&terminal).await, b"before\r\nafter\r\n");
}

async fn signals_reach_it(f: &Fixture) {
    let terminal = terminal(f, "trap 'echo usr1' USR1; echo up; while :; do sleep 0.05; done").await;
    shown(&terminal, "up").await;
    assert_eq!(soon(terminal.signal("USR1".parse().unwrap(), SignalScope::Main)).await.unwrap(), 1);
    shown(&terminal, "usr1").await;
    soon(terminal.signal(Signal::KILL, SignalScope::Tree)).await.unwrap();
    assert_eq!(soon(terminal.ended()).await.unwrap().signal, Some(Signal::KILL));
    let marker = f.marker.clone();
    eventually("all of it is gone", || crate::harness::alive(&marker).is_empty()).await;
}

async fn an_ended_one_takes_nothing(f: &Fixture) {
    let terminal = terminal(f, "exit 0").await;
    soon(terminal.gone()).await.unwrap();
    let ended = |error: Error| matches!(error, Error::TerminalEnded { .. });
    assert!(ended(soon(terminal.write(Bytes::from_static(b"x"))).await.unwrap_err()));
    assert!(ended(soon(terminal.resize(size(80, 24), "x")).await.unwrap_err()));
    assert!(ended(soon(terminal.signal(Signal::INT, SignalScope::Main)).await.unwrap_err()));
    assert_eq!(soon(terminal.kill(Duration::ZERO)).await.unwrap().signalled, 0);
}
