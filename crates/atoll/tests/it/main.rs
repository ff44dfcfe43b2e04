//! The binary as its users meet it: started from outside, in a clean environment, judged by what it prints, how it
//! ends, and what is left on the host afterwards. One file per behaviour; what they share is in `harness.rs`.
//!
//! Runs as root. A test that cannot run on a host says `SKIP` and why; with `ATOLL_FORBID_SKIPS` set it fails instead.

#![expect(clippy::unwrap_used, reason = "clippy takes only functions marked #[test] for tests; here everything is one")]

mod agent;
mod attacks;
mod bridge;
mod client;
mod crash;
mod entrypoint;
mod escape;
mod harness;
mod own_address;
mod preview;
mod remembered;
mod rootless;
mod run;
mod server;
