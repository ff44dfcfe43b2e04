//! The spawn primitive: a child that borrows our memory until it executes (CLONE_VM | CLONE_VFORK).
//!
//! Nothing is copied, so the cost does not grow with the caller, and what the child finds (an exec error) it can
//! simply write into our memory. The caller sleeps until the child has executed or ended.

use std::arch::asm;
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use super::{fd, process};

/// Room for the child's few frames. It calls system calls only and never recurses.
const STACK: usize = 64 * 1024;

/// The stack that children run on before they execute. One is enough: the parent waits meanwhile.
#[derive(Debug)]
pub struct Stack(Vec<u128>);

impl Stack {
    /// Allocates the stack; a `u128` is as aligned as the ABI wants its top to be.
    pub fn new() -> Self {
        Self(vec![0; STACK / size_of::<u128>()])
    }
}

impl Default for Stack {
    fn default() -> Self {
        Self::new()
    }
}

/// Runs `child` in a new process that shares memory with this one until it executes or ends.
///
/// Returns the child's pid, and its pidfd if wanted, once it has done so. `child` must not return normally on success (it executes
/// a program); whatever it returns ends the child with status 127. It must not allocate, lock or unwind.
pub fn spawn<F: FnMut()>(
    stack: &mut Stack,
    cgroup: Option<BorrowedFd<'_>>,
    want_pidfd: bool,
    child: &mut F,
) -> io::Result<(u32, Option<OwnedFd>)> {
    let mut pidfd: RawFd = -1;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | if want_pidfd { libc::CLONE_PIDFD } else { 0 };
    let mut flags = u64::try_from(flags).expect("positive constants");
    let mut target = 0;
    if let Some(cgroup) = cgroup {
        flags |= process::CLONE_INTO_CGROUP;
        target = u64::try_from(cgroup.as_raw_fd()).map_err(|_| io::Error::from_raw_os_error(libc::EBADF))?;
    }
    let mut arguments = process::clone_args(flags, &raw mut pidfd, target);
    arguments.stack = stack.0.as_mut_ptr() as u64;
    arguments.stack_size = size_of_val(stack.0.as_slice()) as u64;
    // SAFETY: the stack is ours alone and outlives the child's use of it (CLONE_VFORK suspends us until the child
    // has executed or ended); `enter::<F>` gets the pointer to `child`, which lives as long.
    let result = unsafe { clone3_on_stack(&raw const arguments, enter::<F>, std::ptr::from_mut(child).cast()) };
    match u32::try_from(result) {
        Ok(pid) if want_pidfd => Ok((pid, Some(fd::owned(pidfd)?))),
        Ok(pid) => Ok((pid, None)),
        Err(_) => Err(io::Error::from_raw_os_error(i32::try_from(-result).unwrap_or(libc::EIO))),
    }
}

extern "C" fn enter<F: FnMut()>(child: *mut c_void) -> ! {
    // SAFETY: `spawn` passed a pointer to an F that it keeps alive while we run.
    let child = unsafe { &mut *child.cast::<F>() };
    child();
    process::exit_now(127)
}

/// `clone3` whose child starts in `enter(argument)` on the given stack instead of returning here.
///
/// # Safety
/// `arguments` must describe a stack that nothing else uses until the child has executed or ended.
#[cfg(target_arch = "x86_64")]
unsafe fn clone3_on_stack(
    arguments: *const libc::clone_args,
    enter: extern "C" fn(*mut c_void) -> !,
    argument: *mut c_void,
) -> i64 {
    let result: i64;
    // SAFETY: in the parent only rax, rcx and r11 change, as declared. The child gets a fresh stack and calls `enter`,
    // which never returns. rsp is 16-aligned before the call, as the ABI demands.
    unsafe {
        asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r9",
            "call r8",
            "ud2",
            "2:",
            inlateout("rax") libc::SYS_clone3 => result,
            in("rdi") arguments,
            in("rsi") size_of::<libc::clone_args>(),
            in("r8") enter,
            in("r9") argument,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    result
}

/// As above, for aarch64.
///
/// # Safety
/// `arguments` must describe a stack that nothing else uses until the child has executed or ended.
#[cfg(target_arch = "aarch64")]
unsafe fn clone3_on_stack(
    arguments: *const libc::clone_args,
    enter: extern "C" fn(*mut c_void) -> !,
    argument: *mut c_void,
) -> i64 {
    let result: i64;
    // SAFETY: as for x86_64: only x0 changes in the parent, and the child never returns from `enter`.
    unsafe {
        asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x0, x10",
            "blr x9",
            "brk #1",
            "2:",
            in("x8") libc::SYS_clone3,
            inlateout("x0") arguments => result,
            in("x1") size_of::<libc::clone_args>(),
            in("x9") enter,
            in("x10") argument,
        );
    }
    result
}
