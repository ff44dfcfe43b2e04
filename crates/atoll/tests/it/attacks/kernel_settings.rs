//! Files inside that Atoll writes while the sandbox runs, exchanged for kernel settings that only PID 1 could write.

use atoll_protocol::{SandboxName, TerminalRequest, WaitFor, WaitRequest};

use super::{homes, python};
use crate::client::Cli;
use crate::harness::{need, until};
use crate::server::wait;

const BUNDLE: &str = "/etc/ssl/certs/ca-certificates.crt";

/// Puts a large file in the place of the system's certificates, waits until it is opened, and puts a link to a kernel setting
/// there before it is written.
const EXCHANGE: &str = r#"
import ctypes, os
bundle = "/etc/ssl/certs/ca-certificates.crt"
os.makedirs(os.path.dirname(bundle), exist_ok=True)
with open(bundle + ".new", "w") as file:
    file.write("1000 " + "x" * 3000000)
os.rename(bundle + ".new", bundle)
os.symlink("/proc/sys/user/max_user_namespaces", bundle + ".link")
libc = ctypes.CDLL(None, use_errno=True)
watch = libc.inotify_init1(0)
assert libc.inotify_add_watch(watch, bundle.encode(), 0x20) > 0
open("/workspace/ready", "w").close()
os.read(watch, 4096)
os.rename(bundle + ".link", bundle)
open("/workspace/exchanged", "w").close()
"#;

#[test]
fn certificates_exchanged_while_they_are_written_change_no_kernel_setting() {
    need!("python3");
    for home in homes() {
        let cli = Cli::new(&home);
        let name = cli.sandbox();
        cli.ok(&["exec", "--detach", &name, "--", &python(EXCHANGE)]);
        let there = |file: &str| cli.done(&["exec", &name, "--", "test", "-e", file]).code == Some(0);
        until("the attack to be ready", || there("/workspace/ready").then_some(()));
        // Whether the files can be written is the sandbox's affair now.
        cli.done(&["egress", &name, "allow", "a.test:80"]);
        until("the exchange", || there("/workspace/exchanged").then_some(()));
        assert_eq!(cli.ok(&["exec", &name, "--", "cat /proc/sys/user/max_user_namespaces"]), "0\n");
        cli.ok(&["rm", &name]);
        cli.server.end();
        home.assert_nothing_left();
    }
}

/// Without a race: links to settings in the place of every file that egress writes.
#[test]
fn links_to_kernel_settings_are_not_written_through() {
    let settings = ["user/max_user_namespaces", "net/ipv4/ping_group_range", "user/max_inotify_instances"];
    for home in homes() {
        let cli = Cli::new(&home);
        let name = cli.sandbox();
        let read = || {
            let files: Vec<_> = settings.iter().map(|setting| format!("/proc/sys/{setting}")).collect();
            cli.ok(&["exec", &name, "--", &format!("cat {}", files.join(" "))])
        };
        let before = read();
        for (file, setting) in ["/etc/resolv.conf", "/etc/atoll-ca.pem", BUNDLE].iter().zip(settings) {
            let script = format!("mkdir -p $(dirname {file}) && ln -sf /proc/sys/{setting} {file}");
            cli.ok(&["exec", &name, "--", &script]);
        }
        cli.done(&["egress", &name, "allow", "a.test:80"]);
        assert_eq!(read(), before);
        cli.ok(&["rm", &name]);
        cli.server.end();
        home.assert_nothing_left();
    }
}

/// A terminal is opened for reading and writing by PID 1, so only the real one will do.
#[test]
fn a_link_in_place_of_the_terminal_multiplexer_is_not_opened() {
    for home in homes() {
        let cli = Cli::new(&home);
        let name = cli.sandbox();
        cli.ok(&["exec", &name, "--", "ln -sf /proc/sys/user/max_user_namespaces /dev/ptmx"]);
        wait(async {
            let request = TerminalRequest { command: Some("tty".to_owned()), ..TerminalRequest::default() };
            let sandbox = cli.server.client().inside(&SandboxName::new(name.as_str()).unwrap());
            let terminal = sandbox.open_terminal(&request).await.unwrap();
            let end = WaitRequest { r#for: WaitFor::Exit, timeout_ms: None };
            sandbox.wait_terminal(&terminal.id, &end).await.unwrap();
            let screen = sandbox.screen(&terminal.id).await.unwrap();
            assert!(screen.text.starts_with("/dev/pts/"), "{screen:?}");
        });
        assert_eq!(cli.ok(&["exec", &name, "--", "cat /proc/sys/user/max_user_namespaces"]), "0\n");
        cli.ok(&["rm", &name]);
        cli.server.end();
        home.assert_nothing_left();
    }
}
