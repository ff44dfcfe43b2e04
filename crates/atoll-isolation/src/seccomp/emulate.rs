//! Runs a filter the way the kernel would, without installing it.
//!
//! Owns an interpreter for the instructions our programs use and the checks
//! the kernel makes before it accepts one (`bpf_check_classic`). Test code
//! only; must not grow beyond what the assembler emits, so that an
//! instruction nobody meant to emit is an error here.

use super::assemble::{
    ARCH_OFFSET, ARGUMENTS_OFFSET, JUMP_ANY_BIT, JUMP_AT_LEAST, JUMP_EQUAL, LOAD, NATIVE_ARCH, NUMBER_OFFSET, RETURN,
};
use super::bpf::{Instruction, MAX_INSTRUCTIONS, Program};

/// What a filter sees of a call: `struct seccomp_data`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) number: u32,
    pub(super) arch: u32,
    pub(super) arguments: [u64; 6],
}

impl Entry {
    pub(super) fn native(number: libc::c_long, arguments: [u64; 6]) -> Self {
        let number = u32::try_from(number).unwrap();
        Self { number, arch: NATIVE_ARCH, arguments }
    }

    fn word(&self, offset: u32) -> Result<u32, Fault> {
        match offset {
            NUMBER_OFFSET => Ok(self.number),
            ARCH_OFFSET => Ok(self.arch),
            _ => self.argument_word(offset).ok_or(Fault::Load(offset)),
        }
    }

    /// Both architectures are little-endian: the low half comes first.
    fn argument_word(&self, offset: u32) -> Option<u32> {
        let word = offset.checked_sub(ARGUMENTS_OFFSET)?;
        let argument = self.arguments.get(usize::try_from(word / 8).ok()?)?;
        match word % 8 {
            0 => u32::try_from(argument & 0xffff_ffff).ok(),
            4 => u32::try_from(argument >> 32).ok(),
            _ => None,
        }
    }
}

/// What a filter answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The `SECCOMP_RET_*` word.
    pub(super) action: u32,
    /// Whether the answer depended on more than the call; if so the kernel
    /// cannot cache it.
    pub(super) read_arguments: bool,
}

/// A program the kernel would not accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Length(usize),
    Code(u16),
    Load(u32),
    Jump { from: usize },
    NoReturn,
}

/// Runs a program to its return.
pub(super) fn run(program: &Program, entry: &Entry) -> Result<Outcome, Fault> {
    let (mut at, mut word, mut read_arguments) = (0, 0, false);
    loop {
        let step = program.instructions.get(at).ok_or(Fault::NoReturn)?;
        at += 1;
        match step.code {
            LOAD => {
                word = entry.word(step.k)?;
                read_arguments |= step.k >= ARGUMENTS_OFFSET;
            }
            RETURN => {
                return Ok(Outcome { action: step.k, read_arguments });
            }
            _ => at += skipped(step, word)?,
        }
    }
}

fn skipped(step: &Instruction, word: u32) -> Result<usize, Fault> {
    let holds = match step.code {
        JUMP_EQUAL => word == step.k,
        JUMP_AT_LEAST => word >= step.k,
        JUMP_ANY_BIT => word & step.k != 0,
        code => return Err(Fault::Code(code)),
    };
    Ok(usize::from(if holds { step.jt } else { step.jf }))
}

/// Checks a program as the kernel does on installing it.
///
/// Jumps only go forward, so if none leaves the program and it ends in a
/// return, every path does.
pub(super) fn verify(program: &Program) -> Result<(), Fault> {
    let length = program.instructions.len();
    if !(1..=MAX_INSTRUCTIONS).contains(&length) {
        return Err(Fault::Length(length));
    }
    for (from, step) in program.instructions.iter().enumerate() {
        verify_step(from, step, length)?;
    }
    match program.instructions.last() {
        Some(step) if step.code == RETURN => Ok(()),
        _ => Err(Fault::NoReturn),
    }
}

fn verify_step(from: usize, step: &Instruction, length: usize) -> Result<(), Fault> {
    match step.code {
        LOAD if step.k.is_multiple_of(4) && step.k < ARGUMENTS_OFFSET + 48 => Ok(()),
        LOAD => Err(Fault::Load(step.k)),
        RETURN => Ok(()),
        JUMP_EQUAL | JUMP_AT_LEAST | JUMP_ANY_BIT => {
            let farthest = from + 1 + usize::from(step.jt.max(step.jf));
            if farthest < length { Ok(()) } else { Err(Fault::Jump { from }) }
        }
        code => Err(Fault::Code(code)),
    }
}

/// One line per instruction; jumps name the line they lead to.
pub(super) fn disassemble(instructions: &[Instruction]) -> String {
    let line = |(at, step): (usize, &Instruction)| format!("{at:>3} {}\n", describe(at, step));
    instructions.iter().enumerate().map(line).collect()
}

fn describe(at: usize, step: &Instruction) -> String {
    let comparison = match step.code {
        LOAD => return format!("load [{}]", step.k),
        RETURN => return format!("return {:#x}", step.k),
        JUMP_EQUAL => "==",
        JUMP_AT_LEAST => ">=",
        JUMP_ANY_BIT => "&",
        code => return format!("unknown {code:#x}"),
    };
    let target = |skip: u8| at + 1 + usize::from(skip);
    let (yes, no) = (target(step.jt), target(step.jf));
    format!("{comparison} {:#x} ? {yes} : {no}", step.k)
}
