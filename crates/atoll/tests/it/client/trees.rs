//! Trees that are watched, and git in them, from the command line.

use super::{Cli, refused};
use crate::harness::Home;

#[test]
fn what_happens_is_printed_line_by_line() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    cli.ok(&["exec", &name, "--", "mkdir -p d/before"]);
    let mut running = home.atoll(["watch", &name, "d", "--existing", "--exclude", "*.tmp", "--count", "4"]).start();
    assert_eq!(running.line(), "created    before/\n");
    cli.ok(&["exec", &name, "--", "cd d && touch x.tmp && mkdir a && mv a b && rmdir b"]);
    let seen = "created    before/\ncreated    a/\nrenamed    a/ -> b/\nremoved    b/\n";
    running.done().assert(0, seen, "atoll: watching /workspace/d\n");
    let missing = cli.done(&["watch", &name, "none", "--json"]);
    assert_eq!((missing.code, refused(&missing).as_str()), (Some(125), "FILE_NOT_FOUND"));
    cli.server.end();
}

#[test]
fn git_is_used_from_outside() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    let there = cli.done(&["exec", &name, "--", "command -v git"]);
    if there.code != Some(0) {
        let none = cli.done(&["git", "status", &name, ".", "--json"]);
        assert_eq!(refused(&none), "GIT_NOT_AVAILABLE");
        return cli.server.end();
    }
    cli.ok(&["exec", &name, "--", "git init -q --bare -b main /tmp/r.git"]);
    assert_eq!(cli.ok(&["git", "clone", &name, "/tmp/r.git"]), "/workspace/r\n");
    cli.ok(&["exec", &name, "--", "echo one > r/file"]);
    assert_eq!(cli.ok(&["git", "status", &name, "r"]), "on main\n.? file\n");
    let commit = cli.ok(&["git", "commit", &name, "r", "--all", "-m", "first", "--author", "Me <me@x>"]);
    assert_eq!(commit.trim().len(), 40);
    assert!(cli.ok(&["git", "push", &name, "r"]).starts_with("refs/heads/main "));
    assert_eq!(cli.ok(&["git", "checkout", &name, "r", "topic", "-b"]), "topic\n");
    assert_eq!(cli.ok(&["git", "branches", &name, "r"]), "  main\n* topic\n");
    assert_eq!(cli.json(&["git", "log", &name, "r"])[0]["subject"], "first");
    let refused_url = cli.done(&["git", "clone", &name, "ext::sh -c true", "x", "--json"]);
    assert_eq!((refused_url.code, refused(&refused_url).as_str()), (Some(125), "VALIDATION_FAILED"));
    cli.server.end();
}
