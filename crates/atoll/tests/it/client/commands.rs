//! `atoll exec`: output, codes, input and interrupts as `atoll run` has them.

use super::{Cli, refused};
use crate::harness::{Home, Signal, command, need, until};

#[test]
fn both_outputs_and_the_code_are_passed_on() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    let exec = |arguments: &[&str]| cli.done(&[&["exec", &name], arguments].concat());
    exec(&["--", "printf out; printf err >&2; exit 3"]).assert(3, "out", "err");
    exec(&["--", "echo", "$HOME", "a b"]).assert(0, "$HOME a b\n", "");
    exec(&["-e", "A=1", "-C", "/tmp", "--", "echo $A $PWD"]).assert(0, "1 /tmp\n", "");
    assert_eq!(exec(&["--", "kill -9 $$"]).code, Some(137));
    assert_eq!(exec(&["--", "no-such-program", "x"]).code, Some(127));
    assert_eq!(exec(&["--", "/etc/passwd", "x"]).code, Some(126));
    let late = exec(&["--timeout", "200ms", "--", "echo begun; sleep 300"]);
    assert_eq!((late.code, late.stdout().as_str()), (Some(124), "begun\n"));
    assert_eq!(exec(&["--max-output", "64k", "--", "yes"]).code, Some(123));
    let whole = exec(&["--json", "--encoding", "base64", "--", "printf '\\377'; exit 2"]);
    assert_eq!((whole.code, &whole.json()["stdout"]["data"]), (Some(2), &"/w==".into()));
    let missing = exec(&["--json", "-C", "/no/such/place", "--", "true"]);
    assert_eq!((missing.code, refused(&missing).as_str()), (Some(125), "CWD_NOT_FOUND"));
    assert_eq!(cli.ok(&["ps", &name, "--all"]).lines().count(), 1, "nothing is remembered of what was told");
    cli.server.end();
}

#[test]
fn input_is_passed_on_exactly() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    let input: Vec<u8> = (0..=255).cycle().take(1_000_000).collect();
    let done = home.atoll(["exec", &name, "--stdin", "--", "cat"]).done_with(input.clone());
    assert_eq!((done.code, done.err.as_slice()), (Some(0), &b""[..]));
    assert!(done.out == input, "{} bytes came back", done.out.len());
    let whole = home.atoll(["exec", &name, "--stdin", "--json", "--", "wc -c"]).done_with(input);
    assert_eq!(whole.json()["stdout"]["data"], "1000000\n");
    let ends_early = home.atoll(["exec", &name, "--stdin", "--", "head -c 3"]).done_with(b"abcdef".to_vec());
    ends_early.assert(0, "abc", "");
    cli.server.end();
}

#[test]
fn an_interrupt_ends_the_command() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let command = "trap 'echo told' TERM; echo up; sleep 300 & wait";
        let mut running = home.atoll(["exec", &name, "--grace", "300ms", "--", command]).start();
        assert_eq!(running.line(), "up\n", "live");
        running.signal(signal);
        let done = running.done();
        assert_eq!((done.code, done.stdout().as_str()), (Some(code), "up\ntold\n"));
    }
    assert_eq!(cli.json(&["ps", &name])["processes"], serde_json::json!([]));
    cli.server.end();
}

#[test]
fn an_output_that_nobody_takes_ends_the_command() {
    need!("bash", "head");
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    let script = r#""$0" exec "$1" -- yes | head -1; echo ${PIPESTATUS[0]}"#;
    let atoll = crate::harness::ATOLL;
    let shell = command("bash").args(["-c", script, atoll, &name]).env("ATOLL_HOME", home.path()).output().unwrap();
    assert_eq!(String::from_utf8(shell.stdout).unwrap(), "y\n141\n");
    until("the command is over", || (cli.json(&["ps", &name])["processes"] == serde_json::json!([])).then_some(()));
    cli.server.end();
}

#[test]
fn one_that_is_left_goes_on_under_its_id_and_runs_once() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    let start = ["exec", &name, "--detach", "--id", "left", "--", "echo run >> runs; sleep 300"];
    assert_eq!(cli.ok(&start), "left\n");
    assert_eq!(cli.ok(&start), "left\n", "the same again is the same");
    until("it has begun", || (cli.done(&["exec", &name, "--", "cat runs"]).stdout() == "run\n").then_some(()));
    let other = cli.done(&["exec", &name, "--detach", "--id", "left", "--json", "--", "true"]);
    assert_eq!(refused(&other), "PROCESS_ALREADY_EXISTS");
    cli.ok(&["kill", &name, "left"]);
    assert_eq!(cli.done(&["exec", &name, "--id", "x", "--", "true"]).code, Some(125), "an id is for what is left");
    cli.server.end();
}
