//! The vocabulary of the table: what one line of the policy can say.
//!
//! Owns the types and how they print. Must not know any particular system
//! call (that is `policy.rs`) nor any BPF (that is `assemble.rs`).
//!
//! The vocabulary is small on purpose. A test sees one argument, and of that
//! only the low 32 bits: every argument the policy looks at is an `int`, an
//! `unsigned int`, or a flag word that the kernel cuts to 32 bits or refuses.
//! Comparing all 64 would let a caller slip past by setting a high bit that
//! the kernel then ignores (CVE-2019-10063, found so in flatpak). The one
//! exception is [`Test::Pointer`], which reads both halves.

use std::fmt;

/// One system call of the architecture this was built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Its name as in the manual, without any prefix.
    pub name: &'static str,
    /// Its number in the native table.
    pub number: libc::c_long,
}

/// `calls![SYS_mount, SYS_umount2]`: name and number from one word, so that
/// they cannot disagree.
macro_rules! calls {
    ($($symbol:ident),+ $(,)?) => {
        &[$($crate::seccomp::rule::call!($symbol)),+]
    };
}

/// `call!(SYS_mount)`: one of them.
macro_rules! call {
    ($symbol:ident) => {
        $crate::seccomp::rule::Call { name: stringify!($symbol).split_at("SYS_".len()).1, number: libc::$symbol }
    };
}

pub(super) use {call, calls};

/// What a refused call returns.
///
/// The call never runs and no process is killed: a program that probes for a
/// feature continues without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// `EPERM`: the kernel knows the call, this caller may not use it. What
    /// an unprivileged user gets anyway, so programs expect it.
    NotPermitted,
    /// `ENOSYS`: as on a kernel built without the call. Chosen where programs
    /// probe once and take the older way.
    NotImplemented,
    /// `EAFNOSUPPORT`: as on a kernel built without that socket family.
    NoSuchFamily,
    /// `EPROTONOSUPPORT`: as on a kernel built without that protocol.
    NoSuchProtocol,
    /// `EINVAL`: as for a file on which the request makes no sense.
    NoSuchRequest,
    /// Success, although nothing was done. Only for a call whose effect is
    /// in force already and whose failure programs treat as fatal.
    Ignored,
}

impl Refusal {
    /// The number the caller finds in `errno`.
    #[must_use]
    pub fn errno(self) -> libc::c_int {
        match self {
            Self::NotPermitted => libc::EPERM,
            Self::NotImplemented => libc::ENOSYS,
            Self::NoSuchFamily => libc::EAFNOSUPPORT,
            Self::NoSuchProtocol => libc::EPROTONOSUPPORT,
            Self::NoSuchRequest => libc::EINVAL,
            Self::Ignored => 0,
        }
    }
}

/// Prints the symbol, such as `EPERM`.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotPermitted => "EPERM",
            Self::NotImplemented => "ENOSYS",
            Self::NoSuchFamily => "EAFNOSUPPORT",
            Self::NoSuchProtocol => "EPROTONOSUPPORT",
            Self::NoSuchRequest => "EINVAL",
            Self::Ignored => "ignored",
        })
    }
}

/// When a rule applies to one of its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Whatever the arguments.
    Always,
    /// Only if an argument passes a test.
    Argument {
        /// Which one, counted from 0.
        index: u32,
        /// The test on its low 32 bits.
        test: Test,
    },
    /// Only if several arguments pass their tests: pairs of an index and a
    /// test.
    Arguments(&'static [(u32, Test)]),
}

/// A test on the low 32 bits of an argument. The lists are never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// At least one bit of the mask is set.
    AnyBit(u32),
    /// Equal to one of these.
    OneOf(&'static [u32]),
    /// Different from all of these.
    NoneOf(&'static [u32]),
    /// Not NULL, in all 64 bits: an address may have a low half of zeros.
    Pointer,
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always => f.write_str("always"),
            Self::Argument { index, test } => write!(f, "if argument {index} {test}"),
            Self::Arguments(tests) => {
                for (position, (index, test)) in tests.iter().enumerate() {
                    let separator = if position == 0 { "if" } else { " and" };
                    write!(f, "{separator} argument {index} {test}")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnyBit(mask) => write!(f, "has a bit of {mask:#x}"),
            Self::OneOf(values) => write!(f, "is one of {}", Words(values)),
            Self::NoneOf(values) => write!(f, "is none of {}", Words(values)),
            Self::Pointer => f.write_str("is not NULL"),
        }
    }
}

/// Prints numbers as a comma-separated list.
#[derive(Debug)]
struct Words<'a>(&'a [u32]);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, word) in self.0.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(f, "{separator}{word:#x}")?;
        }
        Ok(())
    }
}

/// Calls that are refused together, for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The calls, never empty.
    pub calls: &'static [Call],
    /// When they are refused.
    pub when: When,
    /// What the caller gets.
    pub refusal: Refusal,
    /// Why, in one or two sentences for a reader of the documentation.
    pub reason: &'static str,
}

/// Calls that a reader might expect to be refused and that are not.
///
/// These produce no instructions: what no rule names is allowed. They are
/// kept so that the decision and its reason are not lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// The calls, never empty.
    pub calls: &'static [Call],
    /// Why they are left open.
    pub reason: &'static str,
}

/// Prints `name, name: EPERM always`, without the reason.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.calls.iter().map(|call| call.name).collect();
        write!(f, "{}: {} {}", names.join(", "), self.refusal, self.when)
    }
}
