//! HTTP plumbing that the agent and the gateway share: sockets, splicing of large bodies, draining of unread requests.
//!
//! Independent of sandboxes, routes and tokens.

mod drain;
pub mod percent;
mod raw_body;
mod splice;
mod stream;
mod unix_socket;

pub use drain::drain_request_body;
pub use raw_body::{Pipe, RawBody};
pub use splice::{SPLICE_REQUEST_MIN, SPLICE_RESPONSE_MIN, SpliceHandle, SpliceStream, placeholder};
pub use stream::{Source, Stream};
pub use unix_socket::UnixSocket;
