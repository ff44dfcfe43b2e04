//! HTTP and WebSocket over one sandbox.
//!
//! A route takes its request apart, calls one method of the runtime and maps the error. Nothing lives here but
//! connections: what a sandbox holds is the runtime's, and goes on when a client goes away.

mod agent;
mod app;
mod auth;
mod command;
mod encode;
mod error;
mod extract;
mod file;
mod follow;
mod large;
mod leash;
mod listen;
mod place;
mod request_id;
mod routes;
mod server;
mod sse;

pub use agent::Agent;
pub use app::{openapi, router};
pub use auth::Token;
pub use listen::Listener;
pub use server::serve;
