//! The live things of one sandbox: commands, processes, sessions, terminals, their output.
//!
//! Serves no HTTP and knows no JSON. One task owns each live thing; others hold a handle. Every child is born through
//! [`Sandbox`] in one function, so every child is grouped, accounted, reaped and bounded.

mod command;
mod ends;
mod error;
mod exec;
pub mod files;
pub mod git;
mod home;
mod host;
mod input;
mod journal;
mod life;
mod link;
mod log;
mod making;
mod network;
mod pauses;
mod pipes;
mod port;
mod process;
pub mod programs;
mod pty;
mod run;
mod sandbox;
mod session;
mod shared;
mod start;
mod terminal;
mod tree;
mod user;
mod wait;

pub use atoll_egress::{Events as EgressEvents, Policy as NetworkRules};
pub use command::{Background, Command, Invocation, Stdin};
pub use error::Error;
pub use exec::ExecOutput;
pub use home::{Home, Storage};
pub use host::{Host, Prepared};
pub use log::{Capture, Chunk, Event as LogEvent, Log, Match, ReadPage, Reader as LogReader};
pub use port::{PortChange, PortEvents};
pub use process::{Filter, Process, ProcessSpec, Readiness, Restart, Retention};
pub use sandbox::{Limits, Sandbox, SandboxOptions};
pub use session::{Alias, Function, NotCarried, Session, SessionSpec, Snapshot, StartFrom, Variable};
pub use terminal::{Access, Attach, Recording, Screen, Terminal, TerminalEvent, TerminalSpec, Viewer, ViewerOptions};
pub use tree::SignalScope;
pub use wait::{HttpCheck, LogPattern, PortCheck};

/// The example in the tour is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tour.md")]
struct Tour;

/// As are those in the pages on each noun.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/exec.md")]
#[doc = include_str!("../../../docs/processes.md")]
#[doc = include_str!("../../../docs/sessions.md")]
#[doc = include_str!("../../../docs/terminals.md")]
struct Nouns;
