# Written by `sdk/generate` from atoll/aio/__init__.py; changes are lost.
"""Sandboxes for coroutines. The same names as in `atoll`, each call awaited."""

from .attach import ProcessAttachment
from .client import Client, Sandboxes, Tokens
from .files import FileReader, Files
from .git import Git
from .lines import Listing, SearchStream
from .network import EgressEvents, Network, Secrets
from .ports import PortChanges, PortConnection, Ports
from .process import Process, Processes
from .sandbox import Sandbox
from .session import Session, Sessions
from .streams import ExecStream, Logs
from .terminal import Attachment, Terminal, Terminals
from .watch import Watch

__all__ = [
    "Attachment",
    "Client",
    "EgressEvents",
    "ExecStream",
    "FileReader",
    "Files",
    "Git",
    "Listing",
    "Logs",
    "Network",
    "PortChanges",
    "PortConnection",
    "Ports",
    "Process",
    "ProcessAttachment",
    "Processes",
    "Sandbox",
    "Sandboxes",
    "SearchStream",
    "Secrets",
    "Session",
    "Sessions",
    "Terminal",
    "Terminals",
    "Tokens",
    "Watch",
]
