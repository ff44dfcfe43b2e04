"""A process over one line: what it prints, what it reads, signals. The line comes back after it broke."""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .. import _runtime_aio as runtime  # sync: from .. import _runtime_sync as runtime
from .. import models
from .._decode import decode, encode, parse
from .._failure import AtollError, BrokenError, OutputGoneError, RefusedError, from_body
from .._retry import Retry
from ..results import Output, OutputReader
from .transport import Transport

if TYPE_CHECKING:
    from ..options import SignalScope
    from .process import Process

# Input is sent in pieces of so many bytes, and so many of them may be on their way: the server keeps no more for a process
# that does not read.
PIECE = 32 * 1024
UNREAD_MAX = 32


class ProcessAttachment:
    """A process over one line. Iterate for what it prints, to its end.

    A dropped connection is not noticed but for the time that it takes to come back: each byte is told once, and each byte
    that is written arrives once. Leaving changes nothing for the process.
    """

    def __init__(self, transport: Transport, path: str, process: Process, since: int, skip_gaps: bool) -> None:
        self._transport = transport
        self._path = path
        self._process = process
        self._skip_gaps = skip_gaps
        self._retry = Retry(transport.patience)
        self._link: runtime.ClientConnection | None = None
        # One may write while another reads: one at a time makes the connection, takes a frame, adds to the input.
        self._connecting, self._taking, self._writing = runtime.Lock(), runtime.Lock(), runtime.Lock()
        self._reader = OutputReader(since)
        self._told: deque[Output] = deque()
        self._unread: deque[tuple[int, bytes]] = deque()
        self._flushed_to = 0
        self._closes_stdin = self._sent_close = False
        self._left = False
        self.gaps: list[models.Gap] = []
        """Output that is gone, as far as it was come across."""
        self.end: models.EndRecord | None = None
        """How it ended, once it has."""

    @property
    def cursor(self) -> int:
        """Everything before this was told, or is about to be."""
        return self._reader.cursor

    def __aiter__(self) -> ProcessAttachment:
        return self

    async def __anext__(self) -> Output:
        while not self._told and not self._is_over():
            await self._take(lambda: bool(self._told) or self._is_over())
        if not self._told:
            raise StopAsyncIteration
        return self._told.popleft()

    async def write(self, data: str | bytes) -> None:
        """Writes to its standard input. Waits while it does not read; what it prints meanwhile is kept for who iterates."""
        raw = data.encode() if isinstance(data, str) else data
        async with self._writing:
            for start in range(0, len(raw), PIECE):
                piece = raw[start : start + PIECE]
                offset = await self._process._next_offset(len(piece))
                self._unread.append((offset, piece))
                await self._connected()
                while len(self._unread) >= UNREAD_MAX and not self._is_over():
                    await self._take(lambda: len(self._unread) < UNREAD_MAX or self._is_over())

    async def close_stdin(self) -> None:
        """Closes its standard input: behind what was written, it reads the end."""
        self._closes_stdin = True
        await self._connected()

    async def signal(self, signal: str, *, scope: SignalScope = "main") -> None:
        """Sends a signal. If the line breaks meanwhile it is not known whether it arrived, and it is not sent again."""
        link = await self._connected()
        if link is None or not await self._sent(link, encode({"signal": {"signal": signal, "scope": scope}}).decode()):
            raise BrokenError("the connection broke: it is not known whether the signal arrived")

    async def aclose(self) -> None:
        """Hangs up. The process goes on."""
        self._left = True
        await self._hang_up()

    async def __aenter__(self) -> ProcessAttachment:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with runtime.shielded():
            await self.aclose()

    def _is_over(self) -> bool:
        return self.end is not None or self._left

    async def _connected(self) -> runtime.ClientConnection | None:
        """The line, on which everything was sent that is to be read; `None` if there is none any more."""
        async with self._connecting:
            while not self._is_over():
                if self._link is None:
                    await self._dial()
                elif await self._flushed(self._link):
                    return self._link
                else:
                    await self._hang_up()
            return None

    async def _dial(self) -> None:
        try:
            query = {"since": self._reader.cursor, "encoding": "base64"}
            self._link = await self._transport.dial(self._path, query)
        except AtollError as error:
            await runtime.sleep(self._retry.failed(error))
        self._flushed_to, self._sent_close = 0, False

    async def _flushed(self, link: runtime.ClientConnection) -> bool:
        """Sends what was not sent on this line. Again, if it was on another that broke: the server knows each byte by its
        offset."""
        for offset, piece in [each for each in self._unread if each[0] >= self._flushed_to]:
            if not await self._sent(link, _piece(offset, piece)):
                return False
            self._flushed_to = offset + len(piece)
        if self._closes_stdin and not self._sent_close:
            self._sent_close = await self._sent(link, encode("close").decode())
            return self._sent_close
        return True

    async def _sent(self, link: runtime.ClientConnection, frame: str) -> bool:
        from websockets.exceptions import ConnectionClosed

        try:
            await link.send(frame)
        except (ConnectionClosed, ConnectionError):
            return False
        return True

    async def _take(self, enough: Callable[[], bool]) -> None:
        """Takes one frame, unless another has taken what was waited for."""
        from websockets.exceptions import ConnectionClosed

        async with self._taking:
            if enough():
                return
            link = await self._connected()
            if link is None:
                return
            try:
                frame = parse(await link.recv())
            except (ConnectionClosed, ConnectionError) as error:
                await self._hang_up()
                if not self._is_over():
                    await runtime.sleep(self._retry.failed(BrokenError(f"the connection broke: {error}")))
                return
            self._retry.succeeded()
            self._told_by(frame)

    async def _hang_up(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    def _told_by(self, frame: dict[str, Any]) -> None:
        if "output" in frame:
            output = self._reader.take(decode(models.OutputEvent, frame["output"]))
            if output:
                self._told.append(output)
        elif "written" in frame:
            reached = decode(models.StdinReceipt, frame["written"]).next_offset
            while self._unread and self._unread[0][0] + len(self._unread[0][1]) <= reached:
                self._unread.popleft()
        elif "gap" in frame:
            gap = decode(models.Gap, frame["gap"])
            self._reader.cursor = gap.to
            self.gaps.append(gap)
            if not self._skip_gaps:
                raise OutputGoneError(f"output from {gap.from_} to {gap.to} is gone", since=gap.from_, until=gap.to)
        elif "end" in frame:
            self.end = decode(models.OutputEnd, frame["end"]).end
        elif "error" in frame:
            self._refused(from_body(frame["error"], 400))

    def _refused(self, error: RefusedError) -> None:
        # What is sent again may find that it had arrived, and that nobody reads any more. The end says the rest.
        if error.code == "PROCESS_ENDED" or (error.code == "STDIN_NOT_OPEN" and self._closes_stdin):
            self._unread.clear()
            return
        raise error


def _piece(offset: int, piece: bytes) -> str:
    body = {"offset": offset, "data": base64.b64encode(piece).decode(), "encoding": "base64"}
    return encode({"stdin": body}).decode()
