//! Sessions through the server.

use super::{Cli, refused};
use crate::harness::{Home, Signal, until};

#[test]
fn a_session_remembers_from_one_call_to_the_next() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    let s = |arguments: &[&str]| cli.done(&[&["session"], arguments].concat());
    s(&["create", &name, "work", "--option", "pipefail", "-e", "A=1"]).assert(0, "work\n", "");
    s(&["exec", &name, "work", "--", "cd /tmp; X=2; greet() { echo hello $1; }; false | true"]).assert(1, "", "");
    s(&["exec", &name, "work", "--", "greet $A $X >&2; pwd"]).assert(0, "/tmp\n", "hello 1\n");
    let listed = s(&["ls", &name]).stdout();
    assert!(listed.contains("work") && listed.contains("ready") && listed.contains("/tmp"), "{listed}");
    let snapshot = s(&["snapshot", &name, "work", "--json"]).json();
    assert_eq!((&snapshot["cwd"]["data"], &snapshot["env"]["A"]["data"]), (&"/tmp".into(), &"1".into()));
    assert!(s(&["snapshot", &name, "work"]).stdout().contains("functions  greet\n"));
    s(&["fork", &name, "work", "copy"]).assert(0, "copy\n", "");
    let input = home.atoll(["session", "exec", &name, "copy", "--stdin", "--", "X=3; cat; echo $X"]);
    input.done_with(b"in ".to_vec()).assert(0, "in 3\n", "");
    s(&["exec", &name, "work", "--", "echo $X"]).assert(0, "2\n", "");
    s(&["rm", &name, "work", "copy"]).assert(0, "work\ncopy\n", "");
    let gone = s(&["exec", &name, "work", "--json", "--", "true"]);
    assert_eq!((gone.code, refused(&gone).as_str()), (Some(125), "SESSION_NOT_FOUND"));
    cli.server.end();
}

#[test]
fn a_dead_session_is_restarted() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    let s = |arguments: &[&str]| cli.done(&[&["session"], arguments].concat());
    s(&["create", &name, "s"]).assert(0, "s\n", "");
    s(&["exec", &name, "s", "--", "X=kept"]).assert(0, "", "");
    s(&["snapshot", &name, "s"]);
    s(&["exec", &name, "s", "--", "echo bye; exit 7"]).assert(7, "bye\n", "");
    let dead = s(&["exec", &name, "s", "--", "true"]);
    assert_eq!(dead.code, Some(125));
    assert!(dead.stderr().starts_with("error: the shell of session s has ended with code 7\nhint: restart it"));
    assert!(s(&["ls", &name]).stdout().contains("dead 7"));
    s(&["restart", &name, "s"]).assert(0, "s ready\n", "");
    s(&["exec", &name, "s", "--", "echo $X"]).assert(0, "kept\n", "");
    cli.server.end();
}

#[test]
fn a_command_is_interrupted_and_the_session_lives_on() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    let s = |arguments: &[&str]| cli.done(&[&["session"], arguments].concat());
    s(&["create", &name, "s"]).assert(0, "s\n", "");
    s(&["interrupt", &name, "s"]).assert(0, "no command was running\n", "");
    let exec = || home.atoll(["session", "exec", &name, "s", "--", "X=$((X + 1)); echo up; sleep 300"]).start();
    let mut from_here = exec();
    assert_eq!(from_here.line(), "up\n");
    from_here.signal(Signal::INT);
    assert_eq!(from_here.done().code, Some(130));
    let mut from_there = exec();
    assert_eq!(from_there.line(), "up\n");
    s(&["interrupt", &name, "s"]).assert(0, "interrupted\n", "");
    assert_eq!(from_there.done().code, Some(130), "killed by SIGINT");
    let mut killed = exec();
    assert_eq!(killed.line(), "up\n");
    let waiting = home.atoll(["session", "exec", &name, "s", "--", "touch never"]).start();
    until("one waits", || (cli.json(&["session", "ls", &name])["sessions"][0]["queued"] == 1).then_some(()));
    waiting.signal(Signal::INT);
    assert_eq!(waiting.done().code, Some(130));
    assert_eq!(s(&["kill", &name, "s", "--json"]).json()["survivors"], 0);
    killed.done();
    s(&["exec", &name, "s", "--", "echo $X; ls"]).assert(0, "3\n", "");
    cli.server.end();
}
