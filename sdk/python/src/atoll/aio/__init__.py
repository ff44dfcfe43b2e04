"""Sandboxes for coroutines. The same names as in `atoll`, each call awaited."""

from .client import Client, Sandboxes, Tokens
from .ports import PortChanges, Ports
from .process import Process, Processes
from .sandbox import Sandbox
from .session import Session, Sessions
from .streams import ExecStream, Logs
from .terminal import Attachment, Terminal, Terminals

__all__ = [
    "Attachment",
    "Client",
    "ExecStream",
    "Logs",
    "PortChanges",
    "Ports",
    "Process",
    "Processes",
    "Sandbox",
    "Sandboxes",
    "Session",
    "Sessions",
    "Terminal",
    "Terminals",
    "Tokens",
]
