//! The one language between agent and init: versioned binary messages on a SEQPACKET socket.
//!
//! Plain data and its encoding, for both ends. No socket here, no policy. A decoder trusts nothing: short input,
//! long counts, unknown tags and trailing bytes are all [`Malformed`].
//!
//! Rules for changing it: raise the version with any change of a message. Agent and init come out of one binary, so
//! they match; the check costs nothing and makes a mix-up an error instead of a riddle.

mod codec;
mod message;

pub use codec::{Decoder, Malformed, Wire, put_list};
pub use message::{Address, Event, KeeperRequest, Kept, Members, Request, Session, Setup, Spawn, SpawnStage, VERSION};

/// Largest message that goes through the socket itself. A bigger one (long argument lists) travels as a memory
/// file whose descriptor is sent instead, because a SEQPACKET message must fit the socket's buffer (212,992 bytes by default).
pub const INLINE_MAX: usize = 64 * 1024;

/// First byte of a message whose body is in the memory file that comes as its first descriptor.
pub const IN_MEMORY_FILE: u8 = 0xff;

/// Largest body accepted out of a memory file: above the kernel's own limit on arguments and environment (6 MiB).
pub const BODY_MAX: u64 = 16 * 1024 * 1024;
