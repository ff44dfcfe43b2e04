//! The baseline seccomp filter, as data.
//!
//! Owns which system calls a sandboxed process is refused, why, and with
//! which error, and turns that table into one classic BPF program. Must not
//! install anything and must not read the machine it runs on: the launcher
//! carries the bytes to PID 1 of the sandbox, and PID 1 installs them.
//!
//! - [`rules`] (`policy.rs`) is the table and [`allowances`] what was left out
//!   of it, both in the words of `rule.rs`;
//! - `assemble.rs` lays the table out as instructions;
//! - [`Program`] (`bpf.rs`) is the result and its wire form;
//! - `emulate.rs` runs a program in tests, so no test needs a kernel.
//!
//! The filter is a second fence: namespaces, dropped capabilities and limits
//! come first, and everything not in the table is allowed. It exists to keep
//! kernel code that no ordinary program needs out of reach of one that is
//! looking for a kernel bug, so each refusal uses the error with which
//! programs already fall back.
//!
//! The seccompiler crate is not used because it gives one errno per program
//! and does not see x32.

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_endian = "little")))]
compile_error!("the seccomp table is written for little-endian x86_64 and aarch64");

mod allowances;
mod assemble;
mod bpf;
#[cfg(test)]
mod emulate;
mod policy;
mod rule;
#[cfg(test)]
mod tests;

pub use allowances::allowances;
pub use bpf::{Instruction, MAX_INSTRUCTIONS, Program, ProgramError};
pub use policy::rules;
pub use rule::{Allowance, Call, Refusal, Rule, Test, When};

/// The filter every sandbox runs under, for the architecture of this build.
///
/// PID 1 of the sandbox lives under it too, so it has to be installed after
/// the mounts and namespaces are in place.
#[must_use]
pub fn baseline() -> Program {
    assemble::assemble(rules())
}
