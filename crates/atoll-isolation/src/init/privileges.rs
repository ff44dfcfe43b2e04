//! The capabilities of init itself, once the sandbox is up.
//!
//! It keeps what the programs that it starts may have: a program gets no capability that init lacks, because
//! `no_new_privs` is set (capabilities(7)). Beyond these it keeps one that no program has, and puts it in force only
//! while it needs it. That one also protects init: the kernel lets a process trace, renice or move another only if it has
//! all capabilities that the other has (`cap_ptrace_access_check`, `cap_safe_nice`).

use std::io;

use crate::sys::identity::{self, Capabilities};

/// To lay routes and packet rules for egress.
const NET_ADMIN: u64 = 1 << 12;

/// Gives up everything but `programs` and the one above, for good.
pub(super) fn reduce(programs: u64) -> io::Result<()> {
    identity::set_capabilities(Capabilities { effective: programs, permitted: programs | NET_ADMIN })
}

/// Runs `act` with the right to set up the sandbox's network.
pub(super) fn with_network<T>(act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let Capabilities { effective, permitted } = identity::capabilities()?;
    identity::set_capabilities(Capabilities { effective: effective | NET_ADMIN, permitted })?;
    let outcome = act();
    identity::set_capabilities(Capabilities { effective, permitted })?;
    outcome
}
