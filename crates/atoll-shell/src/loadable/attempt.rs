//! Running something from which bash may jump back to its top level.
//!
//! Bash leaves a command early (exit, a fatal error, an interrupt) by a C `longjmp` to `top_level`. Here that place is
//! ours. Rust has no word for a function that returns twice, so the call that does is in assembly: for Rust, `attempt`
//! is a function that returns once, with what happened. Frames that are jumped over must own nothing.

use core::ffi::{c_int, c_void};

unsafe extern "C" {
    fn _setjmp(place: *mut c_void) -> c_int;
}

/// Calls `work(with)`. Returns 0, or the code of the jump that ended it early.
///
/// # Safety
/// `place` is a `jmp_buf` that outlives the call, and nothing jumps to it after the return.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn attempt(
    place: *mut c_void,
    work: unsafe extern "C" fn(*mut c_void),
    with: *mut c_void,
) -> c_int {
    core::arch::naked_asm!(
        "push rbx",
        "push r12",
        "sub rsp, 8",
        "mov rbx, rsi",
        "mov r12, rdx",
        "call qword ptr [rip + {setjmp}@GOTPCREL]",
        "test eax, eax",
        "jnz 2f",
        "mov rdi, r12",
        "call rbx",
        "xor eax, eax",
        "2:",
        "add rsp, 8",
        "pop r12",
        "pop rbx",
        "ret",
        setjmp = sym _setjmp,
    )
}

/// Calls `work(with)`. Returns 0, or the code of the jump that ended it early.
///
/// # Safety
/// `place` is a `jmp_buf` that outlives the call, and nothing jumps to it after the return.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn attempt(
    place: *mut c_void,
    work: unsafe extern "C" fn(*mut c_void),
    with: *mut c_void,
) -> c_int {
    core::arch::naked_asm!(
        "stp x29, x30, [sp, #-32]!",
        "stp x19, x20, [sp, #16]",
        "mov x29, sp",
        "mov x19, x1",
        "mov x20, x2",
        "bl {setjmp}",
        "cbnz w0, 2f",
        "mov x0, x20",
        "blr x19",
        "mov w0, #0",
        "2:",
        "ldp x19, x20, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        "ret",
        setjmp = sym _setjmp,
    )
}
