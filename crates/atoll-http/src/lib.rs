//! What our HTTP servers do alike, whatever they serve: an agent and a gateway share this and nothing else.
//!
//! Knows no sandbox, no route and no token.

mod local;
mod passage;
pub mod percent;
mod stream;
mod tap;
mod unread;

pub use local::Local;
pub use passage::{LARGE, LARGE_UP, Passage, Slipway, stand_in};
pub use stream::{Source, Stream};
pub use tap::{Pipe, Tap};
pub use unread::settle;
