//! A server of one's own, which is started by the first who needs it.

use crate::harness::Home;

/// Pids of the home's servers.
fn servers(home: &Home) -> Vec<u32> {
    let is_server = |pid: &u32| {
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.split(|byte| *byte == 0).nth(1) == Some(b"serve")
    };
    home.pids_called("atoll").into_iter().filter(is_server).collect()
}

/// Removes the sandboxes, ends the one server, and looks that nothing is left.
fn end(home: &Home, names: &[&str]) {
    assert_eq!(home.atoll([&["rm"], names].concat()).done().code, Some(0));
    let servers = servers(home);
    assert_eq!(servers.len(), 1, "one server for each state directory");
    home.atoll(["serve", "--stop"]).done().assert(0, "", "");
    assert!(self::servers(home).is_empty());
    home.assert_nothing_left();
}

#[test]
fn the_first_command_starts_a_server_and_makes_the_sandbox() {
    let home = Home::new();
    let name = home.name();
    let first = home.atoll(["exec", &name, "--", "echo hello; exit 3"]).done();
    let said = format!(
        "atoll: no server is running; starting one in the background\natoll: sandbox {name} does not exist; creating it\n"
    );
    first.assert(3, "hello\n", &said);
    home.atoll(["exec", &name, "--", "echo again"]).done().assert(0, "again\n", "");
    assert_eq!(home.atoll(["ls"]).done().code, Some(0));
    end(&home, &[&name]);
}

#[test]
fn of_many_who_start_one_at_once_all_are_served() {
    let home = Home::new();
    let names: Vec<_> = (0..3).map(|_| home.name()).collect();
    let running: Vec<_> = names.iter().map(|name| home.atoll(["exec", name, "--", "echo hello"]).start()).collect();
    for each in running {
        let done = each.done();
        assert_eq!((done.code, done.stdout().as_str()), (Some(0), "hello\n"), "{done:?}");
    }
    end(&home, &names.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn only_exec_and_shell_start_a_server() {
    let home = Home::new();
    for arguments in [&["ls"][..], &["create", "x"], &["ps", "x"], &["session", "ls", "x"]] {
        let done = home.atoll(arguments).done();
        assert!(done.code == Some(125) && done.stderr().starts_with("error: cannot reach"), "{done:?}");
    }
    home.assert_nothing_left();
}

#[test]
fn a_server_goes_into_the_background_when_it_is_heard() {
    let home = Home::new();
    let done = home.atoll(["serve", "--background", "--no-tcp"]).done();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout().starts_with("listening on unix:"), "{done:?}");
    assert_eq!(home.atoll(["ls"]).done().code, Some(0));
    let second = home.atoll(["serve", "--background", "--no-tcp"]).done();
    assert!(second.code == Some(125) && second.stderr().contains("error: "), "{second:?}");
    home.atoll(["serve", "--stop"]).done().assert(0, "", "");
    assert!(servers(&home).is_empty());
    home.atoll(["serve", "--stop"]).done().assert(0, "", "atoll: no server is running\n");
    home.assert_nothing_left();
}
