//! Sessions: one real bash each, that remembers; its commands run one at a time.
//!
//! How the parts meet: [`Session`] (`handle`) is what others hold. `owner` is the task that owns the shell, its queue
//! and its end; what it decides is in `machine`, which is pure. `shell` is the live bash: started on the one path, spoken
//! to over a socket that exists only between commands (see `atoll-shell`), in words put together by `order`. A running
//! command is a `turn`: a [`crate::run::Run`] like any other, whose processes are a `part` of the session's tree.
//! `snapshot` is what the shell holds, as data and as a script that brings another shell to the same state. `spare` is a
//! shell that is ready before it is wanted.

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

pub(crate) use create::{create, restore};
pub use handle::Session;
pub(crate) use object::{object, once_argv, script_file, session_argv};
pub(crate) use registry::Registry;
pub(crate) use shell::end_tree;
pub use snapshot::{Alias, Function, NotCarried, Snapshot, Variable};
pub(crate) use spare::{Spare, discard_spare};
pub use spec::{SessionSpec, StartFrom};
