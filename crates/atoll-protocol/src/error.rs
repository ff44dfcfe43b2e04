//! Error codes: stable names for errors, and the JSON shape of every error.

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($variant:ident = $status:literal, $doc:literal;)*) => {
        /// Stable name of an error.
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

            /// Returns the HTTP status of the error.
            pub fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            /// Returns what the code means, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }
        }
    };
}

codes! {
    Unauthorized = 401, "The request has no token, or the token is not valid.";
    Forbidden = 403, "The token is valid, but its scopes do not allow this request.";
    RouteNotFound = 404, "No route has this path.";
    MethodNotAllowed = 405, "The route exists, but does not support this method.";
    BodyTooLarge = 413, "The request body is larger than the limit.";
    UpgradeRequired = 426, "The route is a WebSocket, and the request is not an upgrade.";
    UnsupportedMediaType = 415, "The route does not accept a body of this content type.";
    RateLimited = 429, "The token has exceeded its rate limit. `Retry-After` says when to retry.";
    IdempotencyConflict = 409, "The idempotency key was already used for a different request.";
    TokenNotFound = 404, "No token has this id.";
    TokenLimit = 429, "The server has reached its limit of tokens.";
    SandboxNotFound = 404, "No sandbox has this name.";
    SandboxDiffers = 409, "A sandbox of this name exists with different options. The details list the differences.";
    SandboxPaused = 409, "The sandbox is paused. It can be inspected, but not used, until it is resumed.";
    SandboxStopped = 409, "The sandbox is stopped, so there is nothing to pause.";
    SandboxLimit = 429, "The server has reached its limit of sandboxes.";
    AgentUnavailable = 502, "The sandbox's agent could not be started, or did not respond.";
    ShuttingDown = 503, "The server is shutting down. Retry in a moment.";
    ServerUnreachable = 503, "The client cannot reach the server. Only clients report this code.";
    TooManyConnections = 429, "The limit of open connections of this kind is reached.";
    ValidationFailed = 400, "The request is not valid: for example an invalid name, a NUL byte, or two options that exclude each other.";
    CommandNotFound = 404, "The program does not exist in the sandbox.";
    NotExecutable = 409, "The program exists but cannot be executed.";
    CwdNotFound = 404, "The working directory does not exist, is not a directory, or cannot be entered.";
    UserNotFound = 404, "The user does not exist in the sandbox.";
    ArgumentsTooLong = 413, "Arguments and environment together are longer than the kernel accepts.";
    ProcessNotFound = 404, "No process has this id.";
    ProcessAlreadyExists = 409, "A process with this id runs a different command.";
    ProcessEnded = 409, "The process has ended, so the operation is not possible.";
    ProcessLimit = 429, "The sandbox has reached its limit of processes.";
    StdinNotOpen = 409, "The process has no open standard input.";
    StdinGap = 409, "The write starts past the end of the bytes written so far, so bytes in between are missing.";
    SessionNotFound = 404, "No session has this id.";
    SessionAlreadyExists = 409, "A session with this id already exists.";
    SessionTerminated = 410, "The session's shell has ended. The session can be restarted or deleted.";
    SessionAlive = 409, "The session's shell is still running, so there is nothing to restart.";
    SessionBusy = 429, "Too many commands are queued in the session.";
    SessionLimit = 429, "The sandbox has reached its limit of sessions.";
    SessionTooLarge = 413, "The session holds more than a snapshot can have. Its commands run, but it cannot be copied.";
    CommandCancelled = 409, "The command was removed from the queue before it started.";
    ShellNotSupported = 501, "The sandbox has no bash that sessions can use. The message says what is missing.";
    TerminalNotFound = 404, "No terminal has this id.";
    TerminalAlreadyExists = 409, "A terminal with this id runs a different command.";
    TerminalEnded = 409, "The terminal's program has ended, so the operation is not possible.";
    TerminalReadOnly = 403, "The viewer is attached read-only.";
    PortClosed = 502, "No process listens on the port inside the sandbox.";
    PreviewNotFound = 404, "No preview has this address: its token is wrong or revoked, or the sandbox does not exist.";
    PreviewAsleep = 503, "The sandbox is stopped, and this preview does not wake it.";
    PreviewBusy = 503, "The limit of open requests to this sandbox's previews is reached.";
    PreviewBroken = 502, "The program inside closed the connection before it responded.";
    PreviewLimit = 429, "The sandbox has reached its limit of exposed ports.";
    Misdirected = 421, "The server does not serve this host name: for example, the API is not available under a preview's host name.";
    WaitTimeout = 408, "The condition was not met before the timeout. The process keeps running.";
    LimitUnavailable = 501, "The host cannot enforce a requested limit.";
    EgressUnavailable = 501, "The host cannot give the sandbox network access, or egress rules were requested for a sandbox without isolation.";
    SecretNotFound = 404, "No secret has this name.";
    IsolationUnavailable = 501, "The host cannot provide the requested isolation.";
    PauseUnavailable = 501, "The host cannot freeze the sandbox, which needs cgroups.";
    StorageBusy = 409, "Another running sandbox uses this storage or its block of user ids.";
    SandboxGone = 410, "The sandbox has ended.";
    FileNotFound = 404, "The file or directory does not exist, or a symbolic link is dangling.";
    FileExists = 409, "A file or directory of this name already exists.";
    IsDirectory = 400, "The path is a directory, and a file is required.";
    NotDirectory = 400, "The path is not a directory, and a directory is required.";
    NotRegularFile = 400, "The path is a fifo, a socket or a device, and a regular file is required.";
    DirectoryNotEmpty = 409, "The directory is not empty.";
    PermissionDenied = 403, "The user has no permission for this operation.";
    NoSpace = 507, "The file system is full, or the user's quota is used up.";
    FileTooLarge = 413, "The file would exceed the file system's maximum size.";
    ReadOnly = 403, "The file system is read-only.";
    NameTooLong = 400, "A name is longer than 255 bytes, or a path longer than 4095.";
    TooManyLinks = 400, "The path has a loop of symbolic links, or too many of them.";
    PathEscapes = 400, "The path leads outside the directory that it must stay in.";
    CrossDevice = 409, "The two paths are on different file systems.";
    ResourceBusy = 409, "The file is in use in a way that forbids the operation: a mount point, or a running program.";
    TooManyFiles = 429, "Too many files are open.";
    PreconditionFailed = 412, "The file does not match the condition of the request, such as its etag.";
    RangeNotSatisfiable = 416, "The range is outside the file.";
    ContentMismatch = 409, "The content is not what the request expects: a text that is not in the file, a patch that does not apply, or a corrupt archive.";
    FileLimit = 413, "A limit on bytes, entries, depth or time was reached.";
    OperationInterrupted = 409, "The operation was cancelled before it finished.";
    FilesystemUnsupported = 501, "The file system does not support the operation.";
    FilesystemError = 500, "The file system failed. The message contains the kernel's error.";
    WatchNotFound = 404, "No watch has this id: it never existed, was deleted, or was removed because no client read it for ten minutes.";
    WatchAlreadyExists = 409, "A watch with this id already exists.";
    WatchLimit = 429, "The sandbox has reached its limit of watches.";
    CursorTooOld = 410, "The events at this cursor are no longer retained. The details say from which cursor reading can continue; list the tree for its current state.";
    GitNotAvailable = 501, "Git is not installed in the sandbox.";
    GitFailed = 409, "Git failed. The message contains git's own output.";
    GitAuthenticationFailed = 403, "The remote rejected the credentials, or requires credentials and none were given.";
    GitConfigRefused = 409, "The repository's configuration sets a key that could run a program or redirect a transfer; the message names it.";
    GitTimeout = 408, "Git took longer than the timeout and was killed.";
    DiskFull = 507, "The disk is full.";
    DiskReadOnly = 507, "The disk is read-only.";
    Internal = 500, "Atoll failed. The command may or may not have run; the message says which.";
}

/// The JSON shape of every error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ErrorBody {
    /// The stable code.
    pub code: ErrorCode,
    /// What failed, with the value.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hint: Option<String>,
    /// Machine-readable facts, where the code alone does not say enough.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub details: Option<serde_json::Value>,
}

/// Body of every error response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ErrorAnswer {
    /// The error.
    pub error: ErrorBody,
}
