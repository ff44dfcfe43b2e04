//! Attacks on the parts of Atoll that act for a sandbox: PID 1, the agent, the storage, and the quotas that the kernel
//! counts per user. Each is tried as root and as an ordinary user of the host. The files are below `attacks/`.

mod first_process;
mod kernel_settings;
mod quotas;
mod storage;

use crate::harness::{Caller, Home};
use crate::rootless;

/// A home of root and, where the host lets such a user have namespaces, one of an ordinary user.
fn homes() -> Vec<Home> {
    [Some(Home::new()), rootless::home()].into_iter().flatten().collect()
}

/// Users inside that can be had in this home's sandboxes.
fn users(home: &Home) -> &'static [&'static str] {
    match home.caller() {
        Caller::Root => &["root", "user"],
        Caller::Ordinary => &["root"],
    }
}

/// A Python program as a shell command.
fn python(program: &str) -> String {
    format!("exec /usr/bin/python3 - <<'END_OF_PROGRAM'\n{program}\nEND_OF_PROGRAM")
}
