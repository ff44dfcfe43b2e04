# Written by `sdk/generate` from atoll/aio/lines.py; changes are lost.
"""Answers that come line by line, however many there are: one at a time is in memory."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from .. import _runtime_sync as runtime
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
        self._pieces: Iterator[bytes] | None = None
        self._begun = bytearray()
        self._ready: list[bytes] = []

    def next(self) -> dict[str, Any]:
        """The next line. It is known from what is in it whether it is the last."""
        if self._pieces is None:
            self._pieces = (self._link.__enter__()).pieces
        while not self._ready:
            try:
                piece = self._pieces.__next__()
            except StopIteration:
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

    def close(self) -> None:
        """Hangs up."""
        if self._pieces is not None:
            self._pieces = None
            self._link.__exit__(None, None, None)


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

    def __iter__(self) -> Listing:
        return self

    def __next__(self) -> models.FileInfo:
        while not self._over:
            if self._lines is None:
                self._lines = Lines(self._transport, "GET", self._path, self._query)
            try:
                line = self._lines.next()
            except (BrokenError, UnreachableError) as error:
                self._broke(error)
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
                self.close()
        raise StopIteration

    def _broke(self, error: BrokenError | UnreachableError) -> None:
        self.close()
        # Without an order there is no place to go on from.
        if not self._query["sorted"] or (isinstance(error, UnreachableError) and not self._begun):
            raise error
        runtime.sleep(self._retry.failed(error))

    def close(self) -> None:
        """Hangs up."""
        lines, self._lines = self._lines, None
        if lines is not None:
            lines.close()

    def __enter__(self) -> Listing:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class SearchStream:
    """What a search finds, as it finds it. Iterate over it; afterwards `summary` is there. Leaving early ends the search."""

    def __init__(self, transport: Transport, path: str, body: dict[str, Any]) -> None:
        self._lines = Lines(transport, "POST", path, None, body)
        self.summary: models.SearchSummary | None = None
        """How much was looked at and found, after the last."""

    def __iter__(self) -> SearchStream:
        return self

    def __next__(self) -> models.SearchMatch | models.SearchFile:
        if self.summary is not None:
            raise StopIteration
        line = self._lines.next()
        if "match" in line:
            return decode(models.SearchMatch, line["match"])
        for kind in ("file", "binary"):
            if kind in line:
                return decode(models.SearchFile, line[kind])
        self.summary = decode(models.SearchSummary, line["end"])
        self.close()
        raise StopIteration

    def close(self) -> None:
        """Hangs up."""
        self._lines.close()

    def __enter__(self) -> SearchStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
