//! Signals of this process: masks and dispositions.

use std::io;

use super::{check, check_int};

extern "C" fn noticed(_signal: libc::c_int) {}

/// Blocks `SIGCHLD` and gives it a handler that does nothing, so that it interrupts `ppoll` and nothing else.
pub fn hold_child_signal() -> io::Result<()> {
    // SAFETY: an all-zero sigaction is valid; its handler is set below to a function that touches nothing.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = noticed as *const () as libc::sighandler_t;
    // SAFETY: `action` lives through the call; no old action is asked for.
    check_int(unsafe { libc::sigaction(libc::SIGCHLD, &raw const action, std::ptr::null_mut()) })?;
    change_mask(libc::SIG_BLOCK, &[libc::SIGCHLD])
}

/// A mask that lets one signal through.
pub(super) fn all_but(signal: libc::c_int) -> libc::sigset_t {
    // SAFETY: an all-zero sigset_t is the empty set on Linux.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is valid.
    unsafe { libc::sigfillset(&raw mut set) };
    // SAFETY: `set` is valid, and so is the number.
    unsafe { libc::sigdelset(&raw mut set, signal) };
    set
}

/// Waits for one of these signals, which must be blocked, and takes it. May return without one.
pub fn take(signals: &[libc::c_int]) -> io::Result<()> {
    // SAFETY: an all-zero sigset_t is the empty set on Linux.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    for &signal in signals {
        // SAFETY: `set` is valid.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    // SAFETY: `set` lives through the call; no details are asked for.
    match check_int(unsafe { libc::sigwaitinfo(&raw const set, std::ptr::null_mut()) }) {
        // A stop and a continuation interrupt it (signal(7)).
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        other => other.map(drop),
    }
}

/// Lets every signal through again. Async-signal-safe.
pub fn unblock_all() -> io::Result<()> {
    change_mask(libc::SIG_SETMASK, &[])
}

/// Blocks every signal that can be blocked.
pub fn block_all() -> io::Result<()> {
    let all: [libc::c_int; 64] = std::array::from_fn(|n| libc::c_int::try_from(n + 1).expect("at most 64"));
    change_mask(libc::SIG_SETMASK, &all)
}

fn change_mask(how: libc::c_int, signals: &[libc::c_int]) -> io::Result<()> {
    // SAFETY: an all-zero sigset_t is the empty set on Linux.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    for &signal in signals {
        // SAFETY: `set` is valid. Two real-time numbers are glibc's own and are refused, which is fine.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    // SAFETY: `set` lives through the call; no old mask is asked for.
    check_int(unsafe { libc::sigprocmask(how, &raw const set, std::ptr::null_mut()) }).map(drop)
}

/// Takes every signal back to its default, whatever the caller of our caller ignored: programs start as at a login.
///
/// The raw call, because glibc keeps two numbers for itself and refuses to touch them.
pub fn reset_all() -> io::Result<()> {
    // struct kernel_sigaction: handler, flags, restorer, mask. All zero is SIG_DFL.
    let default = [0_u64; 4];
    for signal in (1..=64).filter(|signal| ![libc::SIGKILL, libc::SIGSTOP].contains(signal)) {
        // SAFETY: `default` is as large as the kernel's struct on every 64-bit Linux, and lives through the call; no
        // old action is asked for; 8 is the size of its mask.
        check(unsafe {
            libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), std::ptr::null_mut::<u64>(), 8_usize)
        })?;
    }
    Ok(())
}

/// Ignores one signal in this process and, across exec, in what it starts; or takes it back to its default.
pub fn set_ignored(signal: i32, ignored: bool) -> io::Result<()> {
    let handler = if ignored { libc::SIG_IGN } else { libc::SIG_DFL };
    // SAFETY: SIG_IGN and SIG_DFL run no code of ours.
    let old = unsafe { libc::signal(signal, handler) };
    if old == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}
