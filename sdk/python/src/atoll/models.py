"""What the server tells.

Written by `sdk/generate` from the API's description; changes are lost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Union

__all__ = [
    "ArchiveExisting",
    "ArchiveFormat",
    "AttachCommand",
    "AttachCommandSignal",
    "AttachCommandStdin",
    "AttachEvent",
    "AttachEventEnd",
    "AttachEventError",
    "AttachEventGap",
    "AttachEventOutput",
    "AttachEventSignalled",
    "AttachEventWritten",
    "CancelReceipt",
    "Capture",
    "Denial",
    "DenialReason",
    "EditReceipt",
    "EgressEvent",
    "EgressEventKind",
    "EgressEventPage",
    "EgressProtocol",
    "EgressRule",
    "EgressTotals",
    "Encoding",
    "EndReason",
    "EndRecord",
    "ErrorBody",
    "ErrorCode",
    "ExactText",
    "ExecResult",
    "FileCount",
    "FileExists",
    "FileInfo",
    "FileKind",
    "FileList",
    "FileListEnd",
    "FileListLine",
    "FileListLineEnd",
    "FileListLineEntry",
    "FileListLineError",
    "FileText",
    "Gap",
    "GitAuthor",
    "GitBranch",
    "GitBranches",
    "GitChange",
    "GitCheckedOut",
    "GitCloned",
    "GitCommitInfo",
    "GitCommitted",
    "GitDiff",
    "GitLog",
    "GitProgress",
    "GitPulled",
    "GitPushed",
    "GitPushedRef",
    "GitStatus",
    "GitStatusEntry",
    "GlobAnswer",
    "GlobEntry",
    "GlobKind",
    "InterruptReceipt",
    "Isolation",
    "KillReceipt",
    "LogMatch",
    "MakeDirectoryReceipt",
    "NetworkInfo",
    "NetworkPolicy",
    "NewToken",
    "NotCarriedInfo",
    "OutputEnd",
    "OutputEvent",
    "OutputPage",
    "PatchHunk",
    "PatchOutcome",
    "PatchReceipt",
    "PatchedFile",
    "PortInfo",
    "PortList",
    "Preview",
    "PreviewLink",
    "PreviewList",
    "ProcessId",
    "ProcessInfo",
    "ProcessList",
    "ProcessState",
    "Resized",
    "ResourceLimit",
    "RuleSet",
    "SandboxInfo",
    "SandboxLimits",
    "SandboxList",
    "SandboxName",
    "SandboxRecord",
    "SandboxState",
    "SandboxUsage",
    "Scope",
    "ScreenInfo",
    "SearchAnswer",
    "SearchFile",
    "SearchLine",
    "SearchLineBinary",
    "SearchLineEnd",
    "SearchLineError",
    "SearchLineFile",
    "SearchLineMatch",
    "SearchMatch",
    "SearchRole",
    "SearchSpan",
    "SearchSummary",
    "SearchTruncated",
    "SecretInfo",
    "SecretList",
    "SessionId",
    "SessionInfo",
    "SessionList",
    "SessionState",
    "ShellAlias",
    "ShellFunction",
    "ShellTrap",
    "ShellVariable",
    "Signal",
    "SignalReceipt",
    "SignalRequest",
    "SignalScope",
    "SkippedMember",
    "SnapshotInfo",
    "StdinPiece",
    "StdinReceipt",
    "StopReason",
    "Stream",
    "TerminalCommand",
    "TerminalCommandResize",
    "TerminalCommandSignal",
    "TerminalExit",
    "TerminalFrame",
    "TerminalFrameError",
    "TerminalFrameExit",
    "TerminalFrameReady",
    "TerminalFrameResize",
    "TerminalFrameTruncated",
    "TerminalId",
    "TerminalInfo",
    "TerminalList",
    "TerminalReady",
    "Timestamp",
    "TokenInfo",
    "TokenList",
    "Truncation",
    "UnpackReceipt",
    "UploadReceipt",
    "Verb",
    "Visibility",
    "WaitAnswer",
    "WatchChange",
    "WatchEnd",
    "WatchEvent",
    "WatchFrame",
    "WatchFrameChange",
    "WatchFrameEnd",
    "WatchFrameError",
    "WatchId",
    "WatchInfo",
    "WatchList",
    "WatchPage",
    "WindowSize",
    "WriteReceipt",
]

ArchiveExisting = Literal["replace", "keep", "refuse"]
"""What to do when a member's path already exists."""

ArchiveFormat = Literal["tar", "tar.zst", "tar.gz", "zip"]
"""Format of an archive."""

DenialReason = Literal[
    "no_rule",
    "port_not_allowed",
    "protocol_not_allowed",
    "command_not_allowed",
    "address_not_public",
    "no_name",
    "bad_name",
    "name_mismatch",
    "hidden_name",
    "malformed",
    "query_type",
    "query_limit",
    "no_address",
    "unreachable",
    "untrusted",
    "udp_not_allowed",
    "too_many",
    "policy_changed",
]
"""Why a connection or a DNS query was denied."""

EgressEventKind = Literal["opened", "closed", "denied", "resolved", "name_denied", "policy_changed"]
"""Kind of an egress event."""

EgressProtocol = Literal["http", "tls", "tcp"]
"""Protocol of a connection."""

Encoding = Literal["utf8", "base64"]
"""Encoding of bytes in JSON."""

EndReason = Literal[
    "exited",
    "signaled",
    "killed",
    "timeout",
    "idle_timeout",
    "oom",
    "output_limit",
    "shell_exited",
    "sandbox_stopped",
    "host_lost",
]
"""Why a command ended."""

ErrorCode = Literal[
    "UNAUTHORIZED",
    "FORBIDDEN",
    "ROUTE_NOT_FOUND",
    "METHOD_NOT_ALLOWED",
    "BODY_TOO_LARGE",
    "UPGRADE_REQUIRED",
    "UNSUPPORTED_MEDIA_TYPE",
    "RATE_LIMITED",
    "IDEMPOTENCY_CONFLICT",
    "TOKEN_NOT_FOUND",
    "TOKEN_LIMIT",
    "SANDBOX_NOT_FOUND",
    "SANDBOX_DIFFERS",
    "SANDBOX_PAUSED",
    "SANDBOX_STOPPED",
    "SANDBOX_LIMIT",
    "AGENT_UNAVAILABLE",
    "SHUTTING_DOWN",
    "SERVER_UNREACHABLE",
    "TOO_MANY_CONNECTIONS",
    "VALIDATION_FAILED",
    "COMMAND_NOT_FOUND",
    "NOT_EXECUTABLE",
    "CWD_NOT_FOUND",
    "USER_NOT_FOUND",
    "ARGUMENTS_TOO_LONG",
    "PROCESS_NOT_FOUND",
    "PROCESS_ALREADY_EXISTS",
    "PROCESS_ENDED",
    "PROCESS_LIMIT",
    "STDIN_NOT_OPEN",
    "STDIN_GAP",
    "SESSION_NOT_FOUND",
    "SESSION_ALREADY_EXISTS",
    "SESSION_TERMINATED",
    "SESSION_ALIVE",
    "SESSION_BUSY",
    "SESSION_LIMIT",
    "SESSION_TOO_LARGE",
    "COMMAND_CANCELLED",
    "SHELL_NOT_SUPPORTED",
    "TERMINAL_NOT_FOUND",
    "TERMINAL_ALREADY_EXISTS",
    "TERMINAL_ENDED",
    "TERMINAL_READ_ONLY",
    "PORT_CLOSED",
    "PREVIEW_NOT_FOUND",
    "PREVIEW_ASLEEP",
    "PREVIEW_BUSY",
    "PREVIEW_BROKEN",
    "PREVIEW_LIMIT",
    "MISDIRECTED",
    "WAIT_TIMEOUT",
    "LIMIT_UNAVAILABLE",
    "EGRESS_UNAVAILABLE",
    "SECRET_NOT_FOUND",
    "ISOLATION_UNAVAILABLE",
    "PAUSE_UNAVAILABLE",
    "STORAGE_BUSY",
    "SANDBOX_GONE",
    "FILE_NOT_FOUND",
    "FILE_EXISTS",
    "IS_DIRECTORY",
    "NOT_DIRECTORY",
    "NOT_REGULAR_FILE",
    "DIRECTORY_NOT_EMPTY",
    "PERMISSION_DENIED",
    "NO_SPACE",
    "FILE_TOO_LARGE",
    "READ_ONLY",
    "NAME_TOO_LONG",
    "TOO_MANY_LINKS",
    "PATH_ESCAPES",
    "CROSS_DEVICE",
    "RESOURCE_BUSY",
    "TOO_MANY_FILES",
    "PRECONDITION_FAILED",
    "RANGE_NOT_SATISFIABLE",
    "CONTENT_MISMATCH",
    "FILE_LIMIT",
    "OPERATION_INTERRUPTED",
    "FILESYSTEM_UNSUPPORTED",
    "FILESYSTEM_ERROR",
    "WATCH_NOT_FOUND",
    "WATCH_ALREADY_EXISTS",
    "WATCH_LIMIT",
    "CURSOR_TOO_OLD",
    "GIT_NOT_AVAILABLE",
    "GIT_FAILED",
    "GIT_AUTHENTICATION_FAILED",
    "GIT_CONFIG_REFUSED",
    "GIT_TIMEOUT",
    "DISK_FULL",
    "DISK_READ_ONLY",
    "INTERNAL",
]
"""Stable name of an error."""

FileKind = Literal["file", "directory", "symlink", "fifo", "socket", "character_device", "block_device"]
"""Type of a file."""

GitChange = Literal[
    "unmodified",
    "modified",
    "type_changed",
    "added",
    "deleted",
    "renamed",
    "copied",
    "unmerged",
    "untracked",
    "ignored",
]
"""How a path differs."""

GlobKind = Literal["file", "directory", "symlink", "other"]
"""Type of a file that was found."""

Isolation = Literal["namespaces", "none"]
"""Isolation of a sandbox."""

PatchOutcome = Literal["created", "changed", "deleted", "renamed", "copied"]
"""What a patch did to a file."""

ProcessId = str
"""Id of a command within its sandbox."""

ProcessState = Literal["starting", "running", "lingering", "ended"]
"""State of a process."""

RuleSet = Literal["pypi", "npm", "crates", "debian", "github"]
"""Predefined sets of names."""

SandboxName = str
"""Name of a sandbox. It is also the sandbox's host name and part of preview URLs, so it is a DNS label."""

SandboxState = Literal["creating", "running", "paused", "stopped", "lost"]
"""State of a sandbox."""

SearchRole = Literal["match", "before", "after"]
"""Role of a returned line."""

SearchTruncated = Literal["matches", "bytes", "time", "cancelled"]
"""Why the results may be incomplete."""

SessionId = str
"""Id of a session within its sandbox."""

SessionState = Literal["ready", "busy", "dead"]
"""State of a session."""

Signal = str
"""A signal, 1 to 64."""

SignalScope = Literal["main", "tree"]
"""Which processes receive a signal."""

StopReason = Literal["asked", "idle", "host_lost"]
"""Why a sandbox is stopped."""

Stream = Literal["stdout", "stderr"]
"""One of a command's two output streams."""

TerminalId = str
"""Id of a terminal within its sandbox."""

Timestamp = datetime
"""A point in time, as RFC 3339 in UTC with milliseconds. For display and logs; no decision depends on it."""

Verb = Literal["read", "exec", "admin"]
"""A permission."""

Visibility = Literal["public", "private"]
"""Who may open a preview."""

WatchChange = Literal["created", "modified", "attributes", "removed", "renamed", "overflow", "settled", "gone"]
"""Kind of a change."""

WatchId = str
"""Id of a watch within its sandbox."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachCommandStdin:
    """Write to standard input. Answered by `written`."""

    stdin: StdinPiece
    """Write to standard input. Answered by `written`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachCommandSignal:
    """Send a signal. Answered by `signalled`."""

    signal: SignalRequest
    """Send a signal. Answered by `signalled`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachEventOutput:
    """Output of the process."""

    output: OutputEvent
    """Output of the process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachEventGap:
    """Output at this position is no longer available."""

    gap: Gap
    """Output at this position is no longer available."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachEventEnd:
    """The main process has ended."""

    end: OutputEnd
    """The main process has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachEventWritten:
    """The pipe has accepted the bytes."""

    written: StdinReceipt
    """The pipe has accepted the bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachEventSignalled:
    """The signal was sent."""

    signalled: SignalReceipt
    """The signal was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachEventError:
    """The last command failed."""

    error: ErrorBody
    """The last command failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelReceipt:
    """Result of a cancellation."""

    cancelled: bool
    """Whether the command was removed from the queue. If not, it had already started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """One output stream of a command, as a response contains it."""

    bytes: int
    """Number of bytes retained, including the omitted ones."""

    data: str
    """The whole output, or its head if it was truncated."""

    encoding: Encoding
    """Encoding of `data` and of the tail."""

    replaced: bool
    """Whether bytes that are not valid UTF-8 were replaced."""

    truncated: Truncation | None = None
    """Set if the response does not contain all bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """A connection or DNS query that a command was denied."""

    address: str | None = None
    """The requested address, if it adds to the name."""

    at: Timestamp
    """When it was first denied."""

    count: int
    """How often it was denied."""

    host: str | None = None
    """The requested name, if there was one."""

    port: int | None = None
    """The port; absent for DNS queries."""

    reason: DenialReason
    """Why it was denied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditReceipt:
    """Result of an edit."""

    file: FileInfo
    """The file after the edit."""

    lines: list[list[int]]
    """For each replacement, the lines where it applied, numbered as before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressEvent:
    """One egress event. Fields that do not apply are absent."""

    address: str | None = None
    """The destination's address."""

    at: Timestamp
    """When it happened."""

    bytes_in: int | None = None
    """Bytes received."""

    bytes_out: int | None = None
    """Bytes sent."""

    command: ProcessId | None = None
    """The command that opened the connection, if known."""

    cursor: int
    """Number of the event; consecutive."""

    duration_ms: int | None = None
    """How long the connection was open."""

    flow: int | None = None
    """Id of the connection: the same in `opened` and `closed`."""

    host: str | None = None
    """The requested name."""

    kind: EgressEventKind
    """Kind of the event."""

    port: int | None = None
    """The destination's port."""

    protocol: EgressProtocol | None = None
    """Protocol of the connection."""

    reason: DenialReason | None = None
    """Why it was denied."""

    rule: str | None = None
    """The rule that allowed it, as text."""

    secrets_used: int | None = None
    """Number of requests in which a secret was inserted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressEventPage:
    """A page of egress events."""

    events: list[EgressEvent]
    """The events."""

    lost: int
    """Number of requested events that are no longer retained."""

    next_cursor: int
    """Value of `since` for the next page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressRule:
    """A destination that the sandbox may reach. Exactly one of `set`, `domain` and `cidr` is required."""

    cidr: str | None = None
    """An address or a block of addresses. Only such a rule allows private addresses, also for names."""

    domain: str | None = None
    """A name, or `*.` and a name for all its subdomains. Use the `xn--` form for internationalized names."""

    inspect: bool = False
    """Terminate TLS in Atoll, so that Atoll can check that each request is for this name."""

    ports: list[str] | None = None
    """Ports (`443`) and port ranges (`8000-8999`). The default for a domain is 80 and 443; a block requires them."""

    protocols: list[EgressProtocol] | None = None
    """Protocols to allow. The default for a domain is `http` and `tls`, for a block `tcp`."""

    set: RuleSet | None = None
    """A predefined set of names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressTotals:
    """Totals of a sandbox's egress."""

    bytes_in: int
    """Bytes received."""

    bytes_out: int
    """Bytes sent."""

    connections: int
    """Number of connections allowed."""

    denied: int
    """Number of connections denied."""

    names: int
    """Number of DNS queries answered."""

    names_denied: int
    """Number of DNS queries denied."""

    open: int
    """Number of connections that are open now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRecord:
    """How a command ended. Unknown values are `null`; an exit code is never guessed."""

    code: int | None = None
    """The exit code, if it exited."""

    cpu_system_ms: int | None = None
    """System CPU time of the same processes."""

    cpu_user_ms: int | None = None
    """User CPU time of the main process and the children that it waited for."""

    denials: list[Denial] | None = None
    """Network access that its processes were denied: the first of each kind, up to 32."""

    denials_count: int | None = None
    """How often its processes were denied network access, including those in `denials`."""

    duration_ms: int
    """Run time of the main process."""

    ended_at: Timestamp
    """When the main process ended."""

    max_rss_bytes: int | None = None
    """Largest resident set of any of the same processes."""

    oom_killed: bool
    """Whether the kernel killed one of its processes because memory ran out."""

    reason: EndReason
    """Why it ended."""

    signal: Signal | None = None
    """The signal that killed it, if one did."""

    started_at: Timestamp
    """When the main process started."""

    survivors: int
    """Number of its processes that were still alive at that moment."""

    timed_out: bool
    """Whether `reason` is a time limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBody:
    """The JSON shape of every error."""

    code: ErrorCode
    """The stable code."""

    details: Any = None
    """Machine-readable facts, where the code alone does not say enough."""

    hint: str | None = None
    """What to do about it."""

    message: str
    """What failed, with the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactText:
    """Bytes, as text if they are valid UTF-8."""

    data: str
    """The text, or its bytes in base64."""

    encoding: Encoding
    """Encoding of `data`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecResult:
    """Result of `exec`."""

    cursor: int
    """Position after the last byte of the log when the command ended."""

    end: EndRecord
    """How it ended."""

    id: ProcessId
    """Id of the command, to read its log and kill its background processes."""

    session_reset: bool = False
    """Whether the session's shell did not survive the end of the command and was replaced by one restored from the
    session's last snapshot."""

    stderr: Capture
    """Standard error."""

    stdout: Capture
    """Standard output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCount:
    """Number of files that an operation changed."""

    count: int
    """Number of files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileExists:
    """Whether a file exists."""

    exists: bool
    """Whether it exists."""

    kind: FileKind | None = None
    """Its type, with links followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """Metadata of one file."""

    allocated: int
    """Bytes allocated on disk: fewer than the length if the file has holes."""

    etag: str
    """Identifies this version of the file, for `If-Match` and `If-None-Match`."""

    gid: int
    """Group id, inside the sandbox."""

    kind: FileKind
    """Type of the file."""

    links: int
    """Number of hard links."""

    mode: str
    """Permission bits, in octal: `0644`."""

    modified: Timestamp
    """When the content last changed."""

    path: str
    """Path of the file: relative to the directory in a list, otherwise as requested."""

    path_base64: str | None = None
    """Exact path in base64, if it is not valid UTF-8."""

    size: int
    """Length in bytes."""

    target: str | None = None
    """Target, if the file is a symbolic link."""

    target_base64: str | None = None
    """Exact target in base64, if it is not valid UTF-8."""

    uid: int
    """User id of the owner, inside the sandbox."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileList:
    """A page of a directory list."""

    entries: list[FileInfo]
    """The entries."""

    next: str | None = None
    """Value of `after` for the next page; absent on the last page."""

    unreadable: int
    """Number of directories that could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileListEnd:
    """End of a streamed list."""

    next: str | None = None
    """Value of `after` to continue; absent if the list is complete."""

    unreadable: int
    """Number of directories that could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileListLineEntry:
    """An entry."""

    entry: FileInfo
    """An entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileListLineEnd:
    """The last line."""

    end: FileListEnd
    """The last line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileListLineError:
    """The last line, if the list failed midway."""

    error: ErrorBody
    """The last line, if the list failed midway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """Content of a file as text."""

    data: str
    """The content."""

    encoding: Encoding
    """Encoding of `data`."""

    file: FileInfo
    """The file."""

    replaced: bool
    """Whether bytes that are not valid UTF-8 were replaced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Output that the log has dropped."""

    from_: int
    """First position that cannot be read."""

    to: int
    """First position after it that can be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitAuthor:
    """Author of a commit."""

    email: str
    """Email address."""

    name: str
    """Name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitBranch:
    """A branch."""

    commit: str
    """Its last commit."""

    current: bool
    """Whether it is checked out."""

    name: str
    """Name of the branch."""

    upstream: str | None = None
    """Its upstream branch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitBranches:
    """A list of branches."""

    branches: list[GitBranch]
    """Branches, sorted by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitCheckedOut:
    """Result of a checkout."""

    branch: str | None = None
    """The current branch; absent if HEAD is detached."""

    commit: str | None = None
    """The current commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitCloned:
    """Result of a clone."""

    branch: str | None = None
    """The branch checked out."""

    commit: str | None = None
    """The commit checked out; absent if the repository is empty."""

    path: str
    """Directory of the repository."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitCommitInfo:
    """A commit."""

    author: GitAuthor
    """Author of the commit."""

    body: str
    """The rest of its message."""

    commit: str
    """Hash of the commit."""

    parents: list[str]
    """Hashes of its parents."""

    subject: str
    """The first line of its message."""

    time: Timestamp
    """When it was authored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitCommitted:
    """Result of a commit."""

    branch: str | None = None
    """Branch of the commit."""

    commit: str
    """Hash of the commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitDiff:
    """A diff."""

    diff: str
    """The patch; bytes that are not valid UTF-8 are replaced."""

    truncated: bool
    """Whether the middle of the patch was left out because of its size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitLog:
    """A list of commits."""

    commits: list[GitCommitInfo]
    """Commits, newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitProgress:
    """Progress of a git operation."""

    done: int
    """Number of items done."""

    percent: int
    """Percentage done."""

    phase: str
    """Current phase: `Receiving objects`."""

    total: int
    """Total number of items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitPulled:
    """Result of a pull."""

    commit: str | None = None
    """The current commit, after the pull."""

    updated: bool
    """Whether the pull changed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitPushed:
    """Result of a push."""

    refs: list[GitPushedRef]
    """The pushed refs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitPushedRef:
    """One pushed ref."""

    from_: str
    """Local ref."""

    summary: str
    """Summary of the update, as git prints it."""

    to: str
    """Remote ref."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitStatus:
    """Status of a repository."""

    ahead: int | None = None
    """Number of commits that the upstream lacks."""

    behind: int | None = None
    """Number of upstream commits that the branch lacks."""

    branch: str | None = None
    """The current branch; absent if HEAD is detached."""

    commit: str | None = None
    """The current commit; absent before the first commit."""

    entries: list[GitStatusEntry]
    """Paths that differ."""

    upstream: str | None = None
    """The upstream branch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitStatusEntry:
    """One path that differs."""

    from_: str | None = None
    """Previous path, if it was renamed or copied."""

    from_base64: str | None = None
    """Exact previous path in base64, if it is not valid UTF-8."""

    path: str
    """Path relative to the root of the repository."""

    path_base64: str | None = None
    """Exact path in base64, if it is not valid UTF-8."""

    staged: GitChange
    """Change in the index, compared with the last commit."""

    worktree: GitChange
    """Change in the working tree, compared with the index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobAnswer:
    """The files that were found, sorted by path."""

    entries: list[GlobEntry]
    """The files."""

    troubles: int
    """Number of directories that could not be read."""

    truncated: SearchTruncated | None = None
    """Why the results may be incomplete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobEntry:
    """A file that was found."""

    kind: GlobKind
    """Type of the file."""

    path: str
    """Path of the file."""

    path_base64: str | None = None
    """Exact path in base64, if it is not valid UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptReceipt:
    """Result of an interrupt."""

    interrupted: bool
    """Whether a command was running and was interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KillReceipt:
    """Result of a kill."""

    signalled: int
    """Number of processes that received a signal."""

    survivors: int
    """Number of processes of the tree that are still alive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMatch:
    """Output that matched."""

    cursor: int
    """Position after the match."""

    line: str
    """The line of the match; bytes that are not valid UTF-8 are replaced."""

    stream: Stream
    """Output stream of the match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeDirectoryReceipt:
    """Result of creating a directory."""

    created: bool
    """Whether the directory is new."""

    file: FileInfo
    """The directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInfo:
    """Network state of a sandbox."""

    open: bool
    """Whether egress is open; it opens with the first rule."""

    policy: NetworkPolicy
    """The current policy."""

    totals: EgressTotals
    """Totals so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPolicy:
    """Egress policy: what a sandbox may reach. Everything else is denied, so an empty list denies everything."""

    allow: list[EgressRule] | None = None
    """The rules that allow access."""

    hosts: dict[str, list[str]] | None = None
    """Fixed addresses of names, which are not looked up. The rules apply to them as to any other address."""

    resolver: str | None = None
    """Name server to use, `ADDRESS:PORT`; the host's if not given."""

    trust: str | None = None
    """CA certificates (PEM) to trust for inspected TLS, besides those that the host trusts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A new token. The secret is returned only once."""

    info: TokenInfo
    """The token without its secret."""

    token: str
    """The secret, to send as `Authorization: Bearer …`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotCarriedInfo:
    """State of the shell that a snapshot cannot restore."""

    descriptors: list[int]
    """Open file descriptors other than the standard three."""

    jobs: bool
    """Whether the shell has background jobs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputEnd:
    """The main process has ended, and all of its output was sent."""

    cursor: int
    """Position after the last byte sent."""

    end: EndRecord
    """How it ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputEvent:
    """A piece of the log, which orders both streams."""

    cursor: int
    """Position of its first byte in the log."""

    data: str
    """The bytes, encoded as `encoding` says."""

    encoding: Encoding
    """Encoding of `data`."""

    next_cursor: int
    """Position after its last byte, to continue from."""

    replaced: bool = False
    """Whether bytes that are not valid UTF-8 were replaced."""

    stream: Stream
    """Output stream."""

    time: Timestamp
    """When the bytes were read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPage:
    """A page of the log."""

    closed: bool
    """Whether the log is complete: no output follows this page."""

    events: list[OutputEvent]
    """Output on this page, in order."""

    gaps: list[Gap]
    """Output missing from this page."""

    next_cursor: int
    """Position of the next page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchHunk:
    """Where a hunk was applied."""

    exact: bool
    """Whether the lines match exactly. Otherwise they differ in white space or in typographic characters."""

    fuzz: int
    """Number of context lines ignored at each end."""

    line: int
    """Line in the old file, starting at 1."""

    offset: int
    """Distance in lines from the position that the patch names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchReceipt:
    """Result of applying a patch."""

    dry_run: bool
    """Whether this was a dry run, which changes nothing."""

    files: list[PatchedFile]
    """The patched files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchedFile:
    """One file of a patch."""

    added: int
    """Number of lines added."""

    from_: str | None = None
    """Previous path of a renamed file, or the source of a copy."""

    hunks: list[PatchHunk]
    """Where its hunks were applied."""

    outcome: PatchOutcome
    """What happened to it."""

    path: str
    """Path of the file, after the patch if it still exists."""

    path_base64: str | None = None
    """Exact path in base64, if it is not valid UTF-8."""

    removed: int
    """Number of lines removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortInfo:
    """A listening port inside a sandbox."""

    addresses: list[str]
    """Addresses that it is bound to: `127.0.0.1`, `::`."""

    command: str | None = None
    """Command line of that process."""

    pid: int | None = None
    """Pid inside the sandbox of a listening process; absent if unknown."""

    port: int
    """Port number."""

    process: ProcessId | None = None
    """Id of the API process that it belongs to, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortList:
    """The listening ports of a sandbox, lowest first."""

    ports: list[PortInfo]
    """The ports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """An exposed port."""

    created_at: Timestamp
    """When the port was exposed."""

    keep_prefix: bool
    """Whether the program inside receives the full path of a path URL."""

    name: str | None = None
    """Display name."""

    path_url: str | None = None
    """URL with a path on a shared host name, for clients that cannot resolve the host name of `url`."""

    port: int
    """Port inside the sandbox."""

    token: str
    """Secret part of its URLs."""

    url: str | None = None
    """URL with a host name of its own. Absent if the server has no preview listener."""

    visibility: Visibility
    """Who may open the preview."""

    wake: bool
    """Whether a request wakes a stopped sandbox."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewLink:
    """A link that grants access to a private preview until it expires."""

    expires_at: Timestamp
    """When the link expires."""

    path_url: str
    """URL with a path on a shared host name."""

    url: str
    """URL with a host name of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewList:
    """Exposed ports of a sandbox, lowest first."""

    previews: list[Preview]
    """The previews."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessInfo:
    """One process."""

    command: str
    """The command line, or the arguments joined for display."""

    cursor: int
    """Position after the last byte of its log."""

    end: EndRecord | None = None
    """How its main process ended, if it has."""

    id: ProcessId
    """Id of the process."""

    labels: dict[str, str]
    """Labels given at start."""

    pid: int | None = None
    """Pid of its main process inside the sandbox, while it runs."""

    ready: bool | None = None
    """Whether it is ready, if it has a readiness condition."""

    restarts: int
    """Number of restarts by its restart policy."""

    session: SessionId | None = None
    """Session that it runs in or was started from."""

    started_at: Timestamp
    """When it was last started."""

    state: ProcessState
    """Current state."""

    stderr_bytes: int
    """Number of bytes on standard error so far."""

    stdout_bytes: int
    """Number of bytes on standard output so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessList:
    """A list of processes, oldest first."""

    processes: list[ProcessInfo]
    """The processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resized:
    """A window was resized."""

    by: str | None = None
    """Who resized it; `null` for the initial size."""

    cursor: int
    """Position in the output."""

    size: WindowSize
    """The new size."""

    time: Timestamp
    """When it was resized."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceLimit:
    """A resource limit."""

    hard: int | None = None
    """Hard limit; `null` is unlimited."""

    resource: str
    """Name as in `RLIMIT_NOFILE`: `nofile`."""

    soft: int | None = None
    """Soft limit; `null` is unlimited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxInfo:
    """One sandbox."""

    created_at: Timestamp
    """When it was created."""

    egress: EgressTotals | None = None
    """Egress totals; `null` if the sandbox has no network access."""

    isolation: Isolation
    """Isolation of the sandbox."""

    labels: dict[str, str]
    """Labels to find it by."""

    limits: SandboxLimits
    """Resource limits."""

    name: SandboxName
    """Name of the sandbox."""

    not_isolated: str | None = None
    """Why commands are not isolated from the agent, if isolation was requested but unavailable. Only an agent that
    is the entrypoint of a container continues in this case, because the container isolates it."""

    processes: int
    """Number of processes that have not ended."""

    sessions: int | None = None
    """Number of sessions whose shell is alive, including idle ones."""

    state: SandboxState
    """Current state."""

    terminals: int
    """Number of terminals whose program has not ended."""

    usage: SandboxUsage
    """Current resource usage."""

    version: str
    """Version of the server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """Resource limits of a sandbox. Unset means unlimited."""

    cpu_millis: int | None = None
    """CPU time, in thousandths of a core."""

    memory_bytes: int | None = None
    """Memory in bytes, including page cache."""

    open_files: int | None = None
    """Number of open files of each process."""

    pids: int | None = None
    """Number of processes and threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxList:
    """A page of sandboxes, sorted by name."""

    next: SandboxName | None = None
    """Value of `after` for the next page; `null` on the last page."""

    sandboxes: list[SandboxRecord]
    """The sandboxes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxRecord:
    """One sandbox of a server."""

    created_at: Timestamp
    """When it was created."""

    isolation: Isolation
    """Isolation of the sandbox."""

    keep_alive: bool
    """Whether the sandbox is never stopped for lack of use."""

    labels: dict[str, str]
    """Labels to find it by."""

    last_used_at: Timestamp
    """When it was last used."""

    limits: SandboxLimits
    """Resource limits."""

    live: SandboxInfo | None = None
    """State reported by its agent, if the request included it."""

    name: SandboxName
    """Name of the sandbox."""

    sleep_after_ms: int | None = None
    """The sandbox is stopped after this time without use."""

    state: SandboxState
    """Current state."""

    stop_reason: StopReason | None = None
    """Why it is stopped, if it is stopped and the reason is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxUsage:
    """Current resource usage of a sandbox. Unavailable counters are `null`."""

    cpu_usec: int | None = None
    """CPU time used so far, in microseconds."""

    memory_bytes: int | None = None
    """Memory in use in bytes, including page cache."""

    memory_peak_bytes: int | None = None
    """Peak memory use in bytes."""

    pids: int | None = None
    """Number of processes and threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Grants permissions on the sandboxes whose names match a pattern."""

    sandboxes: str
    """Name of a sandbox, in which `*` matches any characters."""

    verbs: list[Verb]
    """The permissions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenInfo:
    """Content of a terminal's screen."""

    alternate: bool
    """Whether this is the alternate screen, which programs such as editors use."""

    cursor: int
    """Position in the output at which the screen had this content: attach there to continue."""

    cursor_col: int
    """Column of the text cursor, from 0."""

    cursor_hidden: bool
    """Whether the text cursor is hidden."""

    cursor_row: int
    """Row of the text cursor, from 0."""

    formatted: str
    """Escape sequences that draw the screen on an empty terminal of the same size, with colours, cursor and input
    modes."""

    reset: str
    """Escape sequences that reset a terminal after `formatted` was drawn on it."""

    size: WindowSize
    """Size of the screen."""

    text: str
    """Text without colours: one line per row, without trailing spaces."""

    whole: bool
    """Whether all output before that position was processed. Otherwise old content may be missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """Result of a search."""

    files: list[SearchFile]
    """Matching files, if `detail` is `files` or `counts`, and binary files that match."""

    matches: list[SearchMatch]
    """Matching lines and their context."""

    summary: SearchSummary
    """Summary of the search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFile:
    """A file that matches."""

    matches: int | None = None
    """Number of matching lines; absent for a binary file."""

    path: str
    """Path of the file."""

    path_base64: str | None = None
    """Exact path in base64, if it is not valid UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLineMatch:
    """A matching line, or its context."""

    match: SearchMatch
    """A matching line, or its context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLineFile:
    """A matching file, if `detail` is `files` or `counts`."""

    file: SearchFile
    """A matching file, if `detail` is `files` or `counts`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLineBinary:
    """A binary file that matches."""

    binary: SearchFile
    """A binary file that matches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLineEnd:
    """The last line."""

    end: SearchSummary
    """The last line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLineError:
    """The last line, if the search failed midway."""

    error: ErrorBody
    """The last line, if the search failed midway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchMatch:
    """A line that matches, or its context."""

    cut_after: int | None = None
    """Number of bytes cut from the end of a long line."""

    cut_before: int | None = None
    """Number of bytes cut from the start of a long line."""

    line: int
    """Line number, from 1."""

    offset: int
    """Offset of the line's first byte in the file."""

    path: str
    """Path of the file."""

    path_base64: str | None = None
    """Exact path in base64, if it is not valid UTF-8."""

    role: SearchRole
    """Whether the line matches or is context."""

    spans: list[SearchSpan]
    """Byte ranges of the matches within the line."""

    text: str
    """The line with its line end; for a match across lines, all of its lines."""

    text_base64: str | None = None
    """Exact text in base64, if it is not valid UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSpan:
    """A range of bytes within a line."""

    end: int
    """Offset after the last byte."""

    start: int
    """Offset of the first byte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSummary:
    """Summary of a search."""

    bytes_read: int
    """Number of bytes read."""

    files: int
    """Number of files searched."""

    files_matched: int
    """Number of files that match."""

    first_troubles: list[str]
    """The first errors, as messages for people."""

    matches: int
    """Number of matches returned."""

    troubles: int
    """Number of files and directories that could not be searched."""

    truncated: SearchTruncated | None = None
    """Why the results may be incomplete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretInfo:
    """A secret, without its value."""

    headers: list[str]
    """The headers in which the placeholder is replaced."""

    hosts: list[str]
    """The servers that receive the secret."""

    name: str
    """Environment variable that holds the placeholder."""

    placeholder: str
    """The placeholder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretList:
    """The secrets of a sandbox, sorted by name."""

    secrets: list[SecretInfo]
    """The secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """One session."""

    created_at: Timestamp
    """When it was created."""

    cwd: str
    """Working directory of the shell, as of its last command."""

    end: EndRecord | None = None
    """How the shell ended, if it has."""

    id: SessionId
    """Id of the session."""

    not_restored: str | None = None
    """State that the session has lost: errors of the shell while it was restored from a snapshot, or that it did not
    return to its directory after a command with its own `cwd`."""

    queued: int
    """Number of queued commands."""

    resets: int
    """How often the shell had to be replaced."""

    running: ProcessId | None = None
    """Id of the running command."""

    state: SessionState
    """Current state."""

    used_at: Timestamp
    """When a command last started or ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionList:
    """A list of sessions, oldest first."""

    sessions: list[SessionInfo]
    """The sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellAlias:
    """A shell alias."""

    name: ExactText
    """Name of the alias."""

    value: ExactText
    """Its expansion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellFunction:
    """A shell function."""

    attributes: str
    """Letters of `declare -f`: `r`, `t`, `x`."""

    name: ExactText
    """Name of the function."""

    text: ExactText
    """Its definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellTrap:
    """A shell trap."""

    action: ExactText
    """Command to run; empty if the signal is ignored."""

    on: str
    """The signal, or `EXIT`, `DEBUG`, `ERR`, `RETURN`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellVariable:
    """A shell variable."""

    assignment: ExactText | None = None
    """The part after the `=` of its declaration, quoted for a shell; `null` if it is declared but not set. Arrays
    have only this: `([0]="a" [1]="b")`."""

    attributes: str
    """Letters of `declare`: `a` array, `A` associative, `i` integer, `r` read-only, `x` exported and so on."""

    name: str
    """Name of the variable."""

    value: ExactText | None = None
    """Value of the variable, if it is set and not an array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalReceipt:
    """Result of sending a signal."""

    signalled: int
    """Number of processes that received it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRequest:
    """Sends a signal."""

    scope: SignalScope | None = None
    """Which processes receive it."""

    signal: Signal
    """Signal by name or number, as text: `TERM`, `SIGINT`, `9`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedMember:
    """A member of an archive that was skipped."""

    path: str
    """Path in the archive."""

    path_base64: str | None = None
    """Exact path in base64, if it is not valid UTF-8."""

    why: str
    """Why it was skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotInfo:
    """Everything that a session's snapshot contains."""

    aliases: list[ShellAlias]
    """Aliases."""

    cwd: ExactText
    """Working directory."""

    env: dict[str, ExactText]
    """Exported variables, as programs receive them."""

    functions: list[ShellFunction]
    """Functions."""

    limits: list[ResourceLimit]
    """Resource limits."""

    not_carried: NotCarriedInfo
    """State that the snapshot cannot restore."""

    options: list[str]
    """Enabled `set -o` options."""

    positional: list[ExactText]
    """Positional parameters."""

    shell_options: list[str]
    """Enabled `shopt` options."""

    traps: list[ShellTrap]
    """Traps."""

    umask: str
    """File creation mask, in octal: `0022`."""

    variables: list[ShellVariable]
    """All variables, except those that bash computes or reserves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StdinPiece:
    """Bytes for a process's standard input."""

    data: str
    """The bytes, encoded as `encoding` says."""

    encoding: Encoding | None = None
    """Encoding of `data`."""

    offset: int
    """Offset of the first byte in the whole input. Bytes already written are skipped; a gap is an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StdinReceipt:
    """Result of a write to standard input."""

    next_offset: int
    """Offset for the next write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalCommandResize:
    """Set the window size."""

    resize: WindowSize
    """Set the window size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalCommandSignal:
    """Send a signal."""

    signal: SignalRequest
    """Send a signal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalExit:
    """The terminal's program has ended."""

    cursor: int
    """Position after the last byte sent."""

    end: EndRecord
    """How it ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalFrameReady:
    """The first frame."""

    ready: TerminalReady
    """The first frame."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalFrameResize:
    """The window size changes at this point of the output."""

    resize: Resized
    """The window size changes at this point of the output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalFrameTruncated:
    """Output at this position is no longer available."""

    truncated: Gap
    """Output at this position is no longer available."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalFrameExit:
    """The last frame, unless background processes of the program still print."""

    exit: TerminalExit
    """The last frame, unless background processes of the program still print."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalFrameError:
    """The last command failed."""

    error: ErrorBody
    """The last command failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalInfo:
    """One terminal."""

    command: str
    """The command line, or the arguments joined for display."""

    cursor: int
    """Position after the last byte of its output."""

    end: EndRecord | None = None
    """How its program ended, if it has."""

    id: TerminalId
    """Id of the terminal."""

    pid: int | None = None
    """Pid of its program inside the sandbox, while it runs."""

    resized_by: str | None = None
    """Who resized it last; `null` for the initial size."""

    size: WindowSize
    """The current size."""

    started_at: Timestamp
    """When its program was started."""

    state: ProcessState
    """State of its program."""

    viewers: int
    """Number of attached viewers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalList:
    """A list of terminals, oldest first."""

    terminals: list[TerminalInfo]
    """The terminals, including ended ones that are still retained."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalReady:
    """The first frame of a connection."""

    cursor: int
    """Position of the first byte that follows. Count from here to know where to reattach."""

    terminal: TerminalInfo
    """The terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenInfo:
    """A token without its secret."""

    created_at: Timestamp
    """When it was created."""

    expires_at: Timestamp | None = None
    """When it expires."""

    id: str
    """Id of the token, which is also the middle part of the token itself."""

    last_used_at: Timestamp | None = None
    """When it was last used, to the minute."""

    name: str
    """Display name."""

    scopes: list[Scope]
    """Scopes of the token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenList:
    """A list of tokens."""

    tokens: list[TokenInfo]
    """Tokens, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncation:
    """The part of an output that a response omits."""

    cursor: int
    """Position of the omitted bytes in the log."""

    omitted_bytes: int
    """Number of bytes omitted between head and tail."""

    tail: str
    """The tail of the output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackReceipt:
    """Result of unpacking an archive."""

    bytes: int
    """Number of bytes written to files."""

    directories: int
    """Number of directories in the archive."""

    files: int
    """Number of files created."""

    first_skipped: list[SkippedMember]
    """The first skipped members."""

    format: ArchiveFormat
    """Format of the archive."""

    links: int
    """Number of links and named pipes created."""

    skipped: int
    """Number of members skipped: devices, sockets, and paths that already exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadReceipt:
    """Result of an upload of several files."""

    files: list[WriteReceipt]
    """The written files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitAnswer:
    """Result of a wait whose condition was met."""

    end: EndRecord | None = None
    """How the process ended, if the wait was for its end."""

    found: LogMatch | None = None
    """The match, if the wait was for output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchEnd:
    """The last event of a stream."""

    cursor: int
    """Cursor after the last event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchEvent:
    """One change."""

    change: WatchChange
    """Kind of the change."""

    cursor: int
    """Number of the event."""

    directory: bool
    """Whether it is a directory."""

    from_: str | None = None
    """Previous path, if it was renamed."""

    from_base64: str | None = None
    """Exact previous path in base64, if it is not valid UTF-8."""

    path: str
    """Path relative to the directory; empty for the directory itself."""

    path_base64: str | None = None
    """Exact path in base64, if it is not valid UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchFrameChange:
    """A change."""

    change: WatchEvent
    """A change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchFrameEnd:
    """The directory was removed. No events follow."""

    end: WatchEnd
    """The directory was removed. No events follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchFrameError:
    """The watch failed. No events follow."""

    error: ErrorBody
    """The watch failed. No events follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchInfo:
    """A watch."""

    created_at: Timestamp
    """When it was created."""

    cursor: int
    """Cursor of the next event."""

    ended: bool
    """Whether the watch has ended: the directory was removed, or the watch failed."""

    error: ErrorBody | None = None
    """Why it failed."""

    id: WatchId
    """Id of the watch."""

    path: str
    """Path of the directory."""

    path_base64: str | None = None
    """Exact path in base64, if it is not valid UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchList:
    """A list of watches."""

    watches: list[WatchInfo]
    """Watches, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchPage:
    """A page of events."""

    ended: bool
    """Whether the watch has ended: no events follow."""

    error: ErrorBody | None = None
    """Why it failed."""

    events: list[WatchEvent]
    """The events, in order."""

    next_cursor: int
    """Cursor of the next page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSize:
    """Size of a window, in characters. Both sides are at least 1 and within their maximum."""

    cols: int

    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteReceipt:
    """Result of a write."""

    atomic: bool
    """Whether the file was replaced atomically. Otherwise it was changed in place, because its directory is not
    writable, its owner cannot be preserved, or the write appended to it."""

    created: bool
    """Whether the file is new."""

    file: FileInfo
    """The file after the write."""

AttachCommand = Union[Literal["close"], AttachCommandStdin, AttachCommandSignal]
"""A frame from the client to a process."""

AttachEvent = Union[AttachEventOutput, AttachEventGap, AttachEventEnd, AttachEventWritten, AttachEventSignalled, AttachEventError]
"""A frame from a process to the client."""

FileListLine = Union[FileListLineEntry, FileListLineEnd, FileListLineError]
"""One line of a streamed list."""

SearchLine = Union[SearchLineMatch, SearchLineFile, SearchLineBinary, SearchLineEnd, SearchLineError]
"""One line of a streamed search."""

TerminalCommand = Union[TerminalCommandResize, TerminalCommandSignal]
"""A text frame from the client to a terminal."""

TerminalFrame = Union[TerminalFrameReady, TerminalFrameResize, TerminalFrameTruncated, TerminalFrameExit, TerminalFrameError]
"""A text frame from a terminal to the client."""

WatchFrame = Union[WatchFrameChange, WatchFrameEnd, WatchFrameError]
"""A WebSocket text frame from a watch."""
