//! Text that is not a whole command, or no command at all.

use atoll_protocol::EndReason;
use atoll_runtime::{Command, SessionSpec};

use super::{Case, End, play, quiet, run, works};
use crate::harness::{Fixture, soon};

in_every_mode! {
    one_thread {
        what_is_no_command_is_an_error_of_its_own,
        megabytes_of_text_are_a_command,
    }
}

const TEXTS: &[Case] = &[
    (
        "a syntax error",
        &[
            quiet(")").err("bash: -c: line 1: syntax error near unexpected token `)'\nbash: -c: line 1: `)'\n").code(2),
            run("echo $?", "2\n"),
        ],
    ),
    (
        "a syntax error in a later line",
        &[
            run("x=1\necho $x\n)\necho never", "1\n")
                .err("bash: -c: line 3: syntax error near unexpected token `)'\nbash: -c: line 3: `)'\n")
                .code(2),
            run("echo $x", "1\n"),
        ],
    ),
    (
        "a semicolon",
        &[quiet(";").err("bash: -c: line 1: syntax error near unexpected token `;'\nbash: -c: line 1: `;'\n").code(2)],
    ),
    (
        "an open single quote",
        &[quiet("echo 'abc").err("bash: -c: line 1: unexpected EOF while looking for matching `''\n").code(2)],
    ),
    (
        "an open double quote",
        &[quiet("echo \"abc").err("bash: -c: line 1: unexpected EOF while looking for matching `\"'\n").code(2)],
    ),
    (
        "an open backquote",
        &[quiet("echo `echo a").err("bash: -c: line 1: unexpected EOF while looking for matching ``'\n").code(2)],
    ),
    (
        "an open substitution",
        &[quiet("echo $(echo a").err("bash: -c: line 2: unexpected EOF while looking for matching `)'\n").code(2)],
    ),
    (
        "an open expansion",
        &[quiet("echo ${x").err("bash: -c: line 1: unexpected EOF while looking for matching `}'\n").code(2)],
    ),
    (
        "open arithmetic",
        &[quiet("echo $((1+").err("bash: -c: line 1: unexpected EOF while looking for matching `)'\n").code(2)],
    ),
    ("an open test", &[quiet("[[ a == a").err("bash: -c: line 1: unexpected EOF while looking for `]]'\n").code(2)]),
    ("an open brace", &[quiet("{ echo a").err("bash: -c: line 2: syntax error: unexpected end of file\n").code(2)]),
    ("an open subshell", &[quiet("( echo a").err("bash: -c: line 2: syntax error: unexpected end of file\n").code(2)]),
    (
        "an open if",
        &[quiet("if true; then echo a").err("bash: -c: line 2: syntax error: unexpected end of file\n").code(2)],
    ),
    (
        "an open loop",
        &[quiet("while true; do").err("bash: -c: line 2: syntax error: unexpected end of file\n").code(2)],
    ),
    (
        "an open case",
        &[quiet("case x in x) echo a").err("bash: -c: line 2: syntax error: unexpected end of file\n").code(2)],
    ),
    ("an open function", &[quiet("f() {").err("bash: -c: line 2: syntax error: unexpected end of file\n").code(2)]),
    (
        "an open here-document",
        &[run("cat <<END\nline $keep", "line kept\n")
            .err("bash: line 2: warning: here-document at line 1 delimited by end-of-file (wanted `END')\n")],
    ),
    (
        "an open quoted here-document",
        &[run("cat <<'END'\nline $keep", "line $keep\n")
            .err("bash: line 2: warning: here-document at line 1 delimited by end-of-file (wanted `END')\n")],
    ),
    ("an open pipe", &[quiet("echo a |").err("bash: -c: line 2: syntax error: unexpected end of file\n").code(2)]),
    // Nothing of ours stands behind the text that a last backslash could join.
    ("a backslash at the end", &[run("echo a \\", "a \\\n")]),
    ("a backslash at the end, with variables of the call", &[run("echo $A \\", "b \\\n").with(&[("A", Some("b"))])]),
    ("a comment at the end", &[run("echo a # comment", "a\n")]),
    ("only a comment", &[quiet("# comment")]),
    ("nothing", &[quiet(""), run("echo $?", "0\n")]),
    ("only blanks", &[quiet(" \t "), quiet("\n\n\n")]),
    ("no history", &[run("echo !!; set -o histexpand; echo !!", "!!\n!!\n")]),
    (
        "an arithmetic error",
        &[quiet("echo $((1/0)); echo no").err("bash: line 1: 1/0: division by 0 (error token is \"0\")\n").code(1)],
    ),
    ("a bad substitution", &[quiet("echo ${x!}; echo no").err("bash: line 1: ${x!}: bad substitution\n").code(1)]),
    (
        "a command that is not there",
        &[quiet("no-such-command").err("bash: line 1: no-such-command: command not found\n").code(127)],
    ),
    ("a directory as a command", &[quiet("/tmp").err("bash: line 1: /tmp: Is a directory\n").code(126)]),
    ("a function without end", &[quiet("ulimit -s 256; f() { f; }; f").ends(End::Signal(11))]),
    (
        "a here-document makes a file that is sourced",
        &[quiet("cat >s <<'END'\nfrom=sourced; g() { echo \"g $from\"; }\nEND\n. ./s"), run("g", "g sourced\n")],
    ),
];

async fn what_is_no_command_is_an_error_of_its_own(f: &Fixture) {
    play(f, TEXTS).await;
}

async fn megabytes_of_text_are_a_command(f: &Fixture) {
    let session = soon(f.sandbox.create_session(SessionSpec::default())).await.unwrap();
    assert!(soon(session.exec(Command::shell("keep=kept"))).await.unwrap().end.success());
    let long = "x".repeat(5 << 20);
    // Also lengths at which a text goes over from the message to a file.
    for length in [8 * 1024 - 64, 8 * 1024 - 1, 8 * 1024, 100_000, 5 << 20] {
        let text = format!("value={}; echo ${{#value}}", &long[..length]);
        let output = soon(session.exec(Command::shell(text))).await.unwrap();
        assert_eq!((output.end.reason, output.end.code), (EndReason::Exited, Some(0)), "{length}");
        assert_eq!(output.stdout.head, format!("{length}\n").as_bytes());
    }
    let many = format!("{}echo $n", "n=$((n+1))\n".repeat(20_000));
    assert_eq!(soon(session.exec(Command::shell(many))).await.unwrap().stdout.head, b"20000\n");
    works(&session).await.unwrap();
    soon(session.delete()).await.unwrap();
}
