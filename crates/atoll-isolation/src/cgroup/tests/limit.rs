//! Limits that the kernel enforces, and whom it blames.

use super::*;

const MIB: u64 = 1 << 20;

/// Reads endless zeros without a newline, and keeps them all.
const HOG: &str = "echo ready; exec tail /dev/zero";

fn memory(bytes: u64) -> Limits {
    Limits { memory_bytes: Some(bytes), ..Limits::default() }
}

/// The sandbox's directory that carries the limit.
fn home(place: &Place, limit: Limit) -> PathBuf {
    let paths = Group::paths(&place.layout, "box");
    match place.layout.controllers.get(limit) {
        Controller::V1(parent) => parent.join("box"),
        Controller::V2 | Controller::Missing { .. } => paths[0].clone(),
    }
}

#[test]
fn a_hog_is_killed_and_its_leaf_blamed() {
    let Some(place) = Place::limiting("a_hog_is_killed_and_its_leaf_blamed", Limit::Memory) else {
        return;
    };
    let group = place.group("box", &memory(48 * MIB));
    let (hogs, quiet) = (group.leaf().unwrap(), group.leaf().unwrap());
    let mut sleeper = Script::start(&group, &quiet, "echo ready; exec sleep 600");
    assert_eq!(sleeper.line(), "ready");
    let mut hog = Script::start(&group, &hogs, HOG);
    assert_eq!(hog.status(), 128 + libc::SIGKILL);
    assert_eq!(hogs.oom_kills().unwrap(), Some(1));
    assert_eq!(quiet.oom_kills().unwrap(), Some(0));
    assert!(quiet.populated().unwrap());
    let peak = hogs.memory_peak().unwrap();
    assert!((40 * MIB..=48 * MIB).contains(&peak), "{peak}");
    assert!(group.usage().memory_peak_bytes.unwrap() >= peak);
    drop(hogs);
    assert_eq!(group.leaf().unwrap().oom_kills().unwrap(), Some(0), "a new leaf starts at zero");
}

#[test]
fn a_command_can_have_less_than_its_sandbox() {
    let Some(place) = Place::limiting("a_command_can_have_less_than_its_sandbox", Limit::Memory) else {
        return;
    };
    let group = place.group("box", &Limits::default());
    assert_eq!(group.leaf().unwrap().oom_kills().unwrap(), None, "nobody asked to count");
    let small = LeafLimits { memory_bytes: Some(16 * MIB) };
    let leaf = group.leaf_with(small).unwrap();
    let mut hog = Script::start(&group, &leaf, HOG);
    assert_eq!(hog.status(), 128 + libc::SIGKILL);
    assert_eq!(leaf.oom_kills().unwrap(), Some(1));
    assert!(leaf.memory_peak().unwrap() <= 16 * MIB);
}

#[test]
fn a_process_enters_its_memory_cgroup_by_the_descriptor_it_inherits() {
    let test = "a_process_enters_its_memory_cgroup_by_the_descriptor_it_inherits";
    let Some(place) = Place::limiting(test, Limit::Memory) else {
        return;
    };
    let group = place.group("box", &memory(64 * MIB));
    let leaf = group.leaf().unwrap();
    let Some(procs) = leaf.memory_procs() else {
        return skip(test, "memory is counted by cgroup2");
    };
    // As a user who could not open the file: who opened it counts.
    let mut child = enter_as_nobody(procs.try_clone_to_owned().unwrap());
    let dir = leaf.memory_home().map(|home| match home {
        limits::Home::V1(dir) | limits::Home::V2(dir) => dir.clone(),
    });
    assert_eq!(child.line(), "ready");
    assert_eq!(members::of(&dir.unwrap()).unwrap(), [child.child.id()]);
}

#[expect(clippy::disallowed_methods, reason = "a test's child is not a sandbox's")]
fn enter_as_nobody(procs: std::os::fd::OwnedFd) -> Script {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c"]);
    command.arg("echo 0 && echo ready >&2 && exec sleep 600");
    // The line for the test comes through stderr, since stdout is the file to write to.
    let (reader, writer) = io_pipe();
    command.stdin(Stdio::piped()).stdout(procs).stderr(writer);
    let mut child = command.spawn().unwrap();
    drop(command);
    let input = child.stdin.take().unwrap();
    Script { child, input, output: BufReader::new(reader) }
}

fn io_pipe() -> (ChildStdout, std::os::fd::OwnedFd) {
    let (reader, writer) = std::io::pipe().unwrap();
    (ChildStdout::from(std::os::fd::OwnedFd::from(reader)), writer.into())
}

#[test]
fn limits_change_while_the_sandbox_lives() {
    let Some(place) = Place::limiting("limits_change_while_the_sandbox_lives", Limit::Memory) else {
        return;
    };
    let all = |bytes, pids, millis| Limits { memory_bytes: Some(bytes), pids: Some(pids), cpu_millis: Some(millis) };
    if let Err(error) = place.layout.require(&all(MIB, 1, 1)) {
        return skip("limits_change_while_the_sandbox_lives", &error.to_string());
    }
    let group = place.group("box", &all(64 * MIB, 10, 500));
    // Up, down, up again, and each lifted.
    for limits in [all(128 * MIB, 20, 2000), all(32 * MIB, 5, 5), all(64 * MIB, 9, 250), Limits::default()] {
        group.set_limits(&limits).unwrap();
        assert_eq!(group.limits(), limits);
        let pids = limits.pids.map_or("max".to_owned(), |pids| pids.to_string());
        assert_eq!(value(&home(&place, Limit::Pids), "pids.max"), pids);
        if let Controller::V1(_) = place.layout.controllers.memory {
            assert_v1_memory(&home(&place, Limit::Memory), limits.memory_bytes);
        }
    }
}

fn assert_v1_memory(dir: &Path, bytes: Option<u64>) {
    for name in ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"] {
        if dir.join(name).exists() {
            let set: u64 = value(dir, name).parse().unwrap();
            match bytes {
                Some(bytes) => assert_eq!(set, bytes, "{name}"),
                None => assert!(set > 1 << 60, "{name}: {set}"),
            }
        }
    }
}

#[test]
fn a_busy_loop_is_held_back() {
    let Some(place) = Place::limiting("a_busy_loop_is_held_back", Limit::Cpu) else {
        return;
    };
    let limits = Limits { cpu_millis: Some(200), ..Limits::default() };
    let group = place.group("box", &limits);
    let leaf = group.leaf().unwrap();
    let mut busy = Script::start(&group, &leaf, "echo ready; while :; do :; done");
    assert_eq!(busy.line(), "ready");
    let throttled = || {
        value(&home(&place, Limit::Cpu), "cpu.stat")
            .lines()
            .any(|line| line.strip_prefix("nr_throttled ").is_some_and(|count| count != "0"))
    };
    eventually("it is held back", throttled);
}

#[test]
fn a_limit_that_cannot_be_kept_is_refused_and_nothing_is_made() {
    let test = "a_limit_that_cannot_be_kept_is_refused_and_nothing_is_made";
    let Some(mut place) = Place::new(test) else {
        return;
    };
    place.layout.controllers.memory = Controller::Missing { why: "taken away".to_owned() };
    let error = Group::create(&place.layout, "box", &memory(64 * MIB), None).unwrap_err();
    assert_eq!(error.to_string(), "cannot limit memory on this machine: taken away");
    let error = Group::create(&place.layout, "box", &memory(1), None).unwrap_err();
    assert!(matches!(error, Error::OutOfRange { .. }), "{error}");
    place.assert_nothing_left();
    let group = place.group("box", &Limits::default());
    let error = group.leaf_with(LeafLimits { memory_bytes: Some(16 * MIB) }).unwrap_err();
    assert!(matches!(error, Error::NoController { .. }), "{error}");
    assert!(group.set_limits(&memory(64 * MIB)).is_err());
}

#[test]
fn a_machine_without_a_tree_still_limits_by_v1() {
    let test = "a_machine_without_a_tree_still_limits_by_v1";
    let Some(mut place) = Place::limiting(test, Limit::Pids) else {
        return;
    };
    let Controller::V1(_) = &place.layout.controllers.pids else {
        return skip(test, "there is no v1 pids controller");
    };
    place.layout.tree = Tree::Unavailable { why: "taken away".to_owned() };
    let limits = Limits { pids: Some(2), ..Limits::default() };
    let group = place.group("box", &limits);
    assert!(group.dir().is_none());
    assert_eq!(group.leaf().unwrap_err().to_string(), "no cgroup2 tree for the sandbox: taken away");
    let mut shell = Script::wait_for_go("sleep 600 & sleep 600 & echo both");
    group.enter_v1(shell.child.id()).unwrap();
    shell.go();
    // dash ends with status 2 when it cannot fork.
    assert_eq!(shell.status(), 2);
    let left = group.processes().unwrap();
    assert_eq!(left.len(), 1);
    let error = group.clone().destroy(Duration::ZERO).unwrap_err();
    assert!(matches!(&error, Error::Left { .. }), "{error}");
    let mut killer = Script::wait_for_go(&format!("kill -9 {}", left[0]));
    killer.go();
    group.destroy(SOON).unwrap();
    place.assert_nothing_left();
}
