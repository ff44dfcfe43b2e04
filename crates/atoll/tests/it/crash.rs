//! Deaths without warning: of the agent, of init, of the keeper. Whatever dies, nothing is left.

use std::time::Duration;

use crate::harness::{Home, Signal, kill, until};

/// A tree that does what it can to get away: a daemon, an orphan in a session of its own, one that ignores TERM, one
/// that keeps forking.
const TREE: &str = "
    (setsid sh -c 'trap \"\" TERM HUP; sleep 1000; true' &)
    setsid -f sleep 1000
    sh -c 'trap \"\" TERM INT HUP; sleep 1000; true' &
    (while :; do (sleep 0.01 &) ; sleep 0.01; done) &
    mkdir -p a/b/c; echo x > a/b/c/d; chmod 0 a/b
    echo up
    wait";

/// Moments from the start of the binary to well after the command runs.
fn moment(round: u64) -> Duration {
    // Spread evenly over 40 ms, in an order that does not follow the rounds.
    Duration::from_micros(round * 7919 % 200 * 200)
}

#[test]
fn heavy_the_agent_killed_at_any_moment_leaves_nothing() {
    let home = Home::new();
    for round in 0..200 {
        let options: &[&str] = match round % 6 {
            0 | 1 => &["--without-cgroups"],
            2 => &["--isolation", "none"],
            3 => &["--memory", "1g", "--pids", "200", "--cpus", "2"],
            _ => &[],
        };
        let mut running = home.run([options, &["--", TREE]].concat()).start();
        if round % 4 == 0 {
            assert_eq!(running.line(), "up\n", "round {round}");
        }
        // No event to wait for: the moment itself is what is tried.
        std::thread::sleep(moment(round));
        running.signal(Signal::KILL);
        let done = running.done();
        assert_eq!(done.signal, Some(9), "round {round} {options:?}: {done:?}");
        home.assert_nothing_left();
    }
}

#[test]
fn heavy_an_unisolated_agent_without_cgroups_killed_leaves_nothing() {
    let home = Home::new();
    for round in 0..40 {
        let arguments = ["--isolation", "none", "--without-cgroups", "--", TREE];
        let mut running = home.run(arguments).start();
        if round % 4 == 0 {
            assert_eq!(running.line(), "up\n", "round {round}");
        }
        std::thread::sleep(moment(round));
        running.signal(Signal::KILL);
        running.done();
        home.assert_nothing_left();
    }
}

#[test]
fn init_killed_from_outside_is_reported_and_leaves_nothing() {
    let home = Home::new();
    for options in
        [&[][..], &["--without-cgroups"], &["--isolation", "none"], &["--isolation", "none", "--without-cgroups"]]
    {
        let mut running = home.run([options, &["--", TREE]].concat()).start();
        assert_eq!(running.line(), "up\n");
        kill(init_of(running.pid()), Signal::KILL).unwrap();
        let done = running.done();
        assert_eq!(done.code, Some(125), "{options:?}: {done:?}");
        assert!(done.stderr().contains("atoll: the sandbox was lost\n"), "{options:?}: {done:?}");
        home.assert_nothing_left();
    }
}

#[test]
fn init_killed_from_outside_is_reported_as_json_too() {
    let home = Home::new();
    let running = home.run(["--json", "--", "sleep 1000"]).start();
    until("the command", || home.pids_called("sleep").pop());
    kill(init_of(running.pid()), Signal::KILL).unwrap();
    let done = running.done();
    assert_eq!(done.code, Some(125), "{done:?}");
    let end = &done.json()["end"];
    assert_eq!(end["reason"], "host_lost", "{end}");
    assert!(end["code"].is_null() && end["signal"].is_null(), "{end}");
    home.assert_nothing_left();
}

/// With the keeper gone before the agent, only the next agent can clean up.
#[test]
fn the_next_agent_cleans_up_after_a_killed_keeper() {
    let home = Home::new();
    for options in [&[][..], &["--pids", "500", "--memory", "1g"], &["--without-cgroups"]] {
        let mut running = home.run([options, &["--", TREE]].concat()).start();
        assert_eq!(running.line(), "up\n");
        let keeper = home.pids_called("atoll-keeper");
        assert_eq!(keeper.len(), 1);
        kill(keeper[0], Signal::KILL).unwrap();
        until("the end of the keeper", || home.pids_called("atoll-keeper").is_empty().then_some(()));
        running.signal(Signal::KILL);
        running.done();
        until("the end of its processes", || home.processes().is_empty().then_some(()));
        assert_eq!(home.sandboxes().len(), 1, "this is what is to be swept");
        assert_eq!(home.sh("echo next"), "next\n");
        home.assert_nothing_left();
    }
}

#[test]
fn a_killed_keeper_does_not_stop_its_agent() {
    let home = Home::new();
    let mut running = home.run(["--stdin", "--", "echo up; read x; echo $x"]).start_with_stdin();
    assert_eq!(running.line(), "up\n");
    kill(home.pids_called("atoll-keeper")[0], Signal::KILL).unwrap();
    running.tell("done\n");
    let done = running.done();
    assert_eq!(done.stdout(), "up\ndone\n", "{done:?}");
    assert_eq!(done.code, Some(0), "{done:?}");
    home.assert_nothing_left();
}

/// A sandbox that lives is not swept by an agent that comes later.
#[test]
fn the_living_are_not_swept() {
    let home = Home::new();
    let mut running = home.run(["--stdin", "--", "echo up; read x; ls; cat f"]).start_with_stdin();
    assert_eq!(running.line(), "up\n");
    std::fs::write(home.sandboxes()[0].join("disk/workspace/f"), "kept\n").unwrap();
    for _ in 0..3 {
        home.sh("true");
    }
    running.tell("\n");
    running.done().assert(0, "up\nf\nkept\n", "");
    home.assert_nothing_left();
}

#[test]
fn an_agent_that_is_stopped_for_a_moment_loses_nothing() {
    let home = Home::new();
    let script = "for i in {1..20000}; do echo $i; echo $i >&2; done";
    let mut running = home.run(["--", script]).start();
    assert_eq!(running.line(), "1\n");
    for _ in 0..5 {
        running.signal(Signal::STOP);
        until("the stop", || state_of(running.pid()).is_none_or(|state| state == 'T' || state == 'Z').then_some(()));
        // Long enough for the command to fill the pipes.
        std::thread::sleep(Duration::from_millis(50));
        running.signal(Signal::CONT);
    }
    let done = running.done();
    let all: String = (1..=20000).map(|number| format!("{number}\n")).collect();
    assert_eq!(done.code, Some(0));
    assert!(done.stdout() == all && done.stderr() == all);
    home.assert_nothing_left();
}

#[test]
fn a_timeout_holds_for_a_command_that_stopped_itself() {
    let home = Home::new();
    for options in [&[][..], &["--without-cgroups"]] {
        let arguments = ["--timeout", "300ms", "--", "(sleep 1000 & kill -STOP $!); kill -STOP $$"];
        let done = home.run([options, &arguments].concat()).done();
        assert_eq!(done.code, Some(124), "{options:?}: {done:?}");
        home.assert_nothing_left();
    }
}

/// The agent's child that is not its keeper.
pub(crate) fn init_of(agent: u32) -> u32 {
    until("init", || {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(|pid| parent_of(*pid) == Some(agent))
            .find(|pid| {
                let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
                name.is_ok_and(|name| name.trim() != "atoll-keeper")
            })
    })
}

fn stat(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(") ")?.1.to_owned())
}

fn state_of(pid: u32) -> Option<char> {
    stat(pid)?.chars().next()
}

fn parent_of(pid: u32) -> Option<u32> {
    stat(pid)?.split(' ').nth(1)?.parse().ok()
}
