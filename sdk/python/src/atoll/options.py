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
    "CreateSandbox",
    "CreateToken",
    "Encoding",
    "ExecOptions",
    "ExecRequest",
    "ExposeOptions",
    "ExposePort",
    "ForkRequest",
    "HttpCondition",
    "Isolation",
    "KillAllRequest",
    "KillRequest",
    "LinkRequest",
    "LogCondition",
    "OnDisconnect",
    "PatchSandbox",
    "PortCondition",
    "ProcessId",
    "QueueOptions",
    "ReadyCondition",
    "ReadyConditionLog",
    "ReadyConditionPort",
    "ResizeRequest",
    "RestartFrom",
    "RestartPolicy",
    "RestartPolicyOnFailure",
    "RestartPolicyOnFailureDetails",
    "RestartRequest",
    "SandboxChanges",
    "SandboxLimits",
    "SandboxName",
    "SandboxOptions",
    "Scope",
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
    "WindowSize",
]

Background = Literal["keep", "kill"]
"""What happens to what a command leaves behind."""

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

SandboxName = str
"""Names a sandbox; also its host name, and part of preview URLs, hence a DNS label."""

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


class AttachCommandStdin(TypedDict):
    """Write to its standard input. Answered by `written`."""

    stdin: StdinPiece
    """Write to its standard input. Answered by `written`."""


class AttachCommandSignal(TypedDict):
    """Send a signal. Answered by `signalled`."""

    signal: SignalRequest
    """Send a signal. Answered by `signalled`."""


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

    sleep_after_ms: int | None
    """Stop it when nobody used it for so long. 0: never."""


class Scope(TypedDict):
    """These verbs, on the sandboxes that a pattern means."""

    sandboxes: str
    """A sandbox's name, in which `*` stands for any number of letters."""

    verbs: Sequence[Verb]
    """What may be done with them."""


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


class WindowSize(TypedDict):
    """How large a window is, in characters. Neither side is 0 or beyond its cap."""

    cols: int

    rows: int

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
