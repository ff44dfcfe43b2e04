//! What the filter promises, checked on the emulator.
//!
//! Owns the tests that need table, assembler and emulator together. The
//! expectations are written out by hand and not taken from the table, apart
//! from those that hold for any table.

use std::collections::HashSet;

use super::emulate::{Entry, Fault, Outcome, run, verify};
use super::*;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const EPERM: u32 = libc::SECCOMP_RET_ERRNO | 1;
const ENOSYS: u32 = libc::SECCOMP_RET_ERRNO | 38;
const EAFNOSUPPORT: u32 = libc::SECCOMP_RET_ERRNO | 97;
const EPROTONOSUPPORT: u32 = libc::SECCOMP_RET_ERRNO | 93;
const IGNORED: u32 = libc::SECCOMP_RET_ERRNO;

/// Bits the kernel ignores in an argument of type `int`.
const HIGH: u64 = 0xdead_beef_0000_0000;
/// Above every number in use; x32 starts far beyond.
const NUMBERS: libc::c_long = 2048;

fn answer(entry: &Entry) -> Outcome {
    run(&baseline(), entry).unwrap()
}

fn action(number: libc::c_long, arguments: [u64; 6]) -> u32 {
    answer(&Entry::native(number, arguments)).action
}

fn with_argument(index: usize, value: u64) -> [u64; 6] {
    let mut arguments = [0; 6];
    arguments[index] = value;
    arguments
}

/// Tries a value as it is and with the ignored half filled.
fn assert_argument(number: libc::c_long, index: usize, value: u64, expected: u32) {
    for value in [value, value | HIGH] {
        let actual = action(number, with_argument(index, value));
        assert_eq!(actual, expected, "call {number} argument {index} = {value:#x}");
    }
}

fn named_calls() -> HashSet<libc::c_long> {
    let calls = rules().iter().flat_map(|rule| rule.calls);
    calls.map(|call| call.number).collect()
}

#[test]
fn kernel_would_accept_the_program() {
    let program = baseline();
    assert_eq!(verify(&program), Ok(()));
    assert!(program.instructions.len() < 230, "{}", program.instructions.len());
    assert_eq!(Program::from_bytes(&program.to_bytes()), Ok(program));
}

#[test]
fn verifier_sees_a_jump_out_of_the_program() {
    let mut program = baseline();
    let last_jump = program.instructions.len() - 3;
    program.instructions[last_jump].jf = 2;
    assert_eq!(verify(&program), Err(Fault::Jump { from: last_jump }));
}

#[test]
fn every_rule_without_a_condition_refuses_its_calls() {
    let always = rules().iter().filter(|rule| rule.when == When::Always);
    for rule in always {
        for call in rule.calls {
            let expected = libc::SECCOMP_RET_ERRNO | rule.refusal.errno().unsigned_abs();
            assert_eq!(action(call.number, [u64::MAX; 6]), expected, "{}", call.name);
            assert_eq!(action(call.number, [0; 6]), expected, "{}", call.name);
        }
    }
}

#[test]
fn calls_that_fall_back_get_the_error_they_fall_back_on() {
    let cases = [
        (libc::SYS_mount, EPERM),
        (libc::SYS_umount2, EPERM),
        (467, EPERM),
        (libc::SYS_setns, EPERM),
        (libc::SYS_open_by_handle_at, EPERM),
        (libc::SYS_finit_module, EPERM),
        (libc::SYS_clock_settime, EPERM),
        (libc::SYS_bpf, EPERM),
        (libc::SYS_syslog, EPERM),
        (libc::SYS_io_uring_setup, ENOSYS),
        (libc::SYS_io_setup, ENOSYS),
        (libc::SYS_userfaultfd, ENOSYS),
        (libc::SYS_keyctl, ENOSYS),
        (libc::SYS_nfsservctl, ENOSYS),
    ];
    for (number, expected) in cases {
        assert_eq!(action(number, [0; 6]), expected, "call {number}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn calls_only_x86_has_are_refused_too() {
    assert_eq!(action(libc::SYS_iopl, [0; 6]), EPERM);
    assert_eq!(action(libc::SYS_modify_ldt, [0; 6]), ENOSYS);
    assert_eq!(action(libc::SYS_uselib, [0; 6]), ENOSYS);
}

#[test]
fn what_no_rule_names_is_allowed_and_can_be_cached() {
    let named = named_calls();
    let allowed = Outcome { action: ALLOW, read_arguments: false };
    for number in (0..NUMBERS).filter(|number| !named.contains(number)) {
        for arguments in [[0; 6], [u64::MAX; 6], [0x5412; 6]] {
            let entry = Entry::native(number, arguments);
            assert_eq!(answer(&entry), allowed, "call {number}");
        }
    }
}

#[test]
fn allowances_are_allowed() {
    for call in allowances().iter().flat_map(|allowance| allowance.calls) {
        assert_eq!(action(call.number, [u64::MAX; 6]), ALLOW, "{}", call.name);
    }
}

#[test]
fn pid_1_can_do_its_work() {
    let calls = [
        libc::SYS_clone3,
        libc::SYS_wait4,
        libc::SYS_sendmsg,
        libc::SYS_recvmsg,
        libc::SYS_ppoll,
        libc::SYS_openat,
        libc::SYS_openat2,
        libc::SYS_setresuid,
        libc::SYS_connect,
        libc::SYS_kill,
        libc::SYS_pidfd_open,
        libc::SYS_prctl,
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_setsid,
        libc::SYS_fchdir,
        libc::SYS_chdir,
        libc::SYS_dup3,
        libc::SYS_close_range,
        libc::SYS_umask,
        libc::SYS_memfd_create,
    ];
    for number in calls {
        assert_eq!(action(number, [u64::MAX; 6]), ALLOW, "call {number}");
    }
    const RLIMIT_NOFILE: u64 = 7;
    assert_eq!(action(libc::SYS_prlimit64, [0, RLIMIT_NOFILE, 0x7fff_0000, 0, 0, 0]), ALLOW);
    for protocol in [libc::NETLINK_ROUTE, libc::NETLINK_SOCK_DIAG, libc::NETLINK_NETFILTER] {
        let protocol = u64::try_from(protocol).unwrap();
        assert_eq!(action(libc::SYS_socket, [16, 3, protocol, 0, 0, 0]), ALLOW, "netlink {protocol}");
    }
    const TIOCSCTTY: u64 = 0x540e;
    assert_argument(libc::SYS_ioctl, 1, TIOCSCTTY, ALLOW);
}

#[test]
fn terminal_requests_that_reach_others_are_refused() {
    for (request, expected) in [
        (0x5412, EPERM),
        (0x541c, EPERM),
        (0x5423, EPERM),
        (0x5401, ALLOW),
        (0x5411, ALLOW),
        (0x5413, ALLOW),
        (0, ALLOW),
        (0xffff_ffff, ALLOW),
    ] {
        assert_argument(libc::SYS_ioctl, 1, request, expected);
        assert_argument(libc::SYS_ioctl, 2, request, ALLOW);
    }
}

#[test]
fn sockets_are_of_four_families() {
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        for family in 0..64 {
            let allowed = matches!(family, 1 | 2 | 10 | 16);
            let expected = if allowed { ALLOW } else { EAFNOSUPPORT };
            assert_argument(call, 0, family, expected);
        }
        assert_argument(call, 0, 0xffff_ffff, EAFNOSUPPORT);
    }
}

#[test]
fn internet_sockets_are_streams_datagrams_or_raw_of_known_protocols() {
    const FLAGS: u64 = 0x8_0800;
    for family in [2, 10] {
        for kind in 0..16 {
            let expected = if kind < 4 { ALLOW } else { EPROTONOSUPPORT };
            assert_eq!(action(libc::SYS_socket, [family | HIGH, kind | FLAGS | HIGH, 0, 0, 0, 0]), expected, "{kind}");
        }
        for protocol in 0..400 {
            let known = matches!(protocol, 0 | 1 | 6 | 17 | 58 | 255);
            let expected = if known { ALLOW } else { EPROTONOSUPPORT };
            assert_eq!(action(libc::SYS_socket, [family, 1 | FLAGS, protocol | HIGH, 0, 0, 0]), expected, "{protocol}");
        }
    }
    // A unix socket of sequenced packets, with any protocol number: the kernel itself judges that.
    assert_eq!(action(libc::SYS_socket, [1, 5 | FLAGS, 7, 0, 0, 0]), ALLOW);
    assert_eq!(action(libc::SYS_socketpair, [1, 5 | FLAGS, 0, 0, 0, 0]), ALLOW);
}

#[test]
fn netlink_is_for_routes_sockets_and_events() {
    for protocol in 0..64 {
        let expected = if matches!(protocol, 0 | 4 | 12 | 15) { ALLOW } else { EPROTONOSUPPORT };
        assert_eq!(action(libc::SYS_socket, [16, 3, protocol | HIGH, 0, 0, 0]), expected, "{protocol}");
    }
}

#[test]
fn limits_of_other_processes_can_be_read_and_not_set() {
    const NOFILE: u64 = 7;
    const LOW: u64 = 0x7fff_0000;
    /// An address whose low half is zero.
    const ALIGNED: u64 = 0x7f_0000_0000;
    for pid in [1, 2, 77, 0xffff_ffff] {
        for new in [LOW, ALIGNED] {
            assert_eq!(action(libc::SYS_prlimit64, [pid | HIGH, NOFILE, new, 0, 0, 0]), EPERM, "{pid} {new:#x}");
        }
        assert_eq!(action(libc::SYS_prlimit64, [pid, NOFILE, 0, LOW, 0, 0]), ALLOW, "{pid}");
    }
    assert_eq!(action(libc::SYS_prlimit64, [HIGH, NOFILE, LOW, 0, 0, 0]), ALLOW);
}

#[test]
fn files_take_locks_and_no_leases() {
    const EINVAL: u32 = libc::SECCOMP_RET_ERRNO | 22;
    for command in [1024, 1040] {
        assert_argument(libc::SYS_fcntl, 1, command, EINVAL);
    }
    for command in [0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1025, 1030, 1031, 1033] {
        assert_argument(libc::SYS_fcntl, 1, command, ALLOW);
    }
}

#[test]
fn the_limit_on_core_files_stays_what_it_is() {
    const CORE: u64 = 4;
    for new in [0x7fff_0000, 0x7f_0000_0000] {
        assert_eq!(action(libc::SYS_prlimit64, [0, CORE | HIGH, new, 0, 0, 0]), IGNORED);
    }
    assert_eq!(action(libc::SYS_prlimit64, [0, CORE, 0, 0x7fff_0000, 0, 0]), ALLOW);
    assert_argument(libc::SYS_setrlimit, 0, CORE, IGNORED);
    for other in (0..16).filter(|resource| *resource != CORE) {
        assert_argument(libc::SYS_setrlimit, 0, other, ALLOW);
    }
}

#[test]
fn clone_makes_processes_and_threads_but_no_namespaces() {
    let thread = 0x003d_0f00;
    let vfork = 0x4111;
    for flags in [0, 17, thread, vfork, 0x8000_0000] {
        assert_argument(libc::SYS_clone, 0, flags, ALLOW);
    }
    for bit in [17, 25, 26, 27, 28, 29, 30] {
        assert_argument(libc::SYS_clone, 0, 1 << bit, EPERM);
        assert_argument(libc::SYS_clone, 0, (1 << bit) | thread, EPERM);
    }
}

#[test]
fn unshare_splits_files_but_makes_no_namespaces() {
    for flags in [0, 0x400, 0x200, 0x600, 0x4_0000, 0x1_0900] {
        assert_argument(libc::SYS_unshare, 0, flags, ALLOW);
    }
    for bit in [7, 17, 20, 25, 26, 27, 28, 29, 30] {
        assert_argument(libc::SYS_unshare, 0, 1 << bit, EPERM);
        assert_argument(libc::SYS_unshare, 0, (1 << bit) | 0x600, EPERM);
    }
}

#[test]
fn foreign_callers_are_refused_whatever_they_call() {
    const I386: u32 = 0x4000_0003;
    const ARM: u32 = 0x4000_0028;
    for arch in [I386, ARM, 0, u32::MAX] {
        for number in 0..600 {
            let entry = Entry { number, arch, arguments: [0; 6] };
            let refused = Outcome { action: ENOSYS, read_arguments: false };
            assert_eq!(answer(&entry), refused, "arch {arch:#x} call {number}");
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn x32_callers_are_refused_whatever_they_call() {
    let numbers = (0x4000_0000..0x4000_0400).chain([0x7fff_ffff, 0x8000_0000, u32::MAX]);
    for number in numbers {
        let entry = Entry { number, ..Entry::native(0, [0; 6]) };
        assert_eq!(answer(&entry).action, ENOSYS, "call {number:#x}");
    }
    assert_eq!(action(0x3fff_ffff, [0; 6]), ALLOW);
}

#[test]
fn table_is_complete_and_without_doubles() {
    let mut seen = HashSet::new();
    for rule in rules() {
        assert!(!rule.calls.is_empty() && !rule.reason.is_empty(), "{rule}");
        for call in rule.calls {
            assert!(seen.insert((call.number, rule.when.to_string())), "{} is named twice", call.name);
            assert!((0..NUMBERS).contains(&call.number), "{}", call.name);
        }
        let tests = match rule.when {
            When::Argument { index, test } => vec![(index, test)],
            When::Arguments(tests) => tests.to_vec(),
            When::Always => continue,
        };
        assert!(!tests.is_empty(), "{rule}");
        for (index, test) in tests {
            assert!(index < 6, "{rule}");
            match test {
                Test::OneOf(list) | Test::NoneOf(list) => assert!(!list.is_empty(), "{rule}"),
                Test::AnyBit(mask) => assert_ne!(mask, 0, "{rule}"),
                Test::Pointer => {}
            }
        }
    }
}

#[test]
fn rules_print_as_one_line() {
    let lines: Vec<_> = rules().iter().take(3).map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "ioctl: EPERM if argument 1 is one of 0x5412, 0x541c, 0x5423",
            "clone: EPERM if argument 0 has a bit of 0x7e020000",
            "unshare: EPERM if argument 0 has a bit of 0xfffaf0ff",
        ]
    );
}
