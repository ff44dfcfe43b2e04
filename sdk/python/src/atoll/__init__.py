"""Sandboxes of an Atoll server: commands, processes, sessions, terminals.

>>> from atoll import Sandbox
>>> with Sandbox.get("hello") as sandbox:
...     print(sandbox.exec("echo hello").stdout, end="")
...     sandbox.delete()
hello

`atoll.aio` has the same names for coroutines, `atoll.models` what the server tells, `atoll.options` what calls take, and
`atoll.errors` everything that can be raised.
"""

from . import aio, errors, models, options
from ._sync import (
    Attachment,
    Client,
    EgressEvents,
    ExecStream,
    FileReader,
    Files,
    Git,
    Listing,
    Logs,
    Network,
    PortChanges,
    PortConnection,
    Ports,
    Process,
    ProcessAttachment,
    Processes,
    Sandbox,
    Sandboxes,
    SearchStream,
    Secrets,
    Session,
    Sessions,
    Terminal,
    Terminals,
    Tokens,
    Watch,
)
from .errors import AtollError, CommandFailedError, RefusedError
from .results import CommandResult, Output, PortChange, TerminalOutput

__all__ = [
    "AtollError",
    "Attachment",
    "Client",
    "CommandFailedError",
    "CommandResult",
    "EgressEvents",
    "ExecStream",
    "FileReader",
    "Files",
    "Git",
    "Listing",
    "Logs",
    "Network",
    "Output",
    "PortChange",
    "PortChanges",
    "PortConnection",
    "Ports",
    "Process",
    "ProcessAttachment",
    "Processes",
    "RefusedError",
    "Sandbox",
    "Sandboxes",
    "SearchStream",
    "Secrets",
    "Session",
    "Sessions",
    "Terminal",
    "TerminalOutput",
    "Terminals",
    "Tokens",
    "Watch",
    "aio",
    "errors",
    "models",
    "options",
]
