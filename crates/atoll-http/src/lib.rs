//! What our HTTP servers do alike, whatever they serve: an agent and a gateway share this and nothing else.
//!
//! Knows no sandbox, no route and no token.

pub mod percent;
mod unread;

pub use unread::settle;
