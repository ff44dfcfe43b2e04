"""What can go wrong between a caller and the server. The classes for the server's own codes are in `_codes`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .results import CommandResult


class AtollError(Exception):
    """Anything that this package raises by itself."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        """What to do about it."""

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class RefusedError(AtollError):
    """The server refused, and says why. Each code has a class of its own; a code of a later server has this one."""

    def __init__(
        self, message: str, *, code: str, status: int, hint: str | None = None, details: Any = None, request_id: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        """The stable name of what went wrong."""
        self.status = status
        """The HTTP status."""
        self.details = details
        """Facts for programs."""
        self.request_id = request_id
        """By which the server's log knows the request."""
        self.retry_after: float | None = None
        """In how many seconds to ask again, if the server said so."""


class UnreachableError(AtollError, ConnectionError):
    """There is no server at this address, or none that answers. Nothing was done."""


class BrokenError(AtollError, ConnectionError):
    """The connection broke. What was asked for may or may not have been done."""


class NonsenseError(AtollError):
    """The server said something that this package does not understand."""


class InvalidError(AtollError, ValueError):
    """The request cannot be sent."""


class OutputGoneError(AtollError):
    """Output that was to be read is not there: the log had to drop it, or the answer was too small for it."""

    def __init__(self, message: str, *, since: int, until: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.since = since
        """Position of the first byte that is missing."""
        self.until = until
        """Position of the first byte after it that can be read."""


class CommandFailedError(AtollError):
    """A command ended in another way than with code 0, and `check` was called."""

    def __init__(self, result: CommandResult) -> None:
        end = result.end
        how = f"code {end.code}" if end.code is not None else f"{end.reason}{f' by {end.signal}' if end.signal else ''}"
        tail = result.stderr.strip()[-2000:]
        super().__init__(f"the command ended with {how}{': ' + tail if tail else ''}")
        self.result = result


def refused(status: int, body: bytes, request_id: str | None = None) -> RefusedError:
    """From an answer that is an error. Something in between may have answered in words of its own."""
    try:
        told = json.loads(body)
        error = told["error"] if "error" in told else told
        return from_body(error, status, request_id)
    except (ValueError, KeyError, TypeError):
        return RefusedError(f"the server answered {status}", code="", status=status, request_id=request_id)


def from_body(error: dict[str, Any], status: int, request_id: str | None = None) -> RefusedError:
    from ._codes import BY_CODE

    code = str(error["code"])
    kind = BY_CODE.get(code, RefusedError)
    return kind(
        str(error["message"]),
        code=code,
        status=status,
        hint=error.get("hint"),
        details=error.get("details"),
        request_id=request_id,
    )


def is_passing(error: AtollError) -> bool:
    """Whether it may go away by itself: a gateway that is just being restarted, a line that was cut."""
    if isinstance(error, RefusedError):
        return error.status in (502, 503, 504)
    return isinstance(error, (UnreachableError, BrokenError))
