//! Attacks on PID 1 and on wardens: what they may do, and what programs inside can do to them.

use std::time::Duration;

use super::{homes, python, users};
use crate::client::Cli;
use crate::harness::{Home, need, until};

/// Bits of the twelve capabilities that programs may have, and the one beyond them that PID 1 keeps for the network.
const PROGRAMS: u64 = 0xa004_05fb;
const NET_ADMIN: u64 = 1 << 12;

fn capabilities(home: &Home, process: &str) -> Vec<u64> {
    let script = format!("sed -n 's/^Cap\\(Inh\\|Prm\\|Eff\\|Bnd\\|Amb\\):\\t//p' /proc/{process}/status");
    home.sh(&script).lines().map(|line| u64::from_str_radix(line, 16).unwrap()).collect()
}

#[test]
fn pid_1_keeps_only_the_capabilities_that_it_needs() {
    for home in homes() {
        assert_eq!(capabilities(&home, "1"), [0, PROGRAMS | NET_ADMIN, PROGRAMS, PROGRAMS, 0]);
        assert_eq!(capabilities(&home, "self"), [0, PROGRAMS, PROGRAMS, PROGRAMS, 0]);
        home.assert_nothing_left();
    }
}

/// With four descriptors PID 1 could still wait and signal, but could see no process, and so kill none.
#[test]
fn limits_of_pid_1_cannot_be_set() {
    need!("prlimit");
    for home in homes() {
        for user in users(&home) {
            let script = "for limit in nofile=4:4 nofile=0:0 nproc=0:0 as=0:0 cpu=1:1 fsize=0:0; do
                              prlimit --pid 1 --$limit 2>&1 | grep -o 'Operation not permitted'
                          done";
            let refused = home.sh_with(&["--user", user], script);
            assert_eq!(refused, "Operation not permitted\n".repeat(6), "as {user}");
        }
        home.assert_nothing_left();
    }
}

#[test]
fn a_timeout_ends_a_command_that_tries_to_blind_pid_1() {
    need!("prlimit");
    for home in homes() {
        let script = "prlimit --pid 1 --nofile=4:4; prlimit --pid $PPID --nofile=4:4; (setsid sleep 987 &); sleep 987";
        for options in [&[][..], &["--without-cgroups"]] {
            let options = [options, &["--timeout", "1s", "--grace", "100ms", "--json", "--", script]].concat();
            let done = home.run(options).done();
            assert_eq!((done.code, done.json()["end"]["survivors"].as_u64()), (Some(124), Some(0)), "{done:?}");
            assert!(home.pids_called("sleep").is_empty());
        }
        home.assert_nothing_left();
    }
}

#[test]
fn priority_and_scheduling_of_pid_1_cannot_be_changed() {
    need!("python3");
    let script = python(
        "import os\n\
         def refused(call, *arguments):\n\
         \x20   try:\n\
         \x20       call(*arguments)\n\
         \x20   except PermissionError:\n\
         \x20       return True\n\
         print([refused(os.setpriority, os.PRIO_PROCESS, 1, 19),\n\
         \x20      refused(os.sched_setscheduler, 1, os.SCHED_IDLE, os.sched_param(0)),\n\
         \x20      refused(os.sched_setaffinity, 1, [0])])",
    );
    for home in homes() {
        for user in users(&home) {
            assert_eq!(home.sh_with(&["--user", user], &script), "[True, True, True]\n", "as {user}");
        }
        home.assert_nothing_left();
    }
}

/// With a limit of 0 the kernel would start the host's handler of core dumps, where there is one; a process can lower its
/// limit, so that is without effect.
#[test]
fn a_crash_never_reaches_a_handler_of_the_host() {
    need!("python3", "prlimit");
    let script = python(
        "import resource\n\
         print(resource.getrlimit(resource.RLIMIT_CORE))\n\
         resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n\
         print(resource.getrlimit(resource.RLIMIT_CORE))",
    );
    for home in homes() {
        for user in users(&home) {
            assert_eq!(home.sh_with(&["--user", user], &script), "(1, 1)\n(1, 1)\n", "as {user}");
            assert_eq!(home.sh_with(&["--user", user], "ulimit -c 0 && ulimit -c"), "0\n", "1 byte is no block");
        }
        home.assert_nothing_left();
    }
}

/// Sockets whose protocol the kernel would load as a module of the host.
#[test]
fn sockets_do_not_load_modules() {
    need!("python3");
    let script = python(
        "import socket\n\
         def make(*arguments):\n\
         \x20   try:\n\
         \x20       socket.socket(*arguments).close()\n\
         \x20       return 'made'\n\
         \x20   except OSError as error:\n\
         \x20       return error.strerror\n\
         for family in (socket.AF_INET, socket.AF_INET6):\n\
         \x20   for kind, protocol in ((1, 132), (5, 132), (5, 0), (6, 0), (6, 33), (1, 262), (1, 256), (2, 136)):\n\
         \x20       print(make(family, kind, protocol))\n\
         for protocol in (2, 6, 8, 9, 10, 11, 16, 20, 21):\n\
         \x20   print(make(socket.AF_NETLINK, 3, protocol))\n\
         print(make(socket.AF_INET, 1, 6), make(socket.AF_INET6, 2, 17), make(socket.AF_NETLINK, 3, 0))",
    );
    for home in homes() {
        for user in users(&home) {
            let expected = format!("{}made made made\n", "Protocol not supported\n".repeat(25));
            assert_eq!(home.sh_with(&["--user", user], &script), expected, "as {user}");
        }
        home.assert_nothing_left();
    }
}

/// Init sleeps until a program that it starts executes; one that is stopped before would hold it up for ever.
#[test]
fn programs_stopped_before_they_execute_hold_up_nothing() {
    need!("python3");
    for home in homes() {
        let cli = Cli::new(&home);
        for user in users(&home) {
            let name = cli.sandbox();
            let storm = python(
                "import os, signal, time\n\
                 until = time.monotonic() + 4\n\
                 open('/tmp/storm', 'w').close()\n\
                 while time.monotonic() < until:\n\
                 \x20   try:\n\
                 \x20       os.kill(-1, signal.SIGSTOP)\n\
                 \x20   except ProcessLookupError:\n\
                 \x20       pass",
            );
            cli.ok(&["exec", "--detach", &name, "--user", user, "--id", "storm", "--", &storm]);
            until("the storm", || (cli.done(&["cat", &format!("{name}:/tmp/storm")]).code == Some(0)).then_some(()));
            // What becomes of a command while it is being stopped is its sandbox's affair. That it is answered is ours.
            for _ in 0..10 {
                let done = cli.done(&["exec", &name, "--user", user, "--timeout", "500ms", "--", "true"]);
                assert!(done.took < Duration::from_secs(20), "{done:?}");
            }
            cli.ok(&["kill", &name, "storm"]);
            assert_eq!(cli.ok(&["exec", &name, "--", "echo free"]), "free\n");
            cli.ok(&["rm", &name]);
        }
        cli.server.end();
        home.assert_nothing_left();
    }
}

/// The kernel makes whoever executes a file wait for its lease, for 45 seconds.
#[test]
fn a_lease_on_a_program_cannot_be_had() {
    need!("python3");
    let script = python(
        "import fcntl\n\
         file = open('/workspace/program', 'w')\n\
         for lease in (fcntl.F_WRLCK, fcntl.F_RDLCK):\n\
         \x20   try:\n\
         \x20       fcntl.fcntl(file, fcntl.F_SETLEASE, lease)\n\
         \x20   except OSError as error:\n\
         \x20       print(error.strerror)\n\
         fcntl.lockf(file, fcntl.LOCK_EX)\n\
         print('locked')",
    );
    for home in homes() {
        for user in users(&home) {
            let shown = home.sh_with(&["--user", user], &script);
            assert_eq!(shown, "Invalid argument\nInvalid argument\nlocked\n", "as {user}");
        }
        home.assert_nothing_left();
    }
}

/// With thousands of children each reaping takes the kernel long, and children can end faster than they are reaped.
#[test]
fn a_storm_of_orphans_holds_up_nothing() {
    need!("python3");
    for home in homes() {
        let cli = Cli::new(&home);
        let name = cli.sandbox();
        let storm = python(
            "import os, time\n\
             for number in range(2000):\n\
             \x20   if os.fork() == 0:\n\
             \x20       if os.fork() == 0:\n\
             \x20           time.sleep(1000)\n\
             \x20       os._exit(0)\n\
             \x20   os.wait()\n\
             open('/tmp/storm', 'w').close()\n\
             for number in range(3):\n\
             \x20   if os.fork() == 0:\n\
             \x20       while True:\n\
             \x20           if os.fork() == 0:\n\
             \x20               os.fork()\n\
             \x20               os._exit(0)\n\
             \x20           os.wait()\n\
             time.sleep(1000)",
        );
        cli.ok(&["exec", "--detach", &name, "--id", "storm", "--", &storm]);
        until("the storm", || (cli.done(&["cat", &format!("{name}:/tmp/storm")]).code == Some(0)).then_some(()));
        for _ in 0..5 {
            let done = cli.done(&["exec", &name, "--", "echo answered"]);
            done.assert(0, "answered\n", "");
        }
        cli.ok(&["kill", &name, "storm"]);
        assert_eq!(cli.ok(&["exec", &name, "--", "pgrep -c python3 || true"]), "0\n");
        cli.ok(&["rm", &name]);
        cli.server.end();
        home.assert_nothing_left();
    }
}
