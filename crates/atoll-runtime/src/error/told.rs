//! How errors are told: code, hint, and the shape in which clients get them.

use atoll_files::Kind;
use atoll_protocol::{ErrorBody, ErrorCode, PathText};

use super::Error;

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
            Self::SessionTooLarge { .. } => ErrorCode::SessionTooLarge,
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
            Self::GitConfigRefused { .. } => ErrorCode::GitConfigRefused,
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
            Self::SessionTooLarge { .. } => {
                Some("unset large variables, or keep their content in files; its commands run all the same".to_owned())
            }
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
            Self::GitConfigRefused { .. } => Some(
                "remove the key inside (git config --unset-all KEY), or run git as a command inside; docs/git.md has the \
                 list"
                .to_owned(),
            ),
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
