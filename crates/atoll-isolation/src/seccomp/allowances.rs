//! What a reader might expect to be refused and is not.
//!
//! Owns the reasons for leaving these calls open, so that the decision is not
//! lost or made again by accident: a test holds the filter to it. Produces no
//! instructions, and must not name a call that `policy.rs` names.

use super::rule::{Allowance, calls};

/// What is left open on purpose.
#[must_use]
pub fn allowances() -> &'static [Allowance] {
    ALLOWANCES
}

const ALLOWANCES: &[Allowance] = &[
    Allowance {
        calls: calls![SYS_clone3],
        reason: "its flags lie in memory, which a filter cannot read, and glibc and our PID 1 \
                 need it; user namespaces are closed by the user.max_user_namespaces limit, \
                 every other namespace needs a capability, and mounting in one is refused",
    },
    Allowance {
        calls: calls![SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd],
        reason: "debuggers use them on processes of the same sandbox, and no others are in sight",
    },
    Allowance {
        calls: calls![SYS_personality],
        reason: "gdb turns off address randomisation with it, for the process it starts",
    },
    Allowance {
        calls: calls![SYS_seccomp, SYS_landlock_create_ruleset, SYS_landlock_add_rule, SYS_landlock_restrict_self,],
        reason: "can only take rights away from the caller",
    },
    Allowance {
        calls: calls![SYS_adjtimex, SYS_clock_adjtime],
        reason: "programs read the state of the clock with them; to set it the kernel asks for \
                 a capability on the host, which no sandbox has",
    },
    Allowance {
        calls: calls![SYS_get_mempolicy, SYS_set_mempolicy, SYS_mbind],
        reason: "databases and java place their own memory with them",
    },
    Allowance {
        calls: calls![SYS_name_to_handle_at],
        reason: "only names a file already in reach, as systemd does to find mount points; \
                 opening by that name is refused",
    },
    Allowance {
        calls: calls![SYS_memfd_secret],
        reason: "keeps secrets out of reach of other processes, counted against the memlock limit",
    },
    Allowance {
        calls: calls![SYS_chroot],
        reason: "package managers and build tools use it; it needs a capability and leads \
                 nowhere, since the host's root is not mounted",
    },
];
