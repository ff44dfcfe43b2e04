//! What is done to files inside a sandbox.
//!
//! The engines are plain synchronous code over directory descriptors: they know no HTTP, no JSON and no async runtime.
//! They run in the worker, a small static program behind the wall, as the user of the call: what that user may not do
//! the kernel refuses, and no path is ever looked up from outside. The agent uses this crate for the words that it
//! exchanges with the worker.
//!
//! A path is bytes. A [`Tree`] is a directory descriptor and the rule by which paths are followed from it.

pub mod archive;
pub mod ask;
mod attributes;
pub mod change;
pub mod copy;
pub mod edit;
mod error;
mod facts;
mod line;
pub mod list;
pub mod names;
pub mod patch;
mod path;
pub mod read;
pub mod remove;
pub mod search;
pub mod serve;
mod stage;
mod stop;
mod task;
mod tree;
mod turn;
pub mod walk;
pub mod watch;
pub mod write;

pub use error::{At, Failure, Kind, Result};
pub use facts::{Facts, FileKind, Moment};
pub use path::{MAX_NAME, MAX_PATH, check, components, join, split_last};
pub use stop::{Stop, Why};
pub use task::PatchOptions;
pub use tree::{Reach, Stat, Tree, readable, regular};
