//! Control groups: who belongs to a command, how all of it is killed at once, and what it may use.
//!
//! One cgroup2 *leaf* per command answers "what did this command start, and is any of it left?"
//! without a race, and kills it with one write. One *group* per sandbox holds the leaves and
//! carries the limits, through cgroup2 where it has the controllers and through v1 where it has
//! not; a machine may mix both ("hybrid").
//!
//! ```text
//! <cgroup2>/…/atoll/<sandbox>/leaf-7     kill, freeze, membership     (Leaf)
//! <cgroup2>/…/atoll/<sandbox>            limits if the controllers are here (Group)
//! <v1 memory>/…/atoll/<sandbox>/leaf-7   a command's own memory count, v1 only
//! <v1 pids>/…/atoll/<sandbox>            limits otherwise
//! ```
//!
//! How the parts meet: `mounts` reads what is mounted, `layout` finds what can be used, `places`
//! names a sandbox's directories, `parent` makes them, `limits` and `usage` speak to them,
//! `subtree` makes leaves and `pool` keeps idle ones, `removal` takes everything away again.
//!
//! This module must not start processes, send signals itself, mount anything, or wait without a
//! deadline. It has no `unsafe`.

mod error;
mod file;
mod freezer;
mod group;
mod layout;
mod leaf;
mod limits;
mod members;
mod mounts;
mod parent;
mod patience;
mod places;
mod pool;
mod probe;
mod removal;
mod subtree;
mod usage;

#[cfg(test)]
mod tests;

pub use error::Error;
pub use group::{Group, Owner};
pub use layout::{Controller, Controllers, Layout, Tree};
pub use leaf::Leaf;
pub use limits::{LeafLimits, Limit, Limits};
pub use removal::kill_and_remove;
pub use usage::Usage;
