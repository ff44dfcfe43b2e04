//! The words of Atoll: ids, signals, end records, output events, error codes.
//!
//! Plain data with serde. No I/O, no clock, no async runtime: every other crate may depend on this one, it depends
//! on none of them. New fields are optional, new kinds are new variants; nothing is `untagged` or `flatten`ed, so a
//! message always says what it is.

mod cast;
mod end;
mod error;
mod id;
mod lifecycle;
mod output;
mod process;
mod sandbox;
mod signal;
mod terminal;
mod time;
mod token;

pub use cast::{CAST_VERSION, CastEvent, CastHeader};
pub use end::{EndReason, EndRecord};
pub use error::{ErrorAnswer, ErrorBody, ErrorCode};
pub use id::{InvalidId, ProcessId, SandboxName, TerminalId};
pub use lifecycle::{CreateSandbox, PatchSandbox, SandboxList, SandboxRecord, SandboxState, StopReason};
pub use output::{Capture, Encoding, ExecResult, OutputEvent, Stream, Truncation};
pub use process::{KillReceipt, ProcessInfo, ProcessState};
pub use sandbox::{Isolation, SandboxInfo, SandboxLimits, SandboxSpec, SandboxUsage};
pub use signal::{Signal, UnknownSignal};
pub use terminal::{InvalidSize, Resized, TerminalInfo, WindowSize};
pub use time::Timestamp;
pub use token::{CreateToken, NewToken, Scope, TokenInfo, TokenList, Verb};
