"""Paths inside a sandbox. They are bytes: what is no UTF-8 is sent exactly."""

from __future__ import annotations

import base64
import os
from typing import Union

Path = Union[str, bytes, "os.PathLike[str]"]


def raw(path: Path) -> bytes:
    """For a parameter, in which bytes are percent-encoded."""
    return path if isinstance(path, bytes) else os.fspath(path).encode("utf-8", "surrogateescape")


def said(name: str, path: Path) -> dict[str, str]:
    """For JSON: the field of this name, or the one beside it that holds base64."""
    exact = raw(path)
    try:
        return {name: exact.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(exact).decode()}
