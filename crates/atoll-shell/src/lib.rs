//! The part of a session that lives inside bash.
//!
//! A session is one real bash. What the agent and that bash say to each other must not depend on anything that user
//! code can redefine, unset, close or print. So there is no shell code between them: this crate is compiled a second
//! time as a small object that bash loads as a builtin (`enable -f`), and from then on the loop that takes commands is
//! machine code inside bash's own process. It needs no name, function, variable or open descriptor of the user's world:
//!
//! - Before each command it writes how the last one ended into memory that it shares with the agent, and connects to the
//!   agent's listener. On that connection it waits for the next command, which brings its own standard descriptors. Then
//!   it closes that too. While user code runs there is no descriptor of ours to find, write to, close or inherit. The
//!   kernel says which process connected, and whether it still has the shared memory: a child does not, and a program
//!   that was executed in the shell's place does not.
//! - A command is given to bash's own parser and executor, so everything means what it means in bash.
//! - An interrupted command unwinds to this loop, not out of the shell.
//!
//! [`message`] is what both sides know. The rest exists only in the object (`loadable`): it has no allocator, no
//! unwinding and nothing but what bash and the C library offer. It decides nothing; the agent does.

#![no_std]

pub mod message;

#[cfg(feature = "loadable")]
#[expect(unsafe_code, reason = "speaks C with bash")]
mod loadable;
