//! Functions, aliases and builtins: whatever the user calls them or takes away.

use super::{Case, play, quiet, run};
use crate::harness::Fixture;

in_every_mode! {
    one_thread {
        names_are_the_users,
        variables_are_the_users,
    }
}

/// Everything that a shell script could lean on, as functions.
const FUNCTIONS: &str = "for n in printf cd echo exit builtin read command enable source . trap set unset shopt declare \
    local return wait kill test [ : true false export alias unalias pwd type hash let jobs eval; do \
    eval \"$n() { /bin/echo mine $n; }\"; done";

const NAMES: &[Case] = &[
    (
        "every builtin as a function",
        &[
            quiet(FUNCTIONS),
            run("echo a; exit 3; printf; trap; eval", "mine echo\nmine exit\nmine printf\nmine trap\nmine eval\n"),
            run("command builtin echo a; set; unset -f echo", "mine command\nmine set\nmine unset\n"),
            // The one way back that bash leaves: in this mode some builtins come before functions.
            quiet("POSIXLY_CORRECT=1; unset -f echo set; unset POSIXLY_CORRECT"),
        ],
    ),
    (
        "functions in the way of the ways around them",
        &[
            quiet("builtin() { return 1; }; command() { return 1; }; unset() { return 1; }; eval() { return 1; }"),
            run("echo a; unset -f x; echo $?", "a\n1\n"),
        ],
    ),
    (
        "functions that call themselves by name",
        &[
            quiet(
                "cd() { builtin cd \"$@\" && echo moved; }; exit() { echo \"no exit $1\"; }; read() { builtin read \"$@\"; }",
            ),
            run("cd /; exit 4; echo on", "moved\nno exit 4\non\n"),
        ],
    ),
    (
        "functions of all names unset",
        &[
            quiet("f() { :; }; g() { :; }; unset -f $(compgen -A function)"),
            quiet("f").err("bash: line 1: f: command not found\n").code(127),
        ],
    ),
    (
        "a function of a special name in posix mode",
        &[quiet("set -o posix; echo() { printf 'mine\\n'; }"), run("echo a; unset -f echo", "mine\n")],
    ),
    (
        "readonly functions",
        &[
            quiet("f() { echo f; }; readonly -f f"),
            run("f() { :; }; f", "f\n").err("bash: line 1: f: readonly function\n"),
        ],
    ),
    (
        "aliases of keywords",
        &[
            quiet(
                "alias if='echo no-if' for='echo no-for' while='echo no-while' '{=echo brace' '!=echo bang' do='echo do'",
            ),
            run("if true", "no-if true\n"),
            run("for x in y", "no-for x in y\n"),
        ],
    ),
    (
        "aliases of everything",
        &[
            quiet(
                "for n in cd exit builtin eval read printf true unset set trap export; do alias $n=\"echo alias-$n\"; done",
            ),
            run("cd /; exit 4; set; trap", "alias-cd /\nalias-exit 4\nalias-set\nalias-trap\n"),
        ],
    ),
    (
        "aliases of each other",
        &[
            quiet("alias a=b b=a; alias x='x '"),
            quiet("a; x").err("bash: line 1: a: command not found\nbash: line 1: x: command not found\n").code(127),
        ],
    ),
    (
        "aliases that leave something open",
        &[
            quiet("alias q=\"echo '\" o='(' s='#' n='echo a\necho b'"),
            quiet("q").err("bash: -c: line 1: unexpected EOF while looking for matching `''\n").code(2),
            quiet("o").err("bash: -c: line 2: syntax error: unexpected end of file\n").code(2),
            run("n; true", "a\nb\n"),
            quiet("s (((("),
        ],
    ),
    // An alias is expanded from the next line on.
    (
        "an alias in the line that makes it",
        &[
            quiet("alias later='echo later'; later").err("bash: line 1: later: command not found\n").code(127),
            run("later", "later\n"),
        ],
    ),
    (
        "no builtin at all",
        &[
            quiet("enable -n $(enable | cut -d' ' -f2)"),
            run(
                "x=1; f() { /bin/echo f; }; f; for i in 1 2; do x=$i; done; [[ $x == 2 ]] && /bin/echo two",
                "f\ntwo\n",
            ),
        ],
    ),
    (
        "the loop in the shell has no name",
        &[
            quiet("enable -d atoll").err("bash: line 1: enable: atoll: not a shell builtin\n").code(1),
            run("enable -a | grep -c atoll; compgen -A function; compgen -A alias; alias", "0\n").code(0),
            run("PATH=/nowhere type atoll; compgen -v | grep -i atoll_s", "")
                .err("bash: line 1: type: atoll: not found\n")
                .code(1),
        ],
    ),
    (
        "no PATH",
        &[
            quiet("PATH="),
            quiet("ls").err("bash: line 1: ls: No such file or directory\n").code(127),
            run("unset PATH; echo a", "a\n"),
        ],
    ),
    (
        "programs in the way",
        &[
            quiet(
                "mkdir bin; for n in rm cat base64 printf mkfifo ps; do echo 'echo wrong' >bin/$n; chmod +x bin/$n; done; PATH=$PWD/bin",
            ),
            run("cat; echo a", "wrong\na\n"),
        ],
    ),
    (
        "hashed names",
        &[
            quiet("hash -p /nowhere/x ls"),
            quiet("ls").err("bash: line 1: /nowhere/x: No such file or directory\n").code(127),
            quiet("hash -r"),
        ],
    ),
];

async fn names_are_the_users(f: &Fixture) {
    play(f, NAMES).await;
}

const VARIABLES: &[Case] = &[
    (
        "IFS",
        &[
            quiet("IFS=/ke"),
            run("set -- $keep; echo \"$#\"; x=1/2; echo $x", "3\n1 2\n"),
            quiet("IFS="),
            run("echo $x", "1/2\n"),
            quiet("unset IFS"),
        ],
    ),
    (
        "readonly of many",
        &[
            quiet(
                "readonly PATH IFS HOME PWD OLDPWD SHELL BASH_ENV ENV PS4 OPTIND LINENO SECONDS RANDOM BASH_COMMAND keep",
            ),
            run("cd /tmp; pwd", "/tmp\n")
                .err("bash: line 1: OLDPWD: readonly variable\nbash: line 1: PWD: readonly variable\n"),
            quiet("keep=2; echo no").err("bash: line 1: keep: readonly variable\n").code(1),
        ],
    ),
    (
        "readonly of what bash keeps",
        &[
            quiet(
                "declare -r BASH_ARGV0 BASH_SOURCE FUNCNAME DIRSTACK PIPESTATUS BASH_LINENO BASH_REMATCH BASH_SUBSHELL GROUPS",
            ),
            run(
                "f() { echo $FUNCNAME; }; f; true | false; echo ${PIPESTATUS[@]}; [[ ab =~ a(b) ]]; echo ${BASH_REMATCH[1]}",
                "f\n0 1\nb\n",
            ),
        ],
    ),
    (
        "unset of what bash keeps",
        &[
            quiet(
                "unset BASH_ALIASES BASH_CMDS BASH_COMMAND BASH_SUBSHELL BASHPID FUNCNAME GROUPS DIRSTACK PIPESTATUS LINENO RANDOM SECONDS SRANDOM EPOCHSECONDS COMP_WORDBREAKS HISTCMD BASH_REMATCH",
            ),
            run("f() { echo \"[$FUNCNAME]\"; }; f; true | false; echo \"[${PIPESTATUS[@]}]\"", "[]\n[0 1]\n"),
        ],
    ),
    ("unset of everything", &[quiet("unset $(compgen -v) 2>/dev/null; keep=kept"), run("x=1; echo $x", "1\n")]),
    (
        "names that helpers tend to have",
        &[
            quiet(
                "cmd=1 exec_id=2 exit_code=3 stdout_file=4 stderr_file=5 status=6 line=7 command=8 output=9 result=10",
            ),
            run(
                "echo $cmd $exec_id $exit_code $stdout_file $stderr_file $status $line $command $output $result",
                "1 2 3 4 5 6 7 8 9 10\n",
            ),
        ],
    ),
    (
        "declarations of every kind stay",
        &[
            quiet(
                "declare -a a=(1 [5]=x); declare -A h=([k k]='v v'); typeset -i n=3+4; declare -u u=up; declare -x e=; declare d",
            ),
            run(
                "declare -p a h n u e d",
                "declare -a a=([0]=\"1\" [5]=\"x\")\ndeclare -A h=([\"k k\"]=\"v v\" )\ndeclare -i n=\"7\"\ndeclare -u u=\"UP\"\ndeclare -x e=\"\"\ndeclare -- d\n",
            ),
        ],
    ),
    (
        "positional parameters stay",
        &[run("echo $0 $# \"$@\"; set -- a 'b c'", "bash 0\n"), run("echo $# \"$2\"; shift; echo $1", "2 b c\nb c\n")],
    ),
    (
        "namerefs",
        &[
            run("declare -n r=keep; r=through; echo $keep; r=kept", "through\n"),
            quiet("declare -n r2=r2")
                .err("bash: line 1: declare: r2: nameref variable self references not allowed\n")
                .code(1),
            run("declare -n IFS=keep; echo \"$keep\"; unset -n IFS; keep=kept", "kept\n"),
        ],
    ),
    (
        "PWD refers to another variable",
        &[
            quiet("declare -n PWD=keep"),
            run("cd /; echo $keep", "/\n"),
            run("pwd; echo $PWD", "/tmp\n/tmp\n").at("/tmp"),
            quiet("unset -n PWD; keep=kept"),
        ],
    ),
    ("prompts", &[quiet("PROMPT_COMMAND='echo prompted'; PS0='ps0 '; PS1='ps1 '; PS2='ps2 '"), run("echo a", "a\n")]),
    (
        "BASH_ENV",
        &[
            quiet("echo 'echo from-file' >file; export BASH_ENV=$PWD/file ENV=$PWD/file"),
            run("echo a; bash -c 'echo sub'", "a\nfrom-file\nsub\n"),
        ],
    ),
    (
        "BASH_ARGV0",
        &[
            run("BASH_ARGV0=other; echo $0", "other\n"),
            quiet("nosuch").err("other: line 1: nosuch: command not found\n").code(127),
        ],
    ),
    (
        "a locale that is not there",
        &[run("LC_ALL=xx_YY.none; echo a", "a\n").err(
            "bash: line 1: warning: setlocale: LC_ALL: cannot change locale (xx_YY.none): No such file or directory\n",
        )],
    ),
    (
        "HISTFILE, TMOUT, FUNCNEST",
        &[
            quiet("TMOUT=1 HISTFILE=/nowhere/h HISTSIZE=0 FUNCNEST=2"),
            quiet("f() { f; }; f").err("environment: line 1: f: maximum function nesting level exceeded (2)\n").code(1),
        ],
    ),
];

async fn variables_are_the_users(f: &Fixture) {
    play(f, VARIABLES).await;
}
