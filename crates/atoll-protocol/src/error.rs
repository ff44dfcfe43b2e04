//! Error codes: stable names for what can go wrong, and the one shape in which they are told.

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($variant:ident = $status:literal, $doc:literal;)*) => {
        /// What went wrong, as a stable name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
        #[non_exhaustive]
        pub enum ErrorCode {
            $(#[doc = $doc] $variant,)*
        }

        impl ErrorCode {
            /// Every code, for documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The HTTP status that goes with it.
            pub fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            /// What it means, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }
        }
    };
}

codes! {
    Unauthorized = 401, "The request carries no token, or a wrong one.";
    Forbidden = 403, "The token is good, but not for this.";
    RouteNotFound = 404, "There is nothing at this path.";
    MethodNotAllowed = 405, "The path exists, but not for this method.";
    BodyTooLarge = 413, "The body of the request is larger than it may be.";
    UpgradeRequired = 426, "The path is a WebSocket, and the request does not ask for one.";
    UnsupportedMediaType = 415, "The body of the request is not of the kind that is read here.";
    RateLimited = 429, "This token asks too often. Retry-After says when to ask again.";
    IdempotencyConflict = 409, "The idempotency key was used for a different request.";
    TokenNotFound = 404, "No token has this id.";
    TokenLimit = 429, "There may not be more tokens.";
    SandboxNotFound = 404, "No sandbox has this name.";
    SandboxDiffers = 409, "A sandbox of this name exists with other options. The details list them.";
    SandboxPaused = 409, "The sandbox is paused: it can be looked at, and nothing else until it is resumed.";
    SandboxStopped = 409, "The sandbox is stopped, so there is nothing to pause.";
    SandboxLimit = 429, "The server may not have more sandboxes.";
    AgentUnavailable = 502, "The sandbox's agent could not be started or did not answer.";
    ShuttingDown = 503, "The server is about to end. Ask again in a moment.";
    ServerUnreachable = 503, "The server cannot be reached. Said by clients, never by a server.";
    TooManyConnections = 429, "There are as many open connections of this kind as there may be.";
    ValidationFailed = 400, "The request cannot be right: a bad name, a NUL byte, two things that exclude each other.";
    CommandNotFound = 404, "The program does not exist in the sandbox.";
    NotExecutable = 409, "The program exists but cannot be executed.";
    CwdNotFound = 404, "The working directory does not exist, is no directory, or may not be entered.";
    UserNotFound = 404, "The user does not exist in the sandbox.";
    ArgumentsTooLong = 413, "Arguments and environment together are longer than the kernel accepts.";
    ProcessNotFound = 404, "No process has this id.";
    ProcessAlreadyExists = 409, "A different command has this id.";
    ProcessEnded = 409, "The process has ended, so this can no longer be done.";
    ProcessLimit = 429, "The sandbox may not have more processes.";
    StdinNotOpen = 409, "The process has no open standard input to write to.";
    StdinGap = 409, "The write starts behind the end of what was written: bytes in between are missing.";
    SessionNotFound = 404, "No session has this id.";
    SessionAlreadyExists = 409, "A session has this id already.";
    SessionTerminated = 410, "The session's shell has ended. It can be restarted or deleted.";
    SessionAlive = 409, "The session's shell is alive, so there is nothing to restart.";
    SessionBusy = 429, "Too many commands wait for the session.";
    SessionLimit = 429, "The sandbox may not have more sessions.";
    SessionTooLarge = 413, "The session holds more than a snapshot can have. Its commands run; it cannot be copied.";
    CommandCancelled = 409, "The command was taken out of the queue before it began.";
    ShellNotSupported = 501, "The sandbox has no bash that can be a session's; the message says what is missing.";
    TerminalNotFound = 404, "No terminal has this id.";
    TerminalAlreadyExists = 409, "A terminal that runs a different command has this id.";
    TerminalEnded = 409, "The terminal's program has ended, so this can no longer be done.";
    TerminalReadOnly = 403, "This viewer may only look.";
    PortClosed = 502, "Nothing listens on the port inside the sandbox.";
    PreviewNotFound = 404, "There is no preview at this address: its token is wrong or was revoked, or there is no such sandbox.";
    PreviewAsleep = 503, "The sandbox sleeps, and this preview does not wake it.";
    PreviewBusy = 503, "As many requests to this sandbox's previews are open as there may be.";
    PreviewBroken = 502, "The program inside ended the connection before it had answered.";
    PreviewLimit = 429, "The sandbox may not have more exposed ports.";
    Misdirected = 421, "This address is not served here: a preview's host name is no way to the API.";
    WaitTimeout = 408, "What was waited for did not happen in time. The process goes on.";
    LimitUnavailable = 501, "A limit was asked for that this host cannot enforce.";
    EgressUnavailable = 501, "This host cannot give the sandbox a way out, or a sandbox without isolation was asked to have rules for it.";
    SecretNotFound = 404, "No secret has this name.";
    IsolationUnavailable = 501, "This host cannot give the isolation asked for.";
    PauseUnavailable = 501, "This host cannot freeze the sandbox: that needs cgroups.";
    StorageBusy = 409, "Another living sandbox uses this storage, or its block of ids.";
    SandboxGone = 410, "The sandbox has ended.";
    FileNotFound = 404, "There is no such file or directory, or a link that leads nowhere.";
    FileExists = 409, "Something of this name is there already.";
    IsDirectory = 400, "It is a directory, and a file is needed.";
    NotDirectory = 400, "It is no directory, and one is needed.";
    NotRegularFile = 400, "It is a fifo, a socket or a device, and a regular file is needed.";
    DirectoryNotEmpty = 409, "The directory is not empty.";
    PermissionDenied = 403, "The user may not do this to the file.";
    NoSpace = 507, "The file system has no room, or the user no more share of it.";
    FileTooLarge = 413, "The file would be larger than the file system allows.";
    ReadOnly = 403, "The file system cannot be written.";
    NameTooLong = 400, "A name has more than 255 bytes, or a path more than 4095.";
    TooManyLinks = 400, "Symbolic links lead in a circle, or there are too many.";
    PathEscapes = 400, "The path leads out of the directory in which it must stay.";
    CrossDevice = 409, "The two names are on different file systems.";
    ResourceBusy = 409, "The file is in use in a way that forbids this: a mount point, or a program that runs.";
    TooManyFiles = 429, "Too many files are open.";
    PreconditionFailed = 412, "The file is not in the state that the request asks for.";
    RangeNotSatisfiable = 416, "Nothing of the range is in the file.";
    ContentMismatch = 409, "The content is not what the request says: a text that is not there, a patch that does not fit, a broken archive.";
    FileLimit = 413, "A limit on bytes, entries, depth or time was reached.";
    OperationInterrupted = 409, "The operation was called off before its end.";
    FilesystemUnsupported = 501, "The file system cannot do this.";
    FilesystemError = 500, "The file system failed; the message has the kernel's word.";
    WatchNotFound = 404, "No watch has this id: it was never there, was deleted, or nobody read it for ten minutes.";
    WatchAlreadyExists = 409, "A watch has this id already.";
    WatchLimit = 429, "The sandbox may not have more watches.";
    CursorTooOld = 410, "What happened at this cursor is no longer remembered. The details say from where reading can go on; look at the tree itself for what is there.";
    GitNotAvailable = 501, "The sandbox has no git.";
    GitFailed = 409, "Git says no; the message has its words.";
    GitAuthenticationFailed = 403, "The remote refuses the credentials, or asks for some and none were given.";
    GitConfigRefused = 409, "The repository's configuration sets a key that could run a program or redirect a transfer; the message names it.";
    GitTimeout = 408, "Git took longer than it may, and was ended.";
    DiskFull = 507, "There is no room on the disk.";
    DiskReadOnly = 507, "The disk takes no writes.";
    Internal = 500, "Atoll failed. The command may or may not have run; the message says which.";
}

/// The one error shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ErrorBody {
    /// The stable code.
    pub code: ErrorCode,
    /// What happened, naming the thing.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hint: Option<String>,
    /// Facts for programs, where the code alone does not say enough.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub details: Option<serde_json::Value>,
}

/// The body of every answer that is an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ErrorAnswer {
    /// What went wrong.
    pub error: ErrorBody,
}
