//! Types of Atoll's API: ids, signals, end records, output events, error codes, requests and responses.
//!
//! Plain data with serde. No I/O, no clock, no async runtime: every other crate may depend on this one, and it depends
//! on none of them. New fields are optional, and new kinds are new variants. Nothing is `untagged` or `flatten`ed, so
//! a message always says what it is.

mod advice;
mod archive;
mod attach;
mod cast;
mod edit;
mod end;
mod error;
mod exec;
mod file;
mod git;
mod id;
mod kill;
mod lifecycle;
mod network;
mod output;
mod port;
mod process;
mod sandbox;
mod screen;
mod search;
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
mod watch;

pub use archive::{ArchiveExisting, ArchiveFormat, Omitted, PackOptions, SkippedMember, UnpackOptions, UnpackReceipt};
pub use attach::{AttachCommand, AttachEvent, StdinPiece, TerminalCommand, TerminalExit, TerminalFrame, TerminalReady};
pub use cast::{CAST_VERSION, CastEvent, CastHeader};
pub use edit::{EditReceipt, EditRequest, EditText, PatchHunk, PatchOutcome, PatchReceipt, PatchedFile};
pub use end::{EndReason, EndRecord};
pub use error::{ErrorAnswer, ErrorBody, ErrorCode};
pub use exec::{Background, ExecRequest, OnDisconnect};
pub use file::{
    FileCount, FileExists, FileInfo, FileKind, FileList, FileListEnd, FileListLine, FileText, FromToRequest,
    MakeDirectoryReceipt, MakeDirectoryRequest, ModeRequest, PathText, SymlinkRequest, UploadReceipt, WriteFileRequest,
    WriteReceipt, given_path,
};
pub use git::{
    GitAuthor, GitBranch, GitBranches, GitBranchesRequest, GitChange, GitCheckedOut, GitCheckoutRequest,
    GitCloneRequest, GitCloned, GitCommitInfo, GitCommitRequest, GitCommitted, GitCredentials, GitDiff, GitDiffRequest,
    GitLog, GitLogRequest, GitProgress, GitPullRequest, GitPulled, GitPushRequest, GitPushed, GitPushedRef, GitStatus,
    GitStatusEntry, GitStatusRequest,
};
pub use id::{InvalidId, ProcessId, SandboxName, SessionId, TerminalId, WatchId};
pub use kill::{KillAllRequest, KillRequest, SignalReceipt, SignalRequest, SignalScope};
pub use lifecycle::{CreateSandbox, PatchSandbox, SandboxList, SandboxRecord, StopReason};
pub use network::{
    Denial, DenialReason, EgressEvent, EgressEventKind, EgressEventPage, EgressProtocol, EgressRule, EgressTotals,
    NetworkInfo, NetworkPolicy, PutSecret, RuleSet, SecretInfo, SecretList,
};
pub use output::{Capture, Encoding, ExecResult, Gap, OutputEnd, OutputEvent, OutputPage, Stream, Truncation};
pub use port::{
    ExposePort, LinkRequest, PortClosed, PortInfo, PortList, Preview, PreviewLink, PreviewList, Visibility,
};
pub use process::{KillReceipt, ProcessInfo, ProcessList, ProcessState, StdinReceipt};
pub use sandbox::{Isolation, SandboxInfo, SandboxLimits, SandboxSpec, SandboxState, SandboxUsage};
pub use screen::ScreenInfo;
pub use search::{
    GlobAnswer, GlobEntry, GlobKind, GlobRequest, SearchAnswer, SearchBinary, SearchCase, SearchDetail, SearchFile,
    SearchLine, SearchMatch, SearchRequest, SearchRole, SearchSpan, SearchSummary, SearchSyntax, SearchTruncated,
};
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
pub use watch::{WatchChange, WatchEnd, WatchEvent, WatchFrame, WatchInfo, WatchList, WatchPage, WatchRequest};
