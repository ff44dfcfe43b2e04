//! Signals that a command sends to its own shell, and jobs.

use atoll_protocol::{EndReason, SessionState, Signal};
use atoll_runtime::{Command, SessionSpec};

use super::{Case, End, play, quiet, run, works};
use crate::harness::{Fixture, soon};

in_every_mode! {
    one_thread {
        signals_end_what_they_end_in_bash,
        no_number_of_a_signal_is_taken_for_another,
        jobs_stay,
        forged_reports_are_nobodys,
    }
}

const SIGNALS: &[Case] = &[
    ("kill 0", &[run("echo a; kill 0; echo b", "a\n").ends(End::Signal(15))]),
    ("kill 0, minding", &[run("trap 'echo term' TERM; kill 0; echo b", "term\nb\n")]),
    ("kill -9 $$", &[run("echo out; kill -9 $$; echo no", "out\n").ends(End::Signal(9))]),
    ("kill -INT $$", &[run("echo a; kill -INT $$; echo b", "a\n").ends(End::Interrupted), run("echo $?", "130\n")]),
    ("kill -INT $$, minding", &[run("trap 'echo int' INT; kill -INT $$; echo b", "int\nb\n"), quiet("trap - INT")]),
    ("kill -INT 0", &[run("echo a; kill -INT 0; echo b", "a\n").ends(End::Interrupted)]),
    // Nobody could continue it: it is continued.
    ("kill -STOP $$", &[run("echo a; kill -STOP $$; echo b", "a\nb\n")]),
    ("kill -TSTP $$", &[run("kill -TSTP $$; kill -TTIN $$; kill -TTOU $$; echo b", "b\n")]),
    ("suspend", &[run("suspend -f; echo after", "after\n")]),
    (
        "a stopped child and its timeout",
        &[
            quiet("exec 9>&2 2>/dev/null"),
            quiet("sh -c 'kill -STOP $$'").ends(End::Timeout),
            run("exec 2>&9 9>&-; echo on", "on\n"),
        ],
    ),
    ("a child that is ended by a signal", &[quiet("{ sh -c 'kill -9 $$'; } 2>/dev/null; (exit $?)").code(137)]),
];

async fn signals_end_what_they_end_in_bash(f: &Fixture) {
    play(f, SIGNALS).await;
}

/// What bash does not mind, or what we do not let be.
const NOTHING_HAPPENS: [i32; 9] = [3, 17, 18, 19, 20, 21, 22, 23, 28];

async fn no_number_of_a_signal_is_taken_for_another(f: &Fixture) {
    for number in 1..=64 {
        let session = soon(f.sandbox.create_session(SessionSpec::default())).await.unwrap();
        soon(session.exec(Command::shell("keep=kept"))).await.unwrap();
        let output = soon(session.exec(Command::shell(format!("echo a; kill -{number} $$; :; echo b")))).await.unwrap();
        let end = (output.end.reason, output.end.code, output.end.signal);
        if NOTHING_HAPPENS.contains(&number) {
            assert_eq!(
                (end, output.stdout.head.as_slice()),
                ((EndReason::Exited, Some(0), None), &b"a\nb\n"[..]),
                "{number}"
            );
            works(&session).await.unwrap();
        } else if number == 2 || number == 33 {
            assert_eq!(
                (end, output.stdout.head.as_slice()),
                ((EndReason::Signaled, None, Some(Signal::INT)), &b"a\n"[..])
            );
            works(&session).await.unwrap();
        } else {
            assert_eq!(end, (EndReason::ShellExited, None, Signal::from_number(number)), "{number}");
            assert_eq!(output.stdout.head, b"a\n", "{number}");
            assert_eq!(session.info().state, SessionState::Dead);
        }
        soon(session.delete()).await.unwrap();
    }
}

const JOBS: &[Case] = &[
    (
        "jobs, kill %1, wait %1",
        &[
            quiet("sleep 60 & sleep 61 &"),
            run(
                "jobs; kill %1; wait %1; echo $?",
                "[1]-  Running                 sleep 60 &\n[2]+  Running                 sleep 61 &\n143\n",
            ),
            run("jobs %2; kill %2; wait %2; echo $?; jobs", "[2]+  Running                 sleep 61 &\n143\n"),
        ],
    ),
    ("the status of a job that ended meanwhile", &[quiet("(exit 5) & p=$!"), run("wait $p; echo $?", "5\n")]),
    (
        "wait -n",
        &[
            quiet("(exit 3) & p=$!; sleep 60 & q=$!"),
            run("wait -n $p; echo $?; kill $q; wait -n; echo $?; wait -n; echo $?", "3\n143\n127\n"),
        ],
    ),
    ("disown", &[run("sleep 60 & disown; jobs", ""), run("jobs; kill $!; echo $?", "0\n")]),
    // It holds its command's pipes, and delays neither its own command nor the next.
    ("a job that holds the pipes", &[run("sleep 60 & printf done", "done"), run("kill %1; wait; echo next", "next\n")]),
    (
        "nohup, setsid and a double fork",
        &[run("nohup sleep 60 >/dev/null 2>&1 & (setsid sleep 61 &); echo on", "on\n"), run("kill %1; echo $?", "0\n")],
    ),
    (
        "wait for all",
        &[quiet("mkfifo gate; { read x <gate; exit 7; } & p=$!"), run("echo go >gate; wait $p; echo $?", "7\n")],
    ),
    (
        "fg without job control",
        &[quiet("sleep 60 & fg").err("bash: line 1: fg: no job control\n").code(1), quiet("kill %1; wait; true")],
    ),
];

async fn jobs_stay(f: &Fixture) {
    play(f, JOBS).await;
}

/// Tries every listener that can be seen, with garbage and with reports that say that the command is over.
const FORGER: &str = r"cat >forge.py <<'END'
import os, socket, struct
report = b'ATS1' + bytes([1, 2, 0, 0]) + struct.pack('<i', 77) + bytes(36) + b'/forged'
while True:
    names = {line.split()[7] for line in open('/proc/net/unix') if '@atoll-' in line}
    for name in names:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.settimeout(0.05)
        try:
            connection.connect('\0' + name[1:])
            connection.send(report)
            connection.send(os.urandom(100))
            connection.recv(9000)
        except OSError:
            pass
        connection.close()
    open('tried', 'a').write('x')
END
python3 forge.py & p=$!
while [ ! -s tried ]; do sleep 0.01; done";

const FORGED: &[Case] = &[(
    "forged reports",
    &[
        quiet(FORGER),
        run("echo one; pwd | grep -c forged", "one\n0\n").code(1),
        quiet("(exit 3)").code(3),
        run("read -t 0.2 x; for i in {1..2000}; do :; done; echo two", "two\n"),
        run(
            "before=$(wc -c <tried); while [ $(wc -c <tried) -lt $((before+3)) ]; do sleep 0.01; done; echo tried",
            "tried\n",
        ),
        run("kill $p; wait $p; echo $?", "143\n"),
    ],
)];

async fn forged_reports_are_nobodys(f: &Fixture) {
    if !f.has("python3").await {
        return crate::harness::skip("there is no python3");
    }
    play(f, FORGED).await;
}
