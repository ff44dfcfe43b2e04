# Written by `sdk/generate` from atoll/aio/ports.py; changes are lost.
"""Ports: what listens inside, and previews by which it is seen from outside."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

import httpcore
import httpx

from .. import _runtime_sync as runtime
from .. import models
from .._decode import decode, parse
from .._events import Event
from .._failure import BrokenError
from ..results import PortChange
from .streams import Subscription
from .transport import Repeat, Transport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..options import ExposeOptions


# What a connection says that is no longer one.
STREAM_ERRORS = (httpcore.NetworkError, httpcore.TimeoutException, OSError)


class Ports:
    """The ports of a sandbox."""

    def __init__(self, transport: Transport, sandbox: str) -> None:
        self._transport = transport
        self._sandbox = sandbox

    def watch(self) -> PortChanges:
        """Ports as they open and close; those that are open already come first. Iterate over it."""
        return PortChanges(Subscription(self._transport, "GET", f"{self._sandbox}/ports/events"))

    def expose(self, port: int, **options: Unpack[ExposeOptions]) -> models.Preview:
        """Lets a port be seen from outside, or changes how; its `url` says where. Nothing needs to listen yet.

        >>> from atoll import Sandbox
        >>> with Sandbox.temporary() as sandbox:
        ...     preview = sandbox.ports.expose(8080, name="web")
        ...     print([each.port for each in sandbox.ports.previews()], preview.visibility)
        ...     sandbox.ports.unexpose(8080)
        [8080] public
        """
        answer = self._transport.call("PUT", self._preview(port), body=dict(options), repeat=Repeat.YES)
        return decode(models.Preview, parse(answer.content))

    def unexpose(self, port: int) -> None:
        """Ends that: its URLs lead nowhere from now on. One that is not exposed is no error."""
        self._transport.call("DELETE", self._preview(port), repeat=Repeat.YES)

    def previews(self) -> list[models.Preview]:
        """The ports that are exposed."""
        return (self._transport.get(models.PreviewList, f"{self._sandbox}/previews")).previews

    def rotate(self, port: int) -> models.Preview:
        """Another secret: the URLs so far lead nowhere."""
        return self._transport.post(models.Preview, f"{self._preview(port)}/rotate")

    def link(self, port: int, *, expires_in_ms: int | None = None) -> models.PreviewLink:
        """A link that lets in whoever has it, for a while, without a token."""
        body = {"expires_in_ms": expires_in_ms}
        return self._transport.post(models.PreviewLink, f"{self._preview(port)}/link", body)

    def connect(self, port: int) -> PortConnection:
        """A raw connection to a port inside, whatever is spoken there. What does not listen is a `PortClosedError`.

        >>> from atoll import Sandbox
        >>> with Sandbox.temporary() as sandbox:
        ...     echo = "import socket; s = socket.create_server(('', 7000)); print('up', flush=True); c, _ = s.accept(); c.sendall(c.recv(99))"
        ...     process = sandbox.processes.start(["python3", "-c", echo])
        ...     _ = process.wait_for_log("up", timeout_ms=20_000)
        ...     with sandbox.ports.connect(7000) as connection:
        ...         connection.write(b"hello")
        ...         print(connection.read(), connection.read())
        b'hello' b''
        """
        response, stream = self._transport.upgrade(f"{self._sandbox}/ports/{int(port)}/connect", "tcp")
        return PortConnection(response, stream)

    def _preview(self, port: int) -> str:
        return f"{self._sandbox}/previews/{int(port)}"

    # The last one: what comes behind it in this class cannot name the type.
    def list(self) -> list[models.PortInfo]:
        """The ports on which something listens inside, on whatever address."""
        return (self._transport.get(models.PortList, f"{self._sandbox}/ports")).ports


class PortConnection:
    """Bytes to and from a port inside. Used in `with`, it is closed at the end of the block."""

    def __init__(self, response: httpx.Response, stream: Any) -> None:
        self._response = response
        self._stream = stream

    def read(self, most: int = 65536) -> bytes:
        """What has come, at most so many bytes; nothing at the end."""
        try:
            return bytes(self._stream.read(most))
        except STREAM_ERRORS as error:
            raise BrokenError(f"the connection broke: {error or type(error).__name__}") from error

    def write(self, data: str | bytes) -> None:
        """Sends all of it."""
        try:
            self._stream.write(data.encode() if isinstance(data, str) else data)
        except STREAM_ERRORS as error:
            raise BrokenError(f"the connection broke: {error or type(error).__name__}") from error

    def close(self) -> None:
        """Closes it."""
        self._stream.close()
        self._response.close()

    def __enter__(self) -> PortConnection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with runtime.shielded():
            self.close()


class PortChanges:
    """Ports as they open and close. After a dropped connection, what has changed meanwhile is told."""

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription
        self._told: list[PortChange] = []
        self.open: dict[int, models.PortInfo] = {}
        """What is open, as far as it was told."""

    def __iter__(self) -> PortChanges:
        return self

    def __next__(self) -> PortChange:
        while not self._told:
            self._take(self._subscription.next())
        change = self._told.pop(0)
        if change.info is not None:
            self.open[change.port] = change.info
        else:
            self.open.pop(change.port, None)
        return change

    def close(self) -> None:
        """Hangs up."""
        self._subscription.close()

    def __enter__(self) -> PortChanges:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _take(self, event: Event) -> None:
        if event.name == "ports":
            # The first event of each connection: everything that is open then.
            now = {info.port: info for info in decode(models.PortList, parse(event.data)).ports}
            self._told += [PortChange(port, None) for port in self.open if port not in now]
            self._told += [PortChange(port, info) for port, info in now.items() if port not in self.open]
        elif event.name == "opened":
            info = decode(models.PortInfo, parse(event.data))
            self._told.append(PortChange(info.port, info))
        elif event.name == "closed":
            self._told.append(PortChange(int(parse(event.data)["port"]), None))
