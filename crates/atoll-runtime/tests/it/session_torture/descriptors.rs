//! What a command does to the shell's open files.

use atoll_protocol::EndReason;
use atoll_runtime::{Command, SessionSpec};

use super::{Case, play, quiet, run, works};
use crate::harness::{Fixture, soon};

in_every_mode! {
    one_thread {
        redirections_stay_and_hide_nothing_of_ours,
        limits_of_the_shell_hold_for_its_commands,
        a_child_that_writes_to_all_descriptors_changes_no_result,
    }
}

/// Puts all three back, from copies made before.
const BACK: &str = "exec <&7 >&8 2>&9 7<&- 8>&- 9>&-";

const REDIRECTIONS: &[Case] = &[
    (
        "exec >file",
        &[
            quiet("exec 8>&1 >file"),
            quiet("echo into; echo err >&2").err("err\n"),
            run("cat file >&8; exec >&8 8>&-", "into\n"),
        ],
    ),
    (
        "exec 2>&1",
        &[
            quiet("exec 9>&2 2>&1"),
            run("echo a; echo b >&2; nosuch", "a\nb\nbash: line 1: nosuch: command not found\n").code(127),
            quiet("exec 2>&9 9>&-"),
        ],
    ),
    (
        "exec 1>&-",
        &[
            quiet("exec 8>&1 1>&-"),
            quiet("echo a").err("bash: line 1: echo: write error: Bad file descriptor\n").code(1),
            run("echo b >&8; echo c >&2; exec >&8 8>&-", "b\n").err("c\n"),
        ],
    ),
    (
        "exec 0<&-",
        &[
            quiet("exec 7<&0 0<&-"),
            quiet("read x").err("bash: line 1: read: read error: 0: Bad file descriptor\n").code(1).input("given\n"),
            run("read x <&7; echo $x; exec <&7 7<&-", "given\n").input("given\n"),
            run("cat", "again\n").input("again\n"),
        ],
    ),
    (
        "all three closed",
        &[
            quiet("exec 7<&0 8>&1 9>&2; exec 0<&- 1>&- 2>&-"),
            quiet("echo a; echo b >&2").code(1),
            run("echo out >&8; echo err >&9", "out\n").err("err\n"),
            quiet(BACK),
        ],
    ),
    (
        "all three elsewhere",
        &[
            quiet("exec 7<&0 8>&1 9>&2; exec </dev/null >/dev/null 2>&1"),
            quiet("echo a; echo b >&2; cat").input("unread"),
            quiet(BACK),
        ],
    ),
    (
        "both outputs exchanged",
        &[
            quiet("exec 3>&1 1>&2 2>&3"),
            run("echo err; echo out >&2; echo three >&3", "out\nthree\n").err("err\n"),
            quiet("exec 3>&1 1>&2 2>&3 3>&-"),
        ],
    ),
    (
        "more copies than anybody needs",
        &[
            quiet("for i in {10..90}; do eval \"exec $i>&1\"; done"),
            run("echo low >&10; echo high >&90; for i in {10..90}; do eval \"exec $i>&-\"; done", "low\nhigh\n"),
        ],
    ),
    (
        "a file of its own kept open",
        &[
            quiet("exec 3<>file; echo data >&3"),
            run("cat file; exec 4<file", "data\n"),
            run("read l <&4; echo $l; exec 3>&- 4<&-", "data\n"),
            quiet("echo x >&3").err("bash: line 1: 3: Bad file descriptor\n").code(1),
        ],
    ),
    ("a descriptor with a name", &[quiet("exec {fd}>named"), run("echo x >&$fd; exec {fd}>&-; cat named", "x\n")]),
    (
        "its own /dev/null is not the call's input",
        &[
            quiet("exec 3</dev/null"),
            run("read x <&3; echo \"[$x]\"; read x; echo \"[$x]\"; exec 3<&-", "[]\n[given]\n").input("given\n"),
        ],
    ),
    ("its input by another number", &[quiet("exec 5<&0"), run("cat <&5; exec 5<&-", "given").input("given")]),
    (
        "the streams by their names",
        &[
            run(
                "echo out >/dev/stdout; echo err >/dev/stderr; echo fd >/dev/fd/1; echo a | tee /dev/stderr",
                "out\nfd\na\n",
            )
            .err("err\na\n"),
            run("cat /dev/stdin", "in").input("in"),
            quiet("exec 3>/dev/stdout"),
            run("echo three >&3; exec 3>&-", "three\n"),
        ],
    ),
    (
        "nothing of ours is open",
        &[
            run("for fd in /proc/$$/fd/*; do [ ! -e $fd ] || echo ${fd##*/}; done", "0\n1\n2\n"),
            run("bash -c 'for fd in /proc/$$/fd/*; do [ ! -e $fd ] || echo ${fd##*/}; done'", "0\n1\n2\n").at("/tmp"),
        ],
    ),
    ("writing to everything", &[run("for fd in /proc/$$/fd/[12]; do echo x >$fd; done", "x\n").err("x\n")]),
    ("reading from everything", &[quiet("for fd in /proc/$$/fd/*; do read -t 0.01 x <$fd; done 2>/dev/null; true")]),
    (
        "closing everything",
        &[
            quiet("for n in {3..255}; do eval \"exec $n>&-\"; done"),
            run("for n in {3..255}; do eval \"exec $n>&-\"; done; pwd", "/tmp\n").at("/tmp"),
            run("echo ${PWD##*/case*}", "\n"),
        ],
    ),
    (
        "output that looks like a report",
        &[run(
            "printf 'ATS1\\1\\2\\0\\0' | head -c 4; echo; printf 'ATS1' >&2; printf '%s' '\x01\x02ATS1/tmp'",
            "ATS1\n\x01\x02ATS1/tmp",
        )
        .err("ATS1")],
    ),
    (
        "a coprocess",
        &[
            quiet("coproc C { while read l; do echo \"got $l\"; done; }"),
            run("echo 1 >&${C[1]}; read r <&${C[0]}; echo $r", "got 1\n"),
            run("kill $C_PID; wait; echo gone", "gone\n"),
        ],
    ),
    ("process substitution", &[run("cat <(echo a) <(echo b); echo c > >(cat >f); wait $!; cat f", "a\nb\nc\n")]),
];

async fn redirections_stay_and_hide_nothing_of_ours(f: &Fixture) {
    play(f, REDIRECTIONS).await;
}

const LIMITS: &[Case] = &[
    (
        "ulimit -n 8",
        &[
            quiet("ulimit -n 8"),
            run("echo a; cat </dev/null; echo \"$(echo sub)\"", "a\nsub\n"),
            run("pwd", "/tmp\n").at("/tmp"),
        ],
    ),
    (
        "ulimit -n 8 and hardly one free",
        &[
            quiet("ulimit -n 8; for i in 3 4 5 6; do eval \"exec $i>f$i\"; done"),
            run("echo out; echo err >&2; echo four >&4; cat", "out\nin").err("err\n").input("in"),
        ],
    ),
    ("ulimit -n 4", &[quiet("ulimit -n 4"), run("echo a; echo b >&2", "a\n").err("b\n")]),
    // Its own three do not fit: there is no way to give it another command.
    ("ulimit -n 3", &[quiet("ulimit -n 3"), quiet("echo a").exits(125)]),
    ("ulimit -f 0", &[quiet("ulimit -f 0"), run("echo a; echo b >file; echo c", "a\n").ends(super::End::Signal(25))]),
    (
        "ulimit -f 0, minding",
        &[
            quiet("trap '' XFSZ; ulimit -f 0"),
            run("echo a; echo b >file; echo $?", "a\n1\n").err("bash: line 1: echo: write error: File too large\n"),
        ],
    ),
    (
        "ulimit -v small",
        &[quiet("ulimit -v 8000"), run("echo a; (x=$(printf 'a%.0s' {1..100000})) 2>/dev/null; echo b", "a\nb\n")],
    ),
    ("ulimit -s small", &[quiet("ulimit -s 128"), run("f() { [ $1 = 0 ] || f $(($1-1)); }; f 10; echo a", "a\n")]),
    ("ulimit -c, -t and -l", &[quiet("ulimit -c 0 -t 100 -l 0"), run("ulimit -c; ulimit -t", "0\n100\n")]),
    ("ulimit -u, in a command that gives up", &[quiet("(ulimit -u 1; exec true); true"), run("/bin/echo a", "a\n")]),
    ("umask 777", &[quiet("umask 777"), run("umask; umask 022", "0777\n")]),
    (
        "a full disk",
        &[quiet("echo a >/dev/full").err("bash: line 1: echo: write error: No space left on device\n").code(1)],
    ),
];

async fn limits_of_the_shell_hold_for_its_commands(f: &Fixture) {
    play(f, LIMITS).await;
}

/// Opens whatever the shell has open at any moment: what comes between two commands too.
const WRITER: &str = "keep=kept; while :; do for fd in /proc/$$/fd/*; do echo garbage >$fd; read -t 0 x <$fd; done; done \
    2>/dev/null & p=$!";

async fn a_child_that_writes_to_all_descriptors_changes_no_result(f: &Fixture) {
    let session = soon(f.sandbox.create_session(SessionSpec::default())).await.unwrap();
    soon(session.exec(Command::shell(WRITER))).await.unwrap();
    // It may write into the command's own pipes, which are the user's; nothing else changes.
    let without = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("garbage\n", "");
    for number in 0..50 {
        let text = format!("echo out {number}; echo err {number} >&2; (exit {number})");
        let output = soon(session.exec(Command::shell(text))).await.unwrap();
        let got = (without(&output.stdout.head), without(&output.stderr.head), output.end.reason, output.end.code);
        let expected = (format!("out {number}\n"), format!("err {number}\n"), EndReason::Exited, Some(number));
        assert_eq!(got, expected);
    }
    soon(session.exec(Command::shell("kill -9 $p; wait $p"))).await.unwrap();
    works(&session).await.unwrap();
    soon(session.delete()).await.unwrap();
}
