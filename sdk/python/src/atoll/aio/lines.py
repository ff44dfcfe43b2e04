"""Answers that come line by line, however many there are: one at a time is in memory."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any

from .. import _runtime_aio as runtime  # sync: from .. import _runtime_sync as runtime
from .. import models
from .._decode import decode, parse
from .._failure import BrokenError, NonsenseError, UnreachableError, from_body
from .._retry import Retry
from .transport import Transport

# A line holds one entry or one match; longer ones make no sense.
LINE_MAX = 64 * 1024 * 1024


class Lines:
    """The lines of one answer."""

    def __init__(self, transport: Transport, method: str, path: str, query: dict[str, Any] | None, body: Any = None) -> None:
        headers = {"accept": "application/x-ndjson"}
        # Looking through a large tree in which little is found may take its time.
        self._link: Any = transport.stream(method, path, query=query, body=body, headers=headers, silence_max=None)
        self._pieces: AsyncIterator[bytes] | None = None
        self._begun = bytearray()
        self._ready: list[bytes] = []

    async def next(self) -> dict[str, Any]:
        """The next line. It is known from what is in it whether it is the last."""
        if self._pieces is None:
            self._pieces = (await self._link.__aenter__()).pieces
        while not self._ready:
            try:
                piece = await self._pieces.__anext__()
            except StopAsyncIteration:
                raise BrokenError("the connection broke: the server closed it") from None
            *whole, rest = (bytes(self._begun) + piece).split(b"\n")
            self._begun = bytearray(rest)
            if len(rest) > LINE_MAX:
                raise NonsenseError("the server's answer makes no sense: a line without end")
            self._ready = whole[::-1]
        told = parse(self._ready.pop())
        if "error" in told:
            raise from_body(told["error"], 500)
        return dict(told)

    async def aclose(self) -> None:
        """Hangs up."""
        if self._pieces is not None:
            self._pieces = None
            await self._link.__aexit__(None, None, None)


class Listing:
    """What is in a directory, entry by entry, however many there are. Iterate over it.

    In the order of names it goes on behind the last entry after a dropped connection.
    """

    def __init__(self, transport: Transport, path: str, query: dict[str, Any]) -> None:
        self._transport = transport
        self._path = path
        self._query = query
        self._retry = Retry(transport.patience)
        self._lines: Lines | None = None
        self._begun = self._over = False
        self.unreadable = 0
        """Directories that could not be looked into, as far as that is known."""

    def __aiter__(self) -> Listing:
        return self

    async def __anext__(self) -> models.FileInfo:
        while not self._over:
            if self._lines is None:
                self._lines = Lines(self._transport, "GET", self._path, self._query)
            try:
                line = await self._lines.next()
            except (BrokenError, UnreachableError) as error:
                await self._broke(error)
                continue
            self._begun = True
            if "entry" in line:
                self._retry.succeeded()
                entry = decode(models.FileInfo, line["entry"])
                self._query["after"] = entry.path_base64 or base64.b64encode(entry.path.encode()).decode()
                return entry
            if "end" in line:
                self.unreadable += decode(models.FileListEnd, line["end"]).unreadable or 0
                self._over = True
                await self.aclose()
        raise StopAsyncIteration

    async def _broke(self, error: BrokenError | UnreachableError) -> None:
        await self.aclose()
        # Without an order there is no place to go on from.
        if not self._query["sorted"] or (isinstance(error, UnreachableError) and not self._begun):
            raise error
        await runtime.sleep(self._retry.failed(error))

    async def aclose(self) -> None:
        """Hangs up."""
        lines, self._lines = self._lines, None
        if lines is not None:
            await lines.aclose()

    async def __aenter__(self) -> Listing:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class SearchStream:
    """What a search finds, as it finds it. Iterate over it; afterwards `summary` is there. Leaving early ends the search."""

    def __init__(self, transport: Transport, path: str, body: dict[str, Any]) -> None:
        self._lines = Lines(transport, "POST", path, None, body)
        self.summary: models.SearchSummary | None = None
        """How much was looked at and found, after the last."""

    def __aiter__(self) -> SearchStream:
        return self

    async def __anext__(self) -> models.SearchMatch | models.SearchFile:
        if self.summary is not None:
            raise StopAsyncIteration
        line = await self._lines.next()
        if "match" in line:
            return decode(models.SearchMatch, line["match"])
        for kind in ("file", "binary"):
            if kind in line:
                return decode(models.SearchFile, line[kind])
        self.summary = decode(models.SearchSummary, line["end"])
        await self.aclose()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Hangs up."""
        await self._lines.aclose()

    async def __aenter__(self) -> SearchStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
