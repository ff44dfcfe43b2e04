//! What a sandbox with kept storage remembers beyond its life: commands, their ends and output, terminals, sessions.
//!
//! How the parts meet: [`Journal`] (`keeping`) is the handle that everybody writes entries (`entry`) through; a [`Note`]
//! is the place of one command in it. `frame` alone knows the bytes, `file` alone writes them. What follows from the
//! entries is `past`, which is pure; `restore` reads it back when a sandbox is made over the same storage. Output is
//! not in the journal: it is in the log's own files, one directory for each command, named by its number. What a
//! session holds is in a file of its own (`held`).
//!
//! The order is the promise. A command is in the journal before it is run, its output is in its file before a reader is
//! shown it, its end is in the journal before anybody is told of it. A file whose command is not in the journal belongs
//! to nobody, and is removed at the next start.
//!
//! It must not decide what is remembered: that is up to the registries. Sandboxes that are thrown away have none of it.

mod entry;
mod file;
mod fingerprint;
mod frame;
mod held;
mod keeping;
mod note;
mod past;
mod restore;

#[cfg(test)]
mod tests;

pub(crate) use entry::{Began, EndedEntry, Made, TerminalMade};
pub(crate) use fingerprint::Fingerprint;
pub(crate) use keeping::Journal;
pub(crate) use note::{Note, SessionNote};
pub(crate) use past::CommandItem;
pub(crate) use restore::{Restored, RestoredCommand, RestoredSession, open};
