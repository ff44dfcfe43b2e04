//! Processes that somebody else started: listed, read, waited for, ended.

use atoll_protocol::{ProcessId, SandboxName, StartRequest};

use super::{Cli, refused};
use crate::harness::Home;
use crate::server::wait;

/// Starts a shell string under an id.
fn start(cli: &Cli<'_>, name: &str, id: &str, command: &str) {
    let client = cli.server.client().inside(&SandboxName::new(name).unwrap());
    let request = StartRequest { id: Some(ProcessId::new(id).unwrap()), ..StartRequest::shell(command) };
    wait(client.start(&request)).unwrap();
}

#[test]
fn processes_are_listed_and_their_output_is_read() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    start(&cli, &name, "build", "echo one; echo two >&2; exit 4");
    start(&cli, &name, "server", "echo ready; sleep 300");
    let ended = cli.done(&["wait", &name, "build"]);
    assert_eq!((ended.code, ended.stdout().as_str()), (Some(4), ""), "its code is ours");
    let living = cli.ok(&["ps", &name]);
    assert!(living.contains("server") && !living.contains("build"), "{living}");
    assert!(cli.ok(&["ps", &name, "--all"]).contains("ended 4"));
    cli.done(&["logs", &name, "build"]).assert(0, "one\n", "two\n");
    cli.done(&["logs", &name, "build", "--since", "2"]).assert(0, "e\n", "two\n");
    cli.done(&["logs", &name, "build", "-f"]).assert(0, "one\n", "two\n");
    let lines = cli.ok(&["logs", &name, "build", "--json"]);
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((&first["cursor"], &first["stream"], &first["data"]), (&0.into(), &"stdout".into(), &"b25lCg==".into()));
    let missing = cli.done(&["logs", &name, "none", "--json"]);
    assert_eq!((missing.code, refused(&missing).as_str()), (Some(125), "PROCESS_NOT_FOUND"));
    cli.server.end();
}

#[test]
fn a_log_is_followed_until_nothing_is_left_to_print() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    start(&cli, &name, "p", "echo begun; until test -e go; do sleep 0.02; done; (sleep 0.1; echo later) & echo over");
    let mut running = home.atoll(["logs", &name, "p", "-f"]).start();
    assert_eq!(running.line(), "begun\n");
    cli.ok(&["exec", &name, "--", "touch go"]);
    running.done().assert(0, "begun\nover\nlater\n", "");
    cli.server.end();
}

#[test]
fn lines_and_ports_are_waited_for() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    start(&cli, &name, "p", "echo it is ready now; sleep 300");
    assert_eq!(cli.ok(&["wait", &name, "p", "--log", "ready"]), "it is ready now\n");
    assert_eq!(cli.json(&["wait", &name, "p", "--regex", "is .* now$"])["found"]["stream"], "stdout");
    for vain in [&["--log", "never"][..], &["--port", "81"], &[]] {
        let late = cli.done(&[&["wait", &name, "p", "--timeout", "100ms", "--json"], vain].concat());
        assert_eq!((late.code, refused(&late).as_str()), (Some(124), "WAIT_TIMEOUT"), "{vain:?}");
    }
    cli.server.end();
}

#[test]
fn a_kill_ends_everything_and_says_how_much() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    start(&cli, &name, "a", "sleep 300 & echo up; wait");
    start(&cli, &name, "b", "echo up; sleep 300");
    for id in ["a", "b"] {
        cli.ok(&["wait", &name, id, "--log", "up"]);
    }
    let receipt = cli.json(&["kill", &name, "a", "b", "--grace", "1s"]);
    assert!(receipt["signalled"].as_u64().unwrap() >= 3, "{receipt}");
    assert_eq!(receipt["survivors"], 0);
    assert_eq!(cli.ok(&["kill", &name, "a"]), "0 signalled, 0 survive\n");
    cli.server.end();
}
