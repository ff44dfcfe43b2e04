//! The words of Atoll: ids, signals, end records, output events, error codes.
//!
//! Plain data with serde. No I/O, no clock, no async runtime: every other crate may depend on this one, it depends
//! on none of them. New fields are optional, new kinds are new variants; nothing is `untagged` or `flatten`ed, so a
//! message always says what it is.

mod cast;
mod end;
mod error;
mod id;
mod output;
mod process;
mod session;
mod signal;
mod terminal;
mod time;

pub use cast::{CAST_VERSION, CastEvent, CastHeader};
pub use end::{EndReason, EndRecord};
pub use error::{ErrorBody, ErrorCode};
pub use id::{InvalidId, ProcessId, SandboxName, SessionId, TerminalId};
pub use output::{Capture, Encoding, ExecResult, OutputEvent, Stream, Truncation};
pub use process::{KillReceipt, ProcessInfo, ProcessState};
pub use session::{SessionInfo, SessionState};
pub use signal::{Signal, UnknownSignal};
pub use terminal::{InvalidSize, Resized, TerminalInfo, WindowSize};
pub use time::Timestamp;
