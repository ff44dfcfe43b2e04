//! Terminals: programs behind a pseudo-terminal that anybody may join, leave and join again.
//!
//! A terminal is a command like any other, born on the same path and owned by the same task; only its ends are a
//! pseudo-terminal. `open` starts one and `registry` makes sure that an id has one; `handle` is what callers hold.
//! `window` remembers sizes, `timeline` puts them and the output in one order, and everything that looks at a terminal
//! follows that: `viewer`, `screen`, `recording`. Nobody who looks can slow the program: all read its log.

mod handle;
mod open;
mod recording;
mod registry;
mod screen;
mod spec;
mod timeline;
mod viewer;
mod window;

pub use handle::Terminal;
pub(crate) use open::open;
pub use recording::Recording;
pub(crate) use registry::Registry;
pub use screen::Screen;
pub use spec::TerminalSpec;
pub use viewer::{Access, Attach, TerminalEvent, Viewer, ViewerOptions};
pub(crate) use window::Window;
