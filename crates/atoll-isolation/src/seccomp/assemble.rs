//! From the table to instructions.
//!
//! Owns the shape of the program. Must not know any particular system call;
//! the errors of a foreign caller are the one decision made here.
//!
//! The program is a guard followed by one block per rule:
//!
//! ```text
//! guard   load arch; not ours: return ENOSYS
//!         load nr; x32: return ENOSYS
//! block   nr is one of the calls?   no: next block
//!         load an argument          } for each test
//!         does the test hold?       } that the rule has
//!         return the error
//!         load nr again             } so the next block can look at it
//! end     return ALLOW
//! ```
//!
//! Each jump stays inside its block, so the 8-bit offsets bound the size of a
//! rule and not that of the program, and a call named by two rules is tried
//! against both. A plain list is fast enough: the kernel runs a filter once
//! per call number when it is installed and remembers those that are allowed
//! without reading an argument (`seccomp_cache_prepare`, Linux 5.11), so only
//! calls with a rule ever walk it.

use super::bpf::{Instruction, Program};
use super::rule::{Call, Refusal, Rule, Test, When};

/// `BPF_LD | BPF_W | BPF_ABS`: load a word of `struct seccomp_data`.
pub(super) const LOAD: u16 = 0x20;
/// `BPF_JMP | BPF_JEQ | BPF_K`.
pub(super) const JUMP_EQUAL: u16 = 0x15;
/// `BPF_JMP | BPF_JGE | BPF_K`, unsigned.
pub(super) const JUMP_AT_LEAST: u16 = 0x35;
/// `BPF_JMP | BPF_JSET | BPF_K`: any bit in common.
pub(super) const JUMP_ANY_BIT: u16 = 0x45;
/// `BPF_RET | BPF_K`.
pub(super) const RETURN: u16 = 0x06;

/// Offsets in `struct seccomp_data` (<linux/seccomp.h>). An argument takes 8
/// bytes, the low half first.
pub(super) const NUMBER_OFFSET: u32 = 0;
pub(super) const ARCH_OFFSET: u32 = 4;
pub(super) const ARGUMENTS_OFFSET: u32 = 16;

/// `AUDIT_ARCH_X86_64` and `AUDIT_ARCH_AARCH64` (<linux/audit.h>).
#[cfg(target_arch = "x86_64")]
pub(super) const NATIVE_ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub(super) const NATIVE_ARCH: u32 = 0xc000_00b7;

/// Lays out a table.
///
/// # Panics
///
/// If a rule is longer than a jump reaches. The tables are constants and a
/// test assembles them.
pub(super) fn assemble(rules: &[Rule]) -> Program {
    let mut instructions = guard();
    for rule in rules {
        instructions.extend(block(rule));
    }
    instructions.push(statement(RETURN, libc::SECCOMP_RET_ALLOW));
    Program { instructions }
}

/// Turns away callers whose numbers mean something else than the table says.
///
/// A native process can still enter the kernel as i386 (`int 0x80`) or x32,
/// where other numbers lead to the same calls. `ENOSYS` is what a kernel
/// without those tables answers.
fn guard() -> Vec<Instruction> {
    let mut guard = vec![
        statement(LOAD, ARCH_OFFSET),
        jump(JUMP_EQUAL, NATIVE_ARCH, 1, 0),
        refuse(Refusal::NotImplemented),
        statement(LOAD, NUMBER_OFFSET),
    ];
    if cfg!(target_arch = "x86_64") {
        guard.extend(refuse_x32());
    }
    guard
}

/// x32 reports the same arch as x86_64 and differs in one bit of the number.
///
/// Its numbers without that bit (512 to 547) need no test: since Linux 5.4
/// they reach nothing, and we need a newer one for `CLONE_INTO_CGROUP`.
fn refuse_x32() -> [Instruction; 2] {
    const X32_SYSCALL_BIT: u32 = 0x4000_0000;
    [jump(JUMP_AT_LEAST, X32_SYSCALL_BIT, 0, 1), refuse(Refusal::NotImplemented)]
}

/// The instructions of one rule; falls off its end if the rule does not apply.
fn block(rule: &Rule) -> Vec<Instruction> {
    let verdict = match rule.when {
        When::Always => vec![refuse(rule.refusal)],
        When::Argument { index, test } => examine(&[(index, test)], rule.refusal),
        When::Arguments(tests) => examine(tests, rule.refusal),
    };
    let numbers: Vec<_> = rule.calls.iter().map(number).collect();
    let mut block = enter_if_equal(&numbers, verdict.len());
    block.extend(verdict);
    block
}

/// Reads the arguments, refuses if every test holds, else restores the number.
fn examine(tests: &[(u32, Test)], refusal: Refusal) -> Vec<Instruction> {
    let mut verdict = vec![refuse(refusal)];
    for (index, test) in tests.iter().rev() {
        let mut step = hold(*index, *test, verdict.len());
        step.append(&mut verdict);
        verdict = step;
    }
    verdict.push(statement(LOAD, NUMBER_OFFSET));
    verdict
}

/// Reads an argument and goes to the `body` instructions that follow if the test holds, else past them.
fn hold(index: u32, test: Test, body: usize) -> Vec<Instruction> {
    let low = ARGUMENTS_OFFSET + 8 * index;
    let mut step = vec![statement(LOAD, low)];
    step.extend(match test {
        Test::AnyBit(mask) => vec![jump(JUMP_ANY_BIT, mask, 0, body)],
        Test::OneOf(values) => enter_if_equal(values, body),
        Test::NoneOf(values) => skip_if_equal(values, body),
        Test::Pointer => {
            vec![jump(JUMP_EQUAL, 0, 0, 2), statement(LOAD, low + 4), jump(JUMP_EQUAL, 0, body, 0)]
        }
    });
    step
}

/// Goes to the `body` instructions that follow if the word is one of `values`,
/// else past them.
fn enter_if_equal(values: &[u32], body: usize) -> Vec<Instruction> {
    let last = values.len() - 1;
    let compare = |(at, value): (usize, &u32)| {
        let past = if at == last { body } else { 0 };
        jump(JUMP_EQUAL, *value, last - at, past)
    };
    values.iter().enumerate().map(compare).collect()
}

/// Goes past the `body` instructions that follow if the word is one of
/// `values`, else into them.
fn skip_if_equal(values: &[u32], body: usize) -> Vec<Instruction> {
    let last = values.len() - 1;
    let compare = |(at, value): (usize, &u32)| jump(JUMP_EQUAL, *value, last - at + body, 0);
    values.iter().enumerate().map(compare).collect()
}

fn number(call: &Call) -> u32 {
    u32::try_from(call.number).expect("call numbers are small and positive")
}

fn refuse(refusal: Refusal) -> Instruction {
    statement(RETURN, libc::SECCOMP_RET_ERRNO | refusal.errno().unsigned_abs())
}

fn statement(code: u16, k: u32) -> Instruction {
    Instruction { code, jt: 0, jf: 0, k }
}

fn jump(code: u16, k: u32, if_true: usize, if_false: usize) -> Instruction {
    let offset = |skip| u8::try_from(skip).expect("a rule is shorter than a jump reaches");
    Instruction { code, jt: offset(if_true), jf: offset(if_false), k }
}

#[cfg(test)]
mod tests {
    use super::super::emulate::{Entry, disassemble, run, verify};
    use super::*;

    const fn call(name: &'static str, number: libc::c_long) -> Call {
        Call { name, number }
    }

    const fn rule(calls: &'static [Call], when: When, refusal: Refusal) -> Rule {
        Rule { calls, when, refusal, reason: "test" }
    }

    const fn argument(index: u32, test: Test) -> When {
        When::Argument { index, test }
    }

    /// Every kind of condition, and one call named twice.
    const TABLE: &[Rule] = &[
        rule(&[call("a", 1), call("b", 2)], When::Always, Refusal::NotPermitted),
        rule(&[call("c", 3)], argument(1, Test::OneOf(&[7, 8])), Refusal::NotImplemented),
        rule(&[call("c", 3)], argument(0, Test::NoneOf(&[5, 6])), Refusal::NoSuchFamily),
        rule(&[call("d", 4)], argument(5, Test::AnyBit(0x80)), Refusal::NotPermitted),
        rule(&[call("e", 5)], When::Arguments(&[(1, Test::OneOf(&[4])), (2, Test::Pointer)]), Refusal::Ignored),
    ];

    #[test]
    fn blocks_are_laid_out_as_documented() {
        let program = assemble(TABLE);
        let after_guard = &program.instructions[guard().len()..];
        let expected = [
            "  0 == 0x1 ? 2 : 1",
            "  1 == 0x2 ? 2 : 3",
            "  2 return 0x50001",
            "  3 == 0x3 ? 4 : 9",
            "  4 load [24]",
            "  5 == 0x7 ? 7 : 6",
            "  6 == 0x8 ? 7 : 8",
            "  7 return 0x50026",
            "  8 load [0]",
            "  9 == 0x3 ? 10 : 15",
            " 10 load [16]",
            " 11 == 0x5 ? 14 : 12",
            " 12 == 0x6 ? 14 : 13",
            " 13 return 0x50061",
            " 14 load [0]",
            " 15 == 0x4 ? 16 : 20",
            " 16 load [56]",
            " 17 & 0x80 ? 18 : 19",
            " 18 return 0x50001",
            " 19 load [0]",
            " 20 == 0x5 ? 21 : 29",
            " 21 load [24]",
            " 22 == 0x4 ? 23 : 28",
            " 23 load [32]",
            " 24 == 0x0 ? 25 : 27",
            " 25 load [36]",
            " 26 == 0x0 ? 28 : 27",
            " 27 return 0x50000",
            " 28 load [0]",
            " 29 return 0x7fff0000",
        ];
        assert_eq!(disassemble(after_guard).lines().collect::<Vec<_>>(), expected);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn guard_turns_away_other_arches_and_x32() {
        let expected = [
            "  0 load [4]",
            "  1 == 0xc000003e ? 3 : 2",
            "  2 return 0x50026",
            "  3 load [0]",
            "  4 >= 0x40000000 ? 5 : 6",
            "  5 return 0x50026",
        ];
        assert_eq!(disassemble(&guard()).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn one_call_is_tried_against_all_rules_that_name_it() {
        let program = assemble(TABLE);
        let refusals = [
            ([5, 7], Some(Refusal::NotImplemented)),
            ([9, 8], Some(Refusal::NotImplemented)),
            ([9, 0], Some(Refusal::NoSuchFamily)),
            ([6, 0], None),
        ];
        for ([first, second], refusal) in refusals {
            let entry = Entry::native(3, [first, second, 0, 0, 0, 0]);
            let expected = refusal.map_or(libc::SECCOMP_RET_ALLOW, |refusal| refuse(refusal).k);
            assert_eq!(run(&program, &entry).unwrap().action, expected);
        }
    }

    #[test]
    fn longest_rule_a_jump_can_span_is_sound() {
        static CALLS: [Call; 256] = [Call { name: "x", number: 9 }; 256];
        let program = assemble(&[rule(&CALLS, When::Always, Refusal::NotPermitted)]);
        assert_eq!(verify(&program), Ok(()));
    }
}
