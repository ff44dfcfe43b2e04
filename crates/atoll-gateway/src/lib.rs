//! Many sandboxes behind one HTTP API: who may, which sandbox, is it awake.
//!
//! The gateway holds no process, no pipe and no shell. Each sandbox has an agent of its own, which goes on whatever
//! becomes of the gateway; requests for what runs inside go through to it. So the gateway can be upgraded, restarted or
//! killed at any moment, and nobody inside notices.
//!
//! How the parts meet: `server` takes connections, `routes` takes requests apart, `auth` says who asks, `fleet` knows
//! every sandbox and has one task for each, `placement` starts and finds agents, `proxy` passes requests on to them
//! over `lines`, `preview` shows what listens inside, `registry` remembers. `bridge` speaks the dialect of a peer, in terms of
//! all that, and `face` is where protocols of others come in.

mod app;
mod ask;
mod auth;
mod bridge;
mod clock;
mod error;
pub mod face;
mod fleet;
mod gateway;
mod lease;
mod lines;
mod metrics;
mod placement;
mod preview;
mod proxy;
mod random;
mod registry;
mod routes;
mod server;
mod slipping;

pub use auth::{Mode as AuthMode, Rate};
pub use bridge::openapi as bridge_openapi;
pub use error::{Difference, DiskTrouble, Error};
pub use gateway::{Gateway, Options, PreviewOptions, ROOT_TOKEN, SOCKET};
pub use placement::{Local, LocalOptions};
pub use preview::Domain;
pub use routes::{Origins, openapi};
pub use server::{Limits, PreviewListen, TlsFiles};
