//! Everything that can go wrong, in the user's words. One variant per thing; code and hint are methods.

use std::io;

use atoll_files::{Failure, Kind};
use atoll_protocol::{EndRecord, ErrorBody, ErrorCode, PathText};

/// A request that was not done, or a wait that ended otherwise.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request cannot be right.
    #[error("{what}")]
    Invalid {
        /// What is wrong with it.
        what: String,
    },
    /// No such program inside.
    #[error("command not found: {program}")]
    CommandNotFound {
        /// As given.
        program: String,
    },
    /// There, but not to be executed.
    #[error("cannot execute {program}: {why}")]
    NotExecutable {
        /// As given.
        program: String,
        /// What the kernel said.
        why: String,
    },
    /// The working directory cannot be entered.
    #[error("cannot enter the working directory {cwd}: {why}")]
    CwdNotFound {
        /// As given.
        cwd: String,
        /// What the kernel said.
        why: String,
    },
    /// No such user inside.
    #[error("no such user in the sandbox: {user}")]
    UserNotFound {
        /// As given.
        user: String,
        /// What can be done.
        hint: Option<&'static str>,
    },
    /// Arguments and environment do not fit.
    #[error("arguments and environment are too long: {bytes} bytes")]
    ArgumentsTooLong {
        /// Their length together.
        bytes: u64,
    },
    /// No process has this id.
    #[error("no process has the id {id}")]
    ProcessNotFound {
        /// The id.
        id: String,
    },
    /// The id is taken by a different command.
    #[error("the id {id} belongs to a different command")]
    ProcessAlreadyExists {
        /// The id.
        id: String,
    },
    /// Too late.
    #[error("process {id} has ended")]
    ProcessEnded {
        /// The id.
        id: String,
    },
    /// It still lives.
    #[error("process {id} is still running")]
    ProcessRunning {
        /// The id.
        id: String,
    },
    /// The kernel or the sandbox's limit says no.
    #[error("cannot start another process: {why}")]
    ProcessLimit {
        /// What the kernel said.
        why: String,
    },
    /// There is no stdin to write to.
    #[error("process {id} has no open standard input")]
    StdinNotOpen {
        /// The id.
        id: String,
    },
    /// Bytes in between are missing.
    #[error("write at {offset} would leave a gap: the next byte of standard input is {expected}")]
    StdinGap {
        /// As given.
        offset: u64,
        /// Where to go on.
        expected: u64,
    },
    /// No session has this id.
    #[error("no session has the id {id}")]
    SessionNotFound {
        /// The id.
        id: String,
    },
    /// The id is taken.
    #[error("there is already a session with the id {id}")]
    SessionAlreadyExists {
        /// The id.
        id: String,
    },
    /// Its shell has ended.
    #[error("the shell of session {id} has ended{}", how(.end.as_deref()))]
    SessionTerminated {
        /// The id.
        id: String,
        /// How.
        end: Option<Box<EndRecord>>,
    },
    /// Only a dead session is restarted.
    #[error("session {id} is alive")]
    SessionAlive {
        /// The id.
        id: String,
    },
    /// Its queue is full.
    #[error("too many commands wait for session {id}")]
    SessionBusy {
        /// The id.
        id: String,
    },
    /// No more sessions.
    #[error("a sandbox has at most {max} sessions")]
    SessionLimit {
        /// How many.
        max: usize,
    },
    /// Taken out of the queue.
    #[error("command {id} was cancelled before it began")]
    CommandCancelled {
        /// The id.
        id: String,
    },
    /// The sandbox's bash cannot be a session's.
    #[error("no session can be had here: {why}")]
    ShellNotSupported {
        /// What is missing.
        why: String,
    },
    /// No terminal has this id.
    #[error("no terminal has the id {id}")]
    TerminalNotFound {
        /// The id.
        id: String,
    },
    /// The id is taken by a different program.
    #[error("the id {id} belongs to a terminal with a different program")]
    TerminalAlreadyExists {
        /// The id.
        id: String,
    },
    /// Too late.
    #[error("the program of terminal {id} has ended")]
    TerminalEnded {
        /// The id.
        id: String,
    },
    /// This viewer may only look.
    #[error("terminal {id} may only be looked at by this viewer")]
    TerminalReadOnly {
        /// The id.
        id: String,
    },
    /// Nothing listens there.
    #[error("nothing listens on port {port} in the sandbox")]
    PortClosed {
        /// The port.
        port: u16,
    },
    /// The wait's own time was up.
    #[error("waited {millis} ms in vain until {what}")]
    WaitTimeout {
        /// What was waited for.
        what: String,
        /// For how long.
        millis: u128,
    },
    /// The wait is pointless now.
    #[error("process {id} ended before {what}")]
    EndedWhileWaiting {
        /// The id.
        id: String,
        /// What was waited for.
        what: String,
    },
    /// This host cannot enforce it.
    #[error("{what}")]
    LimitUnavailable {
        /// Which limit and why.
        what: String,
        /// What can be done.
        hint: Option<String>,
    },
    /// There is no way out to be had, or none that rules could hold on.
    #[error("{why}")]
    EgressUnavailable {
        /// Why.
        why: String,
        /// What can be done.
        hint: Option<String>,
    },
    /// No such secret.
    #[error("no secret is named {name}")]
    SecretNotFound {
        /// The name.
        name: String,
    },
    /// This host cannot wall it off as asked.
    #[error("{what}")]
    IsolationUnavailable {
        /// The step and the OS error.
        what: String,
        /// What can be done.
        hint: Option<String>,
    },
    /// This host cannot freeze it.
    #[error("the sandbox cannot be paused: {why}")]
    PauseUnavailable {
        /// What is missing.
        why: String,
    },
    /// The storage has a living sandbox.
    #[error("the storage {path} is in use: {why}")]
    StorageBusy {
        /// The directory.
        path: String,
        /// By whom.
        why: &'static str,
    },
    /// Nothing lives here any more.
    #[error("the sandbox has ended")]
    SandboxGone,
    /// No room.
    #[error("no room on the disk: {what}")]
    DiskFull {
        /// Doing what.
        what: String,
    },
    /// No writes.
    #[error("the disk is read-only: failed to {what}")]
    DiskReadOnly {
        /// Doing what.
        what: String,
    },
    /// Something about a file.
    #[error("{failure}")]
    File {
        /// What.
        failure: Box<Failure>,
    },
    /// No watch has this id.
    #[error("no watch has the id {id}")]
    WatchNotFound {
        /// The id.
        id: String,
    },
    /// The id is taken.
    #[error("there is already a watch with the id {id}")]
    WatchAlreadyExists {
        /// The id.
        id: String,
    },
    /// No more watches.
    #[error("a sandbox has at most {max} watches")]
    WatchLimit {
        /// How many.
        max: usize,
    },
    /// It was forgotten.
    #[error("what happened at {cursor} is no longer remembered; the oldest is {oldest}")]
    CursorTooOld {
        /// As given.
        cursor: u64,
        /// From where reading can go on.
        oldest: u64,
    },
    /// There is no git.
    #[error("the sandbox has no git")]
    GitNotAvailable,
    /// Git says no.
    #[error("{why}")]
    GitFailed {
        /// In its words.
        why: String,
    },
    /// The remote wants to know who it is, and is not content.
    #[error("{why}")]
    GitAuthenticationFailed {
        /// In git's words.
        why: String,
    },
    /// It took too long.
    #[error("git took longer than it may, and was ended")]
    GitTimeout,
    /// Our own failure.
    #[error("{what}")]
    Internal {
        /// What failed, and whether the command ran.
        what: String,
    },
}

impl Error {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid { .. } => ErrorCode::ValidationFailed,
            Self::CommandNotFound { .. } => ErrorCode::CommandNotFound,
            Self::NotExecutable { .. } => ErrorCode::NotExecutable,
            Self::CwdNotFound { .. } => ErrorCode::CwdNotFound,
            Self::UserNotFound { .. } => ErrorCode::UserNotFound,
            Self::ArgumentsTooLong { .. } => ErrorCode::ArgumentsTooLong,
            Self::ProcessNotFound { .. } => ErrorCode::ProcessNotFound,
            Self::ProcessAlreadyExists { .. } | Self::ProcessRunning { .. } => ErrorCode::ProcessAlreadyExists,
            Self::ProcessEnded { .. } | Self::EndedWhileWaiting { .. } => ErrorCode::ProcessEnded,
            Self::ProcessLimit { .. } => ErrorCode::ProcessLimit,
            Self::StdinNotOpen { .. } => ErrorCode::StdinNotOpen,
            Self::StdinGap { .. } => ErrorCode::StdinGap,
            Self::SessionNotFound { .. } => ErrorCode::SessionNotFound,
            Self::SessionAlreadyExists { .. } => ErrorCode::SessionAlreadyExists,
            Self::SessionTerminated { .. } => ErrorCode::SessionTerminated,
            Self::SessionAlive { .. } => ErrorCode::SessionAlive,
            Self::SessionBusy { .. } => ErrorCode::SessionBusy,
            Self::SessionLimit { .. } => ErrorCode::SessionLimit,
            Self::CommandCancelled { .. } => ErrorCode::CommandCancelled,
            Self::ShellNotSupported { .. } => ErrorCode::ShellNotSupported,
            Self::TerminalNotFound { .. } => ErrorCode::TerminalNotFound,
            Self::TerminalAlreadyExists { .. } => ErrorCode::TerminalAlreadyExists,
            Self::TerminalEnded { .. } => ErrorCode::TerminalEnded,
            Self::TerminalReadOnly { .. } => ErrorCode::TerminalReadOnly,
            Self::PortClosed { .. } => ErrorCode::PortClosed,
            Self::WaitTimeout { .. } => ErrorCode::WaitTimeout,
            Self::LimitUnavailable { .. } => ErrorCode::LimitUnavailable,
            Self::EgressUnavailable { .. } => ErrorCode::EgressUnavailable,
            Self::SecretNotFound { .. } => ErrorCode::SecretNotFound,
            Self::IsolationUnavailable { .. } => ErrorCode::IsolationUnavailable,
            Self::PauseUnavailable { .. } => ErrorCode::PauseUnavailable,
            Self::StorageBusy { .. } => ErrorCode::StorageBusy,
            Self::SandboxGone => ErrorCode::SandboxGone,
            Self::DiskFull { .. } => ErrorCode::DiskFull,
            Self::DiskReadOnly { .. } => ErrorCode::DiskReadOnly,
            Self::File { failure } => file_code(failure.kind),
            Self::WatchNotFound { .. } => ErrorCode::WatchNotFound,
            Self::WatchAlreadyExists { .. } => ErrorCode::WatchAlreadyExists,
            Self::WatchLimit { .. } => ErrorCode::WatchLimit,
            Self::CursorTooOld { .. } => ErrorCode::CursorTooOld,
            Self::GitNotAvailable => ErrorCode::GitNotAvailable,
            Self::GitFailed { .. } => ErrorCode::GitFailed,
            Self::GitAuthenticationFailed { .. } => ErrorCode::GitAuthenticationFailed,
            Self::GitTimeout => ErrorCode::GitTimeout,
            Self::Internal { .. } => ErrorCode::Internal,
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::CommandNotFound { .. } => {
                Some("argv runs a program directly; give a shell string to use builtins and pipes".to_owned())
            }
            Self::CwdNotFound { .. } => {
                Some("it must be a directory inside that the command's user may enter, as each one above it".to_owned())
            }
            Self::ArgumentsTooLong { .. } => Some("pass large data on standard input or as a file".to_owned()),
            Self::ProcessAlreadyExists { .. } => Some("repeat the same command, or choose another id".to_owned()),
            Self::TerminalAlreadyExists { .. } => {
                Some("open it with the same program, choose another id, or delete it first".to_owned())
            }
            Self::TerminalEnded { .. } => Some("open it again: a new program takes the id".to_owned()),
            Self::TerminalReadOnly { .. } => Some("attach with write access".to_owned()),
            Self::ProcessRunning { .. } => Some("kill it first".to_owned()),
            Self::PauseUnavailable { .. } => {
                Some("run as root, or in a delegated cgroup (systemd-run --user --scope -p Delegate=yes)".to_owned())
            }
            Self::StorageBusy { .. } => Some("end the sandbox that uses it first".to_owned()),
            Self::SessionNotFound { .. } => Some("create it first: no session is made behind your back".to_owned()),
            Self::SessionAlreadyExists { .. } => Some("use it, choose another id, or delete it first".to_owned()),
            Self::SessionTerminated { .. } => {
                Some("restart it, from its last snapshot or from nothing, or delete it".to_owned())
            }
            Self::SessionBusy { .. } => Some("wait for some of them, cancel them, or use another session".to_owned()),
            Self::SessionLimit { .. } => Some("delete some that are no longer used".to_owned()),
            Self::ShellNotSupported { .. } => {
                Some("a session needs a bash that can load builtins (`enable -f`); exec needs any sh".to_owned())
            }
            Self::PortClosed { .. } => Some("start a server inside that listens on it, on any address".to_owned()),
            Self::DiskFull { .. } => Some("make room on the disk that holds the sandbox's storage".to_owned()),
            Self::DiskReadOnly { .. } => Some(
                "mount the disk that holds the sandbox's storage for writing; the kernel's log says why it is not"
                    .to_owned(),
            ),
            Self::UserNotFound { hint, .. } => hint.map(str::to_owned),
            Self::File { failure } => file_hint(failure.kind).map(str::to_owned),
            Self::CursorTooOld { .. } => {
                Some("list the directory for what is there, and go on from the oldest cursor".to_owned())
            }
            Self::GitNotAvailable => Some("install git in the sandbox, or use a root that has it".to_owned()),
            Self::GitAuthenticationFailed { .. } => {
                Some("give `credentials` for this server: a name, and a password or token".to_owned())
            }
            Self::GitTimeout => Some("give it more time (`timeout_ms`), or fetch less (`depth`)".to_owned()),
            Self::WatchLimit { .. } => Some("delete a watch that is not needed any more".to_owned()),
            Self::LimitUnavailable { hint, .. }
            | Self::IsolationUnavailable { hint, .. }
            | Self::EgressUnavailable { hint, .. } => hint.clone(),
            Self::Invalid { .. }
            | Self::WatchNotFound { .. }
            | Self::GitFailed { .. }
            | Self::WatchAlreadyExists { .. }
            | Self::NotExecutable { .. }
            | Self::ProcessNotFound { .. }
            | Self::ProcessEnded { .. }
            | Self::ProcessLimit { .. }
            | Self::StdinNotOpen { .. }
            | Self::StdinGap { .. }
            | Self::TerminalNotFound { .. }
            | Self::SessionAlive { .. }
            | Self::CommandCancelled { .. }
            | Self::WaitTimeout { .. }
            | Self::SecretNotFound { .. }
            | Self::EndedWhileWaiting { .. }
            | Self::SandboxGone
            | Self::Internal { .. } => None,
        }
    }

    /// The shape in which clients get it.
    pub fn body(&self) -> ErrorBody {
        let mut details = None;
        if let Self::File { failure } = self
            && !failure.path.is_empty()
        {
            details = Some(path_details(&failure.path));
        }
        ErrorBody { code: self.code(), message: self.to_string(), hint: self.hint(), details }
    }

    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid { what: what.into() }
    }

    /// An I/O failure of ours, while doing `what`.
    pub(crate) fn io(what: &str, error: &io::Error) -> Self {
        if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            return Self::DiskFull { what: what.to_owned() };
        }
        if error.kind() == io::ErrorKind::ReadOnlyFilesystem {
            return Self::DiskReadOnly { what: what.to_owned() };
        }
        Self::Internal { what: format!("failed to {what}: {error}") }
    }
}

fn how(end: Option<&EndRecord>) -> String {
    match end.map(|end| (end.code, end.signal)) {
        Some((Some(code), _)) => format!(" with code {code}"),
        Some((None, Some(signal))) => format!(" by signal {signal}"),
        Some((None, None)) | None => String::new(),
    }
}

/// Which file, exactly.
fn path_details(path: &[u8]) -> serde_json::Value {
    // Two texts are always JSON.
    serde_json::to_value(PathText::new(path)).unwrap_or_default()
}

fn file_code(kind: Kind) -> ErrorCode {
    match kind {
        Kind::NotFound => ErrorCode::FileNotFound,
        Kind::Exists => ErrorCode::FileExists,
        Kind::IsDirectory => ErrorCode::IsDirectory,
        Kind::NotDirectory => ErrorCode::NotDirectory,
        Kind::NotRegular => ErrorCode::NotRegularFile,
        Kind::NotEmpty => ErrorCode::DirectoryNotEmpty,
        Kind::Denied => ErrorCode::PermissionDenied,
        Kind::NoSpace => ErrorCode::NoSpace,
        Kind::TooLarge => ErrorCode::FileTooLarge,
        Kind::ReadOnly => ErrorCode::ReadOnly,
        Kind::NameTooLong => ErrorCode::NameTooLong,
        Kind::LinkLoop => ErrorCode::TooManyLinks,
        Kind::Escapes => ErrorCode::PathEscapes,
        Kind::CrossDevice => ErrorCode::CrossDevice,
        Kind::Busy => ErrorCode::ResourceBusy,
        Kind::TooManyFiles => ErrorCode::TooManyFiles,
        Kind::Precondition => ErrorCode::PreconditionFailed,
        Kind::Content => ErrorCode::ContentMismatch,
        Kind::Limit => ErrorCode::FileLimit,
        Kind::Cancelled => ErrorCode::OperationInterrupted,
        Kind::Unsupported => ErrorCode::FilesystemUnsupported,
        Kind::Invalid => ErrorCode::ValidationFailed,
        Kind::Io => ErrorCode::FilesystemError,
    }
}

fn file_hint(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::IsDirectory => "list it, or ask for it with all that is in it (`recursive`)",
        Kind::NotRegular => "only regular files are read and written: a fifo or a device could make the reader wait",
        Kind::NotEmpty => "ask for it with all that is in it (`recursive`)",
        Kind::Exists => "choose another name, or ask to replace it (`replace`)",
        Kind::NoSpace => "make room on the sandbox's disk",
        Kind::CrossDevice => "move it: that copies where a rename cannot be had",
        Kind::Precondition => "read it again, and go on from what is there now",
        Kind::NotFound
        | Kind::NotDirectory
        | Kind::Denied
        | Kind::TooLarge
        | Kind::ReadOnly
        | Kind::NameTooLong
        | Kind::LinkLoop
        | Kind::Escapes
        | Kind::Busy
        | Kind::TooManyFiles
        | Kind::Invalid
        | Kind::Content
        | Kind::Limit
        | Kind::Cancelled
        | Kind::Unsupported
        | Kind::Io => return None,
    })
}
