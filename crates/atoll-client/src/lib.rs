//! A Rust client of Atoll's HTTP API.
//!
//! It connects over a unix socket, or over TCP with a token. Streams survive a dropped connection: they reconnect by
//! themselves and continue at the same byte, without duplicates or gaps. This crate knows only the protocol, and
//! nothing of its implementation.

mod attach;
mod client;
mod connection;
mod error;
mod events;
mod exec;
mod file;
mod file_task;
mod follow;
mod git;
mod network;
mod port;
mod process;
mod retry;
mod sandbox;
mod server;
mod session;
mod subscription;
mod terminal;
mod tls;
mod upload;
mod watch;

pub use attach::{Attach, Attachment, TerminalEvent, View};
pub use client::Client;
pub use error::Error;
pub use exec::{ExecEvent, ExecStream};
pub use file::{FileBytes, FileEntries, ListFiles, ReadFile, WriteFile};
pub use file_task::{PackFiles, PatchFiles, SearchStream, UnpackFiles};
pub use follow::{Follow, FollowEvent, Output, Until};
pub use network::{EgressFollow, EgressFollowEvent};
pub use port::{PortEvent, PortFollow, PortStream};
pub use process::OutputRange;
pub use upload::NewFile;
pub use watch::Watching;

/// Compiles the examples on the documentation pages.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/http-api.md")]
#[doc = include_str!("../../../docs/server.md")]
struct Pages;
