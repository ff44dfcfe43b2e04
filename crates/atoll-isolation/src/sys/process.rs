//! Making, executing and reaping processes.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use super::{check, check_int, fd};

/// clone3(2): the child is born in the cgroup given. (The constant of the same name in `libc` has lost its upper half.)
pub(super) const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// What a cloned process turned out to be.
#[derive(Debug)]
pub enum Cloned {
    /// In the new process.
    Child,
    /// In the caller: the child's pid as seen here, and its pidfd.
    Parent(u32, OwnedFd),
}

/// `clone3` with a copied address space (as `fork`), into new namespaces and a cgroup in one step.
///
/// In the child of a threaded process only the other functions of this module's parent may be called, and none
/// of them allocates: a lock of the allocator may be held by a thread that does not exist there.
pub fn clone_into(namespaces: u64, cgroup: Option<BorrowedFd<'_>>) -> io::Result<Cloned> {
    let mut pidfd: RawFd = -1;
    let mut flags = namespaces | u64::try_from(libc::CLONE_PIDFD).expect("a positive constant");
    let mut target = 0;
    if let Some(cgroup) = cgroup {
        flags |= CLONE_INTO_CGROUP;
        target = u64::try_from(cgroup.as_raw_fd()).map_err(|_| io::Error::from_raw_os_error(libc::EBADF))?;
    }
    let arguments = clone_args(flags, &raw mut pidfd, target);
    // SAFETY: `arguments` lives through the call; no stack and no CLONE_VM, so the child runs on its own copy of ours.
    let pid = check(unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<libc::clone_args>()) })?;
    match u32::try_from(pid) {
        Ok(0) => Ok(Cloned::Child),
        Ok(pid) => Ok(Cloned::Parent(pid, fd::owned(pidfd)?)),
        Err(_) => Err(io::Error::from_raw_os_error(libc::EIO)),
    }
}

pub(super) fn clone_args(flags: u64, pidfd: *mut RawFd, cgroup: u64) -> libc::clone_args {
    libc::clone_args {
        flags,
        pidfd: pidfd as u64,
        child_tid: 0,
        parent_tid: 0,
        exit_signal: u64::try_from(libc::SIGCHLD).expect("a positive constant"),
        stack: 0,
        stack_size: 0,
        tls: 0,
        set_tid: 0,
        set_tid_size: 0,
        cgroup,
    }
}

/// A null-terminated array of C strings, made before a clone so that the child need not allocate.
#[derive(Debug)]
pub struct StringArray {
    _strings: Vec<CString>,
    pointers: Vec<*const libc::c_char>,
}

impl StringArray {
    /// Copies the strings. `EINVAL` if one holds a NUL.
    pub fn new<S: AsRef<[u8]>>(strings: &[S]) -> io::Result<Self> {
        let strings: Vec<CString> = strings.iter().map(|s| super::c_string(s.as_ref())).collect::<Result<_, _>>()?;
        let pointers = strings.iter().map(|s| s.as_ptr()).chain(std::iter::once(std::ptr::null())).collect();
        Ok(Self { _strings: strings, pointers })
    }

    pub(super) fn as_ptr(&self) -> *const *const libc::c_char {
        self.pointers.as_ptr()
    }
}

/// Replaces this process by the program in an open file. Returns only on failure.
pub fn execute_fd(program: BorrowedFd<'_>, argv: &StringArray, env: &StringArray) -> io::Error {
    // SAFETY: both arrays are null-terminated and live as long as this process image.
    unsafe {
        libc::syscall(
            libc::SYS_execveat,
            program.as_raw_fd(),
            c"".as_ptr(),
            argv.as_ptr(),
            env.as_ptr(),
            libc::AT_EMPTY_PATH,
        )
    };
    io::Error::last_os_error()
}

/// Replaces this process by the program at `path`. Returns only on failure.
pub fn execute(path: &CStr, argv: &StringArray, env: &StringArray) -> io::Error {
    // SAFETY: `path` is NUL-terminated; both arrays are null-terminated and live as long as this process image.
    unsafe { libc::execve(path.as_ptr(), argv.as_ptr(), env.as_ptr()) };
    io::Error::last_os_error()
}

/// Ends this process at once, running nothing. For cloned children that did not get to exec.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: ends the process; nothing of it is used afterwards.
    unsafe { libc::_exit(code) }
}

/// `fork`. Only where no other thread is at work (init, keeper): the child may then do whatever it likes.
pub fn fork() -> io::Result<Option<u32>> {
    // SAFETY: no other thread is at work, by contract, so the child's copy of every lock that it may want is free.
    let pid = check_int(unsafe { libc::fork() })?;
    Ok(u32::try_from(pid).ok().filter(|pid| *pid != 0))
}

/// A new session without a controlling terminal.
pub fn new_session() -> io::Result<()> {
    // SAFETY: no arguments.
    check_int(unsafe { libc::setsid() }).map(drop)
}

/// What a process used, as `wait4` tells it: its own and that of the children it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Microseconds in user mode.
    pub user_us: u64,
    /// Microseconds in the kernel.
    pub system_us: u64,
    /// Largest resident set, in bytes.
    pub max_rss_bytes: u64,
}

/// A child that has ended and was reaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reaped {
    /// Its pid in this namespace.
    pub pid: u32,
    /// The raw wait status.
    pub status: i32,
    /// What it used.
    pub usage: Usage,
}

/// A child that was stopped since this was asked last.
pub fn stopped_child() -> Option<u32> {
    // SAFETY: an all-zero siginfo_t is valid; the kernel leaves it so if there is nothing to tell.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = libc::WSTOPPED | libc::WNOHANG | libc::__WALL;
    // SAFETY: `info` is valid for the call.
    check_int(unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, options) }).ok()?;
    // SAFETY: waitid has filled in the fields that belong to a child, or left zeros.
    let pid = unsafe { info.si_pid() };
    u32::try_from(pid).ok().filter(|pid| *pid != 0)
}

/// Reaps any ended child. `None` when none has ended (or there is none, if `wait` is not set).
pub fn reap(wait: bool) -> io::Result<Option<Reaped>> {
    let mut status = 0;
    // SAFETY: an all-zero rusage is a valid value of plain integers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let options = if wait { libc::__WALL } else { libc::WNOHANG | libc::__WALL };
    // SAFETY: both out-pointers are valid for the call.
    let pid = check_int(unsafe { libc::wait4(-1, &raw mut status, options, &raw mut usage) })?;
    Ok(u32::try_from(pid).ok().filter(|pid| *pid != 0).map(|pid| Reaped { pid, status, usage: Usage::from(&usage) }))
}

impl From<&libc::rusage> for Usage {
    fn from(raw: &libc::rusage) -> Self {
        let micros = |time: libc::timeval| {
            u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_usec).unwrap_or(0)
        };
        Self {
            user_us: micros(raw.ru_utime),
            system_us: micros(raw.ru_stime),
            max_rss_bytes: u64::try_from(raw.ru_maxrss).unwrap_or(0) * 1024,
        }
    }
}

/// Sends a signal to one process by number.
pub fn kill(pid: u32, signal: i32) -> io::Result<()> {
    let pid = libc::pid_t::try_from(pid).map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?;
    // SAFETY: plain integers; pid is positive, so never a group or everybody.
    check_int(unsafe { libc::kill(pid, signal) }).map(drop)
}

/// Detaches this process from the cgroup namespace it came from: its present cgroup becomes the root it sees.
pub fn unshare_cgroup() -> io::Result<()> {
    // SAFETY: plain integer.
    check_int(unsafe { libc::unshare(libc::CLONE_NEWCGROUP) }).map(drop)
}

/// Names the machine in the current UTS namespace.
pub fn set_hostname(name: &[u8]) -> io::Result<()> {
    // SAFETY: pointer and length describe the same slice.
    check_int(unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) }).map(drop)
}

/// Gives the process the name that `ps` shows.
pub fn set_name(name: &CStr) -> io::Result<()> {
    // SAFETY: NUL-terminated; the kernel copies at most 16 bytes.
    check_int(unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr(), 0, 0, 0) }).map(drop)
}

/// On how many CPUs this process may run. The kernel's word alone: the standard library would also read files of a
/// cgroup file system, which in a sandbox may be anybody's.
pub fn cpus() -> usize {
    // SAFETY: an all-zero cpu_set_t is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is writable and as large as announced; pid 0 is this process.
    let known = check_int(unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) });
    // SAFETY: `set` is valid.
    let count = known.map_or(0, |_| unsafe { libc::CPU_COUNT(&set) });
    usize::try_from(count).unwrap_or(1).max(1)
}

/// Waits for the one child behind a pidfd and reaps it.
pub fn wait_pidfd(pidfd: BorrowedFd<'_>) -> io::Result<()> {
    let id = libc::id_t::try_from(pidfd.as_raw_fd()).map_err(|_| io::Error::from_raw_os_error(libc::EBADF))?;
    // SAFETY: an all-zero siginfo_t is valid and only written by the kernel.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: `info` is writable for the call.
    check_int(unsafe { libc::waitid(libc::P_PIDFD, id, &raw mut info, libc::WEXITED | libc::__WALL) }).map(drop)
}

/// Whether the child behind a pidfd has ended and was reaped.
pub fn is_reaped(pidfd: BorrowedFd<'_>) -> bool {
    let Ok(id) = libc::id_t::try_from(pidfd.as_raw_fd()) else { return false };
    // SAFETY: an all-zero siginfo_t is valid and only written by the kernel.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: `info` is writable for the call.
    let looked = check_int(unsafe { libc::waitid(libc::P_PIDFD, id, &raw mut info, options) });
    looked.is_err_and(|error| error.raw_os_error() == Some(libc::ECHILD))
}

/// Waits for the end of a child, and reaps it.
pub fn wait_exactly(pid: u32) -> io::Result<()> {
    let pid = libc::pid_t::try_from(pid).map_err(|_| io::Error::from_raw_os_error(libc::ECHILD))?;
    // SAFETY: no status is asked for; the rest are integers.
    check_int(unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::__WALL) }).map(drop)
}

/// Makes the terminal behind `fd` the controlling terminal of this new session.
pub fn take_terminal(fd: RawFd) -> io::Result<()> {
    // SAFETY: plain integers; 0 means "do not steal it from another session".
    check_int(unsafe { libc::ioctl(fd, libc::TIOCSCTTY, 0) }).map(drop)
}

/// Sends a signal through a pidfd: never to a process that only has the same number.
pub fn signal_pidfd(pidfd: BorrowedFd<'_>, signal: i32) -> io::Result<()> {
    // SAFETY: no siginfo is passed; the rest are integers.
    check(unsafe {
        libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal, std::ptr::null::<libc::siginfo_t>(), 0)
    })
    .map(drop)
}

/// A descriptor for a process by its number.
pub fn open_pidfd(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: plain integers.
    let fd = check(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?;
    fd::owned(RawFd::try_from(fd).map_err(|_| io::Error::from_raw_os_error(libc::EBADF))?)
}

/// Sends a signal to the process group that a process leads. Nothing if it leads none.
pub fn signal_group(leader: u32, signal: i32) -> io::Result<()> {
    let leader = libc::pid_t::try_from(leader).map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?;
    // SAFETY: plain integers.
    check_int(unsafe { libc::killpg(leader, signal) }).map(drop)
}

/// The pid, here, of the process that a pidfd means. `None` if it was reaped.
pub fn pid_of(pidfd: BorrowedFd<'_>) -> io::Result<Option<u32>> {
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd()))?;
    let line = info.lines().find_map(|line| line.strip_prefix("Pid:"));
    Ok(line.and_then(|pid| pid.trim().parse().ok()))
}

/// The number of a process in the innermost PID namespace that it is in, given its number here.
pub fn innermost_pid(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_whitespace().next_back()?.parse().ok()
}
