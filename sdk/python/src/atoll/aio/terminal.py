"""Terminals: opening, finding, typing, looking, ending them; and the viewer that comes back after a dropped line."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from .. import _runtime_aio as runtime  # sync: from .. import _runtime_sync as runtime
from .. import models
from .._decode import decode, encode, parse
from .._failure import AtollError, BrokenError, NonsenseError, OutputGoneError, from_body
from .._retry import Retry
from ..results import TerminalOutput, Texts
from .exec import Command, worded
from .process import Watched
from .transport import Transport, segment

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..options import SignalScope, TerminalOptions


class Terminal(Watched):
    """A program with a screen and a keyboard. Used in `with`, it is deleted at the end of the block."""

    def __init__(self, transport: Transport, sandbox: str, info: models.TerminalInfo) -> None:
        super().__init__(transport, f"{sandbox}/terminals/{segment(info.id)}")
        self.info = info
        """What was last told about it; `refresh` asks anew."""

    @property
    def id(self) -> str:
        """Its id."""
        return self.info.id

    def __repr__(self) -> str:
        return f"<Terminal {self.id} {self.info.state}>"

    async def refresh(self) -> models.TerminalInfo:
        """What it is like now."""
        self.info = await self._transport.get(models.TerminalInfo, self._path)
        return self.info

    async def write(self, data: str | bytes) -> None:
        """Types. If the line breaks meanwhile it is not known what arrived, and nothing is typed again."""
        raw = data.encode() if isinstance(data, str) else data
        await self._transport.call("PUT", f"{self._path}/input", content=raw)

    async def screen(self) -> models.ScreenInfo:
        """What is on the screen now."""
        return await self._transport.get(models.ScreenInfo, f"{self._path}/screen")

    async def resize(self, cols: int, rows: int, *, by: str | None = None) -> models.TerminalInfo:
        """Gives the window a size."""
        body = {"cols": cols, "rows": rows, "by": by}
        self.info = await self._transport.post(models.TerminalInfo, f"{self._path}/resize", body)
        return self.info

    async def recording(self, *, since: int = 0) -> str:
        """What was shown from a cursor until now, in the asciicast v2 format."""
        return (await self._transport.call("GET", f"{self._path}/recording", query={"since": since})).text

    def attach(
        self,
        *,
        since: int | None = None,
        tail: bool = True,
        read_only: bool = False,
        size: tuple[int, int] | None = None,
        skip_gaps: bool = False,
    ) -> Attachment:
        """Looks at it and types, over one line. Iterate for what it prints, to its end.

        It begins at `since`, else with the newest part of what was printed, or without `tail` with what comes. `size` is
        the columns and rows of our window. Leaving changes nothing for the program.
        """
        begin = {"tail": tail} if since is None else {"since": since}
        return Attachment(self._transport, f"{self._path}/attach", begin, read_only, size, skip_gaps)

    async def delete(self, *, grace_ms: int | None = None) -> models.KillReceipt:
        """Ends everything in it, and forgets it."""
        answer = await self._transport.call("DELETE", self._path, query={"grace_ms": grace_ms})
        return decode(models.KillReceipt, parse(answer.content))

    async def __aenter__(self) -> Terminal:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with runtime.shielded():
            try:
                await self.delete()
            except AtollError:
                if kind is None:
                    raise


class Terminals:
    """The terminals of a sandbox."""

    def __init__(self, transport: Transport, sandbox: str) -> None:
        self._transport = transport
        self._sandbox = sandbox

    async def open(self, command: Command | None = None, **options: Unpack[TerminalOptions]) -> Terminal:
        """Opens a terminal with this command, or with the interactive shell; one that has the id and lives is found.

        >>> from atoll.aio import Sandbox
        >>> async with await Sandbox.temporary() as sandbox, await sandbox.terminals.open("read NAME; echo hi $NAME") as terminal:
        ...     await terminal.write("you\\n")
        ...     match = await terminal.wait_for_log("hi you")
        ...     print((await terminal.wait()).code)
        0
        """
        body = {**(worded(command) if command is not None else {}), **options}
        info = await self._transport.post(models.TerminalInfo, f"{self._sandbox}/terminals", body)
        return Terminal(self._transport, self._sandbox, info)

    async def list(self) -> list[Terminal]:
        """Terminals, oldest first."""
        told = await self._transport.get(models.TerminalList, f"{self._sandbox}/terminals")
        return [Terminal(self._transport, self._sandbox, info) for info in told.terminals]

    async def get(self, id: str) -> Terminal:
        """The terminal with this id."""
        info = await self._transport.get(models.TerminalInfo, f"{self._sandbox}/terminals/{segment(id)}")
        return Terminal(self._transport, self._sandbox, info)


class Attachment:
    """A viewer of a terminal. A dropped connection is not noticed but for the time that it takes to come back."""

    def __init__(
        self,
        transport: Transport,
        path: str,
        begin: dict[str, Any],
        read_only: bool,
        size: tuple[int, int] | None,
        skip_gaps: bool,
    ) -> None:
        self._transport = transport
        self._path = path
        self._begin = begin
        self._read_only = read_only
        self._window = size
        self._skip_gaps = skip_gaps
        self._retry = Retry(transport.patience)
        self._link: runtime.ClientConnection | None = None
        # One may type while another looks: only one of them makes the connection anew.
        self._connecting = runtime.Lock()
        self._texts = Texts()
        self._closed = False
        self.terminal: models.TerminalInfo | None = None
        """The terminal, once the line stands."""
        self.cursor: int | None = None
        """Everything before this was told."""
        self.size: models.WindowSize | None = None
        """How large its window is now."""
        self.gaps: list[models.Gap] = []
        """Output that is gone, as far as it was come across."""
        self.end: models.EndRecord | None = None
        """How its program ended, once it has."""

    def __aiter__(self) -> Attachment:
        return self

    async def __anext__(self) -> TerminalOutput:
        while not self._closed:
            try:
                link = await self._connected()
                if link is None:
                    break
                output = self._take(await self._frame(link))
                if output:
                    return output
            except (BrokenError, ConnectionError) as error:
                await self._broke(error)
        raise StopAsyncIteration

    async def write(self, data: str | bytes) -> None:
        """Types. If the line breaks meanwhile it is not known what arrived, and nothing is typed again."""
        await self._send(data.encode() if isinstance(data, str) else data)

    async def resize(self, cols: int, rows: int) -> None:
        """Gives the window a size."""
        self._window = (cols, rows)
        await self._send(encode({"resize": {"cols": cols, "rows": rows}}).decode())

    async def signal(self, signal: str, *, scope: SignalScope = "main") -> None:
        """Sends a signal."""
        await self._send(encode({"signal": {"signal": signal, "scope": scope}}).decode())

    async def aclose(self) -> None:
        """Hangs up. The program goes on."""
        self._closed = True
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    async def __aenter__(self) -> Attachment:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with runtime.shielded():
            await self.aclose()

    async def _connected(self) -> runtime.ClientConnection | None:
        """The line; `None` if there is none any more, because everything was told."""
        async with self._connecting:
            while self._link is None and self.end is None and not self._closed:
                try:
                    self._link = await self._transport.dial(self._path, self._query())
                except AtollError as error:
                    await runtime.sleep(self._retry.failed(error))
            return self._link

    def _query(self) -> dict[str, Any]:
        query = dict(self._begin)
        if self.cursor is not None:
            # Who comes back wants the terminal that was there, not a new one in its place.
            query = {"since": self.cursor, "open": False}
        if self._read_only:
            query["read_only"] = True
        if self._window:
            query["cols"], query["rows"] = self._window
        return query

    async def _frame(self, link: runtime.ClientConnection) -> str | bytes:
        from websockets.exceptions import ConnectionClosed

        try:
            return await link.recv()
        except ConnectionClosed as error:
            raise BrokenError(f"the connection broke: {error}") from error

    async def _send(self, data: str | bytes) -> None:
        from websockets.exceptions import ConnectionClosed

        link = await self._connected()
        if link is None:
            raise BrokenError("the terminal's program has ended" if self.end else "this viewer was closed")
        try:
            await link.send(data)
        except ConnectionClosed as error:
            raise BrokenError(f"the connection broke: {error}") from error

    async def _broke(self, error: AtollError | ConnectionError) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.close()
        if self.end is None and not self._closed:
            told = error if isinstance(error, AtollError) else BrokenError(f"the connection broke: {error}")
            await runtime.sleep(self._retry.failed(told))

    def _take(self, frame: str | bytes) -> TerminalOutput | None:
        if isinstance(frame, str):
            self._control(parse(frame))
            return None
        if self.cursor is None:
            raise NonsenseError("the server's answer makes no sense: a terminal that was never ready")
        output = TerminalOutput(self.cursor, frame, self._texts.add("", frame))
        self.cursor += len(frame)
        return output if frame else None

    def _control(self, frame: dict[str, Any]) -> None:
        if "ready" in frame:
            self._ready(decode(models.TerminalReady, frame["ready"]))
        elif "resize" in frame:
            self.size = decode(models.Resized, frame["resize"]).size
        elif "truncated" in frame:
            gap = decode(models.Gap, frame["truncated"])
            self.cursor = gap.to
            self.gaps.append(gap)
            if not self._skip_gaps:
                raise OutputGoneError(f"output from {gap.from_} to {gap.to} is gone", since=gap.from_, until=gap.to)
        elif "exit" in frame:
            self.end = decode(models.TerminalExit, frame["exit"]).end
        elif "error" in frame:
            raise from_body(frame["error"], 400)

    def _ready(self, ready: models.TerminalReady) -> None:
        self._retry.succeeded()
        known = self.terminal
        if known is None:
            self.terminal, self.cursor = ready.terminal, ready.cursor
        elif known.started_at != ready.terminal.started_at or ready.cursor != self.cursor:
            raise NonsenseError("another terminal has this id now")
