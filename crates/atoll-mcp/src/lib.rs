//! A server of the Model Context Protocol (MCP): sandboxes as tools for models.
//!
//! It has no more access than any other client: it sends every request through `atoll-client`, with the token of the
//! client that calls the tool. It owns no processes and no files, only the client sessions and their sandboxes.
//!
//! How the parts meet: `stdio` and `http` are the transports, `handler` implements the protocol, `catalog` lists the
//! tools, `tool` is the trait that they implement, `call` is one tool call, and `client_session` is a client with its
//! sandbox. No type of the MCP library is public.

mod call;
mod catalog;
mod client_session;
mod error;
mod handler;
mod http;
mod schema;
mod stdio;
mod tool;
mod tools;
mod truncated_output;

pub use catalog::table;
pub use client_session::SandboxTarget;
pub use http::{HttpCaller, HttpResponse, Mount};
pub use stdio::serve;
