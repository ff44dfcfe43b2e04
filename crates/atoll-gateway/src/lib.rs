//! The gateway: one HTTP API for many sandboxes. It authenticates clients, finds the sandbox and starts it when
//! needed.
//!
//! The gateway owns no process, pipe or shell. Each sandbox has its own agent, a separate process that outlives the
//! gateway; requests that concern the inside of a sandbox are forwarded to it. So the gateway can be upgraded,
//! restarted or killed at any moment without effect on the processes in sandboxes.
//!
//! Module map: `server` accepts connections, `routes` parses requests, `auth` authenticates them, `sandboxes` has one
//! actor per sandbox, `placement` starts and finds agents, `proxy` forwards requests to them over the connections of
//! `agent_pool`, `preview` serves the ports inside sandboxes, `registry` persists. `bridge` translates a peer's HTTP
//! API to ours, and `adapter` is the interface for other protocols.

pub mod adapter;
mod agent_client;
mod agent_pool;
mod app;
mod auth;
mod bridge;
mod clock;
mod error;
mod gateway;
mod lease;
mod metrics;
mod placement;
mod preview;
mod proxy;
mod random;
mod registry;
mod routes;
mod sandboxes;
mod server;
mod spliced_body;

pub use auth::{Mode as AuthMode, Rate};
pub use bridge::openapi as bridge_openapi;
pub use error::{Difference, DiskError, Error};
pub use gateway::{Gateway, Options, PreviewOptions, ROOT_TOKEN, SOCKET};
pub use placement::{Local, LocalOptions};
pub use preview::Domain;
pub use routes::{Origins, openapi};
pub use server::{Limits, PreviewListen, TlsFiles};
