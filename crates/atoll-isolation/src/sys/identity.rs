//! Who a process is: ids, groups, capabilities, privileges, limits, filters.

use std::io;

use super::{check, check_int};

/// Real, effective and saved user id at once.
pub fn set_user(uid: u32) -> io::Result<()> {
    // SAFETY: plain integers. The raw call, because glibc's wrapper would signal threads we do not have.
    check(unsafe { libc::syscall(libc::SYS_setresuid, uid, uid, uid) }).map(drop)
}

/// Real, effective and saved group id at once.
pub fn set_group(gid: u32) -> io::Result<()> {
    // SAFETY: plain integers; raw for the same reason as `set_user`.
    check(unsafe { libc::syscall(libc::SYS_setresgid, gid, gid, gid) }).map(drop)
}

/// Replaces the supplementary groups.
pub fn set_groups(groups: &[u32]) -> io::Result<()> {
    // SAFETY: pointer and length describe the same slice.
    check(unsafe { libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()) }).map(drop)
}

/// The effective user id of this process.
pub fn user() -> u32 {
    // SAFETY: cannot fail, touches no memory.
    unsafe { libc::geteuid() }
}

/// The effective group id of this process.
pub fn group() -> u32 {
    // SAFETY: cannot fail, touches no memory.
    unsafe { libc::getegid() }
}

/// No program started from here on gains privileges by set-uid bits or file capabilities.
pub fn no_new_privileges() -> io::Result<()> {
    // SAFETY: plain integers.
    check_int(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }).map(drop)
}

/// Core dumps, ptrace and most of `/proc/PID` are closed to others.
pub fn not_dumpable() -> io::Result<()> {
    // SAFETY: plain integers.
    check_int(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) }).map(drop)
}

/// Orphans below this process come to it instead of to PID 1.
pub fn become_subreaper() -> io::Result<()> {
    // SAFETY: plain integers.
    check_int(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }).map(drop)
}

/// The kernel sends this process a signal when its parent (thread) ends.
pub fn tell_end_of_parent(signal: libc::c_int) -> io::Result<()> {
    // SAFETY: plain integers.
    check_int(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal, 0, 0, 0) }).map(drop)
}

/// Takes one capability out of the bounding set: no program started from here on can have it.
/// `Ok(false)` if this kernel does not know the number.
pub fn drop_bounding(capability: u32) -> io::Result<bool> {
    // SAFETY: plain integers.
    match check_int(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) }) {
        Ok(_) => Ok(true),
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Capabilities of a thread, as bits by their numbers in capabilities(7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// In force.
    pub effective: u64,
    /// What may be put in force.
    pub permitted: u64,
}

/// `_LINUX_CAPABILITY_VERSION_3`: two words of 32 bits for each set.
const CAPABILITY_VERSION: u32 = 0x2008_0522;

#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: libc::c_int,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct CapabilityWord {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// The capabilities of this thread.
pub fn capabilities() -> io::Result<Capabilities> {
    let header = CapabilityHeader { version: CAPABILITY_VERSION, pid: 0 };
    let mut words = [CapabilityWord::default(); 2];
    // SAFETY: the header and both words live through the call; this version fills two words.
    check(unsafe { libc::syscall(libc::SYS_capget, &raw const header, words.as_mut_ptr()) })?;
    let whole = |of: fn(&CapabilityWord) -> u32| u64::from(of(&words[0])) | (u64::from(of(&words[1])) << 32);
    Ok(Capabilities { effective: whole(|word| word.effective), permitted: whole(|word| word.permitted) })
}

/// Replaces the capabilities of this thread; none is inheritable.
#[expect(clippy::cast_possible_truncation, reason = "the two halves of a u64")]
pub fn set_capabilities(set: Capabilities) -> io::Result<()> {
    let header = CapabilityHeader { version: CAPABILITY_VERSION, pid: 0 };
    let word = |shift: u32| CapabilityWord {
        effective: (set.effective >> shift) as u32,
        permitted: (set.permitted >> shift) as u32,
        inheritable: 0,
    };
    let words = [word(0), word(32)];
    // SAFETY: the header and both words live through the call; this version reads two words.
    check(unsafe { libc::syscall(libc::SYS_capset, &raw const header, words.as_ptr()) }).map(drop)
}

/// The effective user and group id of this thread alone; `u32::MAX` leaves one as it is.
pub fn set_effective(uid: u32, gid: u32) -> io::Result<()> {
    const SAME: u32 = u32::MAX;
    // SAFETY: plain integers. The raw calls, because the C library would change every thread.
    check(unsafe { libc::syscall(libc::SYS_setresgid, SAME, gid, SAME) })?;
    // SAFETY: as above.
    check(unsafe { libc::syscall(libc::SYS_setresuid, SAME, uid, SAME) }).map(drop)
}

/// Runs `act` with other effective ids in this thread, and with the capabilities that it has now.
///
/// The kernel makes the whole process undumpable when an effective id changes (prctl(2), `PR_SET_DUMPABLE`); `dumpable` says
/// whether that is undone. If the ids cannot be restored the process is aborted: it must not continue as another user.
pub fn with_effective<T>(ids: (u32, u32), dumpable: bool, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let (own, before) = ((user(), group()), capabilities()?);
    let restore = || {
        set_effective(own.0, own.1)?;
        set_capabilities(before)?;
        if dumpable { self::dumpable() } else { Ok(()) }
    };
    let outcome = set_effective(ids.0, ids.1).and_then(|()| set_capabilities(before)).and_then(|()| act());
    if restore().is_err() {
        std::process::abort();
    }
    outcome
}

/// Whether this process may be traced and dumped by others of its user.
pub fn is_dumpable() -> io::Result<bool> {
    // SAFETY: plain integers.
    check_int(unsafe { libc::prctl(libc::PR_GET_DUMPABLE, 0, 0, 0, 0) }).map(|value| value == 1)
}

/// Undoes [`not_dumpable`].
pub fn dumpable() -> io::Result<()> {
    // SAFETY: plain integers.
    check_int(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) }).map(drop)
}

/// The memory of this process and of all that it starts is never dumped: neither to a file nor to a handler of the host.
/// With a limit of 0 the kernel would still start a handler (core(5), a piped `core_pattern`); 1 stops it.
pub fn no_core_dumps() -> io::Result<()> {
    const RLIMIT_CORE: u32 = 4;
    set_limit(RLIMIT_CORE, 1, 1)
}

/// Sets the soft and hard value of one resource limit.
pub fn set_limit(resource: u32, soft: u64, hard: u64) -> io::Result<()> {
    let limit = libc::rlimit { rlim_cur: soft, rlim_max: hard };
    // SAFETY: `limit` lives through the call; pid 0 is this process; no old value is asked for.
    check(unsafe {
        libc::syscall(libc::SYS_prlimit64, 0, resource, &raw const limit, std::ptr::null_mut::<libc::rlimit>())
    })
    .map(drop)
}

/// The soft and hard value of one resource limit of this process.
pub fn limit(resource: u32) -> io::Result<(u64, u64)> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is writable for the call; pid 0 is this process; no new value is given.
    check(unsafe {
        libc::syscall(libc::SYS_prlimit64, 0, resource, std::ptr::null::<libc::rlimit>(), &raw mut limit)
    })?;
    Ok((limit.rlim_cur, limit.rlim_max))
}

/// Installs a seccomp program (native-endian `sock_filter` records) for this process and all it starts.
pub fn install_filter(program: &[u8]) -> io::Result<()> {
    // The bytes come off a socket, unaligned: copy them into records first.
    let records: Vec<libc::sock_filter> = program
        .chunks_exact(8)
        .map(|record| libc::sock_filter {
            code: u16::from_ne_bytes([record[0], record[1]]),
            jt: record[2],
            jf: record[3],
            k: u32::from_ne_bytes([record[4], record[5], record[6], record[7]]),
        })
        .collect();
    let len = u16::try_from(records.len()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    let program = libc::sock_fprog { len, filter: records.as_ptr().cast_mut() };
    // SAFETY: `program` points at `len` records that live through the call; the kernel copies and checks them.
    check(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) }).map(drop)
}

/// The file mode creation mask.
pub fn set_umask(mask: u32) {
    // SAFETY: cannot fail.
    unsafe { libc::umask(mask) };
}
