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
"""What happens to what a command leaves behind."""

EgressProtocol = Literal["http", "tls", "tcp"]
"""What is spoken on a connection."""

Encoding = Literal["utf8", "base64"]
"""How bytes are put into JSON."""

Isolation = Literal["namespaces", "none"]
"""How strongly commands are walled off."""

OnDisconnect = Literal["keep", "kill"]
"""What happens to a command whose caller goes away before its end."""

ProcessId = str
"""Names a command within its sandbox."""

RestartFrom = Literal["snapshot", "nothing"]
"""What a dead session is started from."""

RuleSet = Literal["pypi", "npm", "crates", "debian", "github"]
"""Names that belong together, to start from."""

SandboxName = str
"""Names a sandbox; also its host name, and part of preview URLs, hence a DNS label."""

SearchBinary = Literal["skip", "report", "text"]
"""What to do with files that hold a NUL byte."""

SearchCase = Literal["sensitive", "insensitive", "smart"]
"""Whether capital letters matter."""

SearchDetail = Literal["lines", "files", "counts"]
"""How much is told of a file."""

SearchSyntax = Literal["regex", "multiline", "multiline_dot_all", "fixed"]
"""How the text of a pattern is read."""

SessionId = str
"""Names a session within its sandbox."""

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
"""Whom a signal is for."""

StdinMode = Literal["closed", "pipe"]
"""Where a process's standard input comes from."""

TerminalId = str
"""Names a terminal within its sandbox."""

Verb = Literal["read", "exec", "admin"]
"""What may be done."""

Visibility = Literal["public", "private"]
"""Who may see a preview."""

WatchId = str
"""Names a watch within its sandbox."""


class AttachCommandStdin(TypedDict):
    """Write to its standard input. Answered by `written`."""

    stdin: StdinPiece
    """Write to its standard input. Answered by `written`."""


class AttachCommandSignal(TypedDict):
    """Send a signal. Answered by `signalled`."""

    signal: SignalRequest
    """Send a signal. Answered by `signalled`."""


class CopyOptions(TypedDict, total=False):
    """Rename, move or copy."""

    parents: bool
    """Make the directories above the new name that are missing."""

    recursive: bool
    """Directories with all that is in them; for a copy only."""

    replace: bool
    """Replace what is there; a copy merges directories."""

    user: str | None
    """The user to do it as."""


class CreateSandbox(TypedDict, total=False):
    """Get or create a sandbox. What is left out takes its default if the sandbox is made, and may be anything if it
    exists."""

    env: Mapping[str, str] | None
    """Variables of every command."""

    isolation: Isolation | None
    """How strongly it is walled off."""

    keep_alive: bool | None
    """Never stop it for want of use, whatever `sleep_after_ms` says."""

    labels: Mapping[str, str] | None
    """For finding it again."""

    limits: SandboxLimits | None
    """What it may use."""

    name: SandboxName | None
    """Its name; made up if not given."""

    network: NetworkPolicy | None
    """What it may reach at first; nothing if not given."""

    sleep_after_ms: int | None
    """Stop it when nobody used it for so long. 0: never."""


class _CreateToken(TypedDict):
    """Make a token."""

    scopes: Sequence[Scope]
    """What it allows."""

class CreateToken(_CreateToken, total=False):
    """Make a token."""

    expires_in_ms: int | None
    """For how long it is good, if not for ever."""

    name: str
    """What it is for, for people."""


class _EditRequest(TypedDict):
    """Replace exact texts in a file: all of them, one after the other, or none."""

    edits: Sequence[EditText]
    """The replacements."""

class EditRequest(_EditRequest, total=False):
    """Replace exact texts in a file: all of them, one after the other, or none."""

    encoding: Encoding
    """How the texts are put into JSON."""

    if_match: str | None
    """Only if the file is in the state with this tag."""

    path: str | None
    """The file."""

    path_base64: str | None
    """The same exactly."""

    user: str | None
    """The user to edit as."""


class _EditText(TypedDict):
    """One replacement."""

    new: str
    """What takes its place."""

    old: str
    """The text that is there."""

class EditText(_EditText, total=False):
    """One replacement."""

    all: bool
    """It may be there any number of times, at least once. Each is replaced."""

    count: int | None
    """How often it must be there: once, if not given. Each is replaced."""


class EgressRule(TypedDict, total=False):
    """Something that may be reached. Exactly one of `set`, `domain` and `cidr` is given."""

    cidr: str | None
    """An address or a block of them. It is also what opens private addresses, for names too."""

    domain: str | None
    """A name, or `*.` and a name for every name below it. Of names with other letters, the `xn--` form."""

    inspect: bool
    """TLS ends at Atoll, so that each request is seen to be for this name, and begins there anew."""

    ports: Sequence[str] | None
    """Ports (`443`) and ranges of them (`8000-8999`). A domain without any means 80 and 443; a block must name them."""

    protocols: Sequence[EgressProtocol] | None
    """What may be spoken. A domain without any means `http` and `tls`, a block means `tcp`."""

    set: RuleSet | None
    """A set of names that belong together."""


class ExecOptions(TypedDict, total=False):
    """Asks for one command, run to its end. Exactly one of `command` and `argv` is given."""

    answer_bytes: int | None
    """Bytes of each output that the answer may hold (1 MiB)."""

    background: Background
    """What happens to what it leaves behind."""

    cwd: str | None
    """Working directory; relative ones are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    grace_ms: int | None
    """How long a tree that was told to end may take before it is killed (2000)."""

    id: ProcessId | None
    """Its id, so that asking again finds it; made up if not given."""

    idle_timeout_ms: int | None
    """Ends the whole tree after so long without output."""

    labels: Mapping[str, str]
    """For finding it again."""

    max_output_bytes: int | None
    """Ends the whole tree when it has printed more than so much."""

    memory_bytes: int | None
    """Memory that this command may use, within the sandbox's own limit."""

    network: Sequence[EgressRule] | None
    """What it may reach, within what the sandbox may; all of that if not given."""

    on_disconnect: OnDisconnect
    """What happens if the caller goes away."""

    timeout_ms: int | None
    """Ends the whole tree after so long."""

    user: str | None
    """User inside: a name, a number, or either with `:group`."""


class ExecRequest(TypedDict, total=False):
    """Asks for one command, run to its end. Exactly one of `command` and `argv` is given."""

    answer_bytes: int | None
    """Bytes of each output that the answer may hold (1 MiB)."""

    argv: Sequence[str] | None
    """A program and its arguments; no shell."""

    background: Background
    """What happens to what it leaves behind."""

    command: str | None
    """A shell string, run by bash, or by sh where there is no bash."""

    cwd: str | None
    """Working directory; relative ones are below the default."""

    encoding: Encoding
    """How output is put into the answer."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    grace_ms: int | None
    """How long a tree that was told to end may take before it is killed (2000)."""

    id: ProcessId | None
    """Its id, so that asking again finds it; made up if not given."""

    idle_timeout_ms: int | None
    """Ends the whole tree after so long without output."""

    labels: Mapping[str, str]
    """For finding it again."""

    max_output_bytes: int | None
    """Ends the whole tree when it has printed more than so much."""

    memory_bytes: int | None
    """Memory that this command may use, within the sandbox's own limit."""

    network: Sequence[EgressRule] | None
    """What it may reach, within what the sandbox may; all of that if not given."""

    on_disconnect: OnDisconnect
    """What happens if the caller goes away."""

    stdin: str | None
    """Standard input as text. Without this and `stdin_base64` it is closed."""

    stdin_base64: str | None
    """Standard input, exact."""

    timeout_ms: int | None
    """Ends the whole tree after so long."""

    user: str | None
    """User inside: a name, a number, or either with `:group`."""


class ExposeOptions(TypedDict, total=False):
    """Expose a port. What is left out stays as it is, or takes its default if the port is not exposed yet."""

    keep_prefix: bool | None
    """Whether the program inside gets paths of the path form whole, `/preview/…` included (no)."""

    name: str | None
    """What it is, for people."""

    token: str | None
    """The secret part of its URL: 1 to 32 of `a-z`, `0-9` and `_`. Made up if not given; short ones can be guessed."""

    visibility: Visibility | None
    """Who may see it (`public`)."""

    wake: bool | None
    """Whether a request starts a sandbox that sleeps (no)."""


class ExposePort(TypedDict, total=False):
    """Expose a port. What is left out stays as it is, or takes its default if the port is not exposed yet."""

    keep_prefix: bool | None
    """Whether the program inside gets paths of the path form whole, `/preview/…` included (no)."""

    name: str | None
    """What it is, for people."""

    token: str | None
    """The secret part of its URL: 1 to 32 of `a-z`, `0-9` and `_`. Made up if not given; short ones can be guessed."""

    visibility: Visibility | None
    """Who may see it (`public`)."""

    wake: bool | None
    """Whether a request starts a sandbox that sleeps (no)."""


class ForkRequest(TypedDict, total=False):
    """Asks for a new session that holds what another one does."""

    id: SessionId | None
    """The id of the new one; made up if not given."""


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
"""Rename, move or copy."""


class GitAuthor(TypedDict):
    """Who wrote a commit."""

    email: str
    """An address."""

    name: str
    """A name."""


class GitBranchesOptions(TypedDict, total=False):
    """Whose branches."""

    remotes: bool
    """Those of remotes, too."""

    user: str | None
    """The user to be."""


class _GitBranchesRequest(TypedDict):
    """Whose branches."""

    path: str
    """The repository, or a directory in it; relative to `/workspace`."""

class GitBranchesRequest(_GitBranchesRequest, total=False):
    """Whose branches."""

    remotes: bool
    """Those of remotes, too."""

    user: str | None
    """The user to be."""


class GitCheckoutOptions(TypedDict, total=False):
    """What to check out."""

    create: bool
    """Make the branch."""

    user: str | None
    """The user to be."""


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
"""What to check out."""


class GitCloneOptions(TypedDict, total=False):
    """A repository to be fetched."""

    branch: str | None
    """The branch or tag to check out; else the remote's own."""

    credentials: GitCredentials | None
    """For the remote, if it asks."""

    depth: int | None
    """Only so many commits back."""

    path: str | None
    """The directory that it becomes; else named like the repository, below `/workspace`."""

    timeout_ms: int | None
    """Ends it after so long (ten minutes)."""

    user: str | None
    """The user to be."""


class _GitCloneRequest(TypedDict):
    """A repository to be fetched."""

    url: str
    """Where it is: `https://…`, `http://…`, `file://…` or an absolute path inside."""

class GitCloneRequest(_GitCloneRequest, total=False):
    """A repository to be fetched."""

    branch: str | None
    """The branch or tag to check out; else the remote's own."""

    credentials: GitCredentials | None
    """For the remote, if it asks."""

    depth: int | None
    """Only so many commits back."""

    path: str | None
    """The directory that it becomes; else named like the repository, below `/workspace`."""

    timeout_ms: int | None
    """Ends it after so long (ten minutes)."""

    user: str | None
    """The user to be."""


class GitCommitOptions(TypedDict, total=False):
    """A commit to be made."""

    all: bool
    """With every change, new files included."""

    allow_empty: bool
    """Even if nothing is different."""

    author: GitAuthor | None
    """Who made it; else as the repository is configured."""

    paths: Sequence[str]
    """With the changes to these paths."""

    user: str | None
    """The user to be."""


class _GitCommitRequest(TypedDict):
    """A commit to be made."""

    message: str
    """What it does."""

    path: str
    """The repository, or a directory in it; relative to `/workspace`."""

class GitCommitRequest(_GitCommitRequest, total=False):
    """A commit to be made."""

    all: bool
    """With every change, new files included."""

    allow_empty: bool
    """Even if nothing is different."""

    author: GitAuthor | None
    """Who made it; else as the repository is configured."""

    paths: Sequence[str]
    """With the changes to these paths."""

    user: str | None
    """The user to be."""


class _GitCredentials(TypedDict):
    """Who one is to a remote. Never printed, never kept."""

    password: str
    """The password, or a token that stands for it."""

    username: str
    """The name."""

class GitCredentials(_GitCredentials, total=False):
    """Who one is to a remote. Never printed, never kept."""

    server: str | None
    """The only server that gets them: `https://host` or `https://host:port`. A clone's own if not given."""


class GitDiffOptions(TypedDict, total=False):
    """What to compare."""

    context: int | None
    """So many lines around each change (3)."""

    paths: Sequence[str]
    """Only these paths."""

    staged: bool
    """The next commit with the last; else the files with the next commit."""

    to: str | None
    """The other commit."""

    user: str | None
    """The user to be."""


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
"""What to compare."""


class GitLogOptions(TypedDict, total=False):
    """Which commits."""

    limit: int | None
    """So many at most (50, at most 1000)."""

    paths: Sequence[str]
    """Only those that changed these paths."""

    user: str | None
    """The user to be."""


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
"""Which commits."""


class GitPullOptions(TypedDict, total=False):
    """What to fetch into a repository."""

    branch: str | None
    """Which branch; else the one that is followed."""

    credentials: GitCredentials | None
    """For the remote, if it asks."""

    remote: str | None
    """From where (`origin`)."""

    timeout_ms: int | None
    """Ends it after so long (ten minutes)."""

    user: str | None
    """The user to be."""


class _GitPullRequest(TypedDict):
    """What to fetch into a repository."""

    path: str
    """The repository, or a directory in it; relative to `/workspace`."""

class GitPullRequest(_GitPullRequest, total=False):
    """What to fetch into a repository."""

    branch: str | None
    """Which branch; else the one that is followed."""

    credentials: GitCredentials | None
    """For the remote, if it asks."""

    remote: str | None
    """From where (`origin`)."""

    timeout_ms: int | None
    """Ends it after so long (ten minutes)."""

    user: str | None
    """The user to be."""


class GitPushOptions(TypedDict, total=False):
    """What to send."""

    branch: str | None
    """Which branch; else the one that is checked out."""

    credentials: GitCredentials | None
    """For the remote, if it asks."""

    force: bool
    """Even if it replaces commits there, unless somebody else added some."""

    remote: str | None
    """To where (`origin`)."""

    set_upstream: bool
    """Follow it from now on."""

    timeout_ms: int | None
    """Ends it after so long (ten minutes)."""

    user: str | None
    """The user to be."""


class _GitPushRequest(TypedDict):
    """What to send."""

    path: str
    """The repository, or a directory in it; relative to `/workspace`."""

class GitPushRequest(_GitPushRequest, total=False):
    """What to send."""

    branch: str | None
    """Which branch; else the one that is checked out."""

    credentials: GitCredentials | None
    """For the remote, if it asks."""

    force: bool
    """Even if it replaces commits there, unless somebody else added some."""

    remote: str | None
    """To where (`origin`)."""

    set_upstream: bool
    """Follow it from now on."""

    timeout_ms: int | None
    """Ends it after so long (ten minutes)."""

    user: str | None
    """The user to be."""


class GitStatusOptions(TypedDict, total=False):
    """A repository to be looked at."""

    ignored: bool
    """What is ignored, too."""

    user: str | None
    """The user to be."""


class _GitStatusRequest(TypedDict):
    """A repository to be looked at."""

    path: str
    """The repository, or a directory in it; relative to `/workspace`."""

class GitStatusRequest(_GitStatusRequest, total=False):
    """A repository to be looked at."""

    ignored: bool
    """What is ignored, too."""

    user: str | None
    """The user to be."""


class GlobOptions(TypedDict, total=False):
    """Find names below a directory."""

    depth: int | None
    """How many levels; all if not given."""

    exclude: Sequence[str]
    """Globs of what is left out."""

    hidden: bool
    """Names that begin with a dot, too."""

    ignored: bool
    """What `.gitignore` and `.ignore` name, too."""

    max_matches: int | None
    """Names in all (10000)."""

    timeout_ms: int | None
    """How long it may take (60 s)."""

    user: str | None
    """The user to look as."""


class _GlobRequest(TypedDict):
    """Find names below a directory."""

    patterns: Sequence[str]
    """Patterns over the path below the directory: `*` and `?` stay within a name, `**` does not."""

class GlobRequest(_GlobRequest, total=False):
    """Find names below a directory."""

    depth: int | None
    """How many levels; all if not given."""

    exclude: Sequence[str]
    """Globs of what is left out."""

    hidden: bool
    """Names that begin with a dot, too."""

    ignored: bool
    """What `.gitignore` and `.ignore` name, too."""

    max_matches: int | None
    """Names in all (10000)."""

    path: str | None
    """The directory."""

    path_base64: str | None
    """The same exactly."""

    timeout_ms: int | None
    """How long it may take (60 s)."""

    user: str | None
    """The user to look as."""


class _HttpCondition(TypedDict):
    """An HTTP request that must be answered."""

    path: str
    """Path to get."""

class HttpCondition(_HttpCondition, total=False):
    """An HTTP request that must be answered."""

    status: int | None
    """The status that it must have; without it any from 200 to 399."""


class KillAllRequest(TypedDict, total=False):
    """Asks to end every process, or all that have these labels."""

    grace_ms: int | None
    """How long they may take before they are killed (2000)."""

    labels: Mapping[str, str]
    """Only those that have all of these."""


class KillRequest(TypedDict, total=False):
    """Asks to end a whole tree: TERM, then KILL."""

    grace_ms: int | None
    """How long it may take before it is killed; without it as the command was started with."""


class LinkRequest(TypedDict, total=False):
    """Sign a link to a private preview."""

    expires_in_ms: int | None
    """For how long it is good, and what it lets in (an hour; at most 30 days)."""


class LogCondition(TypedDict, total=False):
    """What to look for in the output. Exactly one of `text` and `regex` is given."""

    regex: str | None
    """A line that this regular expression matches."""

    since: int | None
    """From this position of the log on (0): what was printed before the wait counts too."""

    text: str | None
    """This text, anywhere."""


class MakeDirectoryOptions(TypedDict, total=False):
    """Make a directory."""

    mode: str | None
    """Its permission bits, in octal; else 0755."""

    parents: bool
    """Those above it too; and it is no error that it is there."""

    user: str | None
    """The user to do it as."""


class MakeDirectoryRequest(TypedDict, total=False):
    """Make a directory."""

    mode: str | None
    """Its permission bits, in octal; else 0755."""

    parents: bool
    """Those above it too; and it is no error that it is there."""

    path: str | None
    """The directory."""

    path_base64: str | None
    """The same exactly."""

    user: str | None
    """The user to do it as."""


class ModeOptions(TypedDict, total=False):
    """Set permission bits."""

    recursive: bool
    """Of all that is in it, too."""

    user: str | None
    """The user to do it as."""


class _ModeRequest(TypedDict):
    """Set permission bits."""

    mode: str
    """In octal: `0755`."""

class ModeRequest(_ModeRequest, total=False):
    """Set permission bits."""

    path: str | None
    """What."""

    path_base64: str | None
    """The same exactly."""

    recursive: bool
    """Of all that is in it, too."""

    user: str | None
    """The user to do it as."""


class NetworkPolicy(TypedDict, total=False):
    """What a sandbox may reach. Nothing else is reachable, and a list that is empty allows nothing."""

    allow: Sequence[EgressRule]
    """What is allowed."""

    hosts: Mapping[str, Sequence[str]]
    """Addresses of names that are not asked of anybody. They are subject to the rules like any other address."""

    resolver: str | None
    """The name server to ask, `ADDRESS:PORT`; that of the machine if not given."""

    trust: str | None
    """Certificates (PEM) that servers are believed by, beside those that the machine believes, where TLS ends at
    Atoll."""


class PatchSandbox(TypedDict, total=False):
    """Change what can be changed while it lives. What is left out stays."""

    keep_alive: bool | None
    """Never stop it for want of use."""

    labels: Mapping[str, str | None]
    """Labels to set; `null` removes one."""

    sleep_after_ms: int | None
    """Stop it when nobody used it for so long. 0: never."""


class _PortCondition(TypedDict):
    """When a port counts as open."""

    port: int
    """Its number."""

class PortCondition(_PortCondition, total=False):
    """When a port counts as open."""

    http: HttpCondition | None
    """Set to ask for a page instead of a mere connection."""


class _PutSecret(TypedDict):
    """A secret that commands may use and not see. Its name is the name of a variable, which holds a stand-in for it."""

    hosts: Sequence[str]
    """Names of the only servers that get it, by HTTPS: `NAME`, or `NAME:PORT` for another port than 443."""

    value: str
    """The secret itself. It is never told again."""

class PutSecret(_PutSecret, total=False):
    """A secret that commands may use and not see. Its name is the name of a variable, which holds a stand-in for it."""

    headers: Sequence[str]
    """Headers of requests in which the stand-in is replaced (`authorization`)."""


class QueueOptions(TypedDict, total=False):
    """Asks for a process. Exactly one of `command` and `argv` is given."""

    background: Background
    """What happens to what it leaves behind."""

    cwd: str | None
    """Working directory; relative ones are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    grace_ms: int | None
    """How long a tree that was told to end may take before it is killed (2000)."""

    id: ProcessId | None
    """Its id, so that asking again finds it; made up if not given."""

    idle_timeout_ms: int | None
    """Ends the whole tree after so long without output."""

    labels: Mapping[str, str]
    """For finding it again."""

    max_output_bytes: int | None
    """Ends the whole tree when it has printed more than so much."""

    network: Sequence[EgressRule] | None
    """What it may reach, within what the sandbox may; all of that if not given."""

    stdin: StdinMode
    """Where its standard input comes from."""

    timeout_ms: int | None
    """Ends the whole tree after so long."""


class ReadyConditionLog(TypedDict):
    """"""

    log: Any


class ReadyConditionPort(TypedDict):
    """"""

    port: PortCondition


class RenameOptions(TypedDict, total=False):
    """Rename, move or copy."""

    parents: bool
    """Make the directories above the new name that are missing."""

    replace: bool
    """Replace what is there; a copy merges directories."""

    user: str | None
    """The user to do it as."""


class _ResizeRequest(TypedDict):
    """Asks for another window size."""

    cols: int
    """Columns."""

    rows: int
    """Rows."""

class ResizeRequest(_ResizeRequest, total=False):
    """Asks for another window size."""

    by: str | None
    """Who asks; other viewers are told."""


class RestartPolicyOnFailure(TypedDict):
    """It is started again."""

    on_failure: RestartPolicyOnFailureDetails
    """It is started again."""


class RestartPolicyOnFailureDetails(TypedDict, total=False):
    """It is started again."""

    backoff_max_ms: int | None
    """Longest pause (10000)."""

    backoff_ms: int | None
    """Pause before the first restart; doubles with each (100)."""

    max: int | None
    """At most so often (10)."""


RestartRequest = TypedDict(
    "RestartRequest",
    {
        "from": "RestartFrom",
    },
    total=False,
)
"""Asks for a dead session to be brought back."""


class SandboxChanges(TypedDict, total=False):
    """Change what can be changed while it lives. What is left out stays."""

    keep_alive: bool | None
    """Never stop it for want of use."""

    labels: Mapping[str, str | None]
    """Labels to set; `null` removes one."""

    sleep_after_ms: int | None
    """Stop it when nobody used it for so long. 0: never."""


class SandboxLimits(TypedDict, total=False):
    """What a sandbox may use. What is not set is not limited."""

    cpu_millis: int | None
    """Thousandths of a core."""

    memory_bytes: int | None
    """Bytes of memory, page cache included."""

    open_files: int | None
    """Open files of each process."""

    pids: int | None
    """Processes and threads."""


class SandboxOptions(TypedDict, total=False):
    """Get or create a sandbox. What is left out takes its default if the sandbox is made, and may be anything if it
    exists."""

    env: Mapping[str, str] | None
    """Variables of every command."""

    isolation: Isolation | None
    """How strongly it is walled off."""

    keep_alive: bool | None
    """Never stop it for want of use, whatever `sleep_after_ms` says."""

    labels: Mapping[str, str] | None
    """For finding it again."""

    limits: SandboxLimits | None
    """What it may use."""

    network: NetworkPolicy | None
    """What it may reach at first; nothing if not given."""

    sleep_after_ms: int | None
    """Stop it when nobody used it for so long. 0: never."""


class Scope(TypedDict):
    """These verbs, on the sandboxes that a pattern means."""

    sandboxes: str
    """A sandbox's name, in which `*` stands for any number of letters."""

    verbs: Sequence[Verb]
    """What may be done with them."""


class SearchOptions(TypedDict, total=False):
    """Search the files below a directory."""

    after: int
    """Lines told after each match."""

    before: int
    """Lines told before each match."""

    binary: SearchBinary
    """Files that are not text."""

    case: SearchCase
    """Whether capital letters matter."""

    depth: int | None
    """How many levels; all if not given."""

    detail: SearchDetail
    """How much is told."""

    exclude: Sequence[str]
    """Globs of what is left out."""

    hidden: bool
    """Names that begin with a dot, too."""

    ignored: bool
    """What `.gitignore` and `.ignore` name, too."""

    include: Sequence[str]
    """Globs that a file must match, if there is any. Without a slash: names at any depth."""

    max_bytes: int | None
    """Bytes that are told (16 MiB)."""

    max_matches: int | None
    """Matches in all (10000)."""

    max_matches_per_file: int | None
    """Matches in one file."""

    sorted: bool
    """In the order of names: the same each time, and slower."""

    syntax: SearchSyntax
    """How it is read."""

    timeout_ms: int | None
    """How long it may take (60 s)."""

    user: str | None
    """The user to search as."""

    words: bool
    """Only whole words."""


class _SearchRequest(TypedDict):
    """Search the files below a directory."""

    pattern: str
    """What to look for."""

class SearchRequest(_SearchRequest, total=False):
    """Search the files below a directory."""

    after: int
    """Lines told after each match."""

    before: int
    """Lines told before each match."""

    binary: SearchBinary
    """Files that are not text."""

    case: SearchCase
    """Whether capital letters matter."""

    depth: int | None
    """How many levels; all if not given."""

    detail: SearchDetail
    """How much is told."""

    exclude: Sequence[str]
    """Globs of what is left out."""

    hidden: bool
    """Names that begin with a dot, too."""

    ignored: bool
    """What `.gitignore` and `.ignore` name, too."""

    include: Sequence[str]
    """Globs that a file must match, if there is any. Without a slash: names at any depth."""

    max_bytes: int | None
    """Bytes that are told (16 MiB)."""

    max_matches: int | None
    """Matches in all (10000)."""

    max_matches_per_file: int | None
    """Matches in one file."""

    path: str | None
    """The directory, or a file."""

    path_base64: str | None
    """The same exactly."""

    sorted: bool
    """In the order of names: the same each time, and slower."""

    syntax: SearchSyntax
    """How it is read."""

    timeout_ms: int | None
    """How long it may take (60 s)."""

    user: str | None
    """The user to search as."""

    words: bool
    """Only whole words."""


class SessionExecOptions(TypedDict, total=False):
    """Asks for one command, run to its end. Exactly one of `command` and `argv` is given."""

    answer_bytes: int | None
    """Bytes of each output that the answer may hold (1 MiB)."""

    background: Background
    """What happens to what it leaves behind."""

    cwd: str | None
    """Working directory; relative ones are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    grace_ms: int | None
    """How long a tree that was told to end may take before it is killed (2000)."""

    id: ProcessId | None
    """Its id, so that asking again finds it; made up if not given."""

    idle_timeout_ms: int | None
    """Ends the whole tree after so long without output."""

    labels: Mapping[str, str]
    """For finding it again."""

    max_output_bytes: int | None
    """Ends the whole tree when it has printed more than so much."""

    network: Sequence[EgressRule] | None
    """What it may reach, within what the sandbox may; all of that if not given."""

    on_disconnect: OnDisconnect
    """What happens if the caller goes away."""

    timeout_ms: int | None
    """Ends the whole tree after so long."""


class SessionOptions(TypedDict, total=False):
    """Asks for a session."""

    cwd: str | None
    """Where its shell starts; relative ones are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    id: SessionId | None
    """Its id; made up if not given."""

    options: Sequence[SessionRequestOptionsItem]
    """`set -o` options that are on from the beginning, such as `pipefail`."""

    timeout_ms: int | None
    """Ends each of its commands after so long, unless the command says otherwise."""

    user: str | None
    """User inside, for the whole session: a name, a number, or either with `:group`."""


class SessionRequest(TypedDict, total=False):
    """Asks for a session."""

    cwd: str | None
    """Where its shell starts; relative ones are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    id: SessionId | None
    """Its id; made up if not given."""

    options: Sequence[SessionRequestOptionsItem]
    """`set -o` options that are on from the beginning, such as `pipefail`."""

    timeout_ms: int | None
    """Ends each of its commands after so long, unless the command says otherwise."""

    user: str | None
    """User inside, for the whole session: a name, a number, or either with `:group`."""


class _SignalRequest(TypedDict):
    """Asks to send a signal."""

    signal: Signal
    """By name or number, as text: `TERM`, `SIGINT`, `9`."""

class SignalRequest(_SignalRequest, total=False):
    """Asks to send a signal."""

    scope: SignalScope
    """To whom."""


class StartOptions(TypedDict, total=False):
    """Asks for a process. Exactly one of `command` and `argv` is given."""

    background: Background
    """What happens to what it leaves behind."""

    cwd: str | None
    """Working directory; relative ones are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    grace_ms: int | None
    """How long a tree that was told to end may take before it is killed (2000)."""

    id: ProcessId | None
    """Its id, so that asking again finds it; made up if not given."""

    idle_timeout_ms: int | None
    """Ends the whole tree after so long without output."""

    labels: Mapping[str, str]
    """For finding it again."""

    max_output_bytes: int | None
    """Ends the whole tree when it has printed more than so much."""

    memory_bytes: int | None
    """Memory that this command may use, within the sandbox's own limit."""

    network: Sequence[EgressRule] | None
    """What it may reach, within what the sandbox may; all of that if not given."""

    ready: ReadyCondition | None
    """When it counts as ready."""

    restart: RestartPolicy
    """What happens when it fails."""

    stdin: StdinMode
    """Where its standard input comes from."""

    timeout_ms: int | None
    """Ends the whole tree after so long."""

    user: str | None
    """User inside: a name, a number, or either with `:group`."""


class StartRequest(TypedDict, total=False):
    """Asks for a process. Exactly one of `command` and `argv` is given."""

    argv: Sequence[str] | None
    """A program and its arguments; no shell."""

    background: Background
    """What happens to what it leaves behind."""

    command: str | None
    """A shell string, run by bash, or by sh where there is no bash."""

    cwd: str | None
    """Working directory; relative ones are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    grace_ms: int | None
    """How long a tree that was told to end may take before it is killed (2000)."""

    id: ProcessId | None
    """Its id, so that asking again finds it; made up if not given."""

    idle_timeout_ms: int | None
    """Ends the whole tree after so long without output."""

    labels: Mapping[str, str]
    """For finding it again."""

    max_output_bytes: int | None
    """Ends the whole tree when it has printed more than so much."""

    memory_bytes: int | None
    """Memory that this command may use, within the sandbox's own limit."""

    network: Sequence[EgressRule] | None
    """What it may reach, within what the sandbox may; all of that if not given."""

    ready: ReadyCondition | None
    """When it counts as ready."""

    restart: RestartPolicy
    """What happens when it fails."""

    stdin: StdinMode
    """Where its standard input comes from."""

    timeout_ms: int | None
    """Ends the whole tree after so long."""

    user: str | None
    """User inside: a name, a number, or either with `:group`."""


class _StdinPiece(TypedDict):
    """Bytes for a standard input."""

    data: str
    """The bytes, encoded."""

    offset: int
    """Position of the first byte in all that was ever written: a repeated write is skipped, a gap refused."""

class StdinPiece(_StdinPiece, total=False):
    """Bytes for a standard input."""

    encoding: Encoding
    """How."""


class SymlinkOptions(TypedDict, total=False):
    """Make a symbolic link."""

    parents: bool
    """Make the directories above it that are missing."""

    replace: bool
    """Replace what is there, if it is no directory."""

    user: str | None
    """The user to do it as."""


class SymlinkRequest(TypedDict, total=False):
    """Make a symbolic link."""

    parents: bool
    """Make the directories above it that are missing."""

    path: str | None
    """Its name."""

    path_base64: str | None
    """The same exactly."""

    replace: bool
    """Replace what is there, if it is no directory."""

    target: str | None
    """Where it leads; taken as it is."""

    target_base64: str | None
    """The same exactly."""

    user: str | None
    """The user to do it as."""


class TerminalCommandResize(TypedDict):
    """Give the window a size."""

    resize: WindowSize
    """Give the window a size."""


class TerminalCommandSignal(TypedDict):
    """Send a signal."""

    signal: SignalRequest
    """Send a signal."""


class TerminalOptions(TypedDict, total=False):
    """Asks for a terminal: the one that has this id, or a new one."""

    cols: int | None
    """Columns at first (80)."""

    cwd: str | None
    """Working directory; relative ones are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    id: TerminalId | None
    """Its id; made up if not given."""

    rows: int | None
    """Rows at first (24)."""

    term: str | None
    """The variable `TERM` (`xterm-256color`)."""

    user: str | None
    """User inside: a name, a number, or either with `:group`."""


class TerminalRequest(TypedDict, total=False):
    """Asks for a terminal: the one that has this id, or a new one."""

    argv: Sequence[str] | None
    """A program and its arguments to run in it."""

    cols: int | None
    """Columns at first (80)."""

    command: str | None
    """A shell string to run in it. Without this and `argv`: the interactive shell."""

    cwd: str | None
    """Working directory; relative ones are below the default."""

    env: Mapping[str, str | None]
    """Changes to the default environment; `null` unsets."""

    id: TerminalId | None
    """Its id; made up if not given."""

    rows: int | None
    """Rows at first (24)."""

    term: str | None
    """The variable `TERM` (`xterm-256color`)."""

    user: str | None
    """User inside: a name, a number, or either with `:group`."""


class WaitForLog(TypedDict):
    """Output."""

    log: LogCondition
    """Output."""


class WaitForPort(TypedDict):
    """A port that answers."""

    port: PortCondition
    """A port that answers."""


WaitRequest = TypedDict(
    "WaitRequest",
    {
        "for": "WaitFor",
        "timeout_ms": "int | None",
    },
    total=False,
)
"""Asks to be told when something has happened."""


class WatchOptions(TypedDict, total=False):
    """A watch that is asked for."""

    directories: int | None
    """How many directories may be watched (65536)."""

    exclude: Sequence[str]
    """Globs of what is not told of; a directory that matches is not watched."""

    existing: bool
    """Begin with what is there, as created."""

    id: WatchId | None
    """Its id; one is made if none is given."""

    include: Sequence[str]
    """Globs that a file must match to be told of, if there is any. As in `.gitignore`."""

    recursive: bool
    """All below the directory, too."""

    user: str | None
    """The user to look as."""


class WatchRequest(TypedDict, total=False):
    """A watch that is asked for."""

    directories: int | None
    """How many directories may be watched (65536)."""

    exclude: Sequence[str]
    """Globs of what is not told of; a directory that matches is not watched."""

    existing: bool
    """Begin with what is there, as created."""

    id: WatchId | None
    """Its id; one is made if none is given."""

    include: Sequence[str]
    """Globs that a file must match to be told of, if there is any. As in `.gitignore`."""

    path: str | None
    """The directory; relative to `/workspace`."""

    path_base64: str | None
    """The same in base64, for one that is no UTF-8."""

    recursive: bool
    """All below the directory, too."""

    user: str | None
    """The user to look as."""


class WindowSize(TypedDict):
    """How large a window is, in characters. Neither side is 0 or beyond its cap."""

    cols: int

    rows: int


class _WriteFileRequest(TypedDict):
    """Write a file whose content is in the request."""

    data: str
    """The content."""

class WriteFileRequest(_WriteFileRequest, total=False):
    """Write a file whose content is in the request."""

    append: bool
    """Add to its end."""

    encoding: Encoding
    """How it is put into JSON."""

    if_absent: bool
    """Only if it is not there."""

    if_match: str | None
    """Only if it is in the state with this tag."""

    mode: str | None
    """Permission bits, in octal. Else those that it has, or 0644."""

    parents: bool
    """Make the directories above it that are missing."""

    path: str | None
    """The file."""

    path_base64: str | None
    """The same exactly."""

    user: str | None
    """The user to do it as."""

AttachCommand = Union[Literal["close"], AttachCommandStdin, AttachCommandSignal]
"""What a client sends to a process."""

ReadyCondition = Union[ReadyConditionLog, ReadyConditionPort]
"""When a process counts as ready."""

RestartPolicy = Union[Literal["never"], RestartPolicyOnFailure]
"""What happens when a process ends by itself with a failure."""

TerminalCommand = Union[TerminalCommandResize, TerminalCommandSignal]
"""What a terminal's client sends in text frames."""

WaitFor = Union[Literal["exit", "input"], WaitForLog, WaitForPort]
"""What to wait for."""
