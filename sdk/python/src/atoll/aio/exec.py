"""One command: answered whole, or told as it happens. In a sandbox and in a session alike."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from .. import _runtime_aio as runtime  # sync: from .. import _runtime_sync as runtime
from .. import models
from ..results import CommandResult, completed
from .streams import ExecStream, end_command, made_up
from .transport import Repeat, Transport

Command = str | Sequence[str]


def worded(command: Command) -> dict[str, Any]:
    """A string is for the shell; a list is a program and its arguments."""
    return {"command": command} if isinstance(command, str) else {"argv": list(command)}


def asked(command: Command, stdin: str | bytes | None, options: dict[str, Any]) -> dict[str, Any]:
    """The body. It always has an id, so that it is run once however often it is asked for; output comes exactly."""
    body = {**worded(command), **options, "encoding": "base64"}
    body["id"] = body.get("id") or made_up()
    if stdin is not None:
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        body["stdin_base64"] = base64.b64encode(raw).decode()
    return body


async def run(transport: Transport, sandbox: str, path: str, body: dict[str, Any]) -> CommandResult:
    """Runs it to its end. Who is interrupted meanwhile takes the command along."""
    repeat = Repeat.NO if body.get("on_disconnect") == "kill" else Repeat.YES
    try:
        return completed(await transport.post(models.ExecResult, path, body, repeat))
    except BaseException as error:
        # An `Exception` is an answer, or a line that broke; anything else is the caller being stopped.
        if not isinstance(error, Exception):
            with runtime.shielded():
                await end_command(transport, sandbox, body["id"])
        raise


def stream(transport: Transport, sandbox: str, path: str, body: dict[str, Any]) -> ExecStream:
    return ExecStream(transport, sandbox, path, body)
