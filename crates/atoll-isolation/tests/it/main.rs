//! The kernel edge, from outside: the plan as data, the protocol at both ends, init as a process.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod init;
mod plan;
mod wire;
