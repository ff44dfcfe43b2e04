//! Ends of the shell, and options of it.

use super::{Case, play, quiet, run};
use crate::harness::Fixture;

in_every_mode! {
    one_thread {
        ends_of_the_shell_are_told,
        options_hold_and_break_nothing,
        traps_run_as_in_bash,
    }
}

const ENDS: &[Case] = &[
    ("exit", &[run("echo out; echo err >&2; exit 3", "out\n").err("err\n").exits(3)]),
    ("exit without a code", &[run("echo a; (exit 6); exit", "a\n").exits(6)]),
    ("exit beyond a byte", &[quiet("exit 258").exits(2)]),
    ("exit in a function", &[run("f() { echo f; exit 4; }; f; echo no", "f\n").exits(4)]),
    ("exit in a sourced file", &[run("echo 'echo s; exit 5' >s; . ./s; echo no", "s\n").exits(5)]),
    ("exit in a subshell is not the shell's", &[quiet("(exit 3)").code(3), run("echo $?", "3\n")]),
    ("logout", &[quiet("logout").err("bash: line 1: logout: not login shell: use `exit'\n").code(1)]),
    ("exec a program", &[run("exec sh -c 'echo in; exit 4'", "in\n").exits(4)]),
    ("exec -a", &[run("exec -a other bash -c 'echo $0; exit 2'", "other\n").exits(2)]),
    (
        "exec what is not there",
        &[quiet("exec /nowhere/x").err("bash: line 1: /nowhere/x: No such file or directory\n").exits(127)],
    ),
    (
        "exec what is not there, minding",
        &[run("shopt -s execfail; exec /nowhere/x; echo still", "still\n")
            .err("bash: line 1: /nowhere/x: No such file or directory\n")],
    ),
    // A return where there is nothing to return from is an error, and neither hangs nor ends anything.
    (
        "return at top level",
        &[
            quiet("return 5")
                .err("bash: line 1: return: can only `return' from a function or sourced script\n")
                .code(2),
            run("f() { return 6; }; f; echo $?", "6\n"),
        ],
    ),
    (
        "break and continue at top level",
        &[run("break; continue; echo on", "on\n").err(
            "bash: line 1: break: only meaningful in a `for', `while', or `until' loop\n\
             bash: line 1: continue: only meaningful in a `for', `while', or `until' loop\n",
        )],
    ),
    ("set -e and a failure", &[quiet("set -e"), run("echo a; false; echo b", "a\n").exits(1)]),
    ("set -e at once", &[quiet("set -e; (exit 9)").exits(9)]),
    (
        "set -u and an unset variable",
        &[
            quiet("set -u"),
            run("echo a; echo $nothing; echo b", "a\n").err("bash: line 1: nothing: unbound variable\n").exits(1),
        ],
    ),
    ("${x:?}", &[quiet("echo ${nothing:?is missing}").err("bash: line 1: nothing: is missing\n").exits(1)]),
    (
        "a readonly variable in posix mode",
        &[
            quiet("set -o posix; readonly r=1"),
            quiet("r=2; echo no").err("bash: line 1: r: readonly variable\n").exits(1),
        ],
    ),
    (
        "a missing file sourced in posix mode",
        &[
            quiet("set -o posix"),
            quiet(". /nowhere/x; echo no").err("bash: line 1: /nowhere/x: No such file or directory\n").exits(1),
        ],
    ),
    (
        "a pipe that cannot be made",
        &[
            quiet("ulimit -n 8; for i in 3 4 5 6; do eval \"exec $i>f$i\"; done"),
            quiet("echo a | cat").err("bash: pipe error: Too many open files\n").exits(129),
        ],
    ),
];

async fn ends_of_the_shell_are_told(f: &Fixture) {
    play(f, ENDS).await;
}

const OPTIONS: &[Case] = &[
    (
        "set -e and a failure that is looked at",
        &[quiet("set -e"), run("false || echo rescued; if false; then :; fi; ! true; echo on", "rescued\non\n")],
    ),
    (
        "set -u in a subshell",
        &[quiet("set -u"), run("(echo $nothing); echo $?", "1\n").err("bash: line 1: nothing: unbound variable\n")],
    ),
    ("set -x", &[quiet("set -x"), run("echo a", "a\n").err("+ echo a\n"), quiet("set +x").err("+ set +x\n")]),
    (
        "set -x with a PS4 that acts",
        &[
            quiet("PS4='$(touch traced; exit 3)+'; set -x"),
            run("echo a", "a\n").err("+echo a\n"),
            run("set +x; ls", "traced\n").err("+set +x\n"),
        ],
    ),
    (
        "set -x to a descriptor",
        &[
            quiet("exec 5>trace; BASH_XTRACEFD=5; set -x"),
            run("echo a", "a\n"),
            run("set +x; unset BASH_XTRACEFD; cat trace", "+ echo a\n+ set +x\n"),
        ],
    ),
    ("set -v", &[quiet("set -v"), run("echo a", "a\n").err("echo a\n"), quiet("set +v").err("set +v\n")]),
    (
        "set -C",
        &[
            quiet("echo 1 >f; set -C"),
            quiet("echo 2 >f").err("bash: line 1: f: cannot overwrite existing file\n").code(1),
            run("cat f; echo 3 >|f; cat f", "1\n3\n"),
        ],
    ),
    ("set -f", &[quiet("set -f; touch a b"), run("echo *", "*\n"), run("set +f; echo *", "a b\n")]),
    ("set -n", &[quiet("set -n; echo no"), run("echo $-", "hBc\n")]),
    ("set -t", &[run("echo a; set -t", "a\n"), quiet("set +t")]),
    ("set -k -a -h -B", &[quiet("set -k -a; set +h +B"), run("echo {a,b}", "{a,b}\n"), quiet("set +k +a; set -h -B")]),
    (
        "set -o posix",
        &[quiet("set -o posix"), run("shopt -o posix; [ -n \"$BASH\" ] && echo on", "posix          \ton\non\n")],
    ),
    (
        "set -m",
        &[
            quiet("set -m"),
            run("sleep 60 & jobs; kill %1; wait; echo $?", "[1]+  Running                 sleep 60 &\n0\n")
                .err("[1]+  Terminated              sleep 60\n"),
            run("/bin/true; (exit 3); echo $?", "3\n"),
        ],
    ),
    ("set -o pipefail", &[quiet("set -o pipefail"), quiet("(exit 3) | true").code(3), quiet("set +o pipefail")]),
    ("lastpipe", &[quiet("shopt -s lastpipe; n=0"), run("seq 5 | while read l; do n=$((n+l)); done; echo $n", "15\n")]),
    ("extdebug", &[quiet("shopt -s extdebug; f() { echo \"${BASH_ARGV[@]} $#\"; }"), run("f 1 2", "2 1 2\n")]),
    (
        "every option of shopt on and off",
        &[
            quiet(
                "for o in $(shopt | cut -f1); do shopt -s $o; shopt -u $o; done 2>/dev/null; shopt -s expand_aliases; true",
            ),
            run("echo a", "a\n"),
        ],
    ),
    (
        "restricted",
        &[
            quiet("set -r"),
            run("echo a; cd /; echo b", "a\nb\n").err("bash: line 1: cd: restricted\n"),
            quiet("echo x >f").err("bash: line 1: f: restricted: cannot redirect output\n").code(1),
        ],
    ),
];

async fn options_hold_and_break_nothing(f: &Fixture) {
    play(f, OPTIONS).await;
}

const TRAPS: &[Case] = &[
    ("EXIT", &[quiet("trap 'echo bye $?' EXIT"), run("(echo sub)", "sub\n"), run("exit 9", "bye 9\n").exits(9)]),
    ("EXIT that exits otherwise", &[quiet("trap 'exit 7' EXIT"), quiet("exit 2").exits(7)]),
    (
        "EXIT runs once, at the end of the shell",
        &[quiet("trap 'echo bye' EXIT"), run("echo a", "a\n"), quiet("trap - EXIT")],
    ),
    (
        "DEBUG",
        &[
            quiet("trap 'echo \"D:$BASH_COMMAND\"' DEBUG"),
            run("echo a; x=1", "D:echo a\na\nD:x=1\n"),
            run("trap - DEBUG", "D:trap - DEBUG\n"),
        ],
    ),
    ("DEBUG that exits", &[quiet("trap 'exit 7' DEBUG"), quiet("echo a").exits(7)]),
    (
        "DEBUG that fails and skips",
        &[
            quiet("shopt -s extdebug; trap '[[ $BASH_COMMAND != skip* ]]' DEBUG"),
            run("skipped; echo a", "a\n"),
            quiet("trap - DEBUG"),
        ],
    ),
    ("ERR", &[quiet("trap 'echo \"E:$?\"' ERR"), run("false", "E:1\n").code(1), run("(exit 4); echo $?", "E:4\n4\n")]),
    ("ERR that exits", &[quiet("trap 'exit 8' ERR"), quiet("false; echo b").exits(8)]),
    (
        "RETURN",
        &[quiet("trap 'echo R' RETURN; f() { :; }; declare -ft f"), run("f; echo a", "R\na\n"), quiet("trap - RETURN")],
    ),
    (
        "all of them, inherited",
        &[run("set -ET; trap 'echo E' ERR; f() { false; }", ""), run("f; echo on", "E\nE\non\n"), quiet("trap - ERR")],
    ),
    (
        "a trap that is a syntax error",
        &[
            quiet("trap 'if' USR1"),
            run("kill -USR1 $$; echo on", "on\n").err("bash: trap: line 2: syntax error: unexpected end of file\n"),
        ],
    ),
    (
        "a trap that returns, breaks and reads",
        &[
            quiet("trap 'read x; echo trapped' USR1"),
            run("for i in 1 2; do kill -USR1 $$; done; echo on", "trapped\ntrapped\non\n"),
        ],
    ),
    (
        "signals ignored",
        &[quiet("trap '' $(seq 1 64)"), run("for s in TERM INT HUP USR1 PIPE; do kill -$s $$; done; echo on", "on\n")],
    ),
    (
        "signals ignored do not save a command from its timeout",
        &[
            quiet("trap '' $(seq 1 64)"),
            quiet("while :; do :; done").ends(super::End::Timeout),
            quiet("trap - $(seq 1 64)"),
        ],
    ),
    (
        "signals trapped do not save a command from its timeout",
        &[
            quiet("trap : $(seq 1 16) $(seq 18 64)"),
            quiet("while :; do :; done").ends(super::End::Timeout),
            run("kill -TERM $$; echo on", "on\n"),
        ],
    ),
];

async fn traps_run_as_in_bash(f: &Fixture) {
    play(f, TRAPS).await;
}
