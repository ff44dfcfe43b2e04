//! Every `console` block of the documents is run, and must print what the document shows.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test that cannot go on, or not run, should say so")]

use std::path::Path;
use std::process::Command;

use atoll_protocol::ErrorCode;

/// One `$ command` and the lines that follow it.
#[derive(Debug)]
struct Example {
    place: String,
    command: String,
    shown: String,
}

fn examples(file: &Path) -> Vec<Example> {
    let text = std::fs::read_to_string(file).unwrap();
    let mut found: Vec<Example> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        match (inside, line) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) => match line.strip_prefix("$ ") {
                Some(command) => found.push(Example {
                    place: format!("{}:{}", file.display(), number + 1),
                    command: command.to_owned(),
                    shown: String::new(),
                }),
                None => {
                    let example = found.last_mut().expect("a console block begins with a command");
                    example.shown.push_str(line);
                    example.shown.push('\n');
                }
            },
            (false, _) => {}
        }
    }
    found
}

#[expect(clippy::disallowed_methods, reason = "runs the documents' commands as a reader would, in a shell")]
fn run(command: &str, home: &Path) -> String {
    let atoll = Path::new(env!("CARGO_BIN_EXE_atoll"));
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", atoll.parent().unwrap().display());
    let output = Command::new("bash")
        .args(["-c", command])
        .env_clear()
        .env("PATH", path)
        .env("HOME", "/root")
        .env("ATOLL_HOME", home)
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.is_empty(), "{command}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn check(file: &str, at_least: usize) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let home = tempfile::tempdir().unwrap();
    let examples = examples(&file);
    assert!(examples.len() >= at_least, "only {} examples are left in {}", examples.len(), file.display());
    for example in examples {
        assert_eq!(run(&example.command, home.path()), example.shown, "{}: {}", example.place, example.command);
    }
}

/// Some examples speak of other users and of the host's files, which only root can show.
fn is_root(test: &str) -> bool {
    let root = std::fs::read_to_string("/proc/self/status").unwrap().contains("\nUid:\t0\t");
    if !root {
        assert!(std::env::var_os("ATOLL_FORBID_SKIPS").is_none(), "{test} needs root");
        eprintln!("SKIP {test}: its examples are for root");
    }
    root
}

#[test]
fn tour_page() {
    check("docs/tour.md", 6);
}

#[test]
fn exec() {
    if is_root("docs::exec") {
        check("docs/exec.md", 8);
    }
}

#[test]
fn isolation() {
    if is_root("docs::isolation") {
        check("docs/isolation.md", 4);
    }
}

/// The `sh` blocks of a document, one after the other.
fn script(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let blocks = text.split("\n```sh\n").skip(1);
    blocks.map(|block| block.split("\n```").next().unwrap().to_owned() + "\n").collect()
}

/// Its examples build on one another, so they are one script: each must succeed, the last ends what the first began.
#[test]
fn http_api() {
    if !Path::new("/usr/bin/curl").exists() {
        assert!(std::env::var_os("ATOLL_FORBID_SKIPS").is_none(), "docs::http_api needs curl");
        eprintln!("SKIP docs::http_api: no curl on this host");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let socket = home.path().join("socket");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/http-api.md");
    let examples = script(&file).replace("curl -sS", "curl --max-time 30 --fail-with-body -sS");
    let socket_name = socket.display();
    let end = format!("curl -s --unix-socket {socket_name} -X DELETE http://localhost/v1/sandbox || true");
    let script = format!("set -eo pipefail; SOCKET={socket_name}; trap '{end}' EXIT\n{examples}echo all done");
    let shown = run(&script, home.path());
    for expected in [
        "\"ready\":true",
        "hello from box",
        "first line",
        "event: end",
        "atoll works in /tmp",
        "\"cancelled\":true",
        "42",
        "\"format\":\"tar.zst\"",
        "\"survivors\":0",
        "all done",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let left = std::fs::read_dir(home.path().join("state/sandboxes")).unwrap().count();
    assert_eq!((left, socket.exists()), (0, false));
}

/// The same for the server, on a port that was free a moment ago.
#[test]
fn server() {
    if !Path::new("/usr/bin/curl").exists() {
        assert!(std::env::var_os("ATOLL_FORBID_SKIPS").is_none(), "docs::server needs curl");
        eprintln!("SKIP docs::server: no curl on this host");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/server.md");
    let examples = script(&file).replace("curl -sS", "curl --max-time 30 --fail-with-body -sS");
    let place = home.path().display();
    let end = "atoll_api -X DELETE $SERVER/v1/sandboxes/box > /dev/null 2>&1; kill %1 2> /dev/null; wait || true";
    let script =
        format!("set -eo pipefail; cd {place}; PORT={port}; trap '{end}' EXIT\n{examples}trap - EXIT\necho all done");
    let shown = run(&script, home.path());
    for expected in ["listening on http", "hello from box", "awake again", "ci-*:read,exec,admin", "ok", "all done"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert_eq!(std::fs::read_dir(home.path().join("state/server/sandboxes")).unwrap().count(), 0);
}

/// The same for the command line, which starts its own server.
#[test]
fn cli() {
    let home = tempfile::tempdir().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let place = home.path().display();
    let end = "atoll rm box other > /dev/null 2>&1 || true; atoll serve --stop > /dev/null 2>&1 || true";
    // `run` fails on any output to standard error, so notes are sent to standard output.
    let script = format!("exec 2>&1; set -eo pipefail; cd {place}; trap '{end}' EXIT\n{}echo all done", script(&file));
    let shown = run(&script, home.path());
    for expected in [
        "atoll: no server is running; starting one in the background\natoll: sandbox box does not exist; creating it\n",
        "hello from box\n",
        "fast in /tmp\n",
        "it ended with 124\n",
        "0 survive\n",
        "hello from atoll\n/tmp\n",
        "copy ready\n",
        "all done\n",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert_eq!(std::fs::read_dir(home.path().join("state/server/sandboxes")).unwrap().count(), 0);
}

/// The same for the way out, with a server of its own outside.
#[test]
fn egress() {
    for program in ["/usr/bin/curl", "/usr/bin/python3"] {
        if !Path::new(program).exists() {
            assert!(std::env::var_os("ATOLL_FORBID_SKIPS").is_none(), "docs::egress needs {program}");
            eprintln!("SKIP docs::egress: no {program} on this host");
            return;
        }
    }
    let home = tempfile::tempdir().unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/egress.md");
    let place = home.path().display();
    // Whatever fails of it, the rest is done: the last thing to go is our own server.
    let end = "set +e; atoll rm box > /dev/null 2>&1; kill %1 2> /dev/null; atoll serve --stop > /dev/null 2>&1; true";
    // The server outside may take a moment to listen.
    let examples = script(&file).replace("curl -sS", "curl --retry 20 --retry-connrefused --retry-delay 1 -sS");
    let script = format!(
        "exec 2>&1; set -eo pipefail; cd {place}; PORT={port} TOKEN=the-real-value; trap '{end}' EXIT\n{examples}echo all done"
    );
    let shown = run(&script, home.path());
    for expected in [
        "nothing is reached\n",
        "hello from outside\n",
        "atoll: refused other.test: no rule\n",
        "it ended with 6\n",
        "address_not_public\n",
        "tcp://db.shop.test:5432",
        "denied",
        "\"connections\":1\n",
        "\natoll\n0\n",
        "API_TOKEN  api.shop.test  authorization\n",
        "all done\n",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert_eq!(std::fs::read_dir(home.path().join("state/server/sandboxes")).unwrap().count(), 0);
}

/// The same for ports, with a server on a port that was free a moment ago.
#[test]
fn ports() {
    if !["/usr/bin/curl", "/usr/bin/python3"].iter().all(|program| Path::new(program).exists()) {
        assert!(std::env::var_os("ATOLL_FORBID_SKIPS").is_none(), "docs::ports needs curl and python3");
        eprintln!("SKIP docs::ports: no curl or python3 on this host");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ports.md");
    let place = home.path().display();
    let end = "kill $FORWARD; atoll rm box > /dev/null 2>&1 || true; atoll serve --stop > /dev/null 2>&1 || true";
    let examples = script(&file).replace("curl -sS", "curl --max-time 30 -sS");
    let script = format!(
        "exec 2>&1; set -eo pipefail; cd {place}; PORT={port}; trap '{end}' EXIT\n{examples}trap - EXIT; echo all done"
    );
    let shown = run(&script, home.path());
    for expected in
        ["3000  127.0.0.1", ".localhost:", "hello from box", "this preview is private", "\n1\n", "all done\n"]
    {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert_eq!(shown.matches("hello from box\n").count(), 3, "{shown}");
    assert_eq!(std::fs::read_dir(home.path().join("state/server/sandboxes")).unwrap().count(), 0);
}

/// The same for files.
#[test]
fn files() {
    let home = tempfile::tempdir().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/files.md");
    let place = home.path().display();
    let end = "atoll rm box > /dev/null 2>&1 || true; atoll serve --stop > /dev/null 2>&1 || true";
    let script = format!("exec 2>&1; set -eo pipefail; cd {place}; trap '{end}' EXIT\n{}echo all done", script(&file));
    let shown = run(&script, home.path());
    for expected in [
        "<h1>hello</h1>\n",
        "the same tree\n",
        "site/css/main.css\n",
        "css/main.css:1:h1 { color: teal }\n",
        "nothing was changed\n",
        "changed index.html +1 -1\n<h1>bye</h1>\n",
        "all done\n",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
}

/// A page whose examples are one script over a sandbox named `box`, and what it must show.
fn over_a_box(page: &str, expected: &[&str]) {
    let home = tempfile::tempdir().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let place = home.path().display();
    let end = "atoll rm box > /dev/null 2>&1 || true; atoll serve --stop > /dev/null 2>&1 || true";
    let script = format!("exec 2>&1; set -eo pipefail; cd {place}; trap '{end}' EXIT\n{}echo all done", script(&file));
    let shown = run(&script, home.path());
    for expected in expected {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
}

/// The script that the README names: a tour through the server.
#[test]
fn tour() {
    if !Path::new("/usr/bin/script").exists() {
        assert!(std::env::var_os("ATOLL_FORBID_SKIPS").is_none(), "docs::tour needs script");
        eprintln!("SKIP docs::tour: no script(1) on this host");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = format!("ATOLL={} {}/scripts/tour 2>&1", env!("CARGO_BIN_EXE_atoll"), place.display());
    let shown = run(&script, home.path());
    for expected in
        ["hello from box\nexit code 3\n", "fast in /tmp\n", "counter\n", "line 2\nline 3\n", "30 100", "\n6\n"]
    {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(!shown.contains("line 1\n"), "it is read from a position on: {shown}");
}

/// The same for git.
#[test]
fn git() {
    if !["/usr/bin/git", "/usr/local/bin/git"].iter().any(|git| Path::new(git).exists()) {
        assert!(std::env::var_os("ATOLL_FORBID_SKIPS").is_none(), "docs::git needs git");
        eprintln!("SKIP docs::git: no git on this host");
        return;
    }
    let shown =
        ["/workspace/work\n", "on main\n.? README\n", "say hello\n", "* topic\n", "-hello\n+bye\n", "all done\n"];
    over_a_box("git.md", &shown);
}

/// The same for models' tools.
#[test]
fn mcp() {
    over_a_box("mcp.md", &["\"name\":\"atoll\"", "\"text\":\"box\\n\"", "all done\n"]);
}

/// The same for watches.
#[test]
fn watch() {
    over_a_box("watch.md", &["created    a/b/c/\n", "all done\n"]);
}

/// Whoever adds a subcommand tells of it.
#[test]
fn cli_names_every_subcommand() {
    let home = tempfile::tempdir().unwrap();
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md")).unwrap();
    let help = run("atoll --help", home.path());
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    // These are told of elsewhere: each has a page or a part of one.
    let elsewhere = ["run", "agent", "token", "doctor", "help"];
    let words = commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    for word in words.filter_map(|line| line.split_whitespace().next()).filter(|word| !elsewhere.contains(word)) {
        assert!(page.contains(&format!("atoll {word}")), "atoll {word} is not in docs/cli.md");
    }
}

/// Whoever adds a route tells of it.
#[test]
fn http_api_names_every_route() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/http-api.md")).unwrap();
    let document = std::fs::read_to_string(root.join("crates/atoll-agent/openapi.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let route = format!("`{} {path}", method.to_uppercase());
            assert!(page.contains(&route), "{route}` is not in docs/http-api.md");
        }
    }
}

/// The page of error codes is written from the code: `ATOLL_ACCEPT=1` writes it anew.
#[test]
fn errors_are_told_as_they_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
    let made = errors_page();
    if std::env::var_os("ATOLL_ACCEPT").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page == made, "docs/errors.md does not tell of every code as it is: run this test with ATOLL_ACCEPT=1");
}

fn errors_page() -> String {
    let mut page = String::from(
        "# Error codes\n\nEvery error response has the same JSON shape: `{\"error\": {\"code\", \"message\", \"hint?\", \
         \"details?\"}}`. The code is\nstable. The message names what failed. The hint, if there is one, is more specific \
         than the advice on this page. Both SDKs\nhave an error class for each code. A command that exits with a code other \
         than 0 is a result, never an error.\n\nThis page is generated from the code. The last paragraph of each entry says \
         what to do.\n\n| code | status |\n|---|---|\n",
    );
    let name = |code: ErrorCode| serde_json::to_value(code).unwrap().as_str().unwrap().to_owned();
    for code in ErrorCode::ALL {
        let name = name(*code);
        let anchor = name.to_lowercase();
        page.push_str(&format!("| [`{name}`](#{anchor}) | {} |\n", code.status()));
    }
    for code in ErrorCode::ALL {
        let name = name(*code);
        let class = format!("{code:?}Error");
        let advice =
            code.advice().unwrap_or_else(|| panic!("say in atoll-protocol/src/advice.rs what to do about {name}"));
        let (status, meaning) = (code.status(), code.meaning());
        page.push_str(&format!("\n## {name}\n\n{meaning} Status {status}; `{class}`.\n\n{advice}\n"));
    }
    page
}
