"""What a command gives back, and the pieces of output that are told while it runs."""

from __future__ import annotations

import base64
import binascii
import codecs
from dataclasses import dataclass, field
from datetime import datetime

from . import models
from ._failure import CommandFailedError, NonsenseError, OutputGoneError


@dataclass(frozen=True, slots=True)
class Output:
    """A piece of output, exactly as it was printed."""

    stream: models.Stream
    """`stdout` or `stderr`."""
    cursor: int
    """Position of its first byte."""
    bytes: bytes
    """The bytes."""
    text: str
    """The same as text. A character that is cut by the border of two pieces is in the later one."""
    time: datetime
    """When it was read."""

    @property
    def end(self) -> int:
        """Position behind its last byte."""
        return self.cursor + len(self.bytes)


@dataclass(frozen=True, slots=True)
class TerminalOutput:
    """A piece of what a terminal's program printed."""

    cursor: int
    """Position of its first byte."""
    bytes: bytes
    """The bytes."""
    text: str
    """The same as text. A character that is cut by the border of two pieces is in the later one."""


@dataclass(frozen=True, slots=True)
class PortChange:
    """A port that opened or closed inside."""

    port: int
    """Its number."""
    info: models.PortInfo | None
    """What listens; `None` if nothing does any more."""

    @property
    def is_open(self) -> bool:
        """Whether something listens now."""
        return self.info is not None


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended and what it printed. A code other than 0 is a result, not an error."""

    id: str
    """Its id, under which its log can be read and what it left behind be killed."""
    end: models.EndRecord
    """How it ended."""
    stdout: str
    """Standard output as text. If the answer was too small for it: its head, a line that says how much is left out, and
    its tail."""
    stderr: str
    """Standard error, likewise."""
    cursor: int
    """Position behind the last byte of its log."""
    session_reset: bool
    """Whether the session's shell had to be replaced by one that holds its last snapshot."""
    captured_stdout: models.Capture = field(repr=False)
    """Standard output as it was told."""
    captured_stderr: models.Capture = field(repr=False)
    """Standard error as it was told."""

    @property
    def code(self) -> int | None:
        """The exit code, if it exited."""
        return self.end.code

    @property
    def ok(self) -> bool:
        """Whether it ended with code 0."""
        return self.end.code == 0

    @property
    def truncated(self) -> bool:
        """Whether the answer does not hold all of the output. The log does: `sandbox.processes.get(result.id)`."""
        return bool(self.captured_stdout.truncated or self.captured_stderr.truncated)

    @property
    def stdout_bytes(self) -> bytes:
        """Standard output, exactly. An `OutputGoneError` if the answer does not hold all of it."""
        return _exact(self.captured_stdout)

    @property
    def stderr_bytes(self) -> bytes:
        """Standard error, exactly. An `OutputGoneError` if the answer does not hold all of it."""
        return _exact(self.captured_stderr)

    def check(self) -> CommandResult:
        """This result, or a `CommandFailedError` if it did not end with code 0."""
        if not self.ok:
            raise CommandFailedError(self)
        return self


def completed(told: models.ExecResult) -> CommandResult:
    return CommandResult(
        id=told.id,
        end=told.end,
        stdout=_text(told.stdout),
        stderr=_text(told.stderr),
        cursor=told.cursor,
        session_reset=told.session_reset,
        captured_stdout=told.stdout,
        captured_stderr=told.stderr,
    )


def unpacked(data: str, encoding: models.Encoding) -> bytes:
    if encoding == "utf8":
        return data.encode()
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise NonsenseError("the server's answer makes no sense: output that is no base64") from error


def _text(capture: models.Capture) -> str:
    head = unpacked(capture.data, capture.encoding)
    cut = capture.truncated
    if not cut:
        return head.decode("utf-8", "replace")
    tail = unpacked(cut.tail, capture.encoding)
    return f"{head.decode('utf-8', 'replace')}\n[{cut.omitted_bytes} bytes left out]\n{tail.decode('utf-8', 'replace')}"


def _exact(capture: models.Capture) -> bytes:
    cut = capture.truncated
    if cut:
        raise OutputGoneError(
            f"the answer leaves out {cut.omitted_bytes} bytes of output",
            since=cut.cursor,
            until=cut.cursor + cut.omitted_bytes,
            hint="ask for more with answer_bytes, or read the log of the process that has the result's id",
        )
    return unpacked(capture.data, capture.encoding)


class Texts:
    """Text from the pieces of several outputs, in which no character is broken."""

    def __init__(self) -> None:
        self._decoders: dict[str, codecs.IncrementalDecoder] = {}

    def add(self, stream: str, piece: bytes) -> str:
        decoder = self._decoders.get(stream)
        if decoder is None:
            decoder = self._decoders[stream] = codecs.getincrementaldecoder("utf-8")("replace")
        return decoder.decode(piece)


class OutputReader:
    """Pieces of output from events, over however many connections: no byte twice."""

    def __init__(self, cursor: int) -> None:
        self.cursor = cursor
        self._texts = Texts()

    def take(self, event: models.OutputEvent) -> Output | None:
        """`None` if all of it was told before."""
        piece = unpacked(event.data, event.encoding)
        known = self.cursor - event.cursor
        if known >= len(piece) and piece:
            return None
        if known < 0:
            raise NonsenseError(f"the server's answer makes no sense: output from {self.cursor} to {event.cursor} is missing")
        piece = piece[known:]
        output = Output(event.stream, self.cursor, piece, self._texts.add(event.stream, piece), event.time)
        self.cursor = output.end
        return output if piece else None
