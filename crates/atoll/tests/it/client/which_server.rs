//! Which server is asked, and who says so.

use super::{Cli, refused};
use crate::harness::Home;
use crate::server::state;

#[test]
fn a_flag_wins_over_a_variable_and_a_variable_over_the_file() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let address = format!("http://{}", cli.server.address);
    let token = state(&home).join("root-token");
    assert_eq!(cli.ok(&["ls", "--server", &address]).lines().count(), 1, "the first token is used on this machine");
    assert_eq!(home.atoll(["ls"]).env("ATOLL_SERVER", &address).done().code, Some(0));
    std::fs::write(home.path().join("config"), "# nobody listens there\nserver = http://127.0.0.1:1\n").unwrap();
    let unreachable = cli.done(&["ls"]);
    assert_eq!(unreachable.code, Some(125));
    assert!(unreachable.stderr().contains("cannot reach 127.0.0.1:1") && unreachable.stderr().contains("hint: start"));
    cli.ok(&["ls", "--server", &address, "--token-file", token.to_str().unwrap()]);
    let shown = home.atoll(["config", "--json", "--token-file", "/t"]).env("ATOLL_SERVER", &address).done().json();
    let line = |name: &str| shown.as_array().unwrap().iter().find(|line| line["name"] == name).unwrap().clone();
    assert_eq!(
        (&line("server")["value"], &line("server")["source"]),
        (&address.into(), &"variable ATOLL_SERVER".into())
    );
    assert_eq!(
        (&line("token_file")["value"], &line("token_file")["source"]),
        (&"/t".into(), &"flag --token-file".into())
    );
    let file = cli.ok(&["config"]);
    assert!(file.contains("file ") && file.contains("http://127.0.0.1:1"), "{file}");
    assert_eq!(line("state")["source"], "variable ATOLL_HOME");
    std::fs::remove_file(home.path().join("config")).unwrap();
    cli.server.end();
}

#[test]
fn invalid_settings_are_rejected_with_a_reason() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let addresses = [
        ("ftp://x", "invalid server address"),
        ("https://a b", "is not a valid host name"),
        ("http://x", "invalid server address"),
    ];
    for (server, reason) in addresses {
        let done = cli.done(&["ls", "--server", server]);
        assert!(done.code == Some(125) && done.stderr().contains(reason), "{done:?}");
    }
    let done = cli.done(&["ls", "--token-file", "/no/such/file"]);
    assert!(done.stderr().contains("cannot read the token file /no/such/file"), "{done:?}");
    std::fs::write(home.cwd().join("token"), "atoll_nobody_x").unwrap();
    let done = cli.done(&["ls", "--token-file", "token", "--json"]);
    assert_eq!((done.code, refused(&done).as_str()), (Some(125), "UNAUTHORIZED"));
    std::fs::write(home.path().join("config"), "port = 1\n").unwrap();
    assert!(cli.done(&["ls"]).stderr().contains("unknown setting `port` (expected server, token_file or ca_file)"));
    std::fs::remove_file(home.path().join("config")).unwrap();
    cli.server.end();
}

#[test]
fn an_explicit_server_is_never_started() {
    let home = Home::new();
    let socket = format!("unix:{}", home.path().join("none.sock").display());
    let done = home.atoll(["exec", &home.name(), "--server", &socket, "--", "true"]).done();
    assert_eq!((done.code, done.out.as_slice()), (Some(125), &b""[..]));
    assert!(done.stderr().starts_with("error: cannot reach"), "{done:?}");
    home.assert_nothing_left();
}

#[test]
fn completions_and_help_work() {
    let home = Home::new();
    for (shell, part) in [("bash", "_atoll()"), ("zsh", "#compdef atoll"), ("fish", "complete -c atoll")] {
        let done = home.atoll(["completions", shell]).done();
        assert!(done.code == Some(0) && done.stdout().contains(part), "{shell}");
    }
    let words = [
        "create",
        "ls",
        "inspect",
        "rm",
        "pause",
        "resume",
        "stop",
        "start",
        "exec",
        "ps",
        "logs",
        "kill",
        "wait",
        "session",
        "shell",
        "config",
        "completions",
    ];
    for word in words {
        let help = home.atoll([word, "--help"]).done();
        assert!(help.code == Some(0) && help.stdout().contains("Examples:\n"), "{word}");
    }
}
