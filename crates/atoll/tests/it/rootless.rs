//! The same binary in the hands of an ordinary user: no privilege, no cgroups, the same walls.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::escape::Probe;
use crate::harness::{Home, ORDINARY, Signal, need, skip, until};
use crate::server::Server;

/// A home of an ordinary user. `None`, and the test is given up, where the host lets no such user have namespaces.
pub(crate) fn home() -> Option<Home> {
    if rustix::process::getuid().as_raw() != 0 {
        skip("only root can become another user");
        return None;
    }
    let home = Home::ordinary();
    let done = home.run(["--", "true"]).done();
    if done.stderr().contains("forbids user namespaces") {
        skip(&done.stderr());
        return None;
    }
    assert_eq!(done.code, Some(0), "{done:?}");
    Some(home)
}

macro_rules! home {
    () => {{
        need!("setpriv");
        match home() {
            Some(home) => home,
            None => return,
        }
    }};
}

#[test]
fn an_ordinary_user_has_a_sandbox_and_is_root_in_it() {
    let home = home!();
    let shown = home.sh("uname -n; id -u; id -un; pwd; ls -d /proc/[0-9]* | wc -l; cat /proc/self/uid_map | tr -s ' '");
    let expected = format!("{}-1\n0\nroot\n/workspace\n", home.tag);
    assert!(shown.starts_with(&expected), "{shown}");
    assert!(shown.ends_with(&format!(" 0 {ORDINARY} 1\n")), "{shown}");
    home.assert_nothing_left();
}

#[test]
fn the_same_codes_and_outputs() {
    let home = home!();
    for (arguments, code) in [
        (&["--", "exit 3"][..], 3),
        (&["--", "kill -9 $$"], 137),
        (&["--", "nosuch", "x"], 127),
        (&["--", "/etc/passwd", "x"], 126),
        (&["--max-output", "1k", "--", "yes"], 123),
    ] {
        let done = home.run(arguments).done();
        assert_eq!(done.code, Some(code), "{arguments:?}: {done:?}");
    }
    let done = home.run(["--stdin", "--", "tee /dev/stderr"]).done_with(b"both\n".to_vec());
    done.assert(0, "both\n", "both\n");
    home.assert_nothing_left();
}

#[test]
fn a_timeout_ends_the_tree_without_cgroups() {
    let home = home!();
    let script = "trap '' TERM; (setsid sleep 1000 &); setsid -f sleep 1000; sleep 1000 & echo up; wait; wait";
    let done = home.run(["--timeout", "300ms", "--grace", "100ms", "--", script]).done();
    assert_eq!((done.code, done.stdout().as_str()), (Some(124), "up\n"), "{done:?}");
    home.assert_nothing_left();
}

#[test]
fn signals_and_sudden_death_leave_nothing() {
    let home = home!();
    let script = "(setsid sleep 1000 &); setsid -f sleep 1000; echo up; sleep 1000";
    for (signal, code) in [(Signal::INT, Some(130)), (Signal::TERM, Some(143)), (Signal::KILL, None)] {
        let mut running = home.run(["--grace", "100ms", "--", script]).start();
        assert_eq!(running.line(), "up\n");
        running.signal(signal);
        let done = running.done();
        assert_eq!(done.code, code, "{signal:?}: {done:?}");
        home.assert_nothing_left();
    }
}

#[test]
fn unreadable_files_are_removed_too() {
    let home = home!();
    home.sh("mkdir -p a/b; touch a/b/c; chmod 0 a/b a; mkdir /usr/x; touch /usr/x/y; chmod 0 /usr/x");
    home.assert_nothing_left();
}

#[test]
fn heavy_killed_at_any_moment_leaves_nothing() {
    let home = home!();
    for round in 0..40_u64 {
        let running = home.run(["--", "(setsid sleep 1000 &); sleep 1000"]).start();
        // No event to wait for: the moment itself is what is tried.
        std::thread::sleep(std::time::Duration::from_micros(round * 7919 % 40 * 1000));
        running.signal(Signal::KILL);
        running.done();
        home.assert_nothing_left();
    }
}

#[test]
fn a_limit_that_cannot_be_kept_is_refused_with_a_hint() {
    let home = home!();
    for limit in [["--memory", "512m"], ["--pids", "10"], ["--cpus", "1"]] {
        let done = home.run([&limit[..], &["--json", "--", "true"]].concat()).done();
        assert_eq!(done.code, Some(125), "{limit:?}: {done:?}");
        let answer = done.json();
        let error = &answer["error"];
        assert_eq!(error["code"], "LIMIT_UNAVAILABLE", "{answer}");
        assert!(error["hint"].as_str().unwrap().contains("as root"), "{answer}");
    }
    // This one needs no cgroup.
    assert_eq!(home.sh_with(&["--open-files", "64"], "ulimit -n"), "64\n");
    home.assert_nothing_left();
}

#[test]
fn users_other_than_root_are_refused_with_a_hint() {
    let home = home!();
    for user in ["user", "1000", "nobody"] {
        let done = home.run(["--user", user, "--", "id"]).done();
        assert_eq!(done.code, Some(125), "{user}: {done:?}");
        assert!(done.stderr().contains("hint: without privileges only root exists inside"), "{user}: {done:?}");
    }
    assert_eq!(home.sh_with(&["--user", "root"], "id -u"), "0\n");
    home.assert_nothing_left();
}

#[test]
fn files_of_the_host_s_root_stay_closed() {
    let home = home!();
    let secret = tempfile::Builder::new().prefix("atoll-canary-").tempfile_in("/usr/local").unwrap();
    fs::write(secret.path(), "canary").unwrap();
    fs::set_permissions(secret.path(), fs::Permissions::from_mode(0o600)).unwrap();
    let script = format!(
        "{{ cat {0}; cp {0} x; chmod 666 {0} && cat {0}; chown 0 {0} && cat {0}; }} 2>/dev/null; \
         ls /etc/shadow /root/.ssh /work /var/lib/atoll 2>/dev/null; true",
        secret.path().display()
    );
    assert_eq!(home.sh(&script), "");
    assert_eq!(fs::read_to_string(secret.path()).unwrap(), "canary");
    home.assert_nothing_left();
}

#[test]
fn the_walls_are_the_same() {
    let home = home!();
    let shown = home.sh(
        "grep -e ^Cap -e NoNewPrivs -e Seccomp: /proc/self/status | tr -d '\\t'
         ls /proc/1/root/ /proc/1/cwd/ 2>/dev/null; readlink /proc/1/fd/3 /proc/1/exe; head -c 1 /proc/1/environ /proc/1/mem /proc/1/maps 2>/dev/null
         sed 1,2d /proc/net/dev | cut -d: -f1; ls -A /dev | tr '\\n' ' '; unshare -U true 2>/dev/null && echo userns; true",
    );
    let root = [0, 1, 3, 4, 5, 6, 7, 8, 10, 18, 29, 31].iter().fold(0_u64, |mask, bit| mask | 1 << bit);
    assert_eq!(
        shown,
        format!(
            "CapInh:0000000000000000\nCapPrm:{root:016x}\nCapEff:{root:016x}\nCapBnd:{root:016x}\nCapAmb:0000000000000000\n\
             NoNewPrivs:1\nSeccomp:2\n    lo\nfd full null ptmx pts random shm stderr stdin stdout tty urandom zero "
        )
    );
    home.assert_nothing_left();
}

#[test]
fn init_cannot_be_traced_or_read() {
    let home = home!();
    let Some(probe) = Probe::new() else { return };
    // Here init is the same user as the command, inside and outside.
    let names =
        "ptrace_attach ptrace_seize vm_read vm_write pidfd_getfd_0 pidfd_getfd_3 clone_user unshare_user mount_tmpfs";
    for target in ["1", "$PPID"] {
        let script = format!("TARGET={target} probe try {names} </dev/null");
        let shown = probe.sh(&home, &[], &script);
        let expected: String = names.split(' ').map(|name| format!("{name}: EPERM\n")).collect();
        assert_eq!(shown, expected, "{target}");
    }
    home.assert_nothing_left();
}

/// A program with the setuid bit, made inside, would give its user away to every other user of the host.
#[test]
fn what_is_made_inside_is_closed_to_other_users_of_the_host() {
    let home = home!();
    let mut running = home.run(["--stdin", "--", "cp /bin/bash b; chmod 6777 b; echo up; read x"]).start_with_stdin();
    assert_eq!(running.line(), "up\n");
    let made = until("the file", || {
        let path = home.sandboxes().pop()?.join("disk/workspace/b");
        path.exists().then_some(path)
    });
    let mut command = crate::harness::command("setpriv");
    command.args(["--reuid=65533", "--regid=65533", "--clear-groups", "test", "-x"]);
    assert!(!command.arg(made).status().unwrap().success());
    running.done();
    home.assert_nothing_left();
}

#[test]
fn two_sandboxes_of_one_user_do_not_see_each_other() {
    let home = home!();
    let mut first = home
        .run(["--stdin", "--", "echo x | tee /tmp/mark /dev/shm/mark /workspace/mark >/dev/null; echo up; read x"])
        .start_with_stdin();
    assert_eq!(first.line(), "up\n");
    // The same user outside, so a signal would be allowed if it could reach.
    let shown = home
        .run(["--", "ls /tmp /dev/shm /workspace | grep mark; ls -d /proc/[0-9]* | wc -l; kill -KILL -1"])
        .done()
        .stdout();
    assert!(shown.trim().parse::<u32>().unwrap() <= 6, "{shown}");
    first.tell("\n");
    assert_eq!(first.done().code, Some(0));
    home.assert_nothing_left();
}

/// A server of the host that answers everything, for as long as the process lives.
fn outside() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            drop(std::io::Read::read(&mut stream, &mut [0; 4096]));
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\nyes";
            std::io::Write::write_all(&mut stream, answer).ok();
        }
    });
    port
}

#[test]
fn an_ordinary_user_has_a_way_out_by_rule() {
    need!("curl");
    let home = home!();
    let port = outside();
    let (rule, loopback) = (format!("a.test:{port}"), format!("127.0.0.1:{port}"));
    let allow =
        ["--allow", &rule, "--allow", &loopback, "--resolve", "a.test=127.0.0.1", "--resolve", "b.test=127.0.0.1"];
    let fetch = format!("curl -sS http://a.test:{port}/; curl -s http://b.test:{port}/; curl -s -m 5 http://10.0.0.1/");
    let done = home.run([&allow[..], &["--", &fetch]].concat()).done();
    assert!(done.stdout().starts_with("yes"), "{done:?}");
    assert!(done.stderr().contains("refused b.test: no rule"), "{done:?}");
    assert!(done.stdout().contains("address_not_public"), "{done:?}");
    home.assert_nothing_left();
    // And through a server of theirs, with rules that change and commands that may have less.
    let server = Server::start(&home, &[]);
    let name = home.name();
    let ask = |arguments: &[&str]| home.atoll(arguments).done();
    assert_eq!(ask(&[&["create", &name][..], &allow].concat()).code, Some(0));
    let fetch = format!("curl -sS http://a.test:{port}/");
    ask(&["exec", &name, "--", &fetch]).assert(0, "yes", "");
    let only = ask(&["exec", &name, "--only", "none", "--", &fetch]);
    assert!(only.stderr().contains("command not allowed"), "{only:?}");
    assert_eq!(ask(&["egress", &name, "deny", &rule]).code, Some(0));
    let denied = ask(&["exec", &name, "--", &fetch]);
    assert!(denied.stderr().contains("no rule"), "{denied:?}");
    server.end();
}
