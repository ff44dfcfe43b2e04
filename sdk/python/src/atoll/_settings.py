"""Where the server is and by which token it is asked: what the caller says, variables, the file, this machine's own.

The same places, in the same order, as the command line has them, and `ATOLL_TOKEN` for the token itself.
"""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from ._failure import InvalidError


@dataclass(frozen=True)
class Address:
    """`unix:PATH`, `http://HOST:PORT` or `https://HOST`."""

    url: str
    """What paths are put behind."""
    socket: str | None = None
    """The socket, if it is one."""

    def __str__(self) -> str:
        return f"unix:{self.socket}" if self.socket else self.url

    @classmethod
    def parse(cls, text: str) -> Address:
        if text.startswith("unix:") and len(text) > len("unix:"):
            return cls("http://localhost", text.removeprefix("unix:"))
        parts = urlsplit(text)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise InvalidError(f"`{text}` is no server", hint="give http://HOST:PORT, https://HOST or unix:PATH")
        return cls(text.rstrip("/"))

    def is_local(self) -> bool:
        """Whether what is sent stays on this machine: the first token is for no other."""
        if self.socket:
            return True
        host = urlsplit(self.url).hostname or ""
        try:
            return host == "localhost" or ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


@dataclass(frozen=True)
class Settings:
    address: Address
    token: str | None = field(repr=False)


def find(server: str | None, token: str | None) -> Settings:
    """Looks everywhere."""
    written = _written(_file())
    named = server or os.environ.get("ATOLL_SERVER") or written.get("server")
    own = _state() / "server"
    address = Address.parse(named) if named else Address("http://localhost", str(own / "server.sock"))
    found = token or os.environ.get("ATOLL_TOKEN") or _token(address, written.get("token_file"), own / "root-token")
    if found is not None and not (found.isascii() and found.isprintable()):
        raise InvalidError("the token has characters that cannot be sent")
    return Settings(address, found)


def _token(address: Address, written: str | None, own: Path) -> str | None:
    named = os.environ.get("ATOLL_TOKEN_FILE") or written
    if named:
        try:
            return Path(named).read_text().strip()
        except OSError as error:
            raise InvalidError(f"cannot read the token in {named}: {error.strerror}") from error
    # The first token of this machine's server is for this machine alone, and a server that wants none has none.
    try:
        return own.read_text().strip() if address.is_local() else None
    except OSError:
        return None


def _absolute(variable: str) -> Path | None:
    path = Path(os.environ.get(variable, ""))
    return path if path.is_absolute() else None


def _is_root() -> bool:
    return hasattr(os, "getuid") and os.getuid() == 0


def _state() -> Path:
    if os.environ.get("ATOLL_HOME"):
        return Path(os.environ["ATOLL_HOME"]) / "state"
    if _is_root():
        return Path("/var/lib/atoll")
    return (_absolute("XDG_STATE_HOME") or Path.home() / ".local/state") / "atoll"


def _file() -> Path:
    if os.environ.get("ATOLL_HOME"):
        return Path(os.environ["ATOLL_HOME"]) / "config"
    if _is_root():
        return Path("/etc/atoll/config")
    return (_absolute("XDG_CONFIG_HOME") or Path.home() / ".config") / "atoll/config"


def _written(path: Path) -> dict[str, str]:
    """Lines of `name = value`, and comments."""
    try:
        text = path.read_text()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InvalidError(f"cannot read {path}: {error.strerror}") from error
    written: dict[str, str] = {}
    for line in (line.strip() for line in text.splitlines()):
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals or name.strip() not in ("server", "token_file"):
            raise InvalidError(f"{path}: `{line}` is neither server = … nor token_file = …")
        written[name.strip()] = value.strip().strip('"')
    return written
