//! One sandbox at its limit of what the kernel counts per user: the host and other sandboxes can still have theirs.

use std::process::Stdio;

use super::{homes, python, users};
use crate::harness::{Caller, Home, ORDINARY, Running, command, need};

/// Takes one thing after the other until the kernel refuses, or one only. Prints how many it has, then holds them until
/// its standard input ends.
const TAKE: &str = r#"
import ctypes, os, signal, socket, array, sys
libc = ctypes.CDLL(None, use_errno=True)
librt = ctypes.CDLL("librt.so.1", use_errno=True)
class Event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("signo", ctypes.c_int), ("notify", ctypes.c_int), ("rest", ctypes.c_char * 48)]
def inotify():
    return libc.inotify_init1(0o2000000) >= 0
def signals():
    return libc.sigqueue(os.getpid(), signal.SIGRTMIN, None) == 0
def timers():
    event, timer = Event(signo=signal.SIGRTMIN, notify=0), ctypes.c_void_p()
    return librt.timer_create(0, ctypes.byref(event), ctypes.byref(timer)) == 0
def queues():
    queues.number += 1
    name = b"/atoll-%d-%d" % (os.getpid(), queues.number)
    queue = librt.mq_open(name, os.O_CREAT | os.O_RDWR, 0o600, None)
    if queue >= 0:
        librt.mq_unlink(name)
    return queue >= 0
queues.number = 0
def locked():
    # 64 KiB of System V shared memory that stays in memory: counted per user, not per process.
    segment = libc.shmget(0, 65536, 0o1600)
    taken = segment >= 0 and libc.shmctl(segment, 11, None) == 0
    held.append(segment)
    return taken
def terminals():
    try:
        held.append(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
        return True
    except OSError:
        return False
def flights():
    # Descriptors that were sent and not received.
    try:
        if not flights.pair or flights.sent == 5:
            flights.pair, flights.sent = socket.socketpair(), 0
            held.extend(flights.pair)
        flights.pair[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 200))])
        flights.sent += 1
        return True
    except OSError:
        return False
flights.pair, flights.sent = None, 0
held = []
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
take, most, count = globals()[sys.argv[1]], int(sys.argv[2]), 0
try:
    while count < most and take():
        count += 1
    print(count, flush=True)
    if sys.argv[3] == "hold":
        sys.stdin.read()
finally:
    if sys.argv[1] == "locked":
        for segment in held:
            libc.shmctl(segment, 0, None)
"#;

/// Enough to reach every limit, and soon done.
const ALL: &str = "200000";

/// Runs the program that a variable holds: its standard input is what it waits for.
const RUN: &str = "exec /usr/bin/python3 -c \"$PROGRAM\"";

fn program(what: &str, most: &str, then: &str) -> String {
    format!("import sys; sys.argv = ['take', '{what}', '{most}', '{then}']\n{TAKE}")
}

fn variable(what: &str, most: &str, then: &str) -> String {
    format!("PROGRAM={}", program(what, most, then))
}

/// A sandbox in which a program takes all it can get. Returns how much that was.
fn exhaust(home: &Home, user: &str, what: &str) -> (Running, u64) {
    let variable = variable(what, ALL, "hold");
    let mut running = home.run(["--user", user, "--stdin", "--env", &variable, "--", RUN]).start_with_stdin();
    let count = running.line().trim().parse().unwrap();
    (running, count)
}

/// Whether another sandbox of the same home can have one.
#[track_caller]
fn neighbour_takes_one(home: &Home, what: &str) {
    let done = home.run(["--env", &variable(what, "1", "end"), "--", RUN]).done();
    assert_eq!((done.code, done.stdout().as_str()), (Some(0), "1\n"), "{what} in another sandbox: {done:?}");
}

/// Whether the host's user who made the sandbox can have one.
#[track_caller]
fn host_takes_one(home: &Home, what: &str) {
    let mut host = match home.caller() {
        Caller::Root => command("/usr/bin/python3"),
        Caller::Ordinary => {
            let mut host = command("setpriv");
            host.args(["--clear-groups", &format!("--reuid={ORDINARY}"), &format!("--regid={ORDINARY}")]);
            host.arg("/usr/bin/python3");
            host
        }
    };
    let done = host.args(["-c", &program(what, "1", "end")]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout), "1\n", "{what} on the host: {done:?}");
}

/// One sandbox takes all that it can get of a thing; the host and a neighbour can still have one.
#[track_caller]
fn quota_is_its_own(what: &str) {
    need!("python3", "setpriv");
    for home in homes() {
        for user in users(&home) {
            let (running, count) = exhaust(&home, user, what);
            assert!(count > 0, "{what}: a sandbox can have some");
            assert!(count < ALL.parse().unwrap(), "{what}: there is no limit");
            host_takes_one(&home, what);
            neighbour_takes_one(&home, what);
            assert_eq!(running.done().code, Some(0));
        }
        home.assert_nothing_left();
    }
}

#[test]
fn inotify_instances_of_one_sandbox_are_its_own() {
    quota_is_its_own("inotify");
}

#[test]
fn pending_signals_of_one_sandbox_are_its_own() {
    quota_is_its_own("signals");
}

#[test]
fn timers_of_one_sandbox_are_its_own() {
    quota_is_its_own("timers");
}

#[test]
fn message_queues_of_one_sandbox_are_its_own() {
    quota_is_its_own("queues");
}

#[test]
fn locked_memory_of_one_sandbox_is_its_own() {
    quota_is_its_own("locked");
}

#[test]
fn terminals_of_one_sandbox_are_its_own() {
    quota_is_its_own("terminals");
}

/// Descriptors in flight are counted per user and compared with the limit of whoever sends one: as an ordinary user, the
/// agent and every PID 1 are that user too, and must still be able to send.
#[test]
fn descriptors_in_flight_do_not_keep_atoll_from_starting_programs() {
    need!("python3", "setpriv");
    for home in homes() {
        let (running, count) = exhaust(&home, "root", "flights");
        assert!(count > 0 && count < ALL.parse().unwrap(), "{count}");
        assert_eq!(home.sh("echo started; exit 0"), "started\n");
        assert_eq!(running.done().code, Some(0));
        home.assert_nothing_left();
    }
}

/// Requests of asynchronous I/O are counted for the whole machine, so no sandbox gets any.
#[test]
fn asynchronous_requests_of_the_machine_are_out_of_reach() {
    need!("python3");
    let script = python(
        "import ctypes, errno\n\
         libc, context = ctypes.CDLL(None, use_errno=True), ctypes.c_ulong(0)\n\
         print(libc.syscall(206, 1024, ctypes.byref(context)), errno.errorcode[ctypes.get_errno()])",
    );
    for home in homes() {
        if cfg!(target_arch = "x86_64") {
            assert_eq!(home.sh(&script), "-1 ENOSYS\n");
        }
        home.assert_nothing_left();
    }
}
