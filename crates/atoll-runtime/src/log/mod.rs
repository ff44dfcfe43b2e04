//! The output log of one command: both streams in one order, in bounded memory and bounded disk.
//!
//! A position in the log is a *cursor*: the number of bytes of both streams before it. One writer
//! appends and never waits for a reader; any number of readers replay from any cursor and then
//! follow live. Bytes that had to be given up are told as a gap, never skipped in silence.
//!
//! How the parts meet: [`Log`] (`handle`) takes the locks and does the I/O. What it decides is in
//! `state`, which owns the memory tail (`window`) and the list of files (`catalog` of `segment`s)
//! and touches no file. `store` alone creates files and `writer` alone writes them, `record` alone
//! knows their bytes, `recover` reads them back after a restart. `reader` follows a log.
//! `head_tail` and `search` (over `text_scan` and `line_scan`) are consumers of output.
//!
//! It must not know what a process is, who reads, or how bytes are shown: bytes are bytes.

mod catalog;
mod event;
mod handle;
mod head_tail;
mod limits;
mod line_scan;
mod reader;
mod record;
mod recover;
mod search;
mod segment;
mod state;
mod store;
mod text_scan;
mod window;
mod writer;

#[cfg(test)]
mod tests;

pub use event::{Chunk, Event, ReadPage};
pub use handle::Log;
pub use head_tail::Capture;
pub use reader::Reader;
pub use search::Match;

pub(crate) use event::Length;
pub(crate) use head_tail::HeadTail;
pub(crate) use limits::Limits;
pub(crate) use search::{Matcher, Pattern};
pub(crate) use store::Store;
