//! The words of Atoll: ids, signals, end records, output events, error codes.
//!
//! Plain data with serde. No I/O, no clock, no async runtime: every other crate may depend on this one, it depends
//! on none of them. New fields are optional, new kinds are new variants; nothing is `untagged` or `flatten`ed, so a
//! message always says what it is.

mod attach;
mod cast;
mod end;
mod error;
mod exec;
mod id;
mod kill;
mod lifecycle;
mod output;
mod port;
mod process;
mod sandbox;
mod screen;
mod session;
mod signal;
mod snapshot;
mod spare;
mod start;
mod strict;
mod terminal;
mod time;
mod token;
mod wait;

pub use attach::{AttachCommand, AttachEvent, StdinPiece, TerminalCommand, TerminalExit, TerminalFrame, TerminalReady};
pub use cast::{CAST_VERSION, CastEvent, CastHeader};
pub use end::{EndReason, EndRecord};
pub use error::{ErrorAnswer, ErrorBody, ErrorCode};
pub use exec::{Background, ExecRequest, OnDisconnect};
pub use id::{InvalidId, ProcessId, SandboxName, SessionId, TerminalId};
pub use kill::{KillAllRequest, KillRequest, SignalReceipt, SignalRequest, SignalScope};
pub use lifecycle::{CreateSandbox, PatchSandbox, SandboxList, SandboxRecord, StopReason};
pub use output::{Capture, Encoding, ExecResult, Gap, OutputEnd, OutputEvent, OutputPage, Stream, Truncation};
pub use port::{
    ExposePort, LinkRequest, PortClosed, PortInfo, PortList, Preview, PreviewLink, PreviewList, Visibility,
};
pub use process::{KillReceipt, ProcessInfo, ProcessList, ProcessState, StdinReceipt};
pub use sandbox::{Isolation, SandboxInfo, SandboxLimits, SandboxSpec, SandboxState, SandboxUsage};
pub use screen::ScreenInfo;
pub use session::{
    CancelReceipt, ForkRequest, InterruptReceipt, RestartFrom, RestartRequest, SessionInfo, SessionList,
    SessionRequest, SessionState,
};
pub use signal::{Signal, UnknownSignal};
pub use snapshot::{
    ExactText, NotCarriedInfo, ResourceLimit, ShellAlias, ShellFunction, ShellTrap, ShellVariable, SnapshotInfo,
};
pub use spare::{AgentReady, SpareOrder, SparePrepared};
pub use start::{ReadyCondition, RestartPolicy, StartRequest, StdinMode};
pub use strict::Strict;
pub use terminal::{InvalidSize, ResizeRequest, Resized, TerminalInfo, TerminalList, TerminalRequest, WindowSize};
pub use time::Timestamp;
pub use token::{CreateToken, NewToken, Scope, TokenInfo, TokenList, Verb};
pub use wait::{HttpCondition, LogCondition, LogMatch, PortCondition, WaitAnswer, WaitFor, WaitRequest};
