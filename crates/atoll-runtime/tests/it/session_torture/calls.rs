//! What belongs to one call: its variables, its directory, its input. Afterwards all is as it was.

use super::{Case, End, play, quiet, run};
use crate::harness::Fixture;

in_every_mode! {
    one_thread {
        variables_of_a_call_are_given_back,
        directories_of_a_call_are_left,
    }
}

const MADE: &str = "readonly RO=1; declare -i INT=5; ARR=(1 2 3); declare -A AS=([k]=v); export EX=x; declare -n NR=keep; \
    declare -l LOW=abc; P=$PATH; H=$HOME";

const ALL: &[(&str, Option<&str>)] = &[
    ("PATH", Some("/nowhere")),
    ("IFS", Some("x")),
    ("HOME", Some("/h")),
    ("LC_ALL", Some("C.UTF-8")),
    ("RO", Some("2")),
    ("INT", Some("7+1")),
    ("ARR", Some("one")),
    ("AS", Some("as")),
    ("EX", Some("")),
    ("NR", Some("direct")),
    ("LOW", Some("UP")),
    ("NEW", Some("new")),
];

const SHOW: &str = "[ \"$P\" = \"$PATH\" ] && [ \"$H\" = \"$HOME\" ] && echo same; printf '%q\\n' \"$IFS\"; \
    declare -p RO INT ARR AS EX NR LOW; echo ${NEW-unset} ${LC_ALL-unset}";

const SHOWN: &str = "same\n$' \\t\\n'\ndeclare -r RO=\"1\"\ndeclare -i INT=\"5\"\ndeclare -a ARR=([0]=\"1\" [1]=\"2\" [2]=\"3\")\n\
    declare -A AS=([k]=\"v\" )\ndeclare -x EX=\"x\"\ndeclare -n NR=\"keep\"\ndeclare -l LOW=\"abc\"\nunset unset\n";

const VARIABLES: &[Case] = &[
    ("of every kind", &[
        quiet(MADE),
        run("echo $PATH $HOME $LC_ALL $RO $INT $ARR ${#ARR[@]} $AS [$EX] $NR $LOW $NEW; v=1x2; echo $v", "/nowhere /h C.UTF-8 2 7+1 one 1 as [] direct UP new\n1 2\n").with(ALL),
        run(SHOW, SHOWN),
    ]),
    ("changed by the command", &[
        quiet(MADE),
        quiet("PATH=x; IFS=y; INT=1; unset ARR; ARR=3; unset AS; EX=(1 2); NR=other; export -n HOME; readonly NEW LOW").with(ALL),
        run(SHOW, SHOWN),
    ]),
    ("and the command is ended", &[
        quiet(MADE),
        quiet("while :; do INT=$((INT+1)); done").with(ALL).ends(End::Timeout),
        run(SHOW, SHOWN),
    ]),
    ("and the command is no command", &[
        quiet(MADE),
        quiet("if").with(ALL).err("bash: -c: line 2: syntax error: unexpected end of file\n").code(2),
        run(SHOW, SHOWN),
    ]),
    ("unset for one call", &[
        quiet("export A=1; readonly B=2; C=(1 2)"),
        run("echo \"${A-unset} ${B-unset} ${C-unset} ${#C[@]}\"; env | grep -c ^A=", "unset unset unset 0\n0\n")
            .with(&[("A", None), ("B", None), ("C", None), ("D", None)])
            .code(1),
        run("declare -p A B C; echo ${D-unset}", "declare -x A=\"1\"\ndeclare -r B=\"2\"\ndeclare -a C=([0]=\"1\" [1]=\"2\")\nunset\n"),
    ]),
    ("made into something else", &[
        quiet("A=1"),
        run("unset A; declare -A A=([k]=v); echo ${A[k]}", "v\n").with(&[("A", Some("x"))]),
        run("declare -p A", "declare -- A=\"1\"\n"),
    ]),
    ("what bash computes", &[
        run("echo $RANDOM $SECONDS $LINENO", "5 100 7\n").with(&[("RANDOM", Some("5")), ("SECONDS", Some("100")), ("LINENO", Some("7"))]),
        run("a=$RANDOM$RANDOM$RANDOM; b=$RANDOM$RANDOM$RANDOM; [ $a != $b ] && echo random; echo $LINENO; [ $SECONDS -lt 90 ] && echo few", "random\n1\nfew\n"),
    ]),
    ("a mode of the shell", &[
        run("shopt -o posix", "posix          \ton\n").with(&[("POSIXLY_CORRECT", Some("1"))]),
        run("shopt -o posix", "posix          \toff\n").code(1),
    ]),
    ("programs get them", &[
        run("env | grep ^A=; sh -c 'echo $A'", "A=it's \"1\"\nit's \"1\"\n").with(&[("A", Some("it's \"1\""))]),
        quiet("env | grep ^A=").code(1),
    ]),
];

async fn variables_of_a_call_are_given_back(f: &Fixture) {
    play(f, VARIABLES).await;
}

const DIRECTORIES: &[Case] = &[
    (
        "elsewhere and back",
        &[
            run("pwd; echo $PWD; cd /", "/tmp\n/tmp\n").at("/tmp"),
            run("[[ $PWD == */case* && $PWD -ef . ]] && echo back", "back\n"),
        ],
    ),
    (
        "relative to the session's",
        &[
            quiet("mkdir -p r/s; cd r"),
            run("echo ${PWD##*/} ${OLDPWD##*/}", "s r\n").at("s"),
            run("echo ${PWD##*/}; cd - >/dev/null; echo ${PWD##*/case*}", "r\n\n"),
        ],
    ),
    (
        "cd - means what it meant",
        &[quiet("cd /tmp; cd /"), run("cd -; cd /var", "/\n").at("/usr"), run("pwd; cd -", "/\n/tmp\n")],
    ),
    (
        "the session's is renamed meanwhile",
        &[
            quiet("mkdir -p d1; cd d1; echo here >mark"),
            quiet("mv \"$OLDPWD\" \"${OLDPWD%1}2\"").at("/tmp"),
            run("cat mark; p=$(/bin/pwd); echo ${p##*/}", "here\nd2\n"),
        ],
    ),
    (
        "the session's is removed meanwhile",
        &[
            quiet("mkdir -p e1; cd e1"),
            quiet("rmdir \"$OLDPWD\"").at("/tmp"),
            run("echo ${PWD##*/}; /bin/pwd >/dev/null 2>&1; echo $?; cd ..; echo $?", "e1\n1\n0\n"),
        ],
    ),
    (
        "the call's is removed by the call",
        &[
            quiet("mkdir here"),
            run("rmdir ../here; echo a", "a\n").at("here"),
            run("echo ${PWD##*/case*}; ls | wc -l", "\n0\n"),
        ],
    ),
    (
        "removed under the shell",
        &[
            quiet("mkdir gone; cd gone; rmdir ../gone"),
            run("echo a; /bin/true; echo $?", "a\n0\n"),
            run("pwd", "/tmp\n").at("/tmp"),
            run("echo ${PWD##*/}; cd ..; echo $?", "gone\n0\n"),
        ],
    ),
    ("through a link", &[quiet("ln -s /usr link"), run("echo ${PWD##*/}; /bin/pwd", "link\n/usr\n").at("link")]),
    (
        "and the command is ended",
        &[
            quiet("while :; do :; done").at("/tmp").ends(End::Timeout),
            run("[[ $PWD -ef . && $PWD == */case* ]] && echo back", "back\n"),
        ],
    ),
    (
        "and the command closes what it can",
        &[
            quiet("for n in {3..255}; do eval \"exec $n>&-\"; done").at("/tmp"),
            run("[[ $PWD -ef . && $PWD == */case* ]] && echo back", "back\n"),
        ],
    ),
];

async fn directories_of_a_call_are_left(f: &Fixture) {
    play(f, DIRECTORIES).await;
}
