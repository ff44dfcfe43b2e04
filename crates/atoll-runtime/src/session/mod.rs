//! Sessions: one real bash each, that remembers; its commands run one at a time.
//!
//! How the parts meet: [`Session`] (`handle`) is what others hold. `owner` is the task that owns the shell, its queue
//! and its end; what it decides is in `machine`, which is pure. `shell` is the live bash, started on the one path; `wire`
//! is how it reports and gets orders, which `order` puts together (see `atoll-shell` for the other side). A running
//! command is a `turn`: a [`crate::run::Run`] like any other, whose processes are a `part` of the session's tree.
//! `snapshot` is what the shell holds, as data and as a script that brings another shell to the same state. `spare` is a
//! shell that is ready before it is wanted.

mod budget;
mod create;
mod handle;
mod machine;
mod object;
mod order;
mod owner;
pub(crate) mod part;
mod registry;
mod shell;
mod snapshot;
mod spare;
mod spec;
mod turn;
mod wire;

pub(crate) use create::{create, restore};
pub use handle::Session;
pub(crate) use object::{object, once_argv, script_file, session_argv};
pub(crate) use registry::Registry;
pub(crate) use shell::end_tree;
pub use snapshot::{Alias, Function, NotCarried, Snapshot, Variable};
pub(crate) use spare::{Spare, discard_spare};
pub use spec::{SessionSpec, StartFrom};
pub(crate) use wire::Page;
