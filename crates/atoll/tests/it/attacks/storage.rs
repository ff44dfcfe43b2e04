//! What a sandbox leaves in its storage for the next life, and for those who remove it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::homes;
use crate::client::Cli;

/// Things that cannot be opened or written as a file, in the place of those that PID 1 writes at each start.
#[test]
fn odd_files_in_place_of_those_that_pid_1_writes_do_not_keep_a_sandbox_from_starting() {
    let odd = [
        "rm -f /etc/hostname && mkfifo /etc/hostname",
        "rm -f /etc/hosts && python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"/etc/hosts\")'",
        "rm -f /etc/hostname && mkdir /etc/hostname",
        "rm -rf /etc && mkfifo /etc",
    ];
    for home in homes() {
        let cli = Cli::new(&home);
        for script in odd {
            let name = cli.sandbox();
            cli.ok(&["exec", &name, "--", "echo kept > /workspace/note"]);
            cli.ok(&["exec", &name, "--", script]);
            cli.ok(&["stop", &name]);
            assert_eq!(cli.ok(&["cat", &format!("{name}:/workspace/note")]), "kept\n", "{script}");
            cli.ok(&["rm", &name]);
        }
        cli.server.end();
        home.assert_nothing_left();
    }
}

#[test]
fn odd_files_in_place_of_those_of_egress_do_not_keep_a_sandbox_from_starting() {
    for home in homes() {
        let cli = Cli::new(&home);
        let name = home.name();
        cli.ok(&["create", &name, "--env", &format!("ATOLL_IT={}", home.tag), "--allow", "a.test:80"]);
        cli.ok(&["exec", &name, "--", "echo kept > note; rm -f /etc/resolv.conf && mkdir /etc/resolv.conf"]);
        cli.ok(&["stop", &name]);
        assert_eq!(cli.ok(&["exec", &name, "--", "cat note"]), "kept\n");
        assert!(cli.ok(&["egress", &name]).contains("a.test:80"));
        cli.ok(&["rm", &name]);
        cli.server.end();
        home.assert_nothing_left();
    }
}

/// Directories nested far deeper than there are descriptors, and without permission for their owner.
#[test]
fn deep_and_closed_directories_are_removed_with_their_sandbox() {
    let script = "cd /workspace && python3 -c '
import os
for level in range(16000):
    os.mkdir(\"d\")
    os.chdir(\"d\")
'; mkdir -p /workspace/closed/below && chmod 0 /workspace/closed";
    for home in homes() {
        assert_eq!(home.sh(script), "");
        home.assert_nothing_left();
    }
}

/// While a directory is removed, its entries are exchanged for links to a directory of the user's: its mode stays.
#[test]
fn links_in_place_of_directories_are_not_followed_on_removal() {
    for home in homes() {
        let outside = home.cwd().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "kept").unwrap();
        fs::set_permissions(&outside, fs::Permissions::from_mode(0o750)).unwrap();
        let target = outside.to_str().unwrap();
        let script = format!(
            "cd /workspace; for i in $(seq 200); do mkdir -m 0 d$i; ln -s {target} l$i; done
             (while :; do for i in $(seq 200); do mv -T --exchange d$i l$i 2>/dev/null || {{ mv d$i t$i; mv l$i d$i; mv t$i l$i; }}; done; done) &
             echo up; exec sleep 1000"
        );
        let mut running = home.run(["--", &script]).start();
        assert_eq!(running.line(), "up\n");
        running.signal(crate::harness::Signal::KILL);
        drop(running);
        home.assert_nothing_left();
        assert_eq!(fs::metadata(&outside).unwrap().permissions().mode() & 0o777, 0o750);
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "kept");
    }
}
