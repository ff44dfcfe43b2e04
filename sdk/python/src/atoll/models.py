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
"""What to do where a member's name is taken."""

ArchiveFormat = Literal["tar", "tar.zst", "tar.gz", "zip"]
"""The form of an archive."""

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
"""Why a connection or a question was refused."""

EgressEventKind = Literal["opened", "closed", "denied", "resolved", "name_denied", "policy_changed"]
"""What happened on the way out."""

EgressProtocol = Literal["http", "tls", "tcp"]
"""What is spoken on a connection."""

Encoding = Literal["utf8", "base64"]
"""How bytes are put into JSON."""

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
"""Why a command is over."""

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
"""What went wrong, as a stable name."""

FileKind = Literal["file", "directory", "symlink", "fifo", "socket", "character_device", "block_device"]
"""What a name stands for."""

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
"""What is different about a path."""

GlobKind = Literal["file", "directory", "symlink", "other"]
"""What a name that was found stands for."""

Isolation = Literal["namespaces", "none"]
"""How strongly commands are walled off."""

PatchOutcome = Literal["created", "changed", "deleted", "renamed", "copied"]
"""What a patch did to a file."""

ProcessId = str
"""Names a command within its sandbox."""

ProcessState = Literal["starting", "running", "lingering", "ended"]
"""Where in its life a process is."""

RuleSet = Literal["pypi", "npm", "crates", "debian", "github"]
"""Names that belong together, to start from."""

SandboxName = str
"""Names a sandbox; also its host name, and part of preview URLs, hence a DNS label."""

SandboxState = Literal["creating", "running", "paused", "stopped", "lost"]
"""How a sandbox is."""

SearchRole = Literal["match", "before", "after"]
"""What a told line is."""

SearchTruncated = Literal["matches", "bytes", "time", "cancelled"]
"""Why there may be more than was told."""

SessionId = str
"""Names a session within its sandbox."""

SessionState = Literal["ready", "busy", "dead"]
"""What a session is doing."""

Signal = str
"""A signal, 1 to 64."""

SignalScope = Literal["main", "tree"]
"""Whom a signal is for."""

StopReason = Literal["asked", "idle", "host_lost"]
"""Why a sandbox is stopped."""

Stream = Literal["stdout", "stderr"]
"""Which of a command's two outputs."""

TerminalId = str
"""Names a terminal within its sandbox."""

Timestamp = datetime
"""Milliseconds since 1970. For people and logs; nothing is decided by it."""

Verb = Literal["read", "exec", "admin"]
"""What may be done."""

Visibility = Literal["public", "private"]
"""Who may see a preview."""

WatchChange = Literal["created", "modified", "attributes", "removed", "renamed", "overflow", "settled", "gone"]
"""What happened."""

WatchId = str
"""Names a watch within its sandbox."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachCommandStdin:
    """Write to its standard input. Answered by `written`."""

    stdin: StdinPiece
    """Write to its standard input. Answered by `written`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachCommandSignal:
    """Send a signal. Answered by `signalled`."""

    signal: SignalRequest
    """Send a signal. Answered by `signalled`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachEventOutput:
    """It printed."""

    output: OutputEvent
    """It printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachEventGap:
    """What it printed here is gone."""

    gap: Gap
    """What it printed here is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachEventEnd:
    """Its main process is over."""

    end: OutputEnd
    """Its main process is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachEventWritten:
    """The pipe has taken the bytes."""

    written: StdinReceipt
    """The pipe has taken the bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachEventSignalled:
    """The signal was sent."""

    signalled: SignalReceipt
    """The signal was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachEventError:
    """What was asked for was not done."""

    error: ErrorBody
    """What was asked for was not done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelReceipt:
    """What a cancellation did."""

    cancelled: bool
    """Whether it was taken out of the queue; if not, it has begun already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """One whole output of a command as an answer carries it."""

    bytes: int
    """How many bytes of the output are kept, the omitted ones included."""

    data: str
    """Everything, or the head if something was left out."""

    encoding: Encoding
    """How `data` and the tail are encoded."""

    replaced: bool
    """Whether bytes that are no UTF-8 were replaced."""

    truncated: Truncation | None = None
    """Set if the answer does not hold all bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """Something that a command was refused."""

    address: str | None = None
    """The address that was meant, if it says more than the name."""

    at: Timestamp
    """When it was first refused."""

    count: int
    """How often the same was refused."""

    host: str | None = None
    """The name that was meant, if one was."""

    port: int | None = None
    """The port. Of a question to a name server there is none."""

    reason: DenialReason
    """Why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditReceipt:
    """A file was edited."""

    file: FileInfo
    """As it is now."""

    lines: list[list[int]]
    """For each replacement the lines, as they were before it, where it was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressEvent:
    """One thing that happened on the way out. What does not apply is left out."""

    address: str | None = None
    """The address outside."""

    at: Timestamp
    """When."""

    bytes_in: int | None = None
    """Bytes that came in."""

    bytes_out: int | None = None
    """Bytes that went out."""

    command: ProcessId | None = None
    """The command that did it, if that is known."""

    cursor: int
    """Its number; the next one has the next."""

    duration_ms: int | None = None
    """How long it stood."""

    flow: int | None = None
    """Which connection: the same in `opened` and `closed`."""

    host: str | None = None
    """The name that was meant."""

    kind: EgressEventKind
    """What."""

    port: int | None = None
    """The port outside."""

    protocol: EgressProtocol | None = None
    """What is spoken."""

    reason: DenialReason | None = None
    """Why not."""

    rule: str | None = None
    """The rule that allowed it, as text."""

    secrets_used: int | None = None
    """In how many requests a secret was put in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressEventPage:
    """Some events, by cursor."""

    events: list[EgressEvent]
    """These."""

    lost: int
    """So many that were asked for are forgotten."""

    next_cursor: int
    """Give this as `since` for those behind them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressRule:
    """Something that may be reached. Exactly one of `set`, `domain` and `cidr` is given."""

    cidr: str | None = None
    """An address or a block of them. It is also what opens private addresses, for names too."""

    domain: str | None = None
    """A name, or `*.` and a name for every name below it. Of names with other letters, the `xn--` form."""

    inspect: bool = False
    """TLS ends at Atoll, so that each request is seen to be for this name, and begins there anew."""

    ports: list[str] | None = None
    """Ports (`443`) and ranges of them (`8000-8999`). A domain without any means 80 and 443; a block must name them."""

    protocols: list[EgressProtocol] | None = None
    """What may be spoken. A domain without any means `http` and `tls`, a block means `tcp`."""

    set: RuleSet | None = None
    """A set of names that belong together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressTotals:
    """What has gone out so far."""

    bytes_in: int
    """Bytes that came in."""

    bytes_out: int
    """Bytes that went out."""

    connections: int
    """Connections that were allowed."""

    denied: int
    """Connections that were refused."""

    names: int
    """Names that were told."""

    names_denied: int
    """Names that were not told."""

    open: int
    """Of these, those that stand now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRecord:
    """How a command ended. What is not known is `None`; a code is never invented."""

    code: int | None = None
    """The exit code, if it exited."""

    cpu_system_ms: int | None = None
    """System time of the same."""

    cpu_user_ms: int | None = None
    """User time of the main process and the children it waited for."""

    denials: list[Denial] | None = None
    """What its processes were refused on the way out: the first of each kind, up to 32."""

    denials_count: int | None = None
    """How often they were refused something, those in `denials` included."""

    duration_ms: int
    """From start to end of the main process."""

    ended_at: Timestamp
    """When its main process was over."""

    max_rss_bytes: int | None = None
    """Largest resident set of any of the same."""

    oom_killed: bool
    """Whether the kernel killed one of its processes for want of memory."""

    reason: EndReason
    """Why it is over."""

    signal: Signal | None = None
    """The signal that ended it, if one did."""

    started_at: Timestamp
    """When it was started."""

    survivors: int
    """Processes it started that were still alive at that moment."""

    timed_out: bool
    """Whether `reason` is a time limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBody:
    """The one error shape."""

    code: ErrorCode
    """The stable code."""

    details: Any = None
    """Facts for programs, where the code alone does not say enough."""

    hint: str | None = None
    """What to do about it."""

    message: str
    """What happened, naming the thing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactText:
    """A text that may be no UTF-8."""

    data: str
    """The text itself, or its bytes in base64."""

    encoding: Encoding
    """Which of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecResult:
    """What `exec` answers."""

    cursor: int
    """Position behind the last byte of the log when it ended."""

    end: EndRecord
    """How it ended."""

    id: ProcessId
    """Its id, under which its log can be read and its survivors killed."""

    session_reset: bool = False
    """The session's shell could not be saved when the command was ended: it was replaced by one that holds the
    session's last snapshot."""

    stderr: Capture
    """Standard error."""

    stdout: Capture
    """Standard output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCount:
    """So many things were done."""

    count: int
    """How many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileExists:
    """Whether something is there."""

    exists: bool
    """Whether."""

    kind: FileKind | None = None
    """What it is, links followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """What is known of one file."""

    allocated: int
    """Bytes that it takes on the disk: fewer than its length if it has holes."""

    etag: str
    """Tells two states of it apart, for `If-Match` and `If-None-Match`."""

    gid: int
    """Its group, as numbered inside."""

    kind: FileKind
    """What it is."""

    links: int
    """How many names it has."""

    mode: str
    """Permission bits, in octal: `0644`."""

    modified: Timestamp
    """When its content last changed."""

    path: str
    """Its path: in a list below the directory that was listed, else as it was asked for."""

    path_base64: str | None = None
    """The same exactly, if it is no UTF-8."""

    size: int
    """Its length in bytes."""

    target: str | None = None
    """Where it leads, if it is a symbolic link."""

    target_base64: str | None = None
    """The same exactly, if it is no UTF-8."""

    uid: int
    """Its owner, as numbered inside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileList:
    """A page of a list."""

    entries: list[FileInfo]
    """The entries."""

    next: str | None = None
    """Give this as `after` for the next page; not there on the last."""

    unreadable: int
    """So many directories below could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileListEnd:
    """How a list that is streamed ended."""

    next: str | None = None
    """Give this as `after` to go on; not there if that was all."""

    unreadable: int
    """So many directories below could not be read."""


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
    """The last line, if it went wrong in the middle."""

    error: ErrorBody
    """The last line, if it went wrong in the middle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """A file's content as text."""

    data: str
    """What was read of it."""

    encoding: Encoding
    """How it is put into JSON."""

    file: FileInfo
    """The file."""

    replaced: bool
    """Bytes that are no UTF-8 were replaced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Output that can no longer be read: the log had to drop it."""

    from_: int
    """First position that cannot be read."""

    to: int
    """First position after it that can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitAuthor:
    """Who wrote a commit."""

    email: str
    """An address."""

    name: str
    """A name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitBranch:
    """A branch."""

    commit: str
    """Its last commit."""

    current: bool
    """It is checked out."""

    name: str
    """Its name."""

    upstream: str | None = None
    """The branch that it follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitBranches:
    """Branches."""

    branches: list[GitBranch]
    """By name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitCheckedOut:
    """What is checked out."""

    branch: str | None = None
    """The branch; none if it is a commit."""

    commit: str | None = None
    """The commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitCloned:
    """A repository that was fetched."""

    branch: str | None = None
    """The branch that is checked out."""

    commit: str | None = None
    """The commit that is checked out; none if the repository is empty."""

    path: str
    """Where it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitCommitInfo:
    """A commit."""

    author: GitAuthor
    """Who wrote it."""

    body: str
    """The rest."""

    commit: str
    """Its hash."""

    parents: list[str]
    """Those before it."""

    subject: str
    """The first line of its message."""

    time: Timestamp
    """When."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitCommitted:
    """A commit that was made."""

    branch: str | None = None
    """The branch that it is on."""

    commit: str
    """Its hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitDiff:
    """What is different, as a patch."""

    diff: str
    """The text; bytes that are no UTF-8 are replaced."""

    truncated: bool
    """There is more than is told: the middle is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitLog:
    """Commits."""

    commits: list[GitCommitInfo]
    """Newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitProgress:
    """How far git is."""

    done: int
    """In pieces."""

    percent: int
    """How much of it is done."""

    phase: str
    """What it does: `Receiving objects`."""

    total: int
    """Of so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitPulled:
    """What was fetched."""

    commit: str | None = None
    """The commit that is checked out now."""

    updated: bool
    """It was another before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitPushed:
    """What was sent."""

    refs: list[GitPushedRef]
    """One each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitPushedRef:
    """A branch that was sent."""

    from_: str
    """Here."""

    summary: str
    """What happened."""

    to: str
    """There."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitStatus:
    """How a repository is."""

    ahead: int | None = None
    """Commits that the upstream lacks."""

    behind: int | None = None
    """Commits that it lacks."""

    branch: str | None = None
    """The branch; none if a commit is checked out."""

    commit: str | None = None
    """The commit; none before the first."""

    entries: list[GitStatusEntry]
    """What is different."""

    upstream: str | None = None
    """The branch that it follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitStatusEntry:
    """One path that is different."""

    from_: str | None = None
    """Its name before, if it was renamed or copied."""

    from_base64: str | None = None
    """The same exactly, if it is no UTF-8."""

    path: str
    """The path, from the top of the repository."""

    path_base64: str | None = None
    """The same exactly, if it is no UTF-8."""

    staged: GitChange
    """How it will differ in the next commit."""

    worktree: GitChange
    """How the file differs from that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobAnswer:
    """Names that were found, in order."""

    entries: list[GlobEntry]
    """The names."""

    troubles: int
    """Directories that could not be read."""

    truncated: SearchTruncated | None = None
    """Why there may be more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobEntry:
    """A name that was found."""

    kind: GlobKind
    """What it is."""

    path: str
    """Its path."""

    path_base64: str | None = None
    """The same exactly, if it is no UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptReceipt:
    """What an interrupt did."""

    interrupted: bool
    """Whether something ran that could be interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KillReceipt:
    """What a kill did."""

    signalled: int
    """Processes that were sent a signal."""

    survivors: int
    """Processes of the tree that are still alive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMatch:
    """Where the output was found."""

    cursor: int
    """Position behind it."""

    line: str
    """The line that it is in; what is no UTF-8 is replaced."""

    stream: Stream
    """On which output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeDirectoryReceipt:
    """A directory was asked for."""

    created: bool
    """It was not there before."""

    file: FileInfo
    """The directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInfo:
    """The way out of a sandbox."""

    open: bool
    """Whether there is a way out at all: there is none before the first rule."""

    policy: NetworkPolicy
    """What may be reached."""

    totals: EgressTotals
    """What has gone out so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPolicy:
    """What a sandbox may reach. Nothing else is reachable, and a list that is empty allows nothing."""

    allow: list[EgressRule] | None = None
    """What is allowed."""

    hosts: dict[str, list[str]] | None = None
    """Addresses of names that are not asked of anybody. They are subject to the rules like any other address."""

    resolver: str | None = None
    """The name server to ask, `ADDRESS:PORT`; that of the machine if not given."""

    trust: str | None = None
    """Certificates (PEM) that servers are believed by, beside those that the machine believes, where TLS ends at
    Atoll."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A new token. The only time that its secret is told."""

    info: TokenInfo
    """What it is."""

    token: str
    """To be sent as `Authorization: Bearer …`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotCarriedInfo:
    """What there is in the shell that cannot be carried into another one."""

    descriptors: list[int]
    """Open descriptors beyond the standard three."""

    jobs: bool
    """Whether it has background jobs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputEnd:
    """The main process is over, and everything that it printed was told."""

    cursor: int
    """Position behind the last byte that was told."""

    end: EndRecord
    """How it ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputEvent:
    """A piece of the ordered log over both streams."""

    cursor: int
    """Position of its first byte in the log."""

    data: str
    """The bytes, encoded."""

    encoding: Encoding
    """How."""

    next_cursor: int
    """Position behind its last byte: where to go on."""

    replaced: bool = False
    """Whether bytes that are no UTF-8 were replaced."""

    stream: Stream
    """Which output."""

    time: Timestamp
    """When they were read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPage:
    """A range of the log."""

    closed: bool
    """Nothing will ever come after this page."""

    events: list[OutputEvent]
    """The output in the range, in order."""

    gaps: list[Gap]
    """What is missing from it."""

    next_cursor: int
    """Where the next page begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchHunk:
    """Where a hunk went in."""

    exact: bool
    """Its lines fit letter by letter; else blanks or typographic signs differ."""

    fuzz: int
    """How many lines of context at each end were not looked at."""

    line: int
    """The line of the old file, counted from one."""

    offset: int
    """How many lines from where it should be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchReceipt:
    """A patch was applied."""

    dry_run: bool
    """Nothing was changed: it was only looked whether it fits."""

    files: list[PatchedFile]
    """Its files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchedFile:
    """One file of a patch."""

    added: int
    """Lines that are new."""

    from_: str | None = None
    """The name that it had, or the file that it is a copy of."""

    hunks: list[PatchHunk]
    """Where its hunks went in."""

    outcome: PatchOutcome
    """What happened to it."""

    path: str
    """Its path, after the patch if it is still there."""

    path_base64: str | None = None
    """The same exactly, if it is no UTF-8."""

    removed: int
    """Lines that went."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortInfo:
    """A port inside on which something listens."""

    addresses: list[str]
    """Addresses inside that it is bound to: `127.0.0.1`, `::`."""

    command: str | None = None
    """How that process was started."""

    pid: int | None = None
    """Pid, inside, of a process that listens; absent if that cannot be known."""

    port: int
    """Its number."""

    process: ProcessId | None = None
    """The process of this API that it belongs to, if it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortList:
    """Every port inside on which something listens, lowest first."""

    ports: list[PortInfo]
    """These."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """An exposed port."""

    created_at: Timestamp
    """Since when."""

    keep_prefix: bool
    """Whether the program inside gets paths of the path form whole."""

    name: str | None = None
    """What it is, for people."""

    path_url: str | None = None
    """Where it is for clients that cannot resolve that name: below a path of a host that all previews share."""

    port: int
    """The port inside."""

    token: str
    """The secret part of its URLs."""

    url: str | None = None
    """Where it is, with a host name of its own. Absent if this server listens nowhere for previews."""

    visibility: Visibility
    """Who may see it."""

    wake: bool
    """Whether a request starts a sandbox that sleeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewLink:
    """A link that lets in whoever has it, for a while."""

    expires_at: Timestamp
    """Until then."""

    path_url: str
    """Below a path of a host that all previews share."""

    url: str
    """With a host name of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewList:
    """Exposed ports of a sandbox, lowest first."""

    previews: list[Preview]
    """These."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessInfo:
    """One process."""

    command: str
    """What was asked for: the shell string, or the arguments joined for reading."""

    cursor: int
    """Position behind the last byte of its log."""

    end: EndRecord | None = None
    """How its main process ended, if it has."""

    id: ProcessId
    """Its id."""

    labels: dict[str, str]
    """Labels given at start."""

    pid: int | None = None
    """Pid of its main process inside the sandbox, while there is one."""

    ready: bool | None = None
    """Whether it is ready, if it has a readiness condition."""

    restarts: int
    """How often it was started again by its restart policy."""

    session: SessionId | None = None
    """The session that it runs in or was started from."""

    started_at: Timestamp
    """When it was (last) started."""

    state: ProcessState
    """Where in its life it is."""

    stderr_bytes: int
    """Bytes on standard error so far."""

    stdout_bytes: int
    """Bytes on standard output so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessList:
    """Processes, oldest first."""

    processes: list[ProcessInfo]
    """All that were asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resized:
    """A window got this size."""

    by: str | None = None
    """Who asked for it; `None` for the size that it was made with."""

    cursor: int
    """Where in the output."""

    size: WindowSize
    """The new size."""

    time: Timestamp
    """When."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceLimit:
    """A resource limit."""

    hard: int | None = None
    """How far it may be raised; `null` is unlimited."""

    resource: str
    """Its name, as in `RLIMIT_NOFILE`: `nofile`."""

    soft: int | None = None
    """What holds now; `null` is unlimited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxInfo:
    """One sandbox."""

    created_at: Timestamp
    """When it was made."""

    egress: EgressTotals | None = None
    """What has gone out of it; `null` if there is no way out."""

    isolation: Isolation
    """How strongly it is walled off."""

    labels: dict[str, str]
    """For finding it again."""

    limits: SandboxLimits
    """What it may use."""

    name: SandboxName
    """Its name."""

    not_isolated: str | None = None
    """Why commands are not walled off from the agent, where that was wished for and could not be had. Only an agent
    that is the entrypoint of a container goes on then: the container is the wall."""

    processes: int
    """Processes that are not over."""

    sessions: int | None = None
    """Sessions whose shell is alive, idle ones too."""

    state: SandboxState
    """How it is."""

    terminals: int
    """Terminals whose program is not over."""

    usage: SandboxUsage
    """What it uses now."""

    version: str
    """Of the server that answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """What a sandbox may use. What is not set is not limited."""

    cpu_millis: int | None = None
    """Thousandths of a core."""

    memory_bytes: int | None = None
    """Bytes of memory, page cache included."""

    open_files: int | None = None
    """Open files of each process."""

    pids: int | None = None
    """Processes and threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxList:
    """Some sandboxes, by name."""

    next: SandboxName | None = None
    """Give this as `after` for those behind them; `null` if there are none."""

    sandboxes: list[SandboxRecord]
    """These."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxRecord:
    """One sandbox of a server."""

    created_at: Timestamp
    """When it was first made."""

    isolation: Isolation
    """How strongly it is walled off."""

    keep_alive: bool
    """It is never stopped for want of use."""

    labels: dict[str, str]
    """For finding it again."""

    last_used_at: Timestamp
    """When it was last used."""

    limits: SandboxLimits
    """What it may use."""

    live: SandboxInfo | None = None
    """What its agent says, if it was asked."""

    name: SandboxName
    """Its name."""

    sleep_after_ms: int | None = None
    """It is stopped when nobody used it for so long."""

    state: SandboxState
    """Where in its life it is."""

    stop_reason: StopReason | None = None
    """Why it is stopped, if it is and that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxUsage:
    """What a sandbox uses now. What is not counted here is `null`."""

    cpu_usec: int | None = None
    """Processor time used so far, in microseconds."""

    memory_bytes: int | None = None
    """Bytes of memory in use, page cache included."""

    memory_peak_bytes: int | None = None
    """The most there ever was."""

    pids: int | None = None
    """Processes and threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """These verbs, on the sandboxes that a pattern means."""

    sandboxes: str
    """A sandbox's name, in which `*` stands for any number of letters."""

    verbs: list[Verb]
    """What may be done with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenInfo:
    """What is on a terminal's screen."""

    alternate: bool
    """Whether it is the second screen, on which programs such as editors draw."""

    cursor: int
    """The position in the output at which this was on the screen: attach there to go on."""

    cursor_col: int
    """Column of the text cursor, from 0."""

    cursor_hidden: bool
    """Whether the text cursor is hidden."""

    cursor_row: int
    """Row of the text cursor, from 0."""

    formatted: str
    """What draws it on an empty terminal of the same size, with colours, cursor and input modes."""

    reset: str
    """What takes a terminal on which it was drawn back to normal."""

    size: WindowSize
    """How large it is."""

    text: str
    """Its text without colours: a line per row, without the spaces at its end."""

    whole: bool
    """Whether every byte before that was seen. Else something drawn long ago may be missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """A whole search."""

    files: list[SearchFile]
    """Files, if only files or counts were asked for; and those that match and are not text."""

    matches: list[SearchMatch]
    """Lines of files."""

    summary: SearchSummary
    """What it came to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFile:
    """A file in which something was found."""

    matches: int | None = None
    """How many lines of it match; not known of a file that is not text."""

    path: str
    """The file."""

    path_base64: str | None = None
    """The same exactly, if it is no UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLineMatch:
    """A line of a file."""

    match: SearchMatch
    """A line of a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLineFile:
    """A file, if only files or counts were asked for."""

    file: SearchFile
    """A file, if only files or counts were asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLineBinary:
    """A file that matches and is not text."""

    binary: SearchFile
    """A file that matches and is not text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLineEnd:
    """The last line."""

    end: SearchSummary
    """The last line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLineError:
    """The last line, if it went wrong in the middle."""

    error: ErrorBody
    """The last line, if it went wrong in the middle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchMatch:
    """A line that was found."""

    cut_after: int | None = None
    """The same behind."""

    cut_before: int | None = None
    """Bytes of a long line that are not told, before and behind."""

    line: int
    """Counted from one."""

    offset: int
    """Where in the file its first byte is."""

    path: str
    """The file."""

    path_base64: str | None = None
    """The same exactly, if it is no UTF-8."""

    role: SearchRole
    """Whether it matches."""

    spans: list[SearchSpan]
    """Where in its bytes the matches are."""

    text: str
    """The line, with its end; for a match across lines all of them."""

    text_base64: str | None = None
    """The same exactly, if it is no UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSpan:
    """A part of a line, in bytes."""

    end: int
    """The byte behind it."""

    start: int
    """Its first byte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSummary:
    """What a search came to."""

    bytes_read: int
    """Bytes of files that were read."""

    files: int
    """Files that were searched."""

    files_matched: int
    """Files in which something was found."""

    first_troubles: list[str]
    """The first of them, for people."""

    matches: int
    """Matches that were told."""

    troubles: int
    """Files and directories that could not be searched."""

    truncated: SearchTruncated | None = None
    """Why there may be more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretInfo:
    """A secret, without its value."""

    headers: list[str]
    """The headers in which it is put."""

    hosts: list[str]
    """The servers that get it."""

    name: str
    """The variable that holds its stand-in."""

    placeholder: str
    """What commands see instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretList:
    """The secrets of a sandbox, by name."""

    secrets: list[SecretInfo]
    """These."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """One session."""

    created_at: Timestamp
    """When it was made."""

    cwd: str
    """Where its shell is, as of its last command."""

    end: EndRecord | None = None
    """How its shell ended, if it has."""

    id: SessionId
    """Its id."""

    not_restored: str | None = None
    """What the session has lost: what the shell said when it was brought to a snapshot, or that it is no longer
    where it was before a command with a directory of its own."""

    queued: int
    """Commands that wait."""

    resets: int
    """How often its shell had to be replaced."""

    running: ProcessId | None = None
    """The command that runs."""

    state: SessionState
    """What it is doing."""

    used_at: Timestamp
    """When a command last began or ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionList:
    """Sessions, oldest first."""

    sessions: list[SessionInfo]
    """All that there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellAlias:
    """An alias."""

    name: ExactText
    """Its name."""

    value: ExactText
    """What it stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellFunction:
    """A function."""

    attributes: str
    """Letters of `declare -f`: `r`, `t`, `x`."""

    name: ExactText
    """Its name."""

    text: ExactText
    """Its definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellTrap:
    """A trap."""

    action: ExactText
    """What is run then; empty if it is ignored."""

    on: str
    """The signal, or `EXIT`, `DEBUG`, `ERR`, `RETURN`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellVariable:
    """A variable."""

    assignment: ExactText | None = None
    """What follows the `=` of its declaration, quoted for a shell; `null` if it is declared but not set. An array is
    told by this alone: `([0]="a" [1]="b")`."""

    attributes: str
    """Letters of `declare`: `a` array, `A` associative, `i` integer, `r` read-only, `x` exported and so on."""

    name: str
    """Its name."""

    value: ExactText | None = None
    """Its value, if it is set and no array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalReceipt:
    """What a signal did."""

    signalled: int
    """Processes that it was sent to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRequest:
    """Asks to send a signal."""

    scope: SignalScope | None = None
    """To whom."""

    signal: Signal
    """By name or number, as text: `TERM`, `SIGINT`, `9`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedMember:
    """A member of an archive that was not made."""

    path: str
    """Its path in the archive."""

    path_base64: str | None = None
    """The same exactly, if it is no UTF-8."""

    why: str
    """Why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotInfo:
    """Everything that a session remembers."""

    aliases: list[ShellAlias]
    """Aliases."""

    cwd: ExactText
    """Where it is."""

    env: dict[str, ExactText]
    """The exported variables, as programs get them."""

    functions: list[ShellFunction]
    """Functions."""

    limits: list[ResourceLimit]
    """Resource limits."""

    not_carried: NotCarriedInfo
    """What there was besides."""

    options: list[str]
    """`set -o` options that are on."""

    positional: list[ExactText]
    """Positional parameters."""

    shell_options: list[str]
    """`shopt` options that are on."""

    traps: list[ShellTrap]
    """Traps."""

    umask: str
    """File creation mask, in octal: `0022`."""

    variables: list[ShellVariable]
    """All variables, but for those that bash computes or keeps for itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StdinPiece:
    """Bytes for a standard input."""

    data: str
    """The bytes, encoded."""

    encoding: Encoding | None = None
    """How."""

    offset: int
    """Position of the first byte in all that was ever written: a repeated write is skipped, a gap refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StdinReceipt:
    """What a write to standard input did."""

    next_offset: int
    """The offset to go on from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalCommandResize:
    """Give the window a size."""

    resize: WindowSize
    """Give the window a size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalCommandSignal:
    """Send a signal."""

    signal: SignalRequest
    """Send a signal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalExit:
    """The program is over."""

    cursor: int
    """Position behind the last byte that was told."""

    end: EndRecord
    """How it ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalFrameReady:
    """The first frame."""

    ready: TerminalReady
    """The first frame."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalFrameResize:
    """The window has this size from here on."""

    resize: Resized
    """The window has this size from here on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalFrameTruncated:
    """What was printed here is gone."""

    truncated: Gap
    """What was printed here is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalFrameExit:
    """The last frame, unless something that the program left behind still prints."""

    exit: TerminalExit
    """The last frame, unless something that the program left behind still prints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalFrameError:
    """What was asked for was not done."""

    error: ErrorBody
    """What was asked for was not done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalInfo:
    """One terminal."""

    command: str
    """What was asked for: the shell string, or the arguments joined for reading."""

    cursor: int
    """Position behind the last byte of its output."""

    end: EndRecord | None = None
    """How its program ended, if it has."""

    id: TerminalId
    """Its id."""

    pid: int | None = None
    """Pid of its program inside the sandbox, while it runs."""

    resized_by: str | None = None
    """Who asked for it; `None` for the size that it was made with."""

    size: WindowSize
    """The size last asked for."""

    started_at: Timestamp
    """When its program was started."""

    state: ProcessState
    """Where in its life its program is."""

    viewers: int
    """How many are looking."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalList:
    """Terminals, oldest first."""

    terminals: list[TerminalInfo]
    """All that are remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalReady:
    """The connection stands."""

    cursor: int
    """Position of the first byte that follows. Count from here to know where to attach again."""

    terminal: TerminalInfo
    """The terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenInfo:
    """A token as it is listed: everything but the secret."""

    created_at: Timestamp
    """When it was made."""

    expires_at: Timestamp | None = None
    """When it ceases to be good."""

    id: str
    """Names it; also the middle of the token itself."""

    last_used_at: Timestamp | None = None
    """When it was last used, to the minute."""

    name: str
    """What it is for, for people."""

    scopes: list[Scope]
    """What it allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenList:
    """Every token."""

    tokens: list[TokenInfo]
    """Oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncation:
    """What an answer leaves out of an output."""

    cursor: int
    """Where in the log the omitted bytes begin."""

    omitted_bytes: int
    """Bytes between head and tail."""

    tail: str
    """The last bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackReceipt:
    """An archive was unpacked."""

    bytes: int
    """Bytes written to files."""

    directories: int
    """Directories that the archive names."""

    files: int
    """Files that were made."""

    first_skipped: list[SkippedMember]
    """The first of them."""

    format: ArchiveFormat
    """Its form."""

    links: int
    """Links and named pipes."""

    skipped: int
    """Members that were not made: devices and sockets, or names that are taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadReceipt:
    """Files were written."""

    files: list[WriteReceipt]
    """Each of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitAnswer:
    """It has happened."""

    end: EndRecord | None = None
    """How it ended, if that was waited for."""

    found: LogMatch | None = None
    """What was found, if output was waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchEnd:
    """The last event of a stream."""

    cursor: int
    """The cursor behind the last event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchEvent:
    """One thing that happened."""

    change: WatchChange
    """What."""

    cursor: int
    """Its number."""

    directory: bool
    """Whether it is a directory."""

    from_: str | None = None
    """Its path before, if it was renamed."""

    from_base64: str | None = None
    """The same exactly, if it is no UTF-8."""

    path: str
    """To what, below the directory; empty for the directory itself."""

    path_base64: str | None = None
    """The same exactly, if it is no UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchFrameChange:
    """Something happened."""

    change: WatchEvent
    """Something happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchFrameEnd:
    """Nothing follows: the directory is gone."""

    end: WatchEnd
    """Nothing follows: the directory is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchFrameError:
    """Nothing follows: it failed."""

    error: ErrorBody
    """Nothing follows: it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchInfo:
    """A watch."""

    created_at: Timestamp
    """When it began."""

    cursor: int
    """The cursor of the next event."""

    ended: bool
    """Nothing follows: the directory is gone, or the watch failed."""

    error: ErrorBody | None = None
    """Why it failed."""

    id: WatchId
    """Its id."""

    path: str
    """The directory."""

    path_base64: str | None = None
    """The same exactly, if it is no UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchList:
    """Watches."""

    watches: list[WatchInfo]
    """Oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchPage:
    """What happened since a cursor."""

    ended: bool
    """Nothing follows."""

    error: ErrorBody | None = None
    """Why it failed."""

    events: list[WatchEvent]
    """In order."""

    next_cursor: int
    """Where to go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSize:
    """How large a window is, in characters. Neither side is 0 or beyond its cap."""

    cols: int

    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteReceipt:
    """A file was written."""

    atomic: bool
    """It was replaced in one step. If not, it was changed where it is: its directory may not be written, its owner
    not be given, or something was added to its end."""

    created: bool
    """It was not there before."""

    file: FileInfo
    """As it is now."""

AttachCommand = Union[Literal["close"], AttachCommandStdin, AttachCommandSignal]
"""What a client sends to a process."""

AttachEvent = Union[AttachEventOutput, AttachEventGap, AttachEventEnd, AttachEventWritten, AttachEventSignalled, AttachEventError]
"""What a process's client is told."""

FileListLine = Union[FileListLineEntry, FileListLineEnd, FileListLineError]
"""One line of a list that is streamed."""

SearchLine = Union[SearchLineMatch, SearchLineFile, SearchLineBinary, SearchLineEnd, SearchLineError]
"""One line of a search that is streamed."""

TerminalCommand = Union[TerminalCommandResize, TerminalCommandSignal]
"""What a terminal's client sends in text frames."""

TerminalFrame = Union[TerminalFrameReady, TerminalFrameResize, TerminalFrameTruncated, TerminalFrameExit, TerminalFrameError]
"""What a terminal's client is told in text frames."""

WatchFrame = Union[WatchFrameChange, WatchFrameEnd, WatchFrameError]
"""What a watch's client is told over a WebSocket, a text frame each."""
