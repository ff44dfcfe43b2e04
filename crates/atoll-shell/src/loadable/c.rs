//! What we use of the C library that bash brings with it: declarations, and thin calls that hide the pointers.
//!
//! Declared by hand: the object must load into any bash, whatever C library it was built with, so it links to none.

use core::ffi::{c_char, c_int, c_long, c_uint, c_void};
use core::mem::{size_of, zeroed};

use crate::message;

/// A descriptor.
pub(super) type Fd = c_int;

const AF_UNIX: u16 = 1;
const SOCK_SEQPACKET: c_int = 5;
const SOCK_CLOEXEC: c_int = 0o2_000_000;
const PROT_READ: c_int = 1;
const PROT_WRITE: c_int = 2;
const MAP_SHARED: c_int = 1;
const MADV_DONTFORK: c_int = 10;
const SOL_SOCKET: c_int = 1;
const SCM_RIGHTS: c_int = 1;
const F_DUPFD_CLOEXEC: c_int = 1030;
const F_GETFD: c_int = 1;
const F_SETFD: c_int = 2;
const F_GETFL: c_int = 3;
const FD_CLOEXEC: c_int = 1;
const O_ACCMODE: c_int = 3;
const O_WRONLY: c_int = 1;
const O_APPEND: c_int = 0o2000;
const O_CLOEXEC: c_int = 0o2_000_000;
const O_DIRECTORY: c_int = if cfg!(target_arch = "aarch64") { 0o40_000 } else { 0o200_000 };
const O_PATH: c_int = 0o10_000_000;
const PR_SET_CHILD_SUBREAPER: c_int = 36;
const POLLNVAL: i16 = 0x20;
const P_ALL: c_int = 0;
const WAIT_LOOK: c_int = 1 | 4 | 0x0100_0000; // WNOHANG | WEXITED | WNOWAIT
const EINTR: c_int = 4;
const ECHILD: c_int = 10;
const RLIMIT_NOFILE: c_int = 7;

#[repr(C)]
struct SockaddrUn {
    family: u16,
    path: [u8; 108],
}

#[repr(C)]
struct Iovec {
    base: *mut c_void,
    length: usize,
}

#[repr(C)]
struct Msghdr {
    name: *mut c_void,
    name_length: c_uint,
    parts: *mut Iovec,
    // Some C libraries have an int and padding here; on little-endian machines that is the same.
    part_count: usize,
    control: *mut c_void,
    control_length: usize,
    flags: c_int,
}

#[repr(C)]
struct Pollfd {
    fd: Fd,
    events: i16,
    revents: i16,
}

/// A soft and a hard limit.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Rlimit {
    pub(super) soft: u64,
    pub(super) hard: u64,
}

#[repr(C)]
struct Rusage {
    user: [i64; 2],
    system: [i64; 2],
    rest: [i64; 30],
}

// The kernel's own layout, since we ask it directly: fields up to the inode's number are all we read.
#[repr(C)]
struct Stat {
    device: u64,
    inode: u64,
    rest: [u64; 30],
}

unsafe extern "C" {
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> Fd;
    fn connect(socket: Fd, address: *const SockaddrUn, length: c_uint) -> c_int;
    fn recvmsg(socket: Fd, message: *mut Msghdr, flags: c_int) -> isize;
    fn read(fd: Fd, bytes: *mut c_void, length: usize) -> isize;
    fn write(fd: Fd, bytes: *const c_void, length: usize) -> isize;
    fn mmap(at: *mut c_void, length: usize, protection: c_int, flags: c_int, fd: Fd, offset: i64) -> *mut c_void;
    fn madvise(at: *mut c_void, length: usize, advice: c_int) -> c_int;
    fn open(path: *const c_char, flags: c_int, ...) -> Fd;
    fn fcntl(fd: Fd, operation: c_int, ...) -> c_int;
    fn dup3(from: Fd, to: Fd, flags: c_int) -> Fd;
    fn poll(fds: *mut Pollfd, count: usize, timeout: c_int) -> c_int;
    fn chdir(path: *const c_char) -> c_int;
    fn fchdir(fd: Fd) -> c_int;
    fn waitid(kind: c_int, id: c_uint, info: *mut c_void, options: c_int) -> c_int;
    fn prctl(operation: c_int, ...) -> c_int;
    fn getrlimit(resource: c_int, limit: *mut Rlimit) -> c_int;
    fn getrusage(who: c_int, usage: *mut Rusage) -> c_int;
    fn __errno_location() -> *mut c_int;
    fn __fpurge(stream: *mut c_void);
    static stdout: *mut c_void;
    fn syscall(number: c_long, ...) -> c_long;
    #[link_name = "close"]
    fn c_close(fd: Fd) -> c_int;
    #[link_name = "umask"]
    fn c_umask(mask: c_uint) -> c_uint;
    #[link_name = "getpid"]
    fn c_getpid() -> c_int;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn _exit(code: c_int) -> !;
}

/// The last OS error.
pub(super) fn errno() -> c_int {
    // SAFETY: the C library gives a valid place for this thread.
    unsafe { *__errno_location() }
}

/// Ends the process, now.
pub(super) fn exit_now(code: c_int) -> ! {
    // SAFETY: ends the process.
    unsafe { _exit(code) }
}

/// This process.
pub(super) fn pid() -> c_int {
    // SAFETY: no arguments.
    unsafe { c_getpid() }
}

/// Drops what was printed but not yet written.
pub(super) fn forget_unwritten() {
    // SAFETY: the C library's own stream, from the only thread.
    unsafe { __fpurge(stdout) };
}

/// Closes, whatever it was.
pub(super) fn close(fd: Fd) {
    // SAFETY: a number; closing one that is not open does nothing.
    unsafe { c_close(fd) };
}

/// Maps the memory that the agent reads reports from, and closes its descriptor. Children do not get the mapping, and
/// neither does a program that is executed in the place of this one: that is how the agent tells them apart.
pub(super) fn map_page() -> Option<&'static mut [u8]> {
    let length = message::PAGE_SIZE;
    // SAFETY: a new mapping, wherever the kernel puts it.
    let memory = unsafe { mmap(core::ptr::null_mut(), length, PROT_READ | PROT_WRITE, MAP_SHARED, message::PAGE, 0) };
    close(message::PAGE);
    // SAFETY: the mapping that was just made, if it was.
    if memory.addr() == usize::MAX || unsafe { madvise(memory, length, MADV_DONTFORK) } != 0 {
        return None;
    }
    // SAFETY: mapped for good, for this alone; what the agent reads of it meanwhile is its own business.
    Some(unsafe { core::slice::from_raw_parts_mut(memory.cast(), length) })
}

/// Connects to the agent's listener of this (abstract) name. Nothing else of ours is open then.
pub(super) fn connect_to(name: &[u8]) -> Option<Fd> {
    let mut address = SockaddrUn { family: AF_UNIX, path: [0; 108] };
    address.path.get_mut(1..=name.len())?.copy_from_slice(name);
    let length = c_uint::try_from(size_of::<u16>() + 1 + name.len()).ok()?;
    // SAFETY: plain numbers.
    let socket = unsafe { socket(c_int::from(AF_UNIX), SOCK_SEQPACKET | SOCK_CLOEXEC, 0) };
    if socket < 0 {
        return None;
    }
    loop {
        // SAFETY: the address lives, and has at least this length.
        if unsafe { connect(socket, &raw const address, length) } == 0 {
            return Some(socket);
        }
        if errno() != EINTR {
            close(socket);
            return None;
        }
    }
}

/// Descriptors that came with a message.
#[derive(Clone, Copy)]
pub(super) struct Passed {
    fds: [Fd; Self::MOST],
    count: usize,
}

impl Passed {
    /// Three standard descriptors and a payload.
    const MOST: usize = 4;

    pub(super) fn as_slice(&self) -> &[Fd] {
        &self.fds[..self.count]
    }
}

#[repr(C)]
struct Control {
    length: usize,
    level: c_int,
    kind: c_int,
    fds: [Fd; Passed::MOST],
}

/// What a wait for a message came to.
pub(super) enum Received {
    Message(usize, Passed),
    Interrupted,
    Gone,
}

/// Waits for one message.
pub(super) fn receive(fd: Fd, bytes: &mut [u8]) -> Received {
    let mut part = Iovec { base: bytes.as_mut_ptr().cast(), length: bytes.len() };
    let mut control = Control { length: 0, level: 0, kind: 0, fds: [-1; Passed::MOST] };
    let mut message = Msghdr {
        name: core::ptr::null_mut(),
        name_length: 0,
        parts: &raw mut part,
        part_count: 1,
        control: (&raw mut control).cast(),
        control_length: size_of::<Control>(),
        flags: 0,
    };
    // Not close-on-exec: they become standard descriptors or are closed, and nothing is executed before that.
    // SAFETY: every pointer in the message is to a live local of the length given beside it.
    let count = unsafe { recvmsg(fd, &raw mut message, 0) };
    match usize::try_from(count) {
        Ok(0) => Received::Gone,
        Ok(count) => Received::Message(count, passed(&message, &control)),
        Err(_) if errno() == EINTR => Received::Interrupted,
        Err(_) => Received::Gone,
    }
}

fn passed(message: &Msghdr, control: &Control) -> Passed {
    let head = core::mem::offset_of!(Control, fds);
    let ours = message.control_length >= head && control.level == SOL_SOCKET && control.kind == SCM_RIGHTS;
    let count = if ours { control.length.saturating_sub(head) / size_of::<Fd>() } else { 0 };
    Passed { fds: control.fds, count: count.min(Passed::MOST) }
}

/// Reads until the slice is full.
pub(super) fn read_exactly(fd: Fd, bytes: &mut [u8]) -> bool {
    let mut at = 0;
    while at < bytes.len() {
        // SAFETY: the rest of the slice is valid for its length.
        let count = unsafe { read(fd, bytes[at..].as_mut_ptr().cast(), bytes.len() - at) };
        match usize::try_from(count) {
            Ok(0) => return false,
            Ok(count) => at += count,
            Err(_) if errno() == EINTR => {}
            Err(_) => return false,
        }
    }
    true
}

/// Writes all of it; `false` if nobody reads.
pub(super) fn write_all(fd: Fd, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        // SAFETY: the slice is valid for its length.
        let count = unsafe { write(fd, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(count) {
            Ok(count) => bytes = &bytes[count..],
            Err(_) if errno() == EINTR => {}
            Err(_) => return false,
        }
    }
    true
}

/// What a descriptor refers to. The way it was opened is part of it: `>/dev/null` is not `</dev/null`, and that one is
/// not the one that commands without input are given, which is marked by a flag that means nothing for reading.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    access: c_int,
}

/// `None` if it is not open.
pub(super) fn identity(fd: Fd) -> Option<Identity> {
    const FSTAT: c_long = if cfg!(target_arch = "aarch64") { 80 } else { 5 };
    // SAFETY: plain numbers; the kernel fills them.
    let mut stat: Stat = unsafe { zeroed() };
    // SAFETY: the structure is larger than what the kernel writes.
    if unsafe { syscall(FSTAT, fd, &raw mut stat) } != 0 {
        return None;
    }
    // SAFETY: plain numbers.
    let access = unsafe { fcntl(fd, F_GETFL) } & (O_ACCMODE | O_APPEND);
    Some(Identity { device: stat.device, inode: stat.inode, access })
}

/// Whether it is closed on exec.
pub(super) fn closes_on_exec(fd: Fd) -> bool {
    // SAFETY: plain numbers.
    unsafe { fcntl(fd, F_GETFD) & FD_CLOEXEC != 0 }
}

/// Has it closed on exec.
pub(super) fn close_on_exec(fd: Fd) {
    // SAFETY: plain numbers.
    unsafe { fcntl(fd, F_SETFD, FD_CLOEXEC) };
}

/// Another number for the same: the lowest that is free.
pub(super) fn duplicate(fd: Fd) -> Fd {
    duplicate_above(fd, 0)
}

/// Another number for the same, at or above `from`.
fn duplicate_above(fd: Fd, from: Fd) -> Fd {
    // SAFETY: plain numbers.
    unsafe { fcntl(fd, F_DUPFD_CLOEXEC, from) }
}

/// Makes `to` mean what `from` means. They must differ.
pub(super) fn duplicate_onto(from: Fd, to: Fd, close_on_exec: bool) {
    // SAFETY: plain numbers.
    unsafe { dup3(from, to, if close_on_exec { O_CLOEXEC } else { 0 }) };
}

/// How many descriptors are looked at. What a user puts above that keeps meaning what it meant.
pub(super) const LOOKED_AT: usize = 256;

/// Calls `found` for each open descriptor, in order.
pub(super) fn each_open(mut found: impl FnMut(Fd)) {
    // More than the limit would be refused.
    let count = limit(RLIMIT_NOFILE).map_or(LOOKED_AT, |limit| usize::try_from(limit.soft).unwrap_or(LOOKED_AT));
    let count = count.min(LOOKED_AT);
    let mut fds = [const { Pollfd { fd: 0, events: 0, revents: 0 } }; LOOKED_AT];
    for (entry, fd) in fds.iter_mut().zip(0..) {
        entry.fd = fd;
    }
    // SAFETY: `count` is at most the length of the array.
    unsafe { poll(fds.as_mut_ptr(), count, 0) };
    fds[..count].iter().filter(|entry| entry.revents & POLLNVAL == 0).for_each(|entry| found(entry.fd));
}

/// Where what is written goes nowhere; never one of the standard three.
pub(super) fn open_nowhere() -> Option<Fd> {
    // SAFETY: a C string.
    let fd = unsafe { open(c"/dev/null".as_ptr(), O_WRONLY | O_CLOEXEC) };
    if !(0..3).contains(&fd) {
        return (fd >= 0).then_some(fd);
    }
    let above = duplicate_above(fd, 3);
    close(fd);
    (above >= 0).then_some(above)
}

/// A directory by descriptor, out of the way of the user's own numbers.
pub(super) fn open_here() -> Option<Fd> {
    // SAFETY: a C string.
    let fd = unsafe { open(c".".as_ptr(), O_PATH | O_DIRECTORY | O_CLOEXEC) };
    if fd < 0 {
        return None;
    }
    let high = duplicate_above(fd, 200);
    close(fd);
    (high >= 0).then_some(high)
}

/// Enters a directory.
///
/// # Safety
/// `path` is a C string.
pub(super) unsafe fn enter(path: *const c_char) -> Result<(), c_int> {
    // SAFETY: promised by the caller.
    if unsafe { chdir(path) } == 0 { Ok(()) } else { Err(errno()) }
}

/// Enters an open directory.
pub(super) fn enter_open(fd: Fd) -> bool {
    // SAFETY: a number.
    unsafe { fchdir(fd) == 0 }
}

/// Whether no child is left, not even a dead one.
pub(super) fn is_alone() -> bool {
    let mut info = [0_u64; 16];
    // SAFETY: siginfo_t has 128 bytes.
    unsafe { waitid(P_ALL, 0, info.as_mut_ptr().cast(), WAIT_LOOK) < 0 && errno() == ECHILD }
}

/// From now on, orphans below this process come to it.
pub(super) fn adopt_orphans() {
    // SAFETY: plain numbers.
    unsafe { prctl(PR_SET_CHILD_SUBREAPER, 1_u64, 0_u64, 0_u64, 0_u64) };
}

/// The file creation mask.
pub(super) fn file_mask() -> c_uint {
    // SAFETY: plain numbers; put back at once, and this process has one thread.
    unsafe {
        let mask = c_umask(0o22);
        c_umask(mask);
        mask
    }
}

/// What this process and the children that it has waited for have used, in user code and in the kernel, in
/// microseconds.
pub(super) fn cpu_time() -> (u64, u64) {
    const RUSAGE_SELF: c_int = 0;
    const RUSAGE_CHILDREN: c_int = -1;
    let micros = |[seconds, micros]: [i64; 2]| (seconds * 1_000_000 + micros).unsigned_abs();
    [RUSAGE_SELF, RUSAGE_CHILDREN].iter().fold((0, 0), |(user, system), who| {
        let mut usage = Rusage { user: [0; 2], system: [0; 2], rest: [0; 30] };
        // SAFETY: the structure is larger than what is filled.
        unsafe { getrusage(*who, &raw mut usage) };
        (user + micros(usage.user), system + micros(usage.system))
    })
}

/// A resource limit.
pub(super) fn limit(resource: c_int) -> Option<Rlimit> {
    let mut limit = Rlimit { soft: 0, hard: 0 };
    // SAFETY: the structure is the one that is filled.
    (unsafe { getrlimit(resource, &raw mut limit) } == 0).then_some(limit)
}

/// Runs `work` with all signals held back.
pub(super) fn hold_signals(work: impl FnOnce()) {
    const RT_SIGPROCMASK: c_long = if cfg!(target_arch = "aarch64") { 135 } else { 14 };
    const SIG_SETMASK: c_int = 2;
    let all = u64::MAX;
    let mut before = 0_u64;
    // SAFETY: the kernel's masks have 8 bytes.
    unsafe { syscall(RT_SIGPROCMASK, SIG_SETMASK, &raw const all, &raw mut before, 8_usize) };
    work();
    let none: *mut c_void = core::ptr::null_mut();
    // SAFETY: as above.
    unsafe { syscall(RT_SIGPROCMASK, SIG_SETMASK, &raw const before, none, 8_usize) };
}

/// Ends this process as the signal would, when the handler that calls this returns.
pub(super) fn die_of(signal: c_int) {
    catch(signal, None);
    // SAFETY: plain numbers.
    unsafe { kill(c_getpid(), signal) };
}

/// The kernel's sigaction, for signals that the C library keeps for itself too. Without a handler: the default.
pub(super) fn catch(signal: c_int, handler: Option<extern "C" fn(c_int)>) {
    const RT_SIGACTION: c_long = if cfg!(target_arch = "aarch64") { 134 } else { 13 };
    const SA_RESTORER: u64 = 0x0400_0000;
    #[repr(C)]
    struct Action {
        handler: Option<extern "C" fn(c_int)>,
        flags: u64,
        #[cfg(target_arch = "x86_64")]
        restorer: unsafe extern "C" fn(),
        mask: u64,
    }
    let action = Action {
        handler,
        flags: if cfg!(target_arch = "x86_64") { SA_RESTORER } else { 0 },
        #[cfg(target_arch = "x86_64")]
        restorer: return_from_signal,
        mask: 0,
    };
    let none: *mut c_void = core::ptr::null_mut();
    // SAFETY: the structure is the kernel's; 8 is the size of its mask.
    unsafe { syscall(RT_SIGACTION, signal, &raw const action, none, 8_usize) };
}

/// Where a handler returns to on this machine: it asks the kernel to go on where it was.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn return_from_signal() {
    core::arch::naked_asm!("mov eax, 15", "syscall")
}

const _: () = assert!(message::GIVE_UP > 31, "must be one that bash cannot trap");
