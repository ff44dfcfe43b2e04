//! Ways out of a sandbox, each tried from inside by somebody who is root there, and each closed.
//!
//! The tests stand for the classes of escapes that other systems have had; the class is named where there is a story
//! behind it. What is tried by system call is in `probe.c`; the rest is shell. Every test also proves that what must
//! work inside does, where a wall could have been built by breaking it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;

use crate::harness::{Home, Running, need, on_path, probe, skip, until};

/// A probe that is put into a sandbox by its standard input, before anything else that comes on it.
pub(crate) struct Probe {
    program: Vec<u8>,
}

impl Probe {
    /// `None`, and the test is given up, if it cannot be compiled here.
    pub(crate) fn new() -> Option<Self> {
        let program = probe();
        if program.is_none() {
            skip("no gcc on this host");
        }
        program.map(|program| Self { program })
    }

    fn script(&self, script: &str) -> String {
        let length = self.program.len();
        format!("head -c {length} >/tmp/probe; chmod 755 /tmp/probe; PATH=/tmp:$PATH; {script}")
    }

    /// What a script that uses it prints. It must succeed.
    #[track_caller]
    pub(crate) fn sh(&self, home: &Home, options: &[&str], script: &str) -> String {
        let script = self.script(script);
        let call = home.run([options, &["--stdin", "--", &script]].concat());
        let done = call.done_with(self.program.clone());
        assert_eq!((done.code, done.stderr().as_str()), (Some(0), ""), "{done:?}");
        done.stdout()
    }

    /// Starts a script that goes on while other things are tried.
    fn start(&self, home: &Home, script: &str) -> Running {
        let script = self.script(script);
        let mut running = home.run(["--stdin", "--", &script]).start_with_stdin();
        let stdin = running.stdin.as_mut().unwrap();
        stdin.write_all(&self.program).unwrap();
        running
    }

    /// Makes the attempts, as root and as `user`, and checks that each ends as expected.
    #[track_caller]
    fn expect(&self, home: &Home, attempts: &[(&str, &str)]) {
        let names: Vec<&str> = attempts.iter().map(|(name, _)| *name).collect();
        let expected: String = attempts.iter().map(|(name, outcome)| format!("{name}: {outcome}\n")).collect();
        for user in ["root", "user"] {
            let script = format!("probe try {} </dev/null", names.join(" "));
            let found = self.sh(home, &["--user", user], &script);
            assert_eq!(found, expected, "as {user}");
        }
        home.assert_nothing_left();
    }
}

macro_rules! probe {
    () => {
        match Probe::new() {
            Some(probe) => probe,
            None => return,
        }
    };
}

/// Attempts that end alike.
fn all<'a>(outcome: &'a str, names: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    names.iter().map(|name| (*name, outcome)).collect()
}

// Class 1: the runtime overwritten through /proc/self/exe (CVE-2019-5736).

#[test]
fn the_runtime_cannot_be_overwritten_through_proc() {
    let home = Home::new();
    let before = fs::read(crate::harness::ATOLL).unwrap();
    let script = "
        for exe in /proc/1/exe /proc/[0-9]*/exe; do
            cat $exe >/dev/null 2>&1 && readlink $exe | grep -v '^/usr/'
            [ $exe = /proc/1/exe ] && (echo owned > $exe) 2>/dev/null && echo wrote $exe
        done
        printf '#!/proc/self/exe\\n' > /tmp/again; chmod +x /tmp/again
        /tmp/again >/dev/null 2>&1
        ln -s /proc/1/exe /tmp/init; (echo owned > /tmp/init) 2>/dev/null && echo wrote through a link
        true";
    assert_eq!(home.sh(script), "");
    assert!(before == fs::read(crate::harness::ATOLL).unwrap());
    // Executed by init's child itself, at the moment when it still is init.
    for program in ["/proc/self/exe", "/proc/1/exe"] {
        let done = home.run(["--", program, "keeper"]).done();
        // It may be executed, being sealed: it finds no socket to speak on, and ends.
        assert!(matches!(done.code, Some(1 | 126 | 127)) && done.out.is_empty(), "{program}: {done:?}");
    }
    home.assert_nothing_left();
}

// Class 2: descriptors that leak in, above all as a working directory (CVE-2024-21626).

#[test]
fn only_the_standard_descriptors_reach_a_command() {
    let home = Home::new();
    for options in [&[][..], &["--memory", "1g"], &["--without-cgroups"], &["--stdin"], &["--isolation", "none"]] {
        let shown = home.sh_with(options, "cd /proc/self/fd && echo *");
        assert_eq!(shown, "0 1 2 3\n", "{options:?}: the last is the listing itself");
    }
    home.assert_nothing_left();
}

#[test]
fn no_descriptor_of_init_is_a_working_directory() {
    let home = Home::new();
    for options in [&[][..], &["--memory", "1g"], &["--without-cgroups"]] {
        for number in 0..20 {
            let cwd = format!("/proc/self/fd/{number}");
            let done = home.run([options, &["--cwd", &cwd, "--", "ls -a; ls ../../../../../../.."]].concat()).done();
            assert_eq!((done.code, done.stdout().as_str()), (Some(125), ""), "{options:?} {cwd}");
        }
    }
    home.assert_nothing_left();
}

#[test]
fn a_working_directory_by_way_of_proc_stays_inside() {
    let home = Home::new();
    for cwd in ["/proc/1/root", "/proc/1/cwd", "/proc/1/fd/3", "/proc/1/task/1/root", "/proc/1/map_files"] {
        let done = home.run(["--cwd", cwd, "--", "pwd; ls"]).done();
        assert_eq!((done.code, done.stdout().as_str()), (Some(125), ""), "{cwd}: {done:?}");
    }
    // Those of the command itself lead to its own root, and `..` to nowhere else.
    for cwd in ["/proc/self/root", "/proc/self/cwd", "/proc/thread-self/root", "/proc/self/task/../root"] {
        let shown =
            home.sh_with(&["--cwd", cwd], "cd ../../../..; [ / -ef . ] && ls -d workspace work 2>/dev/null; true");
        assert_eq!(shown, "workspace\n", "{cwd}");
    }
    home.assert_nothing_left();
}

// Classes 3 and 5: masked paths, and writes to /proc that reach the host's kernel (CVE-2025-31133, CVE-2025-52881).

#[test]
fn what_proc_tells_about_the_host_is_masked() {
    let home = Home::new();
    let script = "
        for name in acpi asound kcore keys latency_stats sched_debug scsi timer_list kmsg kallsyms kpagecount kpageflags \
            kpagecgroup vmallocinfo slabinfo sysrq-trigger iomem; do
            path=/proc/$name
            [ -e $path ] || continue
            [ -d $path ] && [ -z \"$(ls -A $path)\" ] && continue
            # Readable by nobody inside, or empty, or without the addresses.
            content=$(timeout 1 head -n 300 $path 2>/dev/null | tr -d '\\0' | grep -v -e '^0000000000000000 ' -e '^ *00000000-00000000 ' | head -1)
            [ -z \"$content\" ] || echo \"$path: $content\"
        done";
    assert_eq!(home.sh(script), "");
    home.assert_nothing_left();
}

#[test]
fn settings_of_the_kernel_are_closed() {
    let home = Home::new();
    // Opening for writing is enough to know, and all that may be tried: on the host some of these end the machine.
    let script = "
        for path in $(find /proc/sys -type f) /proc/sysrq-trigger /proc/irq/*/smp_affinity /proc/bus/pci/*/* \
            /proc/fs/*/* /proc/mtrr /proc/driver/* /proc/scsi/*; do
            { : >> $path; } 2>/dev/null && echo $path
        done; true";
    // These the kernel keeps per namespace.
    let own = [
        "/proc/sys/net/",
        "/proc/sys/fs/mqueue/",
        "/proc/sys/kernel/auto_msgmni",
        "/proc/sys/kernel/msg",
        "/proc/sys/kernel/sem",
        "/proc/sys/kernel/shm",
        "/proc/sys/kernel/ns_last_pid",
        "/proc/sys/kernel/pid_max",
    ];
    let shown = home.sh(script);
    let opened = shown.lines();
    let wrong: Vec<&str> = opened.filter(|path| !own.iter().any(|own| path.starts_with(own))).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    home.assert_nothing_left();
}

#[test]
fn settings_of_the_sandbox_are_its_own() {
    let home = Home::new();
    let names = [
        "kernel/pid_max",
        "kernel/shmmni",
        "kernel/msgmax",
        "net/ipv4/ip_forward",
        "net/ipv4/ip_default_ttl",
        "net/core/somaxconn",
    ];
    let read = || names.map(|name| fs::read_to_string(format!("/proc/sys/{name}")).ok());
    let before = read();
    // To one less than it is: would it reach the host, it would do no harm there.
    let script = format!(
        "cd /proc/sys; for name in {}; do echo $(($(cat $name) - 1)) > $name; done 2>/dev/null; true",
        names.join(" ")
    );
    assert_eq!(home.sh(&script), "");
    assert_eq!(read(), before);
    home.assert_nothing_left();
}

#[test]
fn init_s_attributes_cannot_be_written() {
    let home = Home::new();
    let script = "
        for name in attr/current attr/exec attr/fscreate attr/keycreate attr/sockcreate attr/prev oom_score_adj oom_adj \
            uid_map gid_map setgroups projid_map mem clear_refs comm sched coredump_filter timens_offsets autogroup loginuid \
            task/1/comm task/1/attr/current; do
            { echo 0 > /proc/1/$name; } 2>/dev/null && echo $name
        done; true";
    for user in ["root", "user"] {
        assert_eq!(home.sh_with(&["--user", user], script), "", "as {user}");
    }
    home.assert_nothing_left();
}

#[test]
fn what_is_written_under_a_mask_goes_nowhere() {
    let home = Home::new();
    let script = "
        rm -f /dev/null 2>/dev/null; mv /dev/null /dev/was 2>/dev/null; ln -sf /proc/sysrq-trigger /dev/null 2>/dev/null
        echo x > /dev/null; [ -c /dev/null ] && [ ! -L /dev/null ] && echo null is itself
        for mask in /proc/keys /proc/timer_list; do
            [ -e $mask ] || continue
            echo x > $mask 2>/dev/null; [ -z \"$(cat $mask)\" ] || echo $mask holds something
        done";
    assert_eq!(home.sh(script), "null is itself\n");
    home.assert_nothing_left();
}

// Class 4: /dev/console and /dev/pts (CVE-2025-52565), class 11: typing into a terminal (CVE-2017-5226).

#[test]
fn terminals_are_the_sandbox_s_own() {
    let home = Home::new();
    assert_eq!(
        home.sh("ls /dev/pts; [ -e /dev/console ] && echo console; [ -e /dev/tty0 ] && echo tty0; true"),
        "ptmx\n"
    );
    // A new one is the first one, however many the host has.
    if on_path("python3") {
        let script = "python3 -c 'import os; a, b = os.openpty(); print(os.ttyname(b))'";
        assert_eq!(home.sh(script), "/dev/pts/0\n");
    }
    // The caller's terminal is not the command's.
    let done = home.run(["--", "tty; (echo x > /dev/tty) 2>&1"]).done();
    assert!(done.stdout().starts_with("not a tty\n"), "{done:?}");
    assert!(done.stdout().contains("No such device or address"), "{done:?}");
    home.assert_nothing_left();
}

#[test]
fn nothing_can_be_typed_into_a_terminal() {
    let home = Home::new();
    let probe = probe!();
    let refused = ["tiocsti", "tiocsti_high", "tioclinux", "tiocsetd", "tiocsti_zero"];
    let mut attempts = all("EPERM", &refused);
    attempts.extend(all("ok", &["terminal", "terminal_end"]));
    probe.expect(&home, &attempts);
}

// Class 12: sockets that are a way into the kernel, or out of the network namespace (CVE-2026-31431).

#[test]
fn only_ordinary_sockets_can_be_made() {
    let home = Home::new();
    let probe = probe!();
    let mut attempts = all(
        "EAFNOSUPPORT",
        &[
            "socket_alg",
            "socket_alg_high",
            "socketpair_alg",
            "socket_vsock",
            "socket_packet",
            "socket_bluetooth",
            "socket_tipc",
            "socket_key",
            "socket_can",
            "socket_xdp",
            "socket_rds",
            "socket_kcm",
            "socket_smc",
        ],
    );
    attempts.push(("socket_packet_old", "EPROTONOSUPPORT"));
    attempts.extend(all("EPERM", &["socket_raw", "socket_raw6"]));
    attempts.extend(all("ok", &["socket_unix", "socket_inet", "socket_inet6", "socket_netlink"]));
    probe.expect(&home, &attempts);
}

// Class 13: system calls that are large, new, or made for something else.

#[test]
fn io_uring_is_not_there() {
    let probe = probe!();
    probe.expect(&Home::new(), &all("ENOSYS", &["io_uring_setup", "io_uring_enter", "io_uring_register"]));
}

#[test]
fn userfaultfd_is_not_there() {
    let probe = probe!();
    probe.expect(&Home::new(), &all("ENOSYS", &["userfaultfd", "userfaultfd_user"]));
}

#[test]
fn bpf_and_perf_are_refused() {
    let probe = probe!();
    probe.expect(&Home::new(), &all("EPERM", &["bpf", "bpf_high", "perf_event_open", "fanotify_init"]));
}

#[test]
fn keyrings_are_not_there() {
    let probe = probe!();
    probe.expect(&Home::new(), &all("ENOSYS", &["keyctl", "add_key", "request_key"]));
}

#[test]
fn no_namespace_can_be_made() {
    let home = Home::new();
    let probe = probe!();
    let mut attempts = all(
        "EPERM",
        &[
            "unshare_user",
            "unshare_mount",
            "unshare_pid",
            "unshare_net",
            "unshare_uts",
            "unshare_ipc",
            "unshare_cgroup",
            "unshare_time",
            "unshare_high",
            "clone_user",
            "clone_mount",
            "clone_pid",
            "clone_net",
            "clone_user_net",
            "clone_high",
            "clone3_mount",
            "clone3_pid",
            "clone3_net",
            "clone3_uts",
            "clone3_ipc",
            "clone3_cgroup",
            "clone3_time",
        ],
    );
    // A filter cannot look into the memory that holds clone3's flags; the limit on user namespaces is what holds.
    attempts.extend(all("ENOSPC", &["clone3_user", "clone3_user_mount"]));
    attempts.extend([("clone3_plain", "ok"), ("max_user_namespaces", "EACCES")]);
    probe.expect(&home, &attempts);
}

#[test]
fn other_instruction_sets_calls_are_refused() {
    let probe = probe!();
    if cfg!(not(target_arch = "x86_64")) {
        return skip("only x86_64 has them");
    }
    let attempts = ["int80_getpid", "int80_unshare", "x32_getpid", "x32_ptrace", "modify_ldt"];
    probe.expect(&Home::new(), &all("ENOSYS", &attempts));
}

#[test]
fn the_kernel_cannot_be_changed_or_administered() {
    let probe = probe!();
    probe.expect(
        &Home::new(),
        &all(
            "EPERM",
            &[
                "init_module",
                "finit_module",
                "delete_module",
                "kexec_load",
                "kexec_file_load",
                "reboot",
                "swapon",
                "swapoff",
                "acct",
                "settimeofday",
                "clock_settime",
                "clock_step",
                "sethostname",
                "setdomainname",
                "syslog",
                "quotactl",
                "vhangup",
                "iopl",
                "ioperm",
                "capset",
            ],
        ),
    );
}

#[test]
fn what_is_mounted_cannot_be_changed() {
    let probe = probe!();
    probe.expect(
        &Home::new(),
        &all(
            "EPERM",
            &[
                "mount_tmpfs",
                "mount_proc",
                "mount_sysfs",
                "mount_bind",
                "mount_remount",
                "mount_shared",
                "mount_move",
                "umount_masked",
                "umount_proc",
                "umount_root",
                "pivot_root",
                "open_tree",
                "open_tree_attr",
                "move_mount",
                "fsopen",
                "fspick",
                "fsconfig",
                "fsmount",
                "mount_setattr",
                "setns_user",
                "setns_mount",
                "setns_init",
                "open_by_handle",
            ],
        ),
    );
}

#[test]
fn a_chroot_leads_nowhere_else() {
    let home = Home::new();
    let probe = probe!();
    let inside: BTreeSet<String> = home.sh("ls /").lines().map(str::to_owned).collect();
    let found = probe.sh(&home, &[], "probe chroot </dev/null");
    assert_eq!(found.lines().map(str::to_owned).collect::<BTreeSet<_>>(), inside);
    home.assert_nothing_left();
}

// Class 14: the sandbox's PID 1, which is ours, attacked from inside by its own user.

#[test]
fn init_cannot_be_traced_or_read() {
    let probe = probe!();
    let refused = [
        "ptrace_attach",
        "ptrace_seize",
        "vm_read",
        "vm_write",
        "pidfd_getfd_0",
        "pidfd_getfd_3",
        "kcmp",
        "move_pages",
        "migrate_pages",
    ];
    probe.expect(&Home::new(), &all("EPERM", &refused));
}

#[test]
fn the_warden_cannot_be_traced_or_read() {
    let home = Home::new();
    let probe = probe!();
    let script = "
        export TARGET=$PPID
        probe try ptrace_attach ptrace_seize vm_read vm_write pidfd_getfd_0 pidfd_getfd_3 </dev/null
        probe read /proc/$PPID/environ /proc/$PPID/mem /proc/$PPID/maps /proc/$PPID/exe /proc/$PPID/root/etc/passwd \
            /proc/$PPID/fd/3 /proc/$PPID/fd | sed s/$PPID/warden/";
    let shown = probe.sh(&home, &["--without-cgroups"], script);
    let (calls, files) = shown.split_at(shown.find("/proc").unwrap());
    assert!(calls.lines().count() == 6 && calls.lines().all(|line| line.ends_with(": EPERM")), "{shown}");
    assert!(files.lines().count() == 7 && files.lines().all(|line| line.ends_with(": EACCES")), "{shown}");
    home.assert_nothing_left();
}

#[test]
fn init_s_files_in_proc_are_closed() {
    let home = Home::new();
    let script = "
        for name in environ mem maps smaps auxv stack syscall io pagemap fd/0 fd/3 root/etc/passwd cwd/etc/passwd exe \
            task/1/mem task/1/environ; do
            head -c 1 /proc/1/$name >/dev/null 2>&1 && echo $name
        done
        for name in exe cwd root ns/mnt ns/pid ns/user; do readlink /proc/1/$name; done
        ls /proc/1/fd /proc/1/map_files /proc/1/root/ /proc/1/cwd/ /proc/1/fdinfo 2>/dev/null | grep -v ^$ | grep -v :$; true";
    for user in ["root", "user"] {
        assert_eq!(home.sh_with(&["--user", user], script), "", "as {user}");
    }
    home.assert_nothing_left();
}

#[test]
fn no_signal_from_inside_hurts_init() {
    let home = Home::new();
    let probe = probe!();
    // Every signal in every way, again and again; then it still works: an orphan is reaped, the command's end is told.
    let script = "
        for i in {1..20}; do probe signal 1; done; kill -KILL 1; kill -STOP 1; kill -TERM 1
        (setsid true &)
        while grep -qsx true /proc/[0-9]*/comm; do sleep 0.01; done
        grep State /proc/1/status; exit 9";
    for options in [&[][..], &["--without-cgroups"]] {
        let script = probe.script(script);
        let call = home.run([options, &["--timeout", "20s", "--stdin", "--", &script]].concat());
        let done = call.done_with(probe.program.clone());
        let alive = done.stdout().starts_with("State:\tS") || done.stdout().starts_with("State:\tR");
        assert!(alive && done.code == Some(9), "{options:?}: {done:?}");
    }
    home.assert_nothing_left();
}

#[test]
fn a_command_that_kills_its_warden_is_ended_with_all_its_tree() {
    let home = Home::new();
    // At once, before anybody was told that it runs, and with a tree.
    for script in [
        "kill -KILL $PPID; sleep 1000; echo went on",
        "(setsid sleep 1000 &); echo up; kill -KILL $PPID; sleep 1000; echo went on",
    ] {
        for _ in 0..10 {
            let done = home.run(["--without-cgroups", "--timeout", "20s", "--", script]).done();
            assert_eq!(done.code, Some(125), "{done:?}");
            assert!(!done.stdout().contains("went on") && done.stderr().contains("lost"), "{done:?}");
            home.assert_nothing_left();
        }
    }
}

#[test]
fn a_command_that_stops_its_warden_does_not_stay_for_ever() {
    let home = Home::new();
    let done = home.run(["--without-cgroups", "--", "kill -STOP $PPID; exit 3"]).done();
    assert_eq!(done.code, Some(3), "{done:?}");
    home.assert_nothing_left();
}

#[test]
fn limits_set_on_init_hurt_nobody_else() {
    let home = Home::new();
    need!("prlimit");
    let script = "for limit in nofile nproc fsize as data stack; do prlimit --pid 1 --$limit=0:0; done; echo x; exit 4";
    let done = home.run(["--timeout", "20s", "--", script]).done();
    // Its own sandbox may be lost by it, no more.
    assert!(matches!(done.code, Some(4 | 125)), "{done:?}");
    home.assert_nothing_left();
    assert_eq!(home.sh("echo next"), "next\n");
    home.assert_nothing_left();
}

// Class 16: cgroups.

#[test]
fn no_cgroup_file_system_is_in_reach() {
    let home = Home::new();
    let probe = probe!();
    probe.expect(&home, &all("EPERM", &["mount_cgroup1", "mount_cgroup2"]));
    let script = "
        ls -A /sys /sys/fs/cgroup 2>/dev/null | grep -v :$
        grep -w -e cgroup -e cgroup2 -e sysfs /proc/self/mountinfo
        find / -xdev -name release_agent -o -xdev -name cgroup.procs -o -xdev -name notify_on_release 2>/dev/null
        # The names of the host's cgroups are not to be seen either.
        cut -d: -f3 /proc/self/cgroup /proc/1/cgroup | sort -u";
    for options in [&[][..], &["--memory", "1g", "--pids", "500"]] {
        let script = format!("{script} | grep -v '^/leaf-[0-9]*$' | grep -v ^/init$; true");
        assert_eq!(home.sh_with(options, &script).trim_start_matches('\n'), "/\n", "{options:?}");
    }
    home.assert_nothing_left();
}

#[test]
fn every_descendant_stays_in_the_sandbox_s_cgroup() {
    let home = Home::new();
    let mut running =
        home.run(["--stdin", "--", "(setsid sleep 1000 &); (sleep 1000 &) ; echo up; read x"]).start_with_stdin();
    assert_eq!(running.line(), "up\n");
    // Forked by now, but perhaps not executed yet.
    until("both descendants", || (home.pids_called("sleep").len() == 2).then_some(()));
    let marked = home.cgroups();
    if marked.is_empty() {
        return skip("no cgroups on this host");
    }
    let inside: BTreeSet<String> = marked.iter().flat_map(|dir| members(dir)).collect();
    for pid in home.pids_called("sleep").iter().chain(&home.pids_called("bash")) {
        assert!(inside.contains(&pid.to_string()), "{pid} of {inside:?} in {marked:?}");
    }
    running.done();
    home.assert_nothing_left();
}

fn members(dir: &Path) -> Vec<String> {
    let own = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
    let below = fs::read_dir(dir).unwrap().flatten().filter(|entry| entry.path().is_dir());
    own.lines().map(str::to_owned).chain(below.flat_map(|entry| members(&entry.path()))).collect()
}

// Class 17: what two sandboxes could share.

#[test]
fn two_sandboxes_share_nothing() {
    need!("hostname");
    let home = Home::new();
    let probe = probe!();
    let script = "
        echo secret | tee /dev/shm/mark /tmp/mark /workspace/mark /var/tmp/mark /run/mark /root/mark /usr/mark /etc/mark >/dev/null
        hostname other 2>/dev/null; { echo other > /proc/sys/kernel/hostname; } 2>/dev/null
        mkfifo /tmp/a /tmp/b /tmp/c
        probe ipc-make 4711 </tmp/a >/tmp/a.up & probe listen atoll-mark </tmp/b >/tmp/b.up & probe listen 4712 </tmp/c >/tmp/c.up &
        exec 5>/tmp/a 6>/tmp/b 7>/tmp/c
        until grep -qs made /tmp/a.up && grep -qs made /tmp/b.up && grep -qs made /tmp/c.up; do sleep 0.01; done
        probe ipc-find 4711 | wc -l; probe connect atoll-mark; probe connect 4712
        read x; exec 5>&- 6>&- 7>&-; wait; echo over";
    let mut first = probe.start(&home, script);
    assert_eq!([first.line(), first.line(), first.line()], ["6\n", "ok\n", "ok\n"]);
    let second = probe.sh(
        &home,
        &[],
        "probe ipc-find 4711; probe connect atoll-mark; probe connect 4712; hostname
         ls /dev/shm /tmp/mark /workspace /var/tmp /run/mark /root /usr/mark /etc/mark 2>/dev/null | grep mark
         ls -d /proc/[0-9]* | wc -l; ipcs -a | grep -c 0x; true",
    );
    assert!(second.starts_with("ECONNREFUSED\nECONNREFUSED\n"), "{second}");
    assert!(second.contains(&home.tag) && !second.contains("mark"), "{second}");
    assert!(second.ends_with("\n0\n"), "{second}");
    // Nor does the host see them.
    for path in [
        "/dev/shm/mark",
        "/tmp/mark",
        "/var/tmp/mark",
        "/run/mark",
        "/root/mark",
        "/usr/mark",
        "/etc/mark",
        "/dev/mqueue/atoll-4711",
    ] {
        assert!(!Path::new(path).exists(), "{path}");
    }
    assert!(std::net::TcpStream::connect("127.0.0.1:4712").is_err());
    first.tell("go\n");
    first.done().assert(0, "6\nok\nok\nover\n", "");
    home.assert_nothing_left();
}

#[test]
fn two_sandboxes_have_no_host_id_in_common() {
    let home = Home::new();
    let mut first = home.run(["--stdin", "--", "cat /proc/self/uid_map; read x"]).start_with_stdin();
    let first_map = first.line();
    let second_map = home.sh("cat /proc/self/uid_map");
    let base = |map: &str| map.split_whitespace().nth(1).unwrap().parse::<u32>().unwrap();
    assert!(base(&first_map).abs_diff(base(&second_map)) >= 65_536, "{first_map} {second_map}");
    assert!(base(&first_map) >= 524_288);
    first.done();
    home.assert_nothing_left();
}

// Class 18: the host's sockets, environment and files.

#[test]
fn the_caller_s_environment_stays_outside() {
    let home = Home::new();
    let names = [
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "SSH_AUTH_SOCK",
        "DBUS_SESSION_BUS_ADDRESS",
        "DOCKER_HOST",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "BASH_ENV",
        "ENV",
        "PROMPT_COMMAND",
        "PYTHONPATH",
        "XDG_RUNTIME_DIR",
        "HTTP_PROXY",
        "NO_COLOR",
        "TERM",
        "TZ",
        "IFS",
        "PS1",
        "OPENAI_API_KEY",
        "KUBECONFIG",
    ];
    let mut call = home.run(["--", "cat /proc/[0-9]*/environ /proc/self/environ 2>/dev/null | tr '\\0' '\\n'; env"]);
    for name in names {
        // Not a path that exists, so that what honours them does nothing.
        call = call.env(name, format!("/canary/{name}"));
    }
    let shown = call.done().stdout();
    assert!(!shown.contains("canary"), "{shown}");
    let found: BTreeSet<&str> = shown.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    let documented = ["ATOLL_IT", "HOME", "LANG", "LOGNAME", "OLDPWD", "PATH", "PWD", "SHELL", "SHLVL", "USER", "_"];
    assert!(found.is_subset(&documented.into()), "{found:?}");
    home.assert_nothing_left();
}

#[test]
fn the_host_s_sockets_are_out_of_reach() {
    let home = Home::new();
    let probe = probe!();
    let script = "
        for socket in /var/run/docker.sock /run/docker.sock /run/containerd/containerd.sock /run/podman/podman.sock \
            /run/dbus/system_bus_socket /run/systemd/private /run/systemd/notify /run/user /run/snapd.socket /dev/log \
            /run/crio/crio.sock /tmp/.X11-unix /run/nscd/socket; do
            [ -e $socket ] && echo $socket
        done
        find / -xdev -type s 2>/dev/null; find /tmp /workspace /dev -type s 2>/dev/null
        # Of the host's unix sockets, not even the names.
        sed 1d /proc/net/unix; probe connect atoll-host-TAG";
    let listener = SocketAddr::from_abstract_name(format!("atoll-host-{}", home.tag)).unwrap();
    let _listener = UnixListener::bind_addr(&listener).unwrap();
    let shown = probe.sh(&home, &[], &script.replace("TAG", &home.tag));
    assert_eq!(shown, "ECONNREFUSED\n");
    home.assert_nothing_left();
}

#[test]
fn the_root_holds_what_is_documented_and_nothing_of_the_host_s() {
    let home = Home::new();
    let outside = tempfile::Builder::new().prefix("atoll-canary-").tempdir().unwrap();
    fs::write(outside.path().join("secret"), "canary").unwrap();
    let elsewhere = tempfile::Builder::new().prefix("atoll-canary-").tempdir_in("/var/tmp").unwrap();
    fs::write(home.cwd().join("secret"), "canary").unwrap();
    let shown = home.sh("ls -A / | tr '\\n' ' '");
    let allowed: BTreeSet<&str> = [
        "bin",
        "sbin",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "usr",
        "dev",
        "etc",
        "home",
        "media",
        "mnt",
        "opt",
        "proc",
        "root",
        "run",
        "srv",
        "sys",
        "tmp",
        "var",
        "workspace",
    ]
    .into();
    let found: BTreeSet<&str> = shown.split_whitespace().collect();
    assert!(found.is_subset(&allowed), "{found:?}");
    // Where people and services keep things: empty, or as documented.
    let script = "
        ls -A /root /home/user /opt /srv /mnt /media /tmp /workspace /var/tmp /sys /run/lock | grep -v :$ | grep -v ^$
        ls -A /home /var/lib /run | grep -v -e :$ -e ^$ -e ^user$ -e ^dpkg$ -e ^lock$
        true";
    assert_eq!(home.sh(script), "");
    let paths = [
        outside.path(),
        elsewhere.path(),
        &home.cwd(),
        home.path(),
        Path::new(env!("CARGO_MANIFEST_DIR")),
        Path::new(crate::harness::ATOLL),
    ];
    let mut script = String::new();
    for path in paths {
        script.push_str(&format!("[ -e {0} ] && echo {0}; ", path.display()));
    }
    for path in [
        "/root/.ssh",
        "/root/.bash_history",
        "/work",
        "/var/lib/atoll",
        "/var/log/syslog",
        "/boot",
        "/etc/ssh",
        "/etc/sudoers",
    ] {
        script.push_str(&format!("[ -e {path} ] && echo {path}; "));
    }
    script.push_str(
        "grep -rl canary / --exclude-dir=proc --exclude-dir=usr --exclude-dir=sys --exclude-dir=dev 2>/dev/null; true",
    );
    assert_eq!(home.sh(&script), "");
    home.assert_nothing_left();
}

#[test]
fn the_host_s_secrets_in_etc_are_absent() {
    let home = Home::new();
    let script = "
        for name in shadow gshadow shadow- gshadow- sudoers sudoers.d ssh/ssh_host_rsa_key ssh/ssh_host_ed25519_key \
            ssl/private machine-id environment apt/auth.conf gitconfig fstab crypttab krb5.keytab hosts.allow exports; do
            [ -e /etc/$name ] && echo $name
        done
        find /etc ! -perm -004 ! -type l; true";
    assert_eq!(home.sh(script), "");
    // Users and hosts are the sandbox's own.
    let users = home.sh("cut -d: -f1 /etc/passwd | tr '\\n' ' '");
    assert_eq!(users, "root user nobody ");
    home.assert_nothing_left();
}

#[test]
fn devices_of_the_host_are_absent_and_cannot_be_made() {
    let home = Home::new();
    let shown =
        home.sh("ls -A /dev | tr '\\n' ' '; find / -xdev \\( -type b -o -type c \\) 2>/dev/null; find /dev -type b");
    assert_eq!(shown, "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero ");
    let probe = probe!();
    probe.expect(&home, &all("EPERM", &["node_disk", "node_sda", "node_mem", "node_kmsg", "node_null"]));
}

#[test]
fn the_devices_that_are_there_work() {
    let home = Home::new();
    let script = "
        echo x > /dev/null && [ -z \"$(cat /dev/null)\" ] && echo null
        [ $(head -c 5 /dev/zero | tr -d '\\0' | wc -c) = 0 ] && echo zero
        (echo x > /dev/full) 2>&1 | grep -o 'No space left'
        [ $(head -c 32 /dev/urandom | wc -c) = 32 ] && [ $(head -c 8 /dev/random | wc -c) = 8 ] && echo random
        echo shared > /dev/shm/x && cat /dev/shm/x
        echo out > /dev/stdout; echo err > /dev/stderr; echo in | cat /dev/stdin; echo fd > /dev/fd/1
        (: > /dev/tty) 2>&1 | grep -o 'No such device'";
    for user in ["root", "user"] {
        let done = home.run(["--user", user, "--", script]).done();
        assert_eq!(
            done.stdout(),
            "null\nzero\nNo space left\nrandom\nshared\nout\nin\nfd\nNo such device\n",
            "as {user}: {done:?}"
        );
        assert_eq!(done.stderr(), "err\n");
    }
    if on_path("python3") {
        let script = "import os; a, b = os.openpty(); os.write(b, b'x'); print(os.read(a, 1))";
        let done = home.run(["--user", "user", "--", "python3", "-c", script]).done();
        done.assert(0, "b'x'\n", "");
    }
    home.assert_nothing_left();
}

// Class 24: the network.

#[test]
fn there_is_no_way_out_of_the_network() {
    let home = Home::new();
    let probe = probe!();
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        "ls /sys/class/net 2>/dev/null; sed 1,2d /proc/net/dev | cut -d: -f1; sed 1d /proc/net/route
         probe connect {port}
         for host in 1.1.1.1 169.254.169.254 10.0.0.1 192.168.0.1 172.17.0.1; do
             (timeout 3 bash -c \"exec 3<>/dev/tcp/$host/80\") 2>&1 | grep -o -m 1 'Network is unreachable'
         done
         (timeout 3 bash -c 'exec 3<>/dev/udp/8.8.8.8/53') 2>&1 | grep -o -m 1 'Network is unreachable'
         cat /etc/resolv.conf | grep nameserver; true"
    );
    let shown = probe.sh(&home, &[], &script);
    let unreachable = "Network is unreachable\n".repeat(6);
    assert_eq!(shown, format!("    lo\nECONNREFUSED\n{unreachable}"));
    assert!(listener.accept().is_err(), "somebody connected");
    // Loopback itself works.
    let script = "mkfifo /tmp/in; probe listen 8080 </tmp/in | (read made; probe connect 8080) & exec 5>/tmp/in; sleep 0.2; exec 5>&-; wait";
    assert_eq!(probe.sh(&home, &[], script), "ok\n");
    home.assert_nothing_left();
}

#[test]
fn the_network_cannot_be_configured() {
    need!("ip");
    let home = Home::new();
    let script = "
        ip link add dummy0 type dummy && echo made; ip link set lo down && echo down
        ip addr add 10.0.0.2/8 dev lo && echo added; ip route add default via 127.0.0.1 && echo routed
        ip netns add x && echo netns";
    let done = home.run(["--", &format!("({script}) 2>/dev/null; true")]).done();
    done.assert(0, "", "");
    home.assert_nothing_left();
}

// What the commands themselves may do.

#[test]
fn capabilities_are_the_documented_ones() {
    let home = Home::new();
    let status = |user: &str| {
        home.sh_with(&["--user", user], "grep -e ^Cap -e NoNewPrivs -e Seccomp: /proc/self/status | tr -d '\\t'")
    };
    // chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap, net_bind_service, sys_chroot, audit_write, setfcap
    let root = [0, 1, 3, 4, 5, 6, 7, 8, 10, 18, 29, 31].iter().fold(0_u64, |mask, bit| mask | 1 << bit);
    assert_eq!(
        status("root"),
        format!(
            "CapInh:0000000000000000\nCapPrm:{root:016x}\nCapEff:{root:016x}\nCapBnd:{root:016x}\nCapAmb:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n"
        )
    );
    assert_eq!(
        status("user"),
        format!(
            "CapInh:0000000000000000\nCapPrm:0000000000000000\nCapEff:0000000000000000\nCapBnd:{root:016x}\nCapAmb:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n"
        )
    );
    home.assert_nothing_left();
}

#[test]
fn root_inside_can_do_what_root_is_for() {
    need!("setpriv");
    let home = Home::new();
    let script = "
        touch f && chown user:user f && stat -c %U f && chmod 600 f && cat f && rm f && echo files
        setpriv --reuid=1000 --regid=1000 --clear-groups id -u
        mkdir -p jail/usr && chroot / true && echo chroot
        echo x >> /etc/hosts && touch /usr/bin/new && echo system";
    assert_eq!(home.sh(script), "user\nfiles\n1000\nchroot\nsystem\n");
    home.assert_nothing_left();
}

#[test]
fn setuid_programs_gain_nothing() {
    need!("setpriv");
    let home = Home::new();
    let script = "
        cp /bin/bash /tmp/b; cp /bin/bash /usr/b; cp /bin/bash /workspace/b; chmod 6755 /tmp/b /usr/b /workspace/b
        for b in /tmp/b /usr/b /workspace/b; do
            setpriv --reuid=1000 --regid=1000 --clear-groups $b -p -c 'echo $(id -u) $(id -g) $(grep CapEff /proc/self/status)'
        done
        find /usr/bin -perm -4000 | head -1 | grep -q . && setpriv --reuid=1000 --regid=1000 --clear-groups \
            sh -c 'su -c id root </dev/null' 2>/dev/null; true";
    let shown = home.sh(script);
    assert_eq!(shown, "1000 1000 CapEff: 0000000000000000\n".repeat(3));
    home.assert_nothing_left();
}

/// What is made inside lies on the host's disk meanwhile; nobody else there may reach it.
#[test]
fn the_sandbox_s_files_are_closed_to_other_users_of_the_host() {
    need!("setpriv");
    let home = Home::new();
    let mut running = home
        .run(["--stdin", "--", "cp /bin/bash b; chmod 6777 b; echo secret > s; chmod 666 s; echo up; read x"])
        .start_with_stdin();
    assert_eq!(running.line(), "up\n");
    let workspace = home.sandboxes()[0].join("disk/workspace");
    let made = fs::metadata(workspace.join("b")).unwrap();
    assert!(made.uid() >= 524_288 && made.gid() >= 524_288, "{made:?}");
    for program in ["b", "s"] {
        let mut command = crate::harness::command("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "test", "-r"]);
        let readable = command.arg(workspace.join(program)).status().unwrap().success();
        assert!(!readable, "{program} can be read by nobody");
    }
    running.done();
    home.assert_nothing_left();
}

#[test]
fn changes_to_system_files_stay_in_the_sandbox() {
    let home = Home::new();
    let touched = ["/usr/bin/env", "/usr/bin/id", "/bin/sh", "/etc/os-release", "/etc/profile", "/usr/bin/true"];
    let state = || {
        let of = |path: &&str| {
            let found = fs::metadata(path).ok()?;
            let same = (found.ino(), found.nlink(), found.mode(), found.uid(), found.mtime_nsec(), found.ctime_nsec());
            Some((same, fs::read(path).ok()?))
        };
        touched.iter().map(of).collect::<Vec<_>>()
    };
    let before = state();
    let script = "
        echo owned > /usr/bin/env; echo owned >> /etc/os-release; rm /usr/bin/id; ln -sf /tmp/x /etc/profile
        ln /usr/bin/true /usr/bin/atoll-canary-link; mv /usr/bin/true /usr/bin/atoll-canary-moved; chmod 777 /bin/sh; chown 1000 /bin/sh
        touch -d 2001-01-01 /bin/sh; truncate -s 0 /bin/sh
        mkdir /usr/atoll-canary /opt/atoll-canary /var/lib/atoll-canary; echo x > /usr/lib/atoll-canary; echo x > /etc/atoll-canary
        rm -rf /usr/share/doc /usr/include; mv /usr/games /usr/share/games-moved
        mknod /usr/whiteout c 0 0 2>/dev/null && echo whiteout
        setfattr -n user.overlay.opaque -v y /usr/share 2>/dev/null
        cat /usr/bin/env; [ -e /usr/bin/id ] || echo gone; [ -e /usr/share/doc ] || echo gone";
    let shown = home.sh(&format!("{{ {script}\n}} 2>/dev/null"));
    assert_eq!(shown, "owned\ngone\ngone\n");
    assert!(state() == before);
    for path in [
        "/usr/bin/atoll-canary-link",
        "/usr/bin/atoll-canary-moved",
        "/usr/atoll-canary",
        "/opt/atoll-canary",
        "/var/lib/atoll-canary",
        "/usr/lib/atoll-canary",
        "/etc/atoll-canary",
        "/usr/whiteout",
        "/usr/share/games-moved",
    ] {
        assert!(!Path::new(path).exists(), "{path}");
    }
    assert!(Path::new("/usr/share/doc").exists());
    // The next sandbox starts as the first did.
    let shown = home.sh("head -c 4 /usr/bin/env | tail -c 3; ls -d /usr/bin/id /usr/share/doc; ls /usr /etc /opt | grep canary; cat /etc/os-release | grep owned; true");
    assert_eq!(shown, "ELF/usr/bin/id\n/usr/share/doc\n");
    home.assert_nothing_left();
}

#[test]
fn a_hard_link_or_rename_across_the_walls_is_refused() {
    let home = Home::new();
    let script = "
        for to in /workspace/x /tmp/x /dev/shm/x; do ln /usr/bin/env $to && echo linked $to; done
        for to in /workspace/x /tmp/x; do ln /etc/passwd $to && echo linked $to; done
        ln /proc/1/exe /tmp/y && echo linked init; ln -L /proc/self/exe /tmp/z && echo linked self; true";
    assert_eq!(home.sh(&format!("({script}) 2>/dev/null")), "");
    home.assert_nothing_left();
}

/// Root inside is shown as the owner of the host's system files, and is not.
#[test]
fn what_root_owns_in_a_system_directory_cannot_be_changed_from_inside() {
    let home = Home::new();
    let dir = tempfile::Builder::new().prefix("atoll-canary-").tempdir_in("/usr/local").unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let file = dir.path().join("private");
    fs::write(&file, "canary").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    home.run(["--", &format!("echo owned > {0}; chmod 666 {0}; rm -rf {1}", file.display(), dir.path().display())])
        .done();
    assert_eq!(fs::read_to_string(&file).unwrap(), "canary");
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    home.assert_nothing_left();
}

// Class 25: exhaustion.

#[test]
fn heavy_a_fork_bomb_ends_with_its_time() {
    let home = Home::new();
    let probe = probe!();
    for options in [&["--pids", "200"][..], &["--pids", "64", "--isolation", "none"]] {
        let script = probe.script("probe bomb");
        let script = script.replace("/tmp/probe", "./probe").replace("/tmp:", "$PWD:");
        let limits = ["--timeout", "1s", "--grace", "100ms", "--stdin", "--", &script];
        let done = home.run([options, &limits].concat()).done_with(probe.program.clone());
        if done.code == Some(125) && done.stderr().contains("limit") {
            return skip(&done.stderr());
        }
        assert_eq!(done.code, Some(124), "{done:?}");
        assert!(done.took.as_secs() < 20, "{done:?}");
        home.assert_nothing_left();
    }
}

#[test]
fn heavy_filling_memory_files_does_not_reach_the_host_s() {
    let home = Home::new();
    let used = |path: &str| {
        let found = rustix::fs::statvfs(path).unwrap();
        (found.f_blocks - found.f_bfree) * found.f_frsize
    };
    let before = used("/dev/shm");
    let script = "
        head -c 2G /dev/zero > /dev/shm/fill 2>/dev/null; stat -c %s /dev/shm/fill
        head -c 2G /dev/zero > /dev/fill 2>/dev/null; stat -c %s /dev/fill
        head -c 1M /dev/zero > /proc/acpi/fill 2>/dev/null; echo up; read x";
    let mut running = home.run(["--stdin", "--", script]).start_with_stdin();
    let size = |line: String| line.trim().parse::<u64>().unwrap();
    assert_eq!(size(running.line()), 1 << 30);
    assert!(size(running.line()) <= 1 << 20);
    assert_eq!(running.line(), "up\n");
    assert!(used("/dev/shm") < before + (64 << 20));
    assert!(!Path::new("/dev/shm/fill").exists());
    running.done();
    home.assert_nothing_left();
}

#[test]
fn memory_files_count_against_the_limit_on_memory() {
    let home = Home::new();
    let done = home
        .run([
            "--memory",
            "64m",
            "--timeout",
            "30s",
            "--",
            "head -c 200M /dev/zero > /dev/shm/fill; stat -c %s /dev/shm/fill",
        ])
        .done();
    if done.stderr().contains("cannot limit memory") {
        return skip(&done.stderr());
    }
    let written: u64 = done.stdout().trim().parse().unwrap_or(0);
    assert!(written < 64 << 20, "{done:?}");
    home.assert_nothing_left();
}

#[test]
fn output_without_end_takes_no_memory_of_the_host() {
    let home = Home::new();
    // 300 MB on one line, passed on: nothing of it is kept once it is printed.
    let mut call = home.run(["--", "head -c 300M /dev/zero"]);
    let mut child = call.command.spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let (mut total, mut buffer, mut peak) = (0_usize, vec![0; 1 << 20], 0_u64);
    loop {
        let count = out.read(&mut buffer).unwrap();
        if count == 0 {
            break;
        }
        total += count;
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let size = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        peak = peak.max(size.unwrap_or(0));
    }
    assert_eq!((total, child.wait().unwrap().code()), (300 << 20, Some(0)));
    assert!(peak < 200 * 1024, "{peak} kB");
    home.assert_nothing_left();
}
