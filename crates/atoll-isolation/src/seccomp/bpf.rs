//! A classic BPF program and its form on the wire.
//!
//! Owns the layout of `struct sock_filter` (<linux/filter.h>) and the limits
//! the kernel puts on a program. Must not know what the program decides, and
//! does not check jumps: the kernel verifies a program when it is installed.

use std::fmt;

/// The kernel's `BPF_MAXINSNS` (<linux/bpf_common.h>).
pub const MAX_INSTRUCTIONS: usize = 4096;

/// Size of `struct sock_filter`.
const INSTRUCTION_BYTES: usize = 8;

/// One instruction, field for field the kernel's `struct sock_filter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// The operation.
    pub code: u16,
    /// How many instructions to skip if a comparison holds.
    pub jt: u8,
    /// How many to skip if it does not.
    pub jf: u8,
    /// The operand.
    pub k: u32,
}

impl Instruction {
    fn to_bytes(self) -> [u8; INSTRUCTION_BYTES] {
        let [code_0, code_1] = self.code.to_ne_bytes();
        let [k_0, k_1, k_2, k_3] = self.k.to_ne_bytes();
        [code_0, code_1, self.jt, self.jf, k_0, k_1, k_2, k_3]
    }

    fn from_bytes(bytes: [u8; INSTRUCTION_BYTES]) -> Self {
        let [code_0, code_1, jt, jf, k_0, k_1, k_2, k_3] = bytes;
        Self { code: u16::from_ne_bytes([code_0, code_1]), jt, jf, k: u32::from_ne_bytes([k_0, k_1, k_2, k_3]) }
    }
}

/// A filter ready to be handed to the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// In the order they run; all jumps go forward.
    pub instructions: Vec<Instruction>,
}

impl Program {
    /// The instructions as the kernel reads them, in native byte order: the
    /// bytes never leave the machine.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.instructions.iter().flat_map(|instruction| instruction.to_bytes()).collect()
    }

    /// Reads what [`Program::to_bytes`] wrote.
    ///
    /// # Errors
    ///
    /// If the bytes are no whole number of instructions, or are fewer or more
    /// than the kernel takes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ProgramError> {
        let (chunks, rest) = bytes.as_chunks::<INSTRUCTION_BYTES>();
        if !rest.is_empty() {
            return Err(ProgramError::Truncated { bytes: bytes.len() });
        }
        match chunks.len() {
            0 => Err(ProgramError::Empty),
            1..=MAX_INSTRUCTIONS => {
                Ok(Self { instructions: chunks.iter().copied().map(Instruction::from_bytes).collect() })
            }
            instructions => Err(ProgramError::TooLong { instructions }),
        }
    }
}

/// Why bytes are not a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramError {
    /// The last instruction is cut off.
    Truncated {
        /// How many bytes there were.
        bytes: usize,
    },
    /// There is no instruction; the kernel refuses such a filter.
    Empty,
    /// The kernel would refuse it.
    TooLong {
        /// How many instructions there were.
        instructions: usize,
    },
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { bytes } => {
                write!(f, "seccomp program of {bytes} bytes ends inside an instruction")
            }
            Self::Empty => f.write_str("seccomp program is empty"),
            Self::TooLong { instructions } => {
                write!(f, "seccomp program has {instructions} instructions, the kernel takes {MAX_INSTRUCTIONS}")
            }
        }
    }
}

impl std::error::Error for ProgramError {}

#[cfg(test)]
mod tests {
    use super::*;

    const RETURN: Instruction = Instruction { code: 0x0006, jt: 1, jf: 2, k: 0x7fff_0000 };

    fn program(length: usize) -> Program {
        Program { instructions: vec![RETURN; length] }
    }

    #[test]
    fn bytes_have_the_kernel_layout() {
        let mut expected = Vec::new();
        expected.extend(0x0006_u16.to_ne_bytes());
        expected.extend([1, 2]);
        expected.extend(0x7fff_0000_u32.to_ne_bytes());
        assert_eq!(program(1).to_bytes(), expected);
    }

    #[test]
    fn bytes_come_back_as_the_same_program() {
        for length in [1, 7, MAX_INSTRUCTIONS] {
            let original = program(length);
            assert_eq!(Program::from_bytes(&original.to_bytes()), Ok(original));
        }
    }

    #[test]
    fn bytes_that_are_no_program_are_refused() {
        let too_long = program(MAX_INSTRUCTIONS + 1).to_bytes();
        assert_eq!(Program::from_bytes(&[]), Err(ProgramError::Empty));
        assert_eq!(Program::from_bytes(&too_long[..15]), Err(ProgramError::Truncated { bytes: 15 }));
        assert_eq!(Program::from_bytes(&too_long), Err(ProgramError::TooLong { instructions: MAX_INSTRUCTIONS + 1 }));
    }
}
