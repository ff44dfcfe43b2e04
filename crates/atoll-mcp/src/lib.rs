//! Sandboxes as tools for models: a server of the Model Context Protocol (MCP).
//!
//! It sees what any client sees: everything is asked of a server through `atoll-client`, with the token of whoever calls
//! a tool, so there is nothing that MCP may and the API may not. It holds no process and no file; what it does hold is
//! who is connected, and which sandbox is whose.
//!
//! How the parts meet: `stdio` and `http` bring messages, `handler` speaks the protocol, `tool` is what every tool has,
//! `tools` are they, `call` is one call of one, `guest` is a client and its sandbox. No type of the protocol's library
//! leaves this crate.

mod call;
mod catalog;
mod guest;
mod handler;
mod http;
mod printed;
mod schema;
mod stdio;
mod tool;
mod tools;
mod trouble;

pub use catalog::table;
pub use guest::Place;
pub use http::{Answer, Mount, Visit};
pub use stdio::serve;
