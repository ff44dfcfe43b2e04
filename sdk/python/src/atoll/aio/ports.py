"""Ports: what listens inside, and previews by which it is seen from outside."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

import httpcore
import httpx

from .. import _runtime_aio as runtime  # sync: from .. import _runtime_sync as runtime
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

    async def expose(self, port: int, **options: Unpack[ExposeOptions]) -> models.Preview:
        """Lets a port be seen from outside, or changes how; its `url` says where. Nothing needs to listen yet.

        >>> from atoll.aio import Sandbox
        >>> async with await Sandbox.temporary() as sandbox:
        ...     preview = await sandbox.ports.expose(8080, name="web")
        ...     print([each.port for each in await sandbox.ports.previews()], preview.visibility)
        ...     await sandbox.ports.unexpose(8080)
        [8080] public
        """
        answer = await self._transport.call("PUT", self._preview(port), body=dict(options), repeat=Repeat.YES)
        return decode(models.Preview, parse(answer.content))

    async def unexpose(self, port: int) -> None:
        """Ends that: its URLs lead nowhere from now on. One that is not exposed is no error."""
        await self._transport.call("DELETE", self._preview(port), repeat=Repeat.YES)

    async def previews(self) -> list[models.Preview]:
        """The ports that are exposed."""
        return (await self._transport.get(models.PreviewList, f"{self._sandbox}/previews")).previews

    async def rotate(self, port: int) -> models.Preview:
        """Another secret: the URLs so far lead nowhere."""
        return await self._transport.post(models.Preview, f"{self._preview(port)}/rotate")

    async def link(self, port: int, *, expires_in_ms: int | None = None) -> models.PreviewLink:
        """A link that lets in whoever has it, for a while, without a token."""
        body = {"expires_in_ms": expires_in_ms}
        return await self._transport.post(models.PreviewLink, f"{self._preview(port)}/link", body)

    async def connect(self, port: int) -> PortConnection:
        """A raw connection to a port inside, whatever is spoken there. What does not listen is a `PortClosedError`.

        >>> from atoll.aio import Sandbox
        >>> async with await Sandbox.temporary() as sandbox:
        ...     echo = "import socket; s = socket.create_server(('', 7000)); print('up', flush=True); c, _ = s.accept(); c.sendall(c.recv(99))"
        ...     process = await sandbox.processes.start(["python3", "-c", echo])
        ...     _ = await process.wait_for_log("up", timeout_ms=20_000)
        ...     async with await sandbox.ports.connect(7000) as connection:
        ...         await connection.write(b"hello")
        ...         print(await connection.read(), await connection.read())
        b'hello' b''
        """
        response, stream = await self._transport.upgrade(f"{self._sandbox}/ports/{int(port)}/connect", "tcp")
        return PortConnection(response, stream)

    def _preview(self, port: int) -> str:
        return f"{self._sandbox}/previews/{int(port)}"

    # The last one: what comes behind it in this class cannot name the type.
    async def list(self) -> list[models.PortInfo]:
        """The ports on which something listens inside, on whatever address."""
        return (await self._transport.get(models.PortList, f"{self._sandbox}/ports")).ports


class PortConnection:
    """Bytes to and from a port inside. Used in `with`, it is closed at the end of the block."""

    def __init__(self, response: httpx.Response, stream: Any) -> None:
        self._response = response
        self._stream = stream

    async def read(self, most: int = 65536) -> bytes:
        """What has come, at most so many bytes; nothing at the end."""
        try:
            return bytes(await self._stream.read(most))
        except STREAM_ERRORS as error:
            raise BrokenError(f"the connection broke: {error or type(error).__name__}") from error

    async def write(self, data: str | bytes) -> None:
        """Sends all of it."""
        try:
            await self._stream.write(data.encode() if isinstance(data, str) else data)
        except STREAM_ERRORS as error:
            raise BrokenError(f"the connection broke: {error or type(error).__name__}") from error

    async def aclose(self) -> None:
        """Closes it."""
        await self._stream.aclose()
        await self._response.aclose()

    async def __aenter__(self) -> PortConnection:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with runtime.shielded():
            await self.aclose()


class PortChanges:
    """Ports as they open and close. After a dropped connection, what has changed meanwhile is told."""

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription
        self._told: list[PortChange] = []
        self.open: dict[int, models.PortInfo] = {}
        """What is open, as far as it was told."""

    def __aiter__(self) -> PortChanges:
        return self

    async def __anext__(self) -> PortChange:
        while not self._told:
            self._take(await self._subscription.next())
        change = self._told.pop(0)
        if change.info is not None:
            self.open[change.port] = change.info
        else:
            self.open.pop(change.port, None)
        return change

    async def aclose(self) -> None:
        """Hangs up."""
        await self._subscription.aclose()

    async def __aenter__(self) -> PortChanges:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

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
