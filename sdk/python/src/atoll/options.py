"""What callers may say: the arguments of methods, and dictionaries within them.

Written by `sdk/generate` from the API's description; changes are lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, Union

__all__ = [
    "AttachCommand",
    "AttachCommandSignal",
    "AttachCommandStdin",
    "Background",
    "CopyOptions",
    "CreateSandbox",
    "CreateToken",
    "EditRequest",
    "EditText",
    "EgressProtocol",
    "EgressRule",
    "Encoding",
    "ExecOptions",
    "ExecRequest",
    "ExposeOptions",
    "ExposePort",
    "ForkRequest",
    "FromToRequest",
    "GitAuthor",
    "GitBranchesOptions",
    "GitBranchesRequest",
    "GitCheckoutOptions",
    "GitCheckoutRequest",
    "GitCloneOptions",
    "GitCloneRequest",
    "GitCommitOptions",
    "GitCommitRequest",
    "GitCredentials",
    "GitDiffOptions",
    "GitDiffRequest",
    "GitLogOptions",
    "GitLogRequest",
    "GitPullOptions",
    "GitPullRequest",
    "GitPushOptions",
    "GitPushRequest",
    "GitStatusOptions",
    "GitStatusRequest",
    "GlobOptions",
    "GlobRequest",
    "HttpCondition",
    "Isolation",
    "KillAllRequest",
    "KillRequest",
    "LinkRequest",
    "LogCondition",
    "MakeDirectoryOptions",
    "MakeDirectoryRequest",
    "ModeOptions",
    "ModeRequest",
    "NetworkPolicy",
    "OnDisconnect",
    "PatchSandbox",
    "PortCondition",
    "ProcessId",
    "PutSecret",
    "QueueOptions",
    "ReadyCondition",
    "ReadyConditionLog",
    "ReadyConditionPort",
    "RenameOptions",
    "ResizeRequest",
    "RestartFrom",
    "RestartPolicy",
    "RestartPolicyOnFailure",
    "RestartPolicyOnFailureDetails",
    "RestartRequest",
    "RuleSet",
    "SandboxChanges",
    "SandboxLimits",
    "SandboxName",
    "SandboxOptions",
    "Scope",
    "SearchBinary",
    "SearchCase",
    "SearchDetail",
    "SearchOptions",
    "SearchRequest",
    "SearchSyntax",
    "SessionExecOptions",
    "SessionId",
    "SessionOptions",
    "SessionRequest",
    "SessionRequestOptionsItem",
    "Signal",
    "SignalRequest",
    "SignalScope",
    "StartOptions",
    "StartRequest",
    "StdinMode",
    "StdinPiece",
    "SymlinkOptions",
    "SymlinkRequest",
    "TerminalCommand",
    "TerminalCommandResize",
    "TerminalCommandSignal",
    "TerminalId",
    "TerminalOptions",
    "TerminalRequest",
    "Verb",
    "Visibility",
    "WaitFor",
    "WaitForLog",
    "WaitForPort",
    "WaitRequest",
    "WatchId",
    "WatchOptions",
    "WatchRequest",
    "WindowSize",
    "WriteFileRequest",
]

Background = Literal["keep", "kill"]
"""What happens to processes that a command leaves in the background."""

EgressProtocol = Literal["http", "tls", "tcp"]
"""Protocol of a connection."""

Encoding = Literal["utf8", "base64"]
"""Encoding of bytes in JSON."""

Isolation = Literal["namespaces", "none"]
"""Isolation of a sandbox."""

OnDisconnect = Literal["keep", "kill"]
"""What happens to a command whose client disconnects before it ends."""

ProcessId = str
"""Id of a command within its sandbox."""

RestartFrom = Literal["snapshot", "nothing"]
"""What a dead session is restarted from."""

RuleSet = Literal["pypi", "npm", "crates", "debian", "github"]
"""Predefined sets of names."""

SandboxName = str
"""Name of a sandbox. It is also the sandbox's host name and part of preview URLs, so it is a DNS label."""

SearchBinary = Literal["skip", "report", "text"]
"""How to search files that contain NUL bytes."""

SearchCase = Literal["sensitive", "insensitive", "smart"]
"""Whether case matters."""

SearchDetail = Literal["lines", "files", "counts"]
"""How much detail to return for each file."""

SearchSyntax = Literal["regex", "multiline", "multiline_dot_all", "fixed"]
"""How a pattern is interpreted."""

SessionId = str
"""Id of a session within its sandbox."""

SessionRequestOptionsItem = Literal[
    "allexport",
    "braceexpand",
    "emacs",
    "errexit",
    "errtrace",
    "functrace",
    "hashall",
    "histexpand",
    "history",
    "ignoreeof",
    "interactive-comments",
    "keyword",
    "monitor",
    "noclobber",
    "noglob",
    "nolog",
    "notify",
    "nounset",
    "physical",
    "pipefail",
    "posix",
    "vi",
    "xtrace",
]

Signal = str
"""A signal, 1 to 64."""

SignalScope = Literal["main", "tree"]
"""Which processes receive a signal."""

StdinMode = Literal["closed", "pipe"]
"""Source of a process's standard input."""

TerminalId = str
"""Id of a terminal within its sandbox."""

Verb = Literal["read", "exec", "admin"]
"""A permission."""

Visibility = Literal["public", "private"]
"""Who may open a preview."""

WatchId = str
"""Id of a watch within its sandbox."""


class AttachCommandStdin(TypedDict):
    """Write to standard input. Answered by `written`."""

    stdin: StdinPiece
    """Write to standard input. Answered by `written`."""


class AttachCommandSignal(TypedDict):
    """Send a signal. Answered by `signalled`."""

    signal: SignalRequest
    """Send a signal. Answered by `signalled`."""


class CopyOptions(TypedDict, total=False):
    """Renames, moves or copies a file or directory."""

    parents: bool
    """Create missing parent directories of the destination."""

    recursive: bool
    """Copy directories with their content; for copies only."""

    replace: bool
    """Replace the destination if it exists; a copy merges directories."""

    user: str | None
    """User to do it as."""


class CreateSandbox(TypedDict, total=False):
    """Gets or creates a sandbox. Omitted options take their defaults in a new sandbox, and match any value of an
    existing one."""

    env: Mapping[str, str] | None
    """Environment variables of every command."""

    isolation: Isolation | None
    """Isolation of the sandbox."""

    keep_alive: bool | None
    """Never stop the sandbox for lack of use, regardless of `sleep_after_ms`."""

    labels: Mapping[str, str] | None
    """Labels to find it by."""

    limits: SandboxLimits | None
    """Resource limits."""

    name: SandboxName | None
    """Name of the sandbox; generated if not given."""

    network: NetworkPolicy | None
    """Initial egress policy; no network access if not given."""

    sleep_after_ms: int | None
    """Stop the sandbox after this time without use. 0 means never."""


class _CreateToken(TypedDict):
    """Creates a token."""

    scopes: Sequence[Scope]
    """Scopes of the token."""

class CreateToken(_CreateToken, total=False):
    """Creates a token."""

    expires_in_ms: int | None
    """How long the token is valid; without it, it does not expire."""

    name: str
    """Display name."""


class _EditRequest(TypedDict):
    """Replaces exact texts in a file: all of them, in order, or none."""

    edits: Sequence[EditText]
    """The replacements, applied in order."""

class EditRequest(_EditRequest, total=False):
    """Replaces exact texts in a file: all of them, in order, or none."""

    encoding: Encoding
    """Encoding of the texts."""

    if_match: str | None
    """Edit only if the file has this etag."""

    path: str | None
    """Path of the file."""

    path_base64: str | None
    """Exact path in base64."""

    user: str | None
    """User to edit as."""


class _EditText(TypedDict):
    """One text replacement."""

    new: str
    """Replacement text."""

    old: str
    """Text to replace, matched exactly."""

class EditText(_EditText, total=False):
    """One text replacement."""

    all: bool
    """Replace every occurrence; at least one must be in the file."""

    count: int | None
    """Number of occurrences that must be in the file (default 1). All of them are replaced."""


class EgressRule(TypedDict, total=False):
    """A destination that the sandbox may reach. Exactly one of `set`, `domain` and `cidr` is required."""

    cidr: str | None
    """An address or a block of addresses. Only such a rule allows private addresses, also for names."""

    domain: str | None
    """A name, or `*.` and a name for all its subdomains. Use the `xn--` form for internationalized names."""

    inspect: bool
    """Terminate TLS in Atoll, so that Atoll can check that each request is for this name."""

    ports: Sequence[str] | None
    """Ports (`443`) and port ranges (`8000-8999`). The default for a domain is 80 and 443; a block requires them."""

    protocols: Sequence[EgressProtocol] | None
    """Protocols to allow. The default for a domain is `http` and `tls`, for a block `tcp`."""

    set: RuleSet | None
    """A predefined set of names."""


class ExecOptions(TypedDict, total=False):
    """Runs one command to completion. Exactly one of `command` and `argv` is required."""

    answer_bytes: int | None
    """Maximum number of bytes of each output in the response (default 1 MiB)."""

    background: Background
    """What happens to processes that it leaves in the background."""

    cwd: str | None
    """Working directory; relative paths are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    grace_ms: int | None
    """Time between SIGTERM and SIGKILL when the process tree is killed (default 2000)."""

    id: ProcessId | None
    """Id of the command, which makes retries safe; generated if not given."""

    idle_timeout_ms: int | None
    """Limit of time without output, after which the whole process tree is killed."""

    labels: Mapping[str, str]
    """Labels to find it by."""

    max_output_bytes: int | None
    """Output limit, above which the whole process tree is killed."""

    memory_bytes: int | None
    """Memory limit of this command, within the sandbox's own limit."""

    network: Sequence[EgressRule] | None
    """Egress rules of this command, within those of the sandbox; the sandbox's rules if not given."""

    on_disconnect: OnDisconnect
    """What happens if the client disconnects."""

    timeout_ms: int | None
    """Time limit, after which the whole process tree is killed."""

    user: str | None
    """User inside the sandbox: a name or an id, optionally with `:group`."""


class ExecRequest(TypedDict, total=False):
    """Runs one command to completion. Exactly one of `command` and `argv` is required."""

    answer_bytes: int | None
    """Maximum number of bytes of each output in the response (default 1 MiB)."""

    argv: Sequence[str] | None
    """Program and arguments, run without a shell."""

    background: Background
    """What happens to processes that it leaves in the background."""

    command: str | None
    """Shell command line, run by bash, or by sh if there is no bash."""

    cwd: str | None
    """Working directory; relative paths are below the default."""

    encoding: Encoding
    """Encoding of the output in the response."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    grace_ms: int | None
    """Time between SIGTERM and SIGKILL when the process tree is killed (default 2000)."""

    id: ProcessId | None
    """Id of the command, which makes retries safe; generated if not given."""

    idle_timeout_ms: int | None
    """Limit of time without output, after which the whole process tree is killed."""

    labels: Mapping[str, str]
    """Labels to find it by."""

    max_output_bytes: int | None
    """Output limit, above which the whole process tree is killed."""

    memory_bytes: int | None
    """Memory limit of this command, within the sandbox's own limit."""

    network: Sequence[EgressRule] | None
    """Egress rules of this command, within those of the sandbox; the sandbox's rules if not given."""

    on_disconnect: OnDisconnect
    """What happens if the client disconnects."""

    stdin: str | None
    """Standard input as text. Closed if neither this nor `stdin_base64` is given."""

    stdin_base64: str | None
    """Standard input in base64."""

    timeout_ms: int | None
    """Time limit, after which the whole process tree is killed."""

    user: str | None
    """User inside the sandbox: a name or an id, optionally with `:group`."""


class ExposeOptions(TypedDict, total=False):
    """Exposes a port. Omitted options stay as they are, or take their defaults if the port is not exposed yet."""

    keep_prefix: bool | None
    """Whether the program inside receives the full path of a path URL, including `/preview/…` (default false)."""

    name: str | None
    """Display name."""

    token: str | None
    """Secret part of the URL: 1 to 32 characters of `a-z`, `0-9` and `_`. Generated if not given; short ones can be
    guessed."""

    visibility: Visibility | None
    """Who may open the preview (default `public`)."""

    wake: bool | None
    """Whether a request wakes a stopped sandbox (default false)."""


class ExposePort(TypedDict, total=False):
    """Exposes a port. Omitted options stay as they are, or take their defaults if the port is not exposed yet."""

    keep_prefix: bool | None
    """Whether the program inside receives the full path of a path URL, including `/preview/…` (default false)."""

    name: str | None
    """Display name."""

    token: str | None
    """Secret part of the URL: 1 to 32 characters of `a-z`, `0-9` and `_`. Generated if not given; short ones can be
    guessed."""

    visibility: Visibility | None
    """Who may open the preview (default `public`)."""

    wake: bool | None
    """Whether a request wakes a stopped sandbox (default false)."""


class ForkRequest(TypedDict, total=False):
    """Creates a copy of a session, with the state of its shell."""

    id: SessionId | None
    """Id of the new session; generated if not given."""


FromToRequest = TypedDict(
    "FromToRequest",
    {
        "from": "str | None",
        "from_base64": "str | None",
        "parents": "bool",
        "recursive": "bool",
        "replace": "bool",
        "to": "str | None",
        "to_base64": "str | None",
        "user": "str | None",
    },
    total=False,
)
"""Renames, moves or copies a file or directory."""


class GitAuthor(TypedDict):
    """Author of a commit."""

    email: str
    """Email address."""

    name: str
    """Name."""


class GitBranchesOptions(TypedDict, total=False):
    """Lists branches."""

    remotes: bool
    """Include remote-tracking branches."""

    user: str | None
    """User to run git as."""


class _GitBranchesRequest(TypedDict):
    """Lists branches."""

    path: str
    """Path of the repository, or of a directory in it; relative to `/workspace`."""

class GitBranchesRequest(_GitBranchesRequest, total=False):
    """Lists branches."""

    remotes: bool
    """Include remote-tracking branches."""

    user: str | None
    """User to run git as."""


class GitCheckoutOptions(TypedDict, total=False):
    """Checks out a branch, tag or commit."""

    create: bool
    """Create the branch."""

    user: str | None
    """User to run git as."""


GitCheckoutRequest = TypedDict(
    "GitCheckoutRequest",
    {
        "create": "bool",
        "from": "str | None",
        "path": "str",
        "target": "str",
        "user": "str | None",
    },
    total=False,
)
"""Checks out a branch, tag or commit."""


class GitCloneOptions(TypedDict, total=False):
    """Clones a repository."""

    branch: str | None
    """Branch or tag to check out; the remote's default branch if not given."""

    credentials: GitCredentials | None
    """Credentials for the remote, if it requires them."""

    depth: int | None
    """Number of commits of history to fetch; all if not given."""

    path: str | None
    """Directory to clone into; by default named after the repository, below `/workspace`."""

    timeout_ms: int | None
    """Time limit (default ten minutes)."""

    user: str | None
    """User to run git as."""


class _GitCloneRequest(TypedDict):
    """Clones a repository."""

    url: str
    """URL of the repository: `https://…`, `http://…`, `file://…` or an absolute path inside the sandbox."""

class GitCloneRequest(_GitCloneRequest, total=False):
    """Clones a repository."""

    branch: str | None
    """Branch or tag to check out; the remote's default branch if not given."""

    credentials: GitCredentials | None
    """Credentials for the remote, if it requires them."""

    depth: int | None
    """Number of commits of history to fetch; all if not given."""

    path: str | None
    """Directory to clone into; by default named after the repository, below `/workspace`."""

    timeout_ms: int | None
    """Time limit (default ten minutes)."""

    user: str | None
    """User to run git as."""


class GitCommitOptions(TypedDict, total=False):
    """Creates a commit."""

    all: bool
    """Include every change, and new files."""

    allow_empty: bool
    """Create the commit even if it changes nothing."""

    author: GitAuthor | None
    """Author and committer; from the repository's configuration if not given."""

    paths: Sequence[str]
    """Include the changes to these paths."""

    user: str | None
    """User to run git as."""


class _GitCommitRequest(TypedDict):
    """Creates a commit."""

    message: str
    """Commit message."""

    path: str
    """Path of the repository, or of a directory in it; relative to `/workspace`."""

class GitCommitRequest(_GitCommitRequest, total=False):
    """Creates a commit."""

    all: bool
    """Include every change, and new files."""

    allow_empty: bool
    """Create the commit even if it changes nothing."""

    author: GitAuthor | None
    """Author and committer; from the repository's configuration if not given."""

    paths: Sequence[str]
    """Include the changes to these paths."""

    user: str | None
    """User to run git as."""


class _GitCredentials(TypedDict):
    """Credentials for a remote. Never logged, never stored."""

    password: str
    """Password or access token."""

    username: str
    """User name."""

class GitCredentials(_GitCredentials, total=False):
    """Credentials for a remote. Never logged, never stored."""

    server: str | None
    """The only server that receives them: `https://host` or `https://host:port`. For a clone, the server of its URL
    by default."""


class GitDiffOptions(TypedDict, total=False):
    """Requests a diff."""

    context: int | None
    """Number of context lines around each change (default 3)."""

    paths: Sequence[str]
    """Limit the diff to these paths."""

    staged: bool
    """Compare the index with the last commit, instead of the working tree with the index."""

    to: str | None
    """The other commit."""

    user: str | None
    """User to run git as."""


GitDiffRequest = TypedDict(
    "GitDiffRequest",
    {
        "context": "int | None",
        "from": "str | None",
        "path": "str",
        "paths": "Sequence[str]",
        "staged": "bool",
        "to": "str | None",
        "user": "str | None",
    },
    total=False,
)
"""Requests a diff."""


class GitLogOptions(TypedDict, total=False):
    """Lists commits."""

    limit: int | None
    """Maximum number of commits (default 50, at most 1000)."""

    paths: Sequence[str]
    """Only commits that changed these paths."""

    user: str | None
    """User to run git as."""


GitLogRequest = TypedDict(
    "GitLogRequest",
    {
        "from": "str | None",
        "limit": "int | None",
        "path": "str",
        "paths": "Sequence[str]",
        "user": "str | None",
    },
    total=False,
)
"""Lists commits."""


class GitPullOptions(TypedDict, total=False):
    """Pulls from a remote."""

    branch: str | None
    """Branch to pull; the upstream branch if not given."""

    credentials: GitCredentials | None
    """Credentials for the remote, if it requires them."""

    remote: str | None
    """Remote to pull from (default `origin`)."""

    timeout_ms: int | None
    """Time limit (default ten minutes)."""

    user: str | None
    """User to run git as."""


class _GitPullRequest(TypedDict):
    """Pulls from a remote."""

    path: str
    """Path of the repository, or of a directory in it; relative to `/workspace`."""

class GitPullRequest(_GitPullRequest, total=False):
    """Pulls from a remote."""

    branch: str | None
    """Branch to pull; the upstream branch if not given."""

    credentials: GitCredentials | None
    """Credentials for the remote, if it requires them."""

    remote: str | None
    """Remote to pull from (default `origin`)."""

    timeout_ms: int | None
    """Time limit (default ten minutes)."""

    user: str | None
    """User to run git as."""


class GitPushOptions(TypedDict, total=False):
    """Pushes to a remote."""

    branch: str | None
    """Branch to push; the current branch if not given."""

    credentials: GitCredentials | None
    """Credentials for the remote, if it requires them."""

    force: bool
    """Replace commits on the remote, unless another client has pushed in the meantime."""

    remote: str | None
    """Remote to push to (default `origin`)."""

    set_upstream: bool
    """Set the remote branch as upstream."""

    timeout_ms: int | None
    """Time limit (default ten minutes)."""

    user: str | None
    """User to run git as."""


class _GitPushRequest(TypedDict):
    """Pushes to a remote."""

    path: str
    """Path of the repository, or of a directory in it; relative to `/workspace`."""

class GitPushRequest(_GitPushRequest, total=False):
    """Pushes to a remote."""

    branch: str | None
    """Branch to push; the current branch if not given."""

    credentials: GitCredentials | None
    """Credentials for the remote, if it requires them."""

    force: bool
    """Replace commits on the remote, unless another client has pushed in the meantime."""

    remote: str | None
    """Remote to push to (default `origin`)."""

    set_upstream: bool
    """Set the remote branch as upstream."""

    timeout_ms: int | None
    """Time limit (default ten minutes)."""

    user: str | None
    """User to run git as."""


class GitStatusOptions(TypedDict, total=False):
    """Requests the status of a repository."""

    ignored: bool
    """Include ignored files."""

    user: str | None
    """User to run git as."""


class _GitStatusRequest(TypedDict):
    """Requests the status of a repository."""

    path: str
    """Path of the repository, or of a directory in it; relative to `/workspace`."""

class GitStatusRequest(_GitStatusRequest, total=False):
    """Requests the status of a repository."""

    ignored: bool
    """Include ignored files."""

    user: str | None
    """User to run git as."""


class GlobOptions(TypedDict, total=False):
    """Finds files below a directory by name."""

    depth: int | None
    """Maximum depth; unlimited if not given."""

    exclude: Sequence[str]
    """Globs of files to leave out."""

    hidden: bool
    """Include hidden files: names that begin with a dot."""

    ignored: bool
    """Include files that `.gitignore` and `.ignore` exclude."""

    max_matches: int | None
    """Maximum number of results (default 10000)."""

    timeout_ms: int | None
    """Time limit (default 60 s)."""

    user: str | None
    """User to search as."""


class _GlobRequest(TypedDict):
    """Finds files below a directory by name."""

    patterns: Sequence[str]
    """Globs for the path below the directory: `*` and `?` match within a name, `**` across directories."""

class GlobRequest(_GlobRequest, total=False):
    """Finds files below a directory by name."""

    depth: int | None
    """Maximum depth; unlimited if not given."""

    exclude: Sequence[str]
    """Globs of files to leave out."""

    hidden: bool
    """Include hidden files: names that begin with a dot."""

    ignored: bool
    """Include files that `.gitignore` and `.ignore` exclude."""

    max_matches: int | None
    """Maximum number of results (default 10000)."""

    path: str | None
    """Directory to search."""

    path_base64: str | None
    """Exact path in base64."""

    timeout_ms: int | None
    """Time limit (default 60 s)."""

    user: str | None
    """User to search as."""


class _HttpCondition(TypedDict):
    """An HTTP request that must succeed."""

    path: str
    """Path to request with GET."""

class HttpCondition(_HttpCondition, total=False):
    """An HTTP request that must succeed."""

    status: int | None
    """Required status; any from 200 to 399 if not given."""


class KillAllRequest(TypedDict, total=False):
    """Kills every process, or those with matching labels."""

    grace_ms: int | None
    """Time between SIGTERM and SIGKILL (default 2000)."""

    labels: Mapping[str, str]
    """Kill only processes that have all of these labels."""


class KillRequest(TypedDict, total=False):
    """Kills a whole process tree: SIGTERM, then SIGKILL."""

    grace_ms: int | None
    """Time between SIGTERM and SIGKILL; the command's own `grace_ms` if not given."""


class LinkRequest(TypedDict, total=False):
    """Requests a signed link to a private preview."""

    expires_in_ms: int | None
    """How long the link, and access through it, is valid (default one hour, at most 30 days)."""


class LogCondition(TypedDict, total=False):
    """Text to look for in the output. Exactly one of `text` and `regex` is required."""

    regex: str | None
    """Regular expression that a line must match."""

    since: int | None
    """Position in the log to search from (default 0). Earlier output counts, too."""

    text: str | None
    """Text to find anywhere in the output."""


class MakeDirectoryOptions(TypedDict, total=False):
    """Creates a directory."""

    mode: str | None
    """Permission bits in octal (default 0755)."""

    parents: bool
    """Create missing parent directories, too, and do not fail if the directory exists."""

    user: str | None
    """User to create it as."""


class MakeDirectoryRequest(TypedDict, total=False):
    """Creates a directory."""

    mode: str | None
    """Permission bits in octal (default 0755)."""

    parents: bool
    """Create missing parent directories, too, and do not fail if the directory exists."""

    path: str | None
    """Path of the directory."""

    path_base64: str | None
    """Exact path in base64."""

    user: str | None
    """User to create it as."""


class ModeOptions(TypedDict, total=False):
    """Sets permission bits."""

    recursive: bool
    """Apply to everything in the directory, too."""

    user: str | None
    """User to do it as."""


class _ModeRequest(TypedDict):
    """Sets permission bits."""

    mode: str
    """Permission bits in octal: `0755`."""

class ModeRequest(_ModeRequest, total=False):
    """Sets permission bits."""

    path: str | None
    """Path of the file."""

    path_base64: str | None
    """Exact path in base64."""

    recursive: bool
    """Apply to everything in the directory, too."""

    user: str | None
    """User to do it as."""


class NetworkPolicy(TypedDict, total=False):
    """Egress policy: what a sandbox may reach. Everything else is denied, so an empty list denies everything."""

    allow: Sequence[EgressRule]
    """The rules that allow access."""

    hosts: Mapping[str, Sequence[str]]
    """Fixed addresses of names, which are not looked up. The rules apply to them as to any other address."""

    resolver: str | None
    """Name server to use, `ADDRESS:PORT`; the host's if not given."""

    trust: str | None
    """CA certificates (PEM) to trust for inspected TLS, besides those that the host trusts."""


class PatchSandbox(TypedDict, total=False):
    """Changes options of an existing sandbox. Omitted options stay as they are."""

    keep_alive: bool | None
    """Never stop the sandbox for lack of use."""

    labels: Mapping[str, str | None]
    """Labels to set; `null` removes one."""

    sleep_after_ms: int | None
    """Stop the sandbox after this time without use. 0 means never."""


class _PortCondition(TypedDict):
    """A port that must accept connections."""

    port: int
    """Port number."""

class PortCondition(_PortCondition, total=False):
    """A port that must accept connections."""

    http: HttpCondition | None
    """Require an HTTP response, not just a connection."""


class _PutSecret(TypedDict):
    """A secret that commands can use but not read. An environment variable of the same name holds a placeholder."""

    hosts: Sequence[str]
    """The only servers that receive it, over HTTPS: `NAME`, or `NAME:PORT` for a port other than 443."""

    value: str
    """The secret itself. The API never returns it."""

class PutSecret(_PutSecret, total=False):
    """A secret that commands can use but not read. An environment variable of the same name holds a placeholder."""

    headers: Sequence[str]
    """Request headers in which the placeholder is replaced (default `authorization`)."""


class QueueOptions(TypedDict, total=False):
    """Starts a process. Exactly one of `command` and `argv` is required."""

    background: Background
    """What happens to processes that it leaves in the background."""

    cwd: str | None
    """Working directory; relative paths are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    grace_ms: int | None
    """Time between SIGTERM and SIGKILL when the process tree is killed (default 2000)."""

    id: ProcessId | None
    """Id of the process, which makes retries safe; generated if not given."""

    idle_timeout_ms: int | None
    """Limit of time without output, after which the whole process tree is killed."""

    labels: Mapping[str, str]
    """Labels to find it by."""

    max_output_bytes: int | None
    """Output limit, above which the whole process tree is killed."""

    network: Sequence[EgressRule] | None
    """Egress rules of this command, within those of the sandbox; the sandbox's rules if not given."""

    stdin: StdinMode
    """Source of its standard input."""

    timeout_ms: int | None
    """Time limit, after which the whole process tree is killed."""


class ReadyConditionLog(TypedDict):
    """"""

    log: Any


class ReadyConditionPort(TypedDict):
    """"""

    port: PortCondition


class RenameOptions(TypedDict, total=False):
    """Renames, moves or copies a file or directory."""

    parents: bool
    """Create missing parent directories of the destination."""

    replace: bool
    """Replace the destination if it exists; a copy merges directories."""

    user: str | None
    """User to do it as."""


class _ResizeRequest(TypedDict):
    """Resizes a window."""

    cols: int
    """Columns."""

    rows: int
    """Rows."""

class ResizeRequest(_ResizeRequest, total=False):
    """Resizes a window."""

    by: str | None
    """Who resizes it, which is reported to other viewers."""


class RestartPolicyOnFailure(TypedDict):
    """It is restarted."""

    on_failure: RestartPolicyOnFailureDetails
    """It is restarted."""


class RestartPolicyOnFailureDetails(TypedDict, total=False):
    """It is restarted."""

    backoff_max_ms: int | None
    """Maximum delay (default 10000)."""

    backoff_ms: int | None
    """Delay before the first restart; doubles with each restart (default 100)."""

    max: int | None
    """Maximum number of restarts (default 10)."""


RestartRequest = TypedDict(
    "RestartRequest",
    {
        "from": "RestartFrom",
    },
    total=False,
)
"""Restarts a dead session."""


class SandboxChanges(TypedDict, total=False):
    """Changes options of an existing sandbox. Omitted options stay as they are."""

    keep_alive: bool | None
    """Never stop the sandbox for lack of use."""

    labels: Mapping[str, str | None]
    """Labels to set; `null` removes one."""

    sleep_after_ms: int | None
    """Stop the sandbox after this time without use. 0 means never."""


class SandboxLimits(TypedDict, total=False):
    """Resource limits of a sandbox. Unset means unlimited."""

    cpu_millis: int | None
    """CPU time, in thousandths of a core."""

    memory_bytes: int | None
    """Memory in bytes, including page cache."""

    open_files: int | None
    """Number of open files of each process."""

    pids: int | None
    """Number of processes and threads."""


class SandboxOptions(TypedDict, total=False):
    """Gets or creates a sandbox. Omitted options take their defaults in a new sandbox, and match any value of an
    existing one."""

    env: Mapping[str, str] | None
    """Environment variables of every command."""

    isolation: Isolation | None
    """Isolation of the sandbox."""

    keep_alive: bool | None
    """Never stop the sandbox for lack of use, regardless of `sleep_after_ms`."""

    labels: Mapping[str, str] | None
    """Labels to find it by."""

    limits: SandboxLimits | None
    """Resource limits."""

    network: NetworkPolicy | None
    """Initial egress policy; no network access if not given."""

    sleep_after_ms: int | None
    """Stop the sandbox after this time without use. 0 means never."""


class Scope(TypedDict):
    """Grants permissions on the sandboxes whose names match a pattern."""

    sandboxes: str
    """Name of a sandbox, in which `*` matches any characters."""

    verbs: Sequence[Verb]
    """The permissions."""


class SearchOptions(TypedDict, total=False):
    """Searches the files below a directory."""

    after: int
    """Number of context lines after each match."""

    before: int
    """Number of context lines before each match."""

    binary: SearchBinary
    """How to search binary files."""

    case: SearchCase
    """Whether case matters."""

    depth: int | None
    """Maximum depth; unlimited if not given."""

    detail: SearchDetail
    """How much detail to return."""

    exclude: Sequence[str]
    """Globs of files to leave out."""

    hidden: bool
    """Search hidden files, too: names that begin with a dot."""

    ignored: bool
    """Search files that `.gitignore` and `.ignore` exclude, too."""

    include: Sequence[str]
    """Globs of files to search; all files if empty. A glob without a slash matches names at any depth."""

    max_bytes: int | None
    """Maximum number of bytes to return (default 16 MiB)."""

    max_matches: int | None
    """Maximum number of matches (default 10000)."""

    max_matches_per_file: int | None
    """Maximum number of matches per file."""

    sorted: bool
    """Sort results by path, which makes them reproducible and the search slower."""

    syntax: SearchSyntax
    """How the pattern is interpreted."""

    timeout_ms: int | None
    """Time limit (default 60 s)."""

    user: str | None
    """User to search as."""

    words: bool
    """Match only whole words."""


class _SearchRequest(TypedDict):
    """Searches the files below a directory."""

    pattern: str
    """Pattern to search for."""

class SearchRequest(_SearchRequest, total=False):
    """Searches the files below a directory."""

    after: int
    """Number of context lines after each match."""

    before: int
    """Number of context lines before each match."""

    binary: SearchBinary
    """How to search binary files."""

    case: SearchCase
    """Whether case matters."""

    depth: int | None
    """Maximum depth; unlimited if not given."""

    detail: SearchDetail
    """How much detail to return."""

    exclude: Sequence[str]
    """Globs of files to leave out."""

    hidden: bool
    """Search hidden files, too: names that begin with a dot."""

    ignored: bool
    """Search files that `.gitignore` and `.ignore` exclude, too."""

    include: Sequence[str]
    """Globs of files to search; all files if empty. A glob without a slash matches names at any depth."""

    max_bytes: int | None
    """Maximum number of bytes to return (default 16 MiB)."""

    max_matches: int | None
    """Maximum number of matches (default 10000)."""

    max_matches_per_file: int | None
    """Maximum number of matches per file."""

    path: str | None
    """Directory or file to search."""

    path_base64: str | None
    """Exact path in base64."""

    sorted: bool
    """Sort results by path, which makes them reproducible and the search slower."""

    syntax: SearchSyntax
    """How the pattern is interpreted."""

    timeout_ms: int | None
    """Time limit (default 60 s)."""

    user: str | None
    """User to search as."""

    words: bool
    """Match only whole words."""


class SessionExecOptions(TypedDict, total=False):
    """Runs one command to completion. Exactly one of `command` and `argv` is required."""

    answer_bytes: int | None
    """Maximum number of bytes of each output in the response (default 1 MiB)."""

    background: Background
    """What happens to processes that it leaves in the background."""

    cwd: str | None
    """Working directory; relative paths are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    grace_ms: int | None
    """Time between SIGTERM and SIGKILL when the process tree is killed (default 2000)."""

    id: ProcessId | None
    """Id of the command, which makes retries safe; generated if not given."""

    idle_timeout_ms: int | None
    """Limit of time without output, after which the whole process tree is killed."""

    labels: Mapping[str, str]
    """Labels to find it by."""

    max_output_bytes: int | None
    """Output limit, above which the whole process tree is killed."""

    network: Sequence[EgressRule] | None
    """Egress rules of this command, within those of the sandbox; the sandbox's rules if not given."""

    on_disconnect: OnDisconnect
    """What happens if the client disconnects."""

    timeout_ms: int | None
    """Time limit, after which the whole process tree is killed."""


class SessionOptions(TypedDict, total=False):
    """Creates a session."""

    cwd: str | None
    """Initial working directory of the shell; relative paths are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    id: SessionId | None
    """Id of the session; generated if not given."""

    options: Sequence[SessionRequestOptionsItem]
    """`set -o` options to enable at the start, such as `pipefail`."""

    timeout_ms: int | None
    """Default time limit of its commands."""

    user: str | None
    """User inside the sandbox, for the whole session: a name or an id, optionally with `:group`."""


class SessionRequest(TypedDict, total=False):
    """Creates a session."""

    cwd: str | None
    """Initial working directory of the shell; relative paths are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    id: SessionId | None
    """Id of the session; generated if not given."""

    options: Sequence[SessionRequestOptionsItem]
    """`set -o` options to enable at the start, such as `pipefail`."""

    timeout_ms: int | None
    """Default time limit of its commands."""

    user: str | None
    """User inside the sandbox, for the whole session: a name or an id, optionally with `:group`."""


class _SignalRequest(TypedDict):
    """Sends a signal."""

    signal: Signal
    """Signal by name or number, as text: `TERM`, `SIGINT`, `9`."""

class SignalRequest(_SignalRequest, total=False):
    """Sends a signal."""

    scope: SignalScope
    """Which processes receive it."""


class StartOptions(TypedDict, total=False):
    """Starts a process. Exactly one of `command` and `argv` is required."""

    background: Background
    """What happens to processes that it leaves in the background."""

    cwd: str | None
    """Working directory; relative paths are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    grace_ms: int | None
    """Time between SIGTERM and SIGKILL when the process tree is killed (default 2000)."""

    id: ProcessId | None
    """Id of the process, which makes retries safe; generated if not given."""

    idle_timeout_ms: int | None
    """Limit of time without output, after which the whole process tree is killed."""

    labels: Mapping[str, str]
    """Labels to find it by."""

    max_output_bytes: int | None
    """Output limit, above which the whole process tree is killed."""

    memory_bytes: int | None
    """Memory limit of this command, within the sandbox's own limit."""

    network: Sequence[EgressRule] | None
    """Egress rules of this command, within those of the sandbox; the sandbox's rules if not given."""

    ready: ReadyCondition | None
    """When the process is ready."""

    restart: RestartPolicy
    """What happens when it fails."""

    stdin: StdinMode
    """Source of its standard input."""

    timeout_ms: int | None
    """Time limit, after which the whole process tree is killed."""

    user: str | None
    """User inside the sandbox: a name or an id, optionally with `:group`."""


class StartRequest(TypedDict, total=False):
    """Starts a process. Exactly one of `command` and `argv` is required."""

    argv: Sequence[str] | None
    """Program and arguments, run without a shell."""

    background: Background
    """What happens to processes that it leaves in the background."""

    command: str | None
    """Shell command line, run by bash, or by sh if there is no bash."""

    cwd: str | None
    """Working directory; relative paths are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    grace_ms: int | None
    """Time between SIGTERM and SIGKILL when the process tree is killed (default 2000)."""

    id: ProcessId | None
    """Id of the process, which makes retries safe; generated if not given."""

    idle_timeout_ms: int | None
    """Limit of time without output, after which the whole process tree is killed."""

    labels: Mapping[str, str]
    """Labels to find it by."""

    max_output_bytes: int | None
    """Output limit, above which the whole process tree is killed."""

    memory_bytes: int | None
    """Memory limit of this command, within the sandbox's own limit."""

    network: Sequence[EgressRule] | None
    """Egress rules of this command, within those of the sandbox; the sandbox's rules if not given."""

    ready: ReadyCondition | None
    """When the process is ready."""

    restart: RestartPolicy
    """What happens when it fails."""

    stdin: StdinMode
    """Source of its standard input."""

    timeout_ms: int | None
    """Time limit, after which the whole process tree is killed."""

    user: str | None
    """User inside the sandbox: a name or an id, optionally with `:group`."""


class _StdinPiece(TypedDict):
    """Bytes for a process's standard input."""

    data: str
    """The bytes, encoded as `encoding` says."""

    offset: int
    """Offset of the first byte in the whole input. Bytes already written are skipped; a gap is an error."""

class StdinPiece(_StdinPiece, total=False):
    """Bytes for a process's standard input."""

    encoding: Encoding
    """Encoding of `data`."""


class SymlinkOptions(TypedDict, total=False):
    """Creates a symbolic link."""

    parents: bool
    """Create missing parent directories."""

    replace: bool
    """Replace an existing file, but not a directory."""

    user: str | None
    """User to do it as."""


class SymlinkRequest(TypedDict, total=False):
    """Creates a symbolic link."""

    parents: bool
    """Create missing parent directories."""

    path: str | None
    """Path of the link."""

    path_base64: str | None
    """Exact path in base64."""

    replace: bool
    """Replace an existing file, but not a directory."""

    target: str | None
    """Target, stored unchanged."""

    target_base64: str | None
    """Exact target in base64."""

    user: str | None
    """User to do it as."""


class TerminalCommandResize(TypedDict):
    """Set the window size."""

    resize: WindowSize
    """Set the window size."""


class TerminalCommandSignal(TypedDict):
    """Send a signal."""

    signal: SignalRequest
    """Send a signal."""


class TerminalOptions(TypedDict, total=False):
    """Opens a terminal: the one with this id, or a new one."""

    cols: int | None
    """Initial number of columns (default 80)."""

    cwd: str | None
    """Working directory; relative paths are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    id: TerminalId | None
    """Id of the terminal; generated if not given."""

    rows: int | None
    """Initial number of rows (default 24)."""

    term: str | None
    """Value of `TERM` (default `xterm-256color`)."""

    user: str | None
    """User inside the sandbox: a name or an id, optionally with `:group`."""


class TerminalRequest(TypedDict, total=False):
    """Opens a terminal: the one with this id, or a new one."""

    argv: Sequence[str] | None
    """Program and arguments to run, without a shell."""

    cols: int | None
    """Initial number of columns (default 80)."""

    command: str | None
    """Shell command line to run. The interactive shell if neither this nor `argv` is given."""

    cwd: str | None
    """Working directory; relative paths are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    id: TerminalId | None
    """Id of the terminal; generated if not given."""

    rows: int | None
    """Initial number of rows (default 24)."""

    term: str | None
    """Value of `TERM` (default `xterm-256color`)."""

    user: str | None
    """User inside the sandbox: a name or an id, optionally with `:group`."""


class WaitForLog(TypedDict):
    """Output that matches."""

    log: LogCondition
    """Output that matches."""


class WaitForPort(TypedDict):
    """A port that accepts connections."""

    port: PortCondition
    """A port that accepts connections."""


WaitRequest = TypedDict(
    "WaitRequest",
    {
        "for": "WaitFor",
        "timeout_ms": "int | None",
    },
    total=False,
)
"""Waits for a process."""


class WatchOptions(TypedDict, total=False):
    """Creates a watch."""

    directories: int | None
    """Maximum number of directories to watch (default 65536)."""

    exclude: Sequence[str]
    """Globs of files to leave out; matching directories are not watched."""

    existing: bool
    """Start with `created` events for existing files."""

    id: WatchId | None
    """Id of the watch; generated if not given."""

    include: Sequence[str]
    """Globs of files to report, in `.gitignore` syntax; all files if empty."""

    recursive: bool
    """Watch subdirectories, too."""

    user: str | None
    """User to watch as."""


class WatchRequest(TypedDict, total=False):
    """Creates a watch."""

    directories: int | None
    """Maximum number of directories to watch (default 65536)."""

    exclude: Sequence[str]
    """Globs of files to leave out; matching directories are not watched."""

    existing: bool
    """Start with `created` events for existing files."""

    id: WatchId | None
    """Id of the watch; generated if not given."""

    include: Sequence[str]
    """Globs of files to report, in `.gitignore` syntax; all files if empty."""

    path: str | None
    """Path of the directory; relative to `/workspace`."""

    path_base64: str | None
    """Exact path in base64."""

    recursive: bool
    """Watch subdirectories, too."""

    user: str | None
    """User to watch as."""


class WindowSize(TypedDict):
    """Size of a window, in characters. Both sides are at least 1 and within their maximum."""

    cols: int

    rows: int


class _WriteFileRequest(TypedDict):
    """Writes a file with the content in the request."""

    data: str
    """The content."""

class WriteFileRequest(_WriteFileRequest, total=False):
    """Writes a file with the content in the request."""

    append: bool
    """Append to the file."""

    encoding: Encoding
    """Encoding of `data`."""

    if_absent: bool
    """Write only if the file does not exist."""

    if_match: str | None
    """Write only if the file has this etag."""

    mode: str | None
    """Permission bits in octal; the file's current bits if not given, or 0644 for a new file."""

    parents: bool
    """Create missing parent directories."""

    path: str | None
    """Path of the file."""

    path_base64: str | None
    """Exact path in base64."""

    user: str | None
    """User to write as."""

AttachCommand = Union[Literal["close"], AttachCommandStdin, AttachCommandSignal]
"""A frame from the client to a process."""

ReadyCondition = Union[ReadyConditionLog, ReadyConditionPort]
"""When a process is ready."""

RestartPolicy = Union[Literal["never"], RestartPolicyOnFailure]
"""What happens when a process fails by itself."""

TerminalCommand = Union[TerminalCommandResize, TerminalCommandSignal]
"""A text frame from the client to a terminal."""

WaitFor = Union[Literal["exit", "input"], WaitForLog, WaitForPort]
"""What to wait for."""
