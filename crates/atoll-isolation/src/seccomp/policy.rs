//! The table of what a sandboxed process is refused.
//!
//! Owns the decisions and their reasons. Must not know BPF, and must not
//! depend on the machine: it is the same on every host of an architecture.
//! Calls that look dangerous and stay open are in `allowances.rs`.
//!
//! Most refused calls would fail anyway for want of a capability. They are
//! listed because the check for it comes late in some of them, and because a
//! sandbox may run with capabilities inside its own user namespace.

use super::rule::Refusal::{Ignored, NoSuchFamily, NoSuchProtocol, NoSuchRequest, NotImplemented, NotPermitted};
use super::rule::{Call, Rule, Test, When, call, calls};

/// What is refused, in the order it is tested.
#[must_use]
pub fn rules() -> &'static [Rule] {
    RULES
}

/// Flags of clone(2) that make a namespace. `CLONE_NEWTIME` is not among
/// them: there its bit is part of the exit signal.
const CLONE_NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET)
    .cast_unsigned();

/// What unshare(2) can split without making a namespace.
const UNSHARE_HARMLESS: u32 = (libc::CLONE_FILES
    | libc::CLONE_FS
    | libc::CLONE_SYSVSEM
    | libc::CLONE_THREAD
    | libc::CLONE_SIGHAND
    | libc::CLONE_VM)
    .cast_unsigned();

/// Terminal requests, from <asm-generic/ioctls.h>; in libc their type differs
/// between glibc and musl.
const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;
const TIOCSETD: u32 = 0x5423;

/// Socket families programs use to talk to each other and to the network.
const FAMILIES: &[u32] = &[
    libc::AF_UNIX.cast_unsigned(),
    libc::AF_INET.cast_unsigned(),
    libc::AF_INET6.cast_unsigned(),
    libc::AF_NETLINK.cast_unsigned(),
];

/// The families in which a type and a protocol choose the code that runs.
const INTERNET: &[u32] = &[libc::AF_INET.cast_unsigned(), libc::AF_INET6.cast_unsigned()];

/// Bits that every socket type has but stream (1), datagram (2) and raw (3).
/// The flags of socket(2), such as `SOCK_CLOEXEC`, are far above.
const RARE_TYPES: u32 = 0xc;

/// "Whatever fits the type", ICMP, TCP, UDP, ICMPv6; raw sockets (255) are
/// refused by the kernel for want of a capability, with the error that
/// programs expect.
const INTERNET_PROTOCOLS: &[u32] = &[0, 1, 6, 17, 58, 255];

/// Netlink protocols (<linux/netlink.h>): routes and addresses; sockets and
/// packet filters, which PID 1 itself opens and for which the kernel asks for
/// capabilities; events of devices.
const NETLINK_PROTOCOLS: &[u32] = &[
    libc::NETLINK_ROUTE.cast_unsigned(),
    libc::NETLINK_SOCK_DIAG.cast_unsigned(),
    libc::NETLINK_NETFILTER.cast_unsigned(),
    libc::NETLINK_KOBJECT_UEVENT.cast_unsigned(),
];

const RLIMIT_CORE: u32 = 4;

/// Commands of fcntl(2): leases, and the delegations of newer kernels (<linux/fcntl.h>).
const F_SETLEASE: u32 = 1024;
const F_SETDELEG: u32 = 1040;

/// libc leaves it out for aarch64 with musl.
#[cfg(all(target_arch = "aarch64", target_env = "musl"))]
const KEXEC_FILE_LOAD: Call = Call { name: "kexec_file_load", number: 294 };
#[cfg(not(all(target_arch = "aarch64", target_env = "musl")))]
const KEXEC_FILE_LOAD: Call = call!(SYS_kexec_file_load);

/// `open_tree_attr` (Linux 6.15), newer than libc's list. Numbers from 424 on
/// are the same on every architecture.
const OPEN_TREE_ATTR: Call = Call { name: "open_tree_attr", number: 467 };

const RULES: &[Rule] = &[
    // Calls that ordinary programs make often come first: the answer depends
    // on an argument, so the kernel cannot cache it.
    Rule {
        calls: calls![SYS_ioctl],
        when: When::Argument { index: 1, test: Test::OneOf(&[TIOCSTI, TIOCLINUX, TIOCSETD]) },
        refusal: NotPermitted,
        reason: "TIOCSTI and TIOCLINUX type into a terminal shared with someone outside; \
                 TIOCSETD loads line disciplines, old drivers with many holes that only \
                 modem and serial tools need",
    },
    Rule {
        calls: calls![SYS_clone],
        when: When::Argument { index: 0, test: Test::AnyBit(CLONE_NAMESPACES) },
        refusal: NotPermitted,
        reason: "a new namespace brings capabilities over kernel code that is closed \
                 otherwise; EPERM is what hosts without user namespaces for users answer",
    },
    Rule {
        calls: calls![SYS_unshare],
        when: When::Argument { index: 0, test: Test::AnyBit(!UNSHARE_HARMLESS) },
        refusal: NotPermitted,
        reason: "as for clone; stated as what is harmless, so that a namespace flag of a \
                 later kernel is closed too",
    },
    Rule {
        calls: calls![SYS_setns],
        when: When::Always,
        refusal: NotPermitted,
        reason: "a descriptor of a namespace that leaks in must not become a way out",
    },
    Rule {
        calls: calls![SYS_socket, SYS_socketpair],
        when: When::Argument { index: 0, test: Test::NoneOf(FAMILIES) },
        refusal: NoSuchFamily,
        reason: "only unix, inet, inet6 and netlink; other families load rarely used modules \
                 (alg, packet, bluetooth, tipc) or leave the network namespace (vsock), and \
                 programs treat them as not built in",
    },
    Rule {
        calls: calls![SYS_socket],
        when: When::Arguments(&[(0, Test::OneOf(INTERNET)), (1, Test::AnyBit(RARE_TYPES))]),
        refusal: NoSuchProtocol,
        reason: "sequenced packets and DCCP over IP load modules that no ordinary program needs; \
                 the kernel answers the same where it was built without them",
    },
    Rule {
        calls: calls![SYS_socket],
        when: When::Arguments(&[(0, Test::OneOf(INTERNET)), (2, Test::NoneOf(INTERNET_PROTOCOLS))]),
        refusal: NoSuchProtocol,
        reason: "SCTP, DCCP, SMC, MPTCP and UDP-Lite are large, rarely tested, and loaded as modules \
                 by the first socket; Go and curl take the error as a kernel without them and use TCP",
    },
    Rule {
        calls: calls![SYS_socket],
        when: When::Arguments(&[
            (0, Test::OneOf(&[libc::AF_NETLINK.cast_unsigned()])),
            (2, Test::NoneOf(NETLINK_PROTOCOLS)),
        ]),
        refusal: NoSuchProtocol,
        reason: "other netlink protocols administer parts of the kernel (xfrm, crypto, audit, rdma) \
                 and load them as modules; libaudit and ethtool continue without them",
    },
    Rule {
        calls: calls![SYS_fcntl],
        when: When::Argument { index: 1, test: Test::OneOf(&[F_SETLEASE, F_SETDELEG]) },
        refusal: NoSuchRequest,
        reason: "a lease on a program holds up whoever executes it for 45 seconds, and that is PID 1; \
                 file servers alone use leases, and take EINVAL as a file system without them",
    },
    Rule {
        calls: calls![SYS_prlimit64],
        when: When::Arguments(&[(0, Test::NoneOf(&[0])), (2, Test::Pointer)]),
        refusal: NotPermitted,
        reason: "limits of another process: PID 1 and wardens have the same user as root inside \
                 where one id is mapped, and one with four descriptors sees and kills nothing. \
                 A process sets its own limits as pid 0, as setrlimit and ulimit do",
    },
    Rule {
        calls: calls![SYS_prlimit64],
        when: When::Arguments(&[(1, Test::OneOf(&[RLIMIT_CORE])), (2, Test::Pointer)]),
        refusal: Ignored,
        reason: "the limit on core files is 1, the one value at which the kernel does not start \
                 the host's handler of core dumps (core(5)); with 0 it would. gpg and ssh-agent \
                 set 0 and end if that fails",
    },
    Rule {
        calls: calls![SYS_setrlimit],
        when: When::Argument { index: 0, test: Test::OneOf(&[RLIMIT_CORE]) },
        refusal: Ignored,
        reason: "as for prlimit64",
    },
    Rule {
        calls: &[
            call!(SYS_mount),
            call!(SYS_umount2),
            call!(SYS_pivot_root),
            call!(SYS_open_tree),
            OPEN_TREE_ATTR,
            call!(SYS_move_mount),
            call!(SYS_fsopen),
            call!(SYS_fsconfig),
            call!(SYS_fsmount),
            call!(SYS_fspick),
            call!(SYS_mount_setattr),
        ],
        when: When::Always,
        refusal: NotPermitted,
        reason: "what the sandbox sees is settled before it starts; uncovering a mount would \
                 undo it. EPERM for the new calls too: ENOSYS would only make mount try the old",
    },
    Rule {
        calls: calls![SYS_open_by_handle_at],
        when: When::Always,
        refusal: NotPermitted,
        reason: "opens a file by inode number, past every mount and directory in between",
    },
    Rule {
        calls: &[
            call!(SYS_init_module),
            call!(SYS_finit_module),
            call!(SYS_delete_module),
            call!(SYS_kexec_load),
            KEXEC_FILE_LOAD,
        ],
        when: When::Always,
        refusal: NotPermitted,
        reason: "changes the kernel that all sandboxes share",
    },
    Rule {
        calls: calls![
            SYS_reboot,
            SYS_swapon,
            SYS_swapoff,
            SYS_acct,
            SYS_quotactl,
            SYS_quotactl_fd,
            SYS_settimeofday,
            SYS_clock_settime,
            SYS_vhangup,
        ],
        when: When::Always,
        refusal: NotPermitted,
        reason: "administers the host",
    },
    Rule {
        calls: calls![SYS_sethostname, SYS_setdomainname],
        when: When::Always,
        refusal: NotPermitted,
        reason: "the name of the sandbox is given by its creator, who finds it again by it",
    },
    Rule {
        calls: calls![SYS_syslog],
        when: When::Always,
        refusal: NotPermitted,
        reason: "the kernel log tells of other sandboxes and of kernel addresses",
    },
    Rule {
        calls: calls![SYS_bpf, SYS_perf_event_open],
        when: When::Always,
        refusal: NotPermitted,
        reason: "large and often the way to a kernel bug; profilers and systemd take EPERM \
                 as being unprivileged and use timers or nothing",
    },
    Rule {
        calls: calls![SYS_fanotify_init, SYS_fanotify_mark],
        when: When::Always,
        refusal: NotPermitted,
        reason: "made for scanners that watch or hold up every file access of a host; watchers of a \
                 directory fall back to inotify",
    },
    Rule {
        calls: calls![SYS_kcmp],
        when: When::Always,
        refusal: NotPermitted,
        reason: "compares kernel pointers of two processes; graphics drivers do without it",
    },
    Rule {
        calls: calls![SYS_migrate_pages, SYS_move_pages],
        when: When::Always,
        refusal: NotPermitted,
        reason: "moves memory of running processes, costly for the neighbours; placing one's \
                 own memory stays possible with mbind",
    },
    Rule {
        calls: calls![SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register],
        when: When::Always,
        refusal: NotImplemented,
        reason: "does the work of other calls unseen by this filter, and is a large source of \
                 kernel bugs; libuv and others fall back to epoll on ENOSYS",
    },
    Rule {
        calls: calls![SYS_io_setup],
        when: When::Always,
        refusal: NotImplemented,
        reason: "requests of asynchronous I/O are counted for the whole machine (fs.aio-max-nr): one \
                 sandbox could leave none for the host; databases use threads instead on ENOSYS",
    },
    Rule {
        calls: calls![SYS_userfaultfd],
        when: When::Always,
        refusal: NotImplemented,
        reason: "lets an exploit stop the kernel at a page of its choice; the few users treat \
                 ENOSYS as a kernel built without it",
    },
    Rule {
        calls: calls![SYS_add_key, SYS_request_key, SYS_keyctl],
        when: When::Always,
        refusal: NotImplemented,
        reason: "keyrings belong to a user, not to a sandbox, and request_key starts a program \
                 on the host; systemd and kerberos go without keyrings on ENOSYS",
    },
    Rule {
        calls: calls![SYS_lookup_dcookie, SYS_nfsservctl],
        when: When::Always,
        refusal: NotImplemented,
        reason: "gone from current kernels",
    },
    #[cfg(target_arch = "x86_64")]
    Rule {
        calls: calls![
            SYS_uselib,
            SYS_ustat,
            SYS_sysfs,
            SYS__sysctl,
            SYS_getpmsg,
            SYS_putpmsg,
            SYS_afs_syscall,
            SYS_tuxcall,
            SYS_security,
            SYS_vserver,
        ],
        when: When::Always,
        refusal: NotImplemented,
        reason: "obsolete or never implemented; no maintained program calls them",
    },
    #[cfg(target_arch = "x86_64")]
    Rule {
        calls: calls![SYS_modify_ldt],
        when: When::Always,
        refusal: NotImplemented,
        reason: "only 16-bit and 32-bit code needs segments, and i386 calls are refused as a \
                 whole; ENOSYS is the answer of a kernel built without it",
    },
    #[cfg(target_arch = "x86_64")]
    Rule {
        calls: calls![SYS_iopl, SYS_ioperm],
        when: When::Always,
        refusal: NotPermitted,
        reason: "opens hardware ports to a process",
    },
];
