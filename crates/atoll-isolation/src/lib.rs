//! The kernel edge of Atoll: from a [`Spec`] (what a sandbox should be) over a [`Plan`] (the steps, as data) to a
//! running init behind a wall.
//!
//! Synchronous, no async runtime, no logging: much of this runs as PID 1. Failures are values that name the step.
//! Knows nothing of sessions, HTTP or JSON. The only crate with `unsafe`, all of it below [`sys`].

#[cfg(feature = "bench")]
pub mod bench_baseline;
pub mod blocked;
#[cfg(feature = "embed")]
pub mod carried;
pub mod cgroup;
mod channel;
pub mod egress;
mod init;
mod keeper;
mod launch;
pub mod owner;
mod plan;
pub mod program;
mod quota;
mod removal;
mod root;
pub mod seccomp;
mod spec;
pub mod sys;
pub mod unstarted;
mod untrusted;
pub mod wire;

pub use channel::{Channel, Packed, pack, unpack};
pub use launch::{Ids, Keeper, LaunchError, Launched, Launcher, Staged};
pub use plan::{Plan, Source, Step};
pub use quota::Quotas;
pub use removal::remove_directory;
pub use root::{HostRoot, RootError};
pub use spec::{Disk, IdMap, Isolation, Spec};
pub use untrusted::Untrusted;
