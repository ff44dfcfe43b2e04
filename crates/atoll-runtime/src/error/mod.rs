//! Everything that can go wrong, in the user's words. One variant per thing; how it is told is in `told.rs`.

mod told;

use std::io;

use atoll_files::Failure;
use atoll_protocol::EndRecord;

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
    /// Its shell holds too much to be written down.
    #[error("session {id} holds more than a snapshot can have ({} MiB; {} MiB for all sessions of a sandbox)", .max >> 20, .together >> 20)]
    SessionTooLarge {
        /// The id.
        id: String,
        /// Most bytes of one.
        max: usize,
        /// Most bytes of all.
        together: usize,
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
    /// A key of the repository's configuration is not on the list of keys that git may read in these calls.
    #[error("the repository's configuration sets `{key}`, which is not on the list of harmless keys: git was not run")]
    GitConfigRefused {
        /// The key, in lower case but for its subsection.
        key: String,
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
