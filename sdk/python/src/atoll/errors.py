"""Everything that can be raised."""

from __future__ import annotations

from ._codes import *  # noqa: F403
from ._codes import __all__ as _codes
from ._failure import (
    AtollError,
    BrokenError,
    CommandFailedError,
    InvalidError,
    NonsenseError,
    OutputGoneError,
    RefusedError,
    UnreachableError,
)

__all__ = [
    "AtollError",
    "BrokenError",
    "CommandFailedError",
    "InvalidError",
    "NonsenseError",
    "OutputGoneError",
    "RefusedError",
    "UnreachableError",
]
__all__ += _codes
