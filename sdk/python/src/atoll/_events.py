"""Server-sent events from bytes, in whatever pieces these come (https://html.spec.whatwg.org/#parsing-an-event-stream)."""

from __future__ import annotations

from dataclasses import dataclass

from ._failure import NonsenseError

# Longest line. An answer holds up to 64 MiB of each output, and base64 makes that a third more.
LINE_MAX = 256 * 1024 * 1024


@dataclass(frozen=True)
class Event:
    name: str
    data: bytes


class Parser:
    """What has come so far."""

    def __init__(self) -> None:
        self._begun = bytearray()
        self._searched = 0
        self._name = ""
        self._data: list[bytes] = []

    def push(self, piece: bytes) -> list[Event]:
        """The events that are whole now."""
        self._begun += piece
        ready: list[Event] = []
        start = 0
        while (end := self._begun.find(b"\n", max(start, self._searched))) >= 0:
            line = bytes(self._begun[start:end]).removesuffix(b"\r")
            start = end + 1
            event = self._line(line)
            if event:
                ready.append(event)
        del self._begun[:start]
        self._searched = len(self._begun)
        if self._searched > LINE_MAX:
            raise NonsenseError("the server's answer makes no sense: an event without end")
        return ready

    def _line(self, line: bytes) -> Event | None:
        if not line:
            event = Event(self._name, b"\n".join(self._data)) if self._data else None
            self._name, self._data = "", []
            return event
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"event":
            self._name = value.decode("utf-8", "replace")
        elif field == b"data":
            self._data.append(value)
        # Ids are in the data too; a comment has an empty name.
        return None
