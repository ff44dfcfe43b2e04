//! Membership, killing, freezing and signals.

use std::cell::RefCell;
use std::io;
use std::time::Instant;

use super::*;

/// Four processes: the shell, one in the background, one in a session of its own, one orphan.
const FAMILY: &str = "sleep 600 & setsid sleep 600 & (sleep 600 & echo ready); wait";

fn kill_one(pid: u32, signal: i32) -> io::Result<()> {
    let mut shell = Script::wait_for_go(&format!("kill -{signal} {pid}"));
    shell.go();
    assert_eq!(shell.status(), 0);
    Ok(())
}

#[test]
fn a_leaf_holds_and_kills_all_that_a_command_starts() {
    let Some(place) = Place::new("a_leaf_holds_and_kills_all_that_a_command_starts") else {
        return;
    };
    let group = place.group("box", &Limits::default());
    let leaf = group.leaf().unwrap();
    assert!(!leaf.populated().unwrap());
    let mut family = Script::start(&group, &leaf, FAMILY);
    assert_eq!(family.line(), "ready");
    eventually("four members", || leaf.count().unwrap() == 4);
    assert!(leaf.populated().unwrap());
    assert_eq!(group.processes().unwrap(), leaf.pids().unwrap());
    leaf.kill().unwrap();
    leaf.wait_empty(SOON).unwrap();
    assert_eq!(leaf.pids().unwrap(), []);
    assert_eq!(family.status(), 128 + libc::SIGKILL);
}

#[test]
fn a_zombie_is_not_alive_but_a_background_child_is() {
    let Some(place) = Place::new("a_zombie_is_not_alive_but_a_background_child_is") else {
        return;
    };
    let group = place.group("box", &Limits::default());
    let leaf = group.leaf().unwrap();
    // The shell ends at once and stays a zombie until it is waited for; its child goes on.
    let mut parent = Script::start(&group, &leaf, "sleep 600 & echo $!");
    let child: u32 = parent.line().parse().unwrap();
    eventually("only the child", || leaf.pids().unwrap() == [child]);
    leaf.kill().unwrap();
    leaf.wait_empty(SOON).unwrap();
    assert_eq!(parent.status(), 0);
}

#[test]
fn heavy_a_thousand_processes_die_at_once() {
    let Some(place) = Place::new("heavy_a_thousand_processes_die_at_once") else {
        return;
    };
    let group = place.group("box", &Limits::default());
    let leaf = group.leaf().unwrap();
    let script = "i=0; while [ $i -lt 999 ]; do sleep 600 & i=$((i+1)); done; echo ready; wait";
    let mut crowd = Script::start(&group, &leaf, script);
    assert_eq!(crowd.line(), "ready");
    assert_eq!(leaf.count().unwrap(), 1000);
    let start = Instant::now();
    leaf.kill().unwrap();
    let written = start.elapsed();
    leaf.wait_empty(SOON).unwrap();
    let took = start.elapsed();
    println!("kill of 1000: write {written:?}, all dead after {took:?}");
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn heavy_a_fork_bomb_is_bounded_and_dies() {
    let Some(place) = Place::limiting("a_fork_bomb_is_bounded_and_dies", Limit::Pids) else {
        return;
    };
    let limits = Limits { pids: Some(64), ..Limits::default() };
    let group = place.group("box", &limits);
    let leaf = group.leaf().unwrap();
    let mut bomb = Script::start(&group, &leaf, "bomb() { bomb | bomb & }; while :; do bomb; done");
    eventually("the limit is reached", || group.usage().pids == Some(64));
    assert!(leaf.count().unwrap() <= 64);
    leaf.kill().unwrap();
    leaf.wait_empty(SOON).unwrap();
    // Zombies count until they are reaped: the first by us, its orphans by the machine's init.
    bomb.status();
    eventually("none counted", || group.usage().pids == Some(0));
    group.destroy(SOON).unwrap();
    place.assert_nothing_left();
}

#[test]
fn a_frozen_command_uses_no_time_and_goes_on_after() {
    let Some(place) = Place::new("a_frozen_command_uses_no_time_and_goes_on_after") else {
        return;
    };
    let group = place.group("box", &Limits::default());
    let leaf = group.leaf().unwrap();
    let mut busy = Script::start(&group, &leaf, "echo ready; while :; do :; done");
    assert_eq!(busy.line(), "ready");
    let used = || group.usage().cpu_usec.unwrap();
    for (freeze, thaw) in [
        (&(|| leaf.freeze(SOON)) as &dyn Fn() -> _, &(|| leaf.thaw()) as &dyn Fn() -> _),
        (&|| group.freeze(SOON), &|| group.thaw()),
    ] {
        freeze().unwrap();
        assert!(value(leaf.path(), "cgroup.events").contains("frozen 1"));
        let before = used();
        // That nothing happens is no event to wait for.
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(used(), before);
        thaw().unwrap();
        eventually("it runs again", || used() > before);
    }
}

#[test]
fn a_frozen_command_can_be_killed_and_its_leaf_is_not_used_again() {
    let test = "a_frozen_command_can_be_killed_and_its_leaf_is_not_used_again";
    let Some(place) = Place::new(test) else {
        return;
    };
    let group = place.group("box", &Limits::default());
    let leaf = group.leaf().unwrap();
    let mut family = Script::start(&group, &leaf, FAMILY);
    assert_eq!(family.line(), "ready");
    leaf.freeze(SOON).unwrap();
    leaf.kill().unwrap();
    leaf.wait_empty(SOON).unwrap();
    let path = leaf.path().to_owned();
    drop(leaf);
    // What was killed once would kill the next command too: it is gone.
    assert_ne!(group.leaf().unwrap().path(), path);
    eventually("its removal", || group.sweep() == 0 && !path.exists());
}

#[test]
fn a_frozen_leaf_that_is_dropped_runs_again() {
    let Some(place) = Place::new("a_frozen_leaf_that_is_dropped_runs_again") else {
        return;
    };
    let group = place.group("box", &Limits::default());
    let leaf = group.leaf().unwrap();
    leaf.freeze(SOON).unwrap();
    let path = leaf.path().to_owned();
    drop(leaf);
    let next = group.leaf().unwrap();
    assert_eq!(next.path(), path);
    assert_eq!(value(&path, "cgroup.freeze"), "0");
}

#[test]
fn a_signal_reaches_each_process_while_all_stand_still() {
    let test = "a_signal_reaches_each_process_while_all_stand_still";
    let Some(place) = Place::new(test) else {
        return;
    };
    let group = place.group("box", &Limits::default());
    let leaf = group.leaf().unwrap();
    let mut family = Script::start(&group, &leaf, FAMILY);
    assert_eq!(family.line(), "ready");
    eventually("four members", || leaf.count().unwrap() == 4);
    let reached = RefCell::new(Vec::new());
    let count = leaf.signal_tree(libc::SIGUSR1, SOON, |pid, signal| {
        // Later ones find those before them dying, which is not "frozen".
        if reached.borrow().is_empty() {
            assert!(value(leaf.path(), "cgroup.events").contains("frozen 1"));
        }
        assert_eq!(value(leaf.path(), "cgroup.freeze"), "1");
        reached.borrow_mut().push(pid);
        kill_one(pid, signal)
    });
    assert_eq!(count.unwrap(), 4);
    assert_eq!(reached.borrow().len(), 4);
    leaf.wait_empty(SOON).unwrap();
    assert_eq!(family.status(), 128 + libc::SIGUSR1);
}

#[test]
fn a_signal_leaves_a_paused_command_paused() {
    let Some(place) = Place::new("a_signal_leaves_a_paused_command_paused") else {
        return;
    };
    let group = place.group("box", &Limits::default());
    let leaf = group.leaf().unwrap();
    let mut handler = Script::start(&group, &leaf, "trap 'exit 7' TERM; echo ready; while :; do :; done");
    assert_eq!(handler.line(), "ready");
    leaf.freeze(SOON).unwrap();
    assert_eq!(leaf.signal_tree(libc::SIGTERM, SOON, kill_one).unwrap(), 1);
    assert_eq!(value(leaf.path(), "cgroup.freeze"), "1");
    assert!(leaf.populated().unwrap());
    leaf.thaw().unwrap();
    leaf.wait_empty(SOON).unwrap();
    assert_eq!(handler.status(), 7);
}

#[test]
fn sigkill_needs_no_sender_and_a_refusal_is_reported_after_all_were_tried() {
    let test = "sigkill_needs_no_sender_and_a_refusal_is_reported_after_all_were_tried";
    let Some(place) = Place::new(test) else {
        return;
    };
    let group = place.group("box", &Limits::default());
    let leaf = group.leaf().unwrap();
    let mut family = Script::start(&group, &leaf, FAMILY);
    assert_eq!(family.line(), "ready");
    eventually("four members", || leaf.count().unwrap() == 4);
    let tried = RefCell::new(0);
    let refuse = |_, _| {
        *tried.borrow_mut() += 1;
        Err(io::Error::from_raw_os_error(libc::EPERM))
    };
    let error = leaf.signal_tree(libc::SIGTERM, SOON, refuse).unwrap_err();
    assert!(error.to_string().contains("operation not permitted"), "{error}");
    assert_eq!(*tried.borrow(), 4);
    let gone = |_, _| Err(io::Error::from_raw_os_error(libc::ESRCH));
    assert_eq!(leaf.signal_tree(libc::SIGTERM, SOON, gone).unwrap(), 0);
    let never = |_, _| panic!("SIGKILL goes through cgroup.kill");
    assert_eq!(leaf.signal_tree(libc::SIGKILL, SOON, never).unwrap(), 4);
    leaf.wait_empty(SOON).unwrap();
}
